"""Faults as stretches of time: from what moment to what moment which node was down, or cut off, or closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gnomon.control.faults import harmful
from gnomon.control.faults.kind import Harm
from gnomon.engine.log import Kind, Log
from gnomon.insight.history import History
from gnomon.model.errors import InputError
from gnomon.model.fault import Fault
from gnomon.model.resources import NEVER
from gnomon.recovery.targets import NOBODY, Directory, Targets

Span = tuple[int, int]
"""From one moment up to another, in ns."""

STOPPED: Final = harmful(Harm.STOP)
"""The faults with which all that runs on a node stops."""

DOWN: Final = harmful(Harm.CUT_OFF)
"""The faults while which a node cannot be used."""

OUTAGES: Final = harmful(Harm.DELAY)
"""The faults that keep work from being done, so that it piles up."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A fault as it struck a node (index, -1: none of its own): its number, kind, and time (NEVER: to the end).

    ``row``: its row in the log. ``kind``: a value of :class:`~gnomon.model.fault.Fault`, empty where the log does not
    say.
    """

    row: int
    fault: int
    kind: str
    node: int
    begin_ns: int
    end_ns: int

    @property
    def span(self) -> Span:
        """Its time."""
        return self.begin_ns, self.end_ns


def outages(past: History) -> list[Outage]:
    """The faults in a log, one entry a FAULT row, in order; a partition has one for each node that it cuts off.

    A HEAL row without a node ends the fault everywhere. A node that crashes while it is down is back when the fault
    that came first is over.
    """
    log, found = past.log, []
    kinds, over = _kinds(log), _ends(log)
    down: dict[int, int] = {}
    sides = _Sides(past)
    for row in (log.kind == Kind.FAULT).nonzero()[0].tolist():
        fault, node, t_ns = int(log.value[row]), int(log.node[row]), int(log.t_ns[row])
        kind, end = kinds.get(fault, ""), over.get(row, NEVER)
        if kind in STOPPED:
            if down.get(node, 0) > t_ns:
                end = down[node]
            down[node] = end
        struck = sides.cut(row) if kind == Fault.PARTITION.value and node < 0 else ()
        found += [Outage(row, fault, kind, one, t_ns, end) for one in struck or (node,)]
    return found


def _ends(log: Log) -> dict[int, int]:
    """When each fault was over where it struck: by its FAULT row."""
    over: dict[int, int] = {}
    still: dict[int, list[int]] = {}
    for row in ((log.kind == Kind.FAULT) | (log.kind == Kind.HEAL)).nonzero()[0].tolist():
        fault, node = int(log.value[row]), int(log.node[row])
        if log.kind[row] == Kind.FAULT:
            still.setdefault(fault, []).append(row)
            continue
        healed = [one for one in still.get(fault, ()) if node < 0 or int(log.node[one]) in (node, -1)]
        over |= dict.fromkeys(healed, int(log.t_ns[row]))
        still[fault] = [one for one in still.get(fault, ()) if one not in over]
    return over


class _Sides:
    """Which nodes a partition cuts off from the control plane: those on the side where fewer of its members are or,
    where these are as many, where its leader is not."""

    def __init__(self, past: History) -> None:
        self._log, self._directory = past.log, Directory(past.scenario)

    def cut(self, row: int) -> tuple[int, ...]:
        """The nodes (indices) that the partition of a FAULT row cuts off."""
        facts = self._log.details.get(row, {})
        here = self._resolved(facts.get("targets", ""))
        there = self._resolved(facts["others"]) if "others" in facts else self._directory.rest(here)
        if not here.control and not there.control:
            return ()
        more = len(here.control) - len(there.control) or (1 if self._leader(row) in here.control else -1)
        return there.nodes if more > 0 else here.nodes

    def _resolved(self, names: int | str) -> Targets:
        try:
            return self._directory.resolve(str(names).split(), kind=Fault.PARTITION, field="targets")
        except InputError:  # a name with a space in it; the log holds them in one text
            return NOBODY

    def _leader(self, row: int) -> int:
        rows = (self._log.kind[:row] == Kind.LEAD).nonzero()[0]
        return int(self._log.value[rows[-1]]) if len(rows) else 0


def _kinds(log: Log) -> dict[int, str]:
    """The kind of each fault, from the details of whichever of its rows have any."""
    return {
        int(log.value[row]): str(facts["kind"])
        for row, facts in log.details.items()
        if log.kind[row] == Kind.FAULT and "kind" in facts
    }


def merged(spans: Iterable[Span]) -> list[Span]:
    """Stretches of time as the fewest that cover the same, in order; those that touch are one.

    >>> merged([(5, 9), (0, 2), (8, 12), (2, 3)])
    [(0, 3), (5, 12)]
    """
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def length(spans: Iterable[Span], begin_ns: int, end_ns: int) -> int:
    """How much of the time from ``begin_ns`` to ``end_ns`` stretches that do not overlap cover.

    >>> length([(0, 3), (5, 12)], 2, 8)
    4
    """
    return sum(max(0, min(end, end_ns) - max(begin, begin_ns)) for begin, end in spans)


def by_node(past: History, faults: Iterable[Outage], kinds: tuple[str, ...]) -> dict[int, list[Span]]:
    """For each node that was struck by a fault of these kinds (values of Fault), when."""
    found: dict[int, list[Span]] = {}
    whole = past.scenario.cluster.pool
    for one in faults:
        if one.kind in kinds and (one.node >= 0 or (whole and one.kind in STOPPED)):
            found.setdefault(max(one.node, 0), []).append(one.span)
    return {node: merged(spans) for node, spans in found.items()}


def closed(log: Log) -> dict[int, list[Span]]:
    """For each node that took no new work for a while, when.

    A node may be closed for several reasons at once; OPEN takes away the one that it names, or all if it names none.
    """
    found: dict[int, list[Span]] = {}
    since: dict[int, dict[int, int]] = {}
    for row in ((log.kind == Kind.CLOSE) | (log.kind == Kind.OPEN)).nonzero()[0].tolist():
        node, why, t_ns = max(int(log.node[row]), 0), int(log.reason[row]), int(log.t_ns[row])
        reasons = since.setdefault(node, {})
        if log.kind[row] == Kind.CLOSE:
            reasons.setdefault(why, t_ns)
            continue
        for gone in (why,) if why else tuple(reasons):
            if gone in reasons:
                found.setdefault(node, []).append((reasons.pop(gone), t_ns))
    for node, reasons in since.items():
        found.setdefault(node, []).extend((t_ns, NEVER) for t_ns in reasons.values())
    return {node: merged(spans) for node, spans in found.items() if spans}
