"""Fault schedules at random: what may go wrong in a scenario, drawn from a seed, and small changes to a schedule.

Times are spread over the time in which the run without faults is busy, half of them close behind something that starts
there; lengths are log-uniform over values that people use (1 s, 2 s, … 1 min, … 1 h). Only whole numbers are drawn, so
that a seed gives the same schedules everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from gnomon.control.faults import KINDS
from gnomon.control.faults.kind import Kind
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.schedules import INSTANTS, Schedule, in_order
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.targets import NODES, TASKS

_T = TypeVar("_T")

ON_REQUEST: Final = tuple(fault for fault, kind in KINDS.items() if kind.on_request)
"""Kinds that are drawn only if they are asked for: they are no faults of the cluster."""

_TRIES: Final = 50
_ONE_IN: Final = 4
"""One in so many faults strikes all nodes with a label, where there are labels."""


@dataclass(frozen=True)
class Space:
    """What schedules are drawn from: kinds, at most ``most`` faults, times up to ``busy_ns`` in steps of ``grain_ns``.

    ``starts``: tasks and when each ran in the run without faults (start, end). ``accepts``: whether the scenario may
    have these faults.
    """

    scenario: Scenario
    kinds: tuple[Fault, ...]
    most: int
    busy_ns: int
    starts: tuple[tuple[int, int, int], ...]
    accepts: Callable[[Schedule], bool]

    @property
    def grain_ns(self) -> int:
        """A second; in a run that is over in less than 100 of them the power of ten below its hundredth part."""
        return min(10**9, int(10 ** max(len(str(self.busy_ns)) - 3, 0)))

    @property
    def lengths(self) -> list[int]:
        """The lengths (ns) of faults, about as many in each range of the same ratio."""
        return ladder(self.grain_ns, self.busy_ns)


def space_of(facts: Facts, kinds: Sequence[Fault], most: int, accepts: Callable[[Schedule], bool]) -> Space:
    """What schedules may be drawn for a scenario, from its run without faults."""
    starts = tuple((one.task, one.begin_ns, one.end_ns) for one in facts.stretches if one.counts)
    busy = max((end for _, _, end in starts), default=facts.end_ns)
    return Space(facts.scenario, tuple(kinds), most, max(busy, 1), starts, accepts)


def applicable(scenario: Scenario) -> tuple[Fault, ...]:
    """The kinds of faults that can do something in a scenario, in the order of :class:`~gnomon.model.fault.Fault`."""
    return tuple(fault for fault, kind in KINDS.items() if _applies(kind, scenario))


def _applies(kind: Kind, scenario: Scenario) -> bool:
    cluster = scenario.cluster
    if cluster.pool and NODES in kind.hits:
        return False
    return kind.fits(scenario) and (kind.on is None or any(kind.on(node) for node in cluster.nodes))


def kinds_of(names: Sequence[str], scenario: Scenario, *, field: str = "kinds") -> tuple[Fault, ...]:
    """The kinds with these names; of none, all that apply but those :data:`ON_REQUEST`.

    Raises InputError for a name that is unknown, or a kind that can do nothing in the scenario.
    """
    apply = applicable(scenario)
    if not names:
        return tuple(kind for kind in apply if kind not in ON_REQUEST)
    known = {kind.value: kind for kind in Fault}
    for name in names:
        if name not in known:
            raise unknown_name("kind of fault", name, known).at(field=field)
        if known[name] not in apply:
            allowed = ", ".join(kind.value for kind in apply)
            raise InputError("such a fault can do nothing in this scenario", field=field, found=name, allowed=allowed)
    return tuple(kind for kind in Fault if kind.value in names)


def ladder(least_ns: int, most_ns: int) -> list[int]:
    """Lengths that people use, from the least to the most.

    >>> [ns // 10**9 for ns in ladder(10**9, 600 * 10**9)]
    [1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 120, 180, 300, 600]
    """
    parts = [step * 10**power for power in range(9) for step in (1, 2, 5)]
    steps = (1, 2, 3, 5, 10, 15, 20, 30, 45)
    second, minute, hour, day = (s * 10**9 for s in (1, 60, 3_600, 86_400))
    parts += [step * second for step in steps] + [step * minute for step in steps]
    parts += [step * hour for step in (1, 2, 3, 5, 8, 12)]
    parts += [step * day * 10**power for power in range(4) for step in (1, 2, 3, 5)]
    return [ns for ns in parts if least_ns <= ns <= most_ns] or [least_ns]


# ------------------------------------------------------------------ drawing


def schedule(space: Space, rng: np.random.Generator) -> Schedule:
    """A schedule at random, of one fault to ``most``, that the scenario accepts; in a scenario that accepts hardly any
    it may be empty."""
    found: Schedule = ()
    for _ in range(1 + _below(rng, space.most)):
        found = _with_one_more(space, found, rng)
    return found


def mutate(space: Space, parent: Schedule, other: Schedule, rng: np.random.Generator) -> Schedule:
    """One or two small changes to a schedule: a fault added (drawn, or taken from ``other``), left out, moved, made
    longer or shorter, aimed elsewhere, or made stronger or weaker."""
    found = parent
    for _ in range(1 + _below(rng, 2)):
        for _ in range(_TRIES):
            changed = _changed(space, found, other, rng)
            if changed not in (found, parent) and len(changed) <= space.most and space.accepts(changed):
                found = changed
                break
    return found


def _changed(space: Space, parent: Schedule, other: Schedule, rng: np.random.Generator) -> Schedule:
    move = _below(rng, 7)
    if move == 0 or not parent:
        return _with_one_more(space, parent, rng)
    if move == 1 and other:
        return in_order((*parent, _pick(rng, other)))
    at = _below(rng, len(parent))
    rest, one = (*parent[:at], *parent[at + 1 :]), parent[at]
    if move == 2 and len(parent) > 1:
        return rest
    if move == 3 or one.kind in INSTANTS:
        return in_order((*rest, replace(one, at_ns=_time(space, rng))))
    if move == 4:
        return in_order((*rest, replace(one, for_ns=_pick(rng, space.lengths))))
    anew = _fault(space, one.kind, rng)
    if move == 5:
        return in_order((*rest, replace(anew, at_ns=one.at_ns, for_ns=one.for_ns)))
    return in_order((*rest, replace(one, amount=anew.amount) if anew.targets == one.targets else anew))


def _with_one_more(space: Space, before: Schedule, rng: np.random.Generator) -> Schedule:
    if len(before) >= space.most or not space.kinds:
        return before
    for _ in range(_TRIES):
        after = in_order((*before, _fault(space, _pick(rng, space.kinds), rng)))
        if len(after) > len(before) and space.accepts(after):
            return after
    return before


def _fault(space: Space, fault: Fault, rng: np.random.Generator) -> Failure:
    """One fault of a kind."""
    kind, draws = KINDS[fault], _Draws(space, rng)
    at, length, node = _time(space, rng), draws.pick(space.lengths), None
    if TASKS in kind.hits:
        at, length, targets = _on_task(space, kind, rng)
    elif kind.two_sides:
        targets = _side(space.scenario, rng)
    elif NODES not in kind.hits:
        targets = _member(space.scenario, rng)
    elif kind.on is not None:
        node = draws.pick([node for node in space.scenario.cluster.nodes if kind.on(node)])
        targets = (f"node/{node.name}",)
    else:
        targets = _some_nodes(space.scenario.cluster, rng)
    amount = kind.amount.draw(draws, node) if kind.amount else 0
    return Failure(fault, at, length, targets, amount=amount)


def _on_task(space: Space, kind: Kind, rng: np.random.Generator) -> tuple[int, int, tuple[str, ...]]:
    """A task: while it runs, if nothing else goes wrong; what is no instant holds all the time."""
    task, begin, end = _pick(rng, space.starts or ((0, 0, space.busy_ns),))
    at = _on_grain(space, begin + _below(rng, max(end - begin, 1)))
    target = (f"task/{space.scenario.work.id(task)}",)
    return (at, NEVER, target) if kind.instant else (0, space.busy_ns, target)


def _member(scenario: Scenario, rng: np.random.Generator) -> tuple[str, ...]:
    """A member of the control plane, or whoever leads."""
    members = scenario.operation.control.members
    named = members > 1 and not _below(rng, 2)
    return (f"control/{_below(rng, members)}",) if named else ()


def _side(scenario: Scenario, rng: np.random.Generator) -> tuple[str, ...]:
    """One side of a partition: some nodes, some members of the control plane, or both; the rest is the other."""
    cluster, members = scenario.cluster, scenario.operation.control.members
    what = _below(rng, 3) if members > 1 else 0
    nodes = _some_nodes(cluster, rng, several=True) if what != 1 else ()
    if not what:
        return nodes
    cut_off = 1 + _below(rng, members - 1)
    chosen = np.sort(rng.permutation(members)[:cut_off]).tolist()
    return (*nodes, *(f"control/{member}" for member in chosen))


def _some_nodes(cluster: Cluster, rng: np.random.Generator, *, several: bool = False) -> tuple[str, ...]:
    """A node, all that a label names, or (``several``) any number up to half of them."""
    groups = _groups(cluster)
    if groups and not _below(rng, _ONE_IN):
        return (_pick(rng, groups),)
    nodes = len(cluster.nodes)
    size = 1 + (_below(rng, (nodes + 1) // 2) if several else 0)
    return tuple(f"node/{cluster.nodes[i].name}" for i in np.sort(rng.permutation(nodes)[:size]).tolist())


def _groups(cluster: Cluster) -> list[str]:
    """Labels that some nodes share, and others do not have."""
    counts: dict[str, int] = {}
    for node in cluster.nodes:
        for key, value in node.labels:
            if key not in ("node", "task", "job", "control"):
                counts[f"{key}/{value}"] = counts.get(f"{key}/{value}", 0) + 1
    return [group for group, count in counts.items() if 1 < count < len(cluster.nodes)]


def _time(space: Space, rng: np.random.Generator) -> int:
    """A time at which something may begin."""
    if space.starts and _below(rng, 2):
        _, begin, end = _pick(rng, space.starts)
        return _on_grain(space, begin + _below(rng, max(end - begin, 1)))
    return _on_grain(space, _below(rng, space.busy_ns))


def _on_grain(space: Space, ns: int) -> int:
    return ns // space.grain_ns * space.grain_ns


@dataclass(frozen=True, slots=True)
class _Draws:
    """What a kind draws its amount from."""

    space: Space
    rng: np.random.Generator

    @property
    def lengths(self) -> Sequence[int]:
        return self.space.lengths

    def below(self, most: int) -> int:
        return _below(self.rng, most)

    def pick(self, items: Sequence[_T]) -> _T:
        return _pick(self.rng, items)


def _below(rng: np.random.Generator, most: int) -> int:
    """A whole number below ``most``, 0 if there is none."""
    return int(rng.integers(most)) if most > 1 else 0


def _pick(rng: np.random.Generator, items: Sequence[_T]) -> _T:
    return items[_below(rng, len(items))]
