"""Whether the pods of a workload end up spread as they are to be, and whether that is by rule or by luck (user problem
U01): maxSkew is looked at when a pod is placed, with the old generation counted in, and not when that leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gnomon.engine.log import Kind, Log
from gnomon.insight.explain.changes import LIMIT, OWN, Change, Simulate
from gnomon.insight.explain.phrases import counted, listed
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.constraints import DO_NOT_SCHEDULE, TopologySpreadConstraint
from gnomon.systems.kubernetes.api.descheduling import SPREAD, DeschedulerPolicy, Profile, SpreadViolations
from gnomon.systems.kubernetes.api.objects import Pod, PodSpec
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.descheduler.rebalancing import domains_of
from gnomon.systems.kubernetes.descheduler.view import Seen, View
from gnomon.systems.kubernetes.fleets.native import Native, native_of
from gnomon.systems.kubernetes.scheduler.account import LEFT

DRAWS = 12
"""With how many seeds a rollout is run to see what may come of it."""

FEW_DRAWS = 3
FEW_FROM = 500
"""From how many pods on it is run with fewer."""

DOMAINS_SHOWN = 6

_CHECKED = (
    "maxSkew is checked when a pod is placed, and pods of the old generation count then; "
    "nothing looks at it again when these leave"
)


@dataclass(frozen=True)
class Spread:
    """How many pods a constraint counts in each domain."""

    constraint: TopologySpreadConstraint
    counts: tuple[tuple[str, int], ...]

    @property
    def skew(self) -> int:
        """The most less the least."""
        numbers = [count for _, count in self.counts]
        return max(numbers) - min(numbers)

    @property
    def is_broken(self) -> bool:
        """Whether it is more than may be."""
        return self.skew > self.constraint.max_skew

    @property
    def shape(self) -> str:
        """``3/2/0``: the counts alone, the most first."""
        return "/".join(str(count) for count in sorted((count for _, count in self.counts), reverse=True))


@dataclass(frozen=True)
class Layout:
    """``text``: what there is to tell; ``breaks``: whether a constraint is broken in the end, in this run or with other
    draws; ``changes``: each simulated with every seed."""

    text: str
    breaks: bool
    changes: tuple[Change, ...] = ()


def last_places(log: Log) -> dict[int, int]:
    """Where each task is that runs when the log ends."""
    where: dict[int, int] = {}
    for row in range(len(log)):
        kind, task = Kind(int(log.kind[row])), int(log.subject[row])
        if kind is Kind.START:
            where[task] = int(log.node[row])
        elif kind in LEFT:
            where.pop(task, None)
    return where


def final_spread(scenario: Scenario, log: Log, tasks: Sequence[int]) -> Spread | None:
    """The hard constraint of some pods that is furthest off when the log ends; None where they have none."""
    native = native_of(scenario)
    names = [node.name for node in scenario.cluster.nodes]
    seen = [Seen(native.pods[task], names[node], task) for task, node in sorted(last_places(log).items()) if node >= 0]
    view = View(native.objects.nodes, {}, {})
    found: dict[tuple[TopologySpreadConstraint, str], Spread] = {}
    for one in seen:
        if one.task not in tasks:
            continue
        peers = [other for other in seen if other.pod.namespace == one.pod.namespace]
        for constraint in one.pod.spec.topology_spread_constraints:
            key = constraint, one.pod.labels.get(HASH_LABEL, "")
            if constraint.when_unsatisfiable == DO_NOT_SCHEDULE and key not in found:
                domains = domains_of(constraint, one.pod, view, peers)
                if domains:
                    found[key] = Spread(constraint, tuple((name, len(there)) for name, there in domains.items()))
    return max(found.values(), key=lambda one: one.skew - one.constraint.max_skew, default=None)


def layout_of(
    scenario: Scenario, log: Log, tasks: Sequence[int], about: str, simulate: Simulate | None
) -> Layout | None:
    """What there is to tell of the layout of a workload's pods; None if it is as it is to be, and could not be else.
    ``about``: the workload, as changes name it."""
    native = native_of(scenario)
    spread = final_spread(scenario, log, tasks)
    if spread is None:
        return None
    fleets = {number for number, fleet in enumerate(native.fleets) if set(fleet.tasks) & set(tasks)}
    rolled = any(len(one.specs) > 1 and fleets & {spec[2] for spec in one.specs} for one in native.rollouts)
    if not rolled or simulate is None:
        return Layout(_ending(spread), breaks=True) if spread.is_broken else None
    draws = DRAWS if len(scenario.work) < FEW_FROM else FEW_DRAWS
    others = [_seeded(scenario, number) for number in range(1, draws)]
    ends = [spread, *(_end(one, tasks, simulate) for one in others)]
    known = [one for one in ends if one is not None]
    if not any(one.is_broken for one in known):
        if HASH_LABEL in spread.constraint.match_label_keys:
            return None
        kept = f"it ends with {_layout(spread)}, within maxSkew as in all of {len(known)} runs, but no rule keeps it so"
        return Layout(f"{kept}: {_CHECKED}.", breaks=False)
    text = _ending(spread) if spread.is_broken else f"it ends with {_layout(spread)}, but that is luck"
    text += f". That is no error of the scheduler: {_CHECKED}. {_draws(known)}."
    return Layout(text, breaks=True, changes=tuple(_changes(tasks, about, [scenario, *others], simulate)))


def _seeded(scenario: Scenario, number: int) -> Scenario:
    return replace(scenario, seed=scenario.seed + number)


def _end(scenario: Scenario, tasks: Sequence[int], simulate: Simulate) -> Spread | None:
    return final_spread(scenario, simulate(scenario), tasks)


# ------------------------------------------------------------------ in words


def last_event(log: Log, about: str) -> str:
    """What a workload's controller said last, as ``reason: message``; empty if it said nothing."""
    said = [one for _, one in sorted(log.details.items()) if one.get("about") == about]
    return f"{said[-1]['reason']}: {said[-1]['message']}" if said else ""


