"""DefaultPreemption: whom to send away, and from which node, so that a pod of higher priority fits (sheet §7).

Source: ``framework/preemption/preemption.go`` and ``plugins/defaultpreemption`` of v1.34.1. Pods are taken from the
state and put back while nodes are tried; it is as it was when :func:`preempt` returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.profile import PreemptionArgs
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.scheduler.fit_error import fit_error
from gnomon.systems.kubernetes.scheduler.state import Placed, State
from gnomon.systems.kubernetes.scheduler.statuses import Refusal, Statuses

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."

_OFFSET = 2**31
"""Added to each victim's priority before they are summed up, so that fewer victims usually win."""
_NOW = 2**63 - 1
"""The start of a pod that has not started: the present, which is later than any other."""

Judge = Callable[[int], Refusal | None]
"""Whether the preemptor passes the filters on a node as it is, pods nominated there counted in."""


@dataclass(frozen=True)
class Candidate:
    """A node on which the preemptor would fit without the victims (the most important first)."""

    node: int
    victims: tuple[Placed, ...]
    violations: int


@dataclass(frozen=True)
class Preemption:
    """What came of it: the chosen candidate and all nodes that are as good, or why there is none."""

    chosen: Candidate | None = None
    best: tuple[int, ...] = ()
    message: str = ""


def preempt(state: State, pod: Pod, statuses: Statuses, judge: Judge, args: PreemptionArgs) -> Preemption:
    """Find the node to clear for a pod that no node takes, and the pods to remove there."""
    if pod.spec.never_preempts:
        return Preemption(message=NEVER)
    if pod.nominated_node in state.index and not eligible_again(state, pod, statuses):
        return Preemption(message=TERMINATING)
    potential = statuses.resolvable()
    wanted = min(max(len(potential) * args.min_percentage // 100, args.min_absolute), len(potential))
    candidates: list[Candidate] = []
    reasons: Counter[str] = Counter()
    hopeless = potential[state.lowest[potential] >= pod.priority]
    reasons[NO_VICTIMS] += len(hopeless)
    for node in potential[state.lowest[potential] < pod.priority].tolist():
        found = victims_on(state, pod, node, judge)
        if isinstance(found, Refusal):
            reasons.update(found.reasons)
            continue
        candidates.append(found)
        if len(candidates) >= wanted and any(one.violations == 0 for one in candidates):
            break
    if not candidates:
        reasons[NOT_HELPFUL] += len(state.nodes) - len(potential)
        return Preemption(message=fit_error(len(state.nodes), +reasons))
    best = best_of(candidates)
    chosen = min(best, key=lambda one: state.names[one.node])
    return Preemption(chosen, tuple(one.node for one in best))


def eligible_again(state: State, pod: Pod, statuses: Statuses) -> bool:
    """Whether a pod that is nominated may preempt once more: not while a victim of it is still terminating there,
    unless the node has become one that preemption cannot help."""
    node = state.index[pod.nominated_node]
    refusal = statuses.refusals().get(node)
    if refusal is not None and not refusal.resolvable:
        return True
    return not any(
        one.shape.priority < pod.priority and one.pod.is_terminating and _preempted(one.pod)
        for one in state.pods[node].values()
    )


def _preempted(pod: Pod) -> bool:
    return any(
        one.type == "DisruptionTarget" and one.status == "True" and one.reason == "PreemptionByScheduler"
        for one in pod.conditions
    )


def victims_on(state: State, pod: Pod, node: int, judge: Judge) -> Candidate | Refusal:
    """The fewest-possible victims on one node: all pods of lower priority go, and if the pod fits then, those that can
    stay come back, pods under violated budgets first, each group from the most important down."""
    lower = sorted((one for one in state.pods[node].values() if one.shape.priority < pod.priority), key=importance)
    for one in lower:
        state.remove(one.pod.key)
    refusal = judge(node)
    victims: list[Placed] = []
    violations = 0
    if refusal is None:
        violating, others = split_by_budgets(state, lower)
        for group, counts in ((violating, 1), (others, 0)):
            for one in group:
                state.put(one, node)
                if judge(node) is not None:
                    state.remove(one.pod.key)
                    victims.append(one)
                    violations += counts
    for one in lower if refusal is not None else victims:
        state.put(one, node)
    if refusal is not None:
        return refusal
    return Candidate(node, tuple(sorted(victims, key=importance)), violations)


def importance(placed: Placed) -> tuple[int, int]:
    """The key by which pods sort, the most important first: higher priority, then the earlier start."""
    return -placed.shape.priority, start_of(placed)


def start_of(placed: Placed) -> int:
    """When a pod started; what has not started counts as starting now."""
    return _NOW if placed.start_ns is None else placed.start_ns


def split_by_budgets(state: State, pods: Sequence[Placed]) -> tuple[list[Placed], list[Placed]]:
    """The pods whose removal, one after the other, violates a PodDisruptionBudget, and the others."""
    budgets = state.around.budgets
    allowed = [budget.disruptions_allowed or 0 for budget in budgets]
    violating: list[Placed] = []
    others: list[Placed] = []
    for one in pods:
        violated = False
        for i, budget in enumerate(budgets):
            if (
                not one.pod.labels
                or budget.namespace != one.pod.namespace
                or budget.selector is None
                or not budget.selector.requirements
                or not selects(budget.selector, one.pod.labels)
                or one.pod.name in budget.disrupted_pods
            ):
                continue
            allowed[i] -= 1
            violated |= allowed[i] < 0
        (violating if violated else others).append(one)
    return violating, others


def best_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that no criterion sets apart: fewest violations, lowest highest priority, smallest sum of priorities,
    fewest victims, latest start among the victims of the highest priority."""
    keys = [_rank(one) for one in candidates]
    least = min(keys)
    return [one for one, key in zip(candidates, keys, strict=True) if key == least]


def _rank(one: Candidate) -> tuple[int, int, int, int, int]:
    highest = max(victim.shape.priority for victim in one.victims)
    earliest = min(start_of(victim) for victim in one.victims if victim.shape.priority == highest)
    total = sum(victim.shape.priority + _OFFSET for victim in one.victims)
    return one.violations, highest, total, len(one.victims), -earliest
