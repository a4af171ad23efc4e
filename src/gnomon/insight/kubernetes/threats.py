"""Of a pod that runs: who is about to take its place, why from just this node, and what would protect it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from gnomon.insight.explain.changes import CONSTRAINT, OWN, Change
from gnomon.insight.explain.phrases import Numbers, counted, listed
from gnomon.insight.explain.waits import Wait
from gnomon.insight.kubernetes.levers.bench import Bench, Effect, Lever, search
from gnomon.insight.kubernetes.moment import Moment, snapshot_moment
from gnomon.insight.kubernetes.pod_waits import PodWait
from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.objects import Pod, PodDisruptionBudget
from gnomon.systems.kubernetes.fleets.native import Native

PENDING_MAX = 20
"""How many pods without a node are looked at, those of the highest priority first."""


@dataclass(frozen=True)
class Threat:
    """A pod that preempts the one that is asked about: its turn, the node and the victims."""

    moment: Moment
    node: str
    victims: tuple[str, ...]
    violations: int


def threat_to(native: Native, pod: Pod) -> Threat | None:
    """The first of the pods without a node that preempts this one; None: nobody does."""
    waiting = [one for one in native.pods if not one.node_name and one.priority > pod.priority]
    first = {one.key: one for one in sorted(waiting, key=lambda one: -one.priority)[:PENDING_MAX]}
    if not first:
        return None
    last = snapshot_moment(native.objects, native.pods, [*first.values()][-1])
    by = next((key for key, victims in last.victims.items() if pod.key in victims and key in first), None)
    found = _preemption_of(last if by is None else snapshot_moment(native.objects, native.pods, first[by]))
    return found if found is not None and pod.key in found.victims else None


def _preemption_of(moment: Moment) -> Threat | None:
    if moment.refused or moment.idle or moment.is_placed:
        return None
    chosen = moment.attempt.preemption.chosen
    if chosen is None:
        return None
    victims = tuple(one.pod.key for one in chosen.victims)
    return Threat(moment, moment.state.names[chosen.node], victims, chosen.violations)


def wait_of(found: Threat, pod: Pod) -> Wait:
    """The threat as what is to come."""
    numbers: Numbers = {
        "priority": pod.priority,
        "preemptor_priority": found.moment.pod.priority,
        "pdb_violations": found.violations,
    }
    by = found.moment.pod.key
    return PodWait("event", "preemption", f"pod/{by}", f"{by} preempts it", numbers, pod.spec.grace_s * 10**9)


def sentence_of(found: Threat, pod: Pod) -> str:
    """That it is to go, and why just it."""
    by = found.moment.pod
    text = f"{pod.key} is on {found.node}, and gives way to {by.key} (priority {by.priority} over {pod.priority})"
    rest = [key for key in found.victims if key != pod.key]
    text += f", together with {listed(rest, 3)}" if rest else ""
    budgets = counted(found.violations, "disruption budget")
    reason = f"of the nodes that would do this one breaks fewest disruption budgets ({budgets})"
    return f"{text}: {reason}, which counts before the priorities of those who give way"


def protections(native: Native, found: Threat, pod: Pod) -> list[Change]:
    """What would have another pod give way, or none."""
    return search(_options(native, found, pod), Bench(found.moment), 5)


def _options(native: Native, found: Threat, pod: Pod) -> Iterator[Lever]:
    by = found.moment.pod
    raised = replace(pod, spec=replace(pod.spec, priority=by.priority))
    pods = tuple(raised if one.key == pod.key else one for one in native.pods)
    yield Lever(
        kind=OWN,
        size=(by.priority - pod.priority) / max(abs(pod.priority), 1),
        phrase=f"give it the priority {by.priority}",
        object=f"pod/{pod.key}",
        field="spec.priority",
        before=pod.priority,
        after=by.priority,
        attempt=_spared(native, pods, (), by, pod),
    )
    if pod.labels:
        selector = LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(pod.labels.items())))
        budget = PodDisruptionBudget(f"{pod.name}-budget", pod.namespace, selector, 1, disruptions_allowed=0)
        labels = ",".join(f"{key}={value}" for key, value in sorted(pod.labels.items()))
        yield Lever(
            kind=CONSTRAINT,
            size=0.5,
            phrase=f"a PodDisruptionBudget for {labels} that allows no disruption",
            object=f"poddisruptionbudget/{pod.namespace}/{budget.name}",
            field="spec.minAvailable",
            before=None,
            after=1,
            attempt=_spared(native, native.pods, (budget,), by, pod),
        )


def _spared(
    native: Native, pods: Sequence[Pod], budgets: tuple[PodDisruptionBudget, ...], by: Pod, pod: Pod
) -> Callable[[], Effect | None]:
    """What comes of it when the preemptor has its turn again."""

    def attempt() -> Effect | None:
        objects = replace(native.objects, disruption_budgets=(*native.objects.disruption_budgets, *budgets))
        moment = snapshot_moment(objects, pods, by)
        found = _preemption_of(moment)
        if found is None:
            return Effect(f"{by.key} preempts nobody")
        if pod.key in found.victims:
            return None
        return Effect(f"{listed(found.victims, 3)} on {found.node} gives way to {by.key} instead")

    return attempt