def _layout(spread: Spread) -> str:
    where = listed([f"{name} {count}" for name, count in spread.counts], DOMAINS_SHOWN)
    return f"{spread.shape} over {spread.constraint.topology_key} ({where})"


def _ending(spread: Spread) -> str:
    most = max(count for _, count in spread.counts)
    return (
        f"it ends with {_layout(spread)}: {most} - {most - spread.skew} = {spread.skew} > maxSkew "
        f"{spread.constraint.max_skew}"
    )


def _draws(ends: Sequence[Spread]) -> str:
    within, broken = (Counter(one.shape for one in ends if one.is_broken is broken) for broken in (False, True))
    text = f"Of {counted(len(ends), 'run')} that differ in the draws among equal nodes {within.total()} end within it"
    text += f" ({listed(sorted(within, reverse=True), 4)})" if within else ""
    return f"{text} and {broken.total()} do not ({listed(sorted(broken, reverse=True), 4)})"


# ------------------------------------------------------------------ what would keep it


def _changes(tasks: Sequence[int], about: str, draws: Sequence[Scenario], simulate: Simulate) -> list[Change]:
    native = native_of(draws[0])
    constraint = next(
        one
        for task in tasks
        for one in native.pods[task].spec.topology_spread_constraints
        if one.when_unsatisfiable == DO_NOT_SCHEDULE
    )
    found: list[Change] = []
    if HASH_LABEL not in constraint.match_label_keys and _all_within(draws, _by_generation(tasks), tasks, simulate):
        found.append(
            Change(
                f"matchLabelKeys [{HASH_LABEL}], so that each generation is spread by itself: "
                f"all {len(draws)} runs end within maxSkew",
                about,
                f"spec.topologySpreadConstraints[{constraint.topology_key}].matchLabelKeys",
                None,
                HASH_LABEL,
                round(OWN + 0.5, 4),
                confirmed=True,
            )
        )
    policy = native.objects.descheduler
    spreads = policy is not None and any(isinstance(one, SpreadViolations) for one in policy.plugins)
    if not spreads and _all_within(draws, _with_descheduler, tasks, simulate):
        found.append(
            Change(
                f"a descheduler with {SPREAD}: "
                f"it evicts what is too many, and all {len(draws)} runs end within maxSkew",
                f"deschedulerpolicy/{SPREAD}",
                "plugins.balance.enabled",
                None,
                SPREAD,
                round(LIMIT + 0.5, 4),
                confirmed=True,
            )
        )
    return found


def _all_within(
    draws: Sequence[Scenario], change: Callable[[Native], Native], tasks: Sequence[int], simulate: Simulate
) -> bool:
    for one in draws:
        changed = replace(one, native=change(native_of(one)))
        end = _end(changed, tasks, simulate)
        if end is None or end.is_broken:
            return False
    return True


def _by_generation(tasks: Sequence[int]) -> Callable[[Native], Native]:
    """The pods with their generation's label among the keys; those that shared a spec share the new one."""

    def changed(native: Native) -> Native:
        specs: dict[int, PodSpec] = {}

        def of(pod: Pod) -> Pod:
            spec = pod.spec
            if id(spec) not in specs:
                constraints = tuple(
                    replace(one, match_label_keys=(*one.match_label_keys, HASH_LABEL))
                    for one in spec.topology_spread_constraints
                )
                specs[id(spec)] = replace(spec, topology_spread_constraints=constraints)
            return replace(pod, spec=specs[id(spec)])

        mine = set(tasks)
        return replace(native, pods=tuple(of(pod) if task in mine else pod for task, pod in enumerate(native.pods)))

    return changed


def _with_descheduler(native: Native) -> Native:
    policy = native.objects.descheduler or DeschedulerPolicy()
    more = Profile("spread", balance=(SpreadViolations(),))
    changed = replace(policy, profiles=(*policy.profiles, more))
    return replace(native, objects=replace(native.objects, descheduler=changed))
