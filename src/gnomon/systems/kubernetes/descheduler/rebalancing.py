"""RemoveDuplicates, RemovePodsViolatingTopologySpreadConstraint and RemovePodsHavingTooManyRestarts.

Source: kubernetes-sigs/descheduler ``pkg/framework/plugins/removeduplicates``,
``removepodsviolatingtopologyspreadconstraint`` and ``removepodshavingtoomanyrestarts`` (as of v0.34).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

from gnomon.systems.kubernetes.api.constraints import TopologySpreadConstraint
from gnomon.systems.kubernetes.api.descheduling import Duplicates, Restarts, SpreadViolations
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.selectors import node_matches, selects, untolerated, with_label_keys
from gnomon.systems.kubernetes.descheduler.evictor import Done, Filter, Limits
from gnomon.systems.kubernetes.descheduler.view import Seen, View, may_run_on

BACK_OFF: Final = "CrashLoopBackOff"


# ------------------------------------------------------------------ duplicates


def remove_duplicates(args: Duplicates, view: View, rule: Filter, limits: Limits) -> None:
    """Pods of one owner and the same images on one node: as many go as are above an even share."""
    twins: dict[tuple[object, ...], dict[str, list[Seen]]] = {}
    count: Counter[tuple[object, ...]] = Counter()
    for node in view.nodes:
        first: set[tuple[object, ...]] = set()
        for one in view.pods.get(node.name, ()):
            owner, space = one.pod.owner, one.pod.namespace
            if owner is None or owner.kind in args.exclude_owner_kinds or space not in args.namespaces:
                continue
            if not (rule.may_go(one) and rule.fits(one)):
                continue
            images = tuple(sorted(container.image for container in one.pod.spec.containers))
            key: tuple[object, ...] = space, owner.kind, owner.name, images
            count[key] += 1
            if key in first:
                twins.setdefault(key, {}).setdefault(node.name, []).append(one)
            first.add(key)
    for key, by_node in twins.items():
        targets = _targets(view, by_node)
        if len(targets) < 2:
            continue
        share = ceil(Fraction(count[key], len(targets)))
        for extra in by_node.values():
            for one in extra[share - 1 :] if len(extra) + 1 > share else ():
                done = limits.evict(one, args.name, {})
                if done is Done.TOTAL_LIMIT:
                    return
                if done is Done.NODE_LIMIT:
                    break


def _targets(view: View, by_node: dict[str, list[Seen]]) -> set[str]:
    """The nodes on which such pods may be; those of pods that may be on one alone do not count."""
    found: set[str] = set()
    for extra in by_node.values():
        for one in extra:
            may = {node.name for node in view.nodes if may_run_on(one.pod, node)}
            found |= may if len(may) > 1 else set()
    return found


# ------------------------------------------------------------------ spread constraints


@dataclass
class _Domain:
    value: str
    pods: list[Seen]


def balance_spread(args: SpreadViolations, view: View, rule: Filter, limits: Limits) -> None:
    """As many pods of the domains that have too many go as bring them within maxSkew of the others."""
    by_namespace: dict[str, list[Seen]] = {}
    for there in view.pods.values():
        for one in there:
            by_namespace.setdefault(one.pod.namespace, []).append(one)
    going: dict[int, Seen] = {}
    for space, pods in by_namespace.items():
        if space not in args.namespaces:
            continue
        known: list[tuple[object, ...]] = []
        for one in pods:
            for constraint in one.pod.spec.topology_spread_constraints:
                resolved = _resolved(constraint, one.pod)
                if constraint.when_unsatisfiable in args.constraints and resolved not in known:
                    known.append(resolved)
                    _balance(args, view, rule, pods, (constraint, one.pod, going))
    closed: set[str] = set()
    for one in going.values():
        wanted = args.label_selector is None or selects(args.label_selector, one.pod.labels)
        if one.node in closed or not wanted or not rule.may_go(one) or not rule.fits(one):
            continue
        done = limits.evict(one, args.name, {})
        if done is Done.TOTAL_LIMIT:
            return
        if done is Done.NODE_LIMIT:
            closed.add(one.node)


def _resolved(constraint: TopologySpreadConstraint, pod: Pod) -> tuple[object, ...]:
    """All that tells a constraint from another (newTopologySpreadConstraint)."""
    spec, affinity = pod.spec, constraint.node_affinity_policy == "Honor"
    return (
        constraint.max_skew,
        constraint.topology_key,
        constraint.when_unsatisfiable,
        with_label_keys(constraint.label_selector, pod.labels, constraint.match_label_keys),
        constraint.node_affinity_policy,
        constraint.node_taints_policy,
        (tuple(sorted(spec.node_selector.items())), spec.affinity.node_required) if affinity else None,
        spec.tolerations if constraint.node_taints_policy == "Honor" else None,
    )


def _counts(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    """matchNodeInclusionPolicies."""
    if constraint.node_affinity_policy == "Honor" and not node_matches(pod.spec, node.labels, node.name):
        return False
    return constraint.node_taints_policy != "Honor" or untolerated(node.taints, pod.spec.tolerations) is None


def domains_of(
    constraint: TopologySpreadConstraint, pod: Pod, view: View, pods: Sequence[Seen]
) -> dict[str, list[Seen]]:
    """The pods that a pod's constraint counts, by domain, domains without any included."""
    key = constraint.topology_key
    nodes = {node.name: node for node in view.nodes}
    found: dict[str, list[Seen]] = {
        node.labels[key]: [] for node in view.nodes if key in node.labels and _counts(constraint, pod, node)
    }
    selector = with_label_keys(constraint.label_selector, pod.labels, constraint.match_label_keys)
    for one in pods:
        node = nodes.get(one.node)
        if one.terminates or node is None or key not in node.labels or not selects(selector, one.pod.labels):
            continue
        found.setdefault(node.labels[key], []).append(one)
    return found


def _balance(
    args: SpreadViolations,
    view: View,
    rule: Filter,
    pods: Sequence[Seen],
    what: tuple[TopologySpreadConstraint, Pod, dict[int, Seen]],
) -> None:
    """Which pods go for one constraint (topologyIsBalanced, balanceDomains)."""
    constraint, pod, going = what
    found = domains_of(constraint, pod, view, pods)
    sizes = [len(there) for there in found.values()]
    if not sizes or max(sizes) - min(sizes) <= constraint.max_skew:
        return
    mean = Fraction(sum(sizes), len(sizes))
    ordered = sorted((_Domain(value, _last_first(there, rule)) for value, there in found.items()), key=_size)
    few = {one.value for one in ordered if len(one.pods) < mean}
    targets = [
        node
        for node in view.nodes
        if node.labels.get(constraint.topology_key) in few and _counts(constraint, pod, node)
    ]
    i, j = 0, len(ordered) - 1
    while i < j:
        if len(ordered[j].pods) <= mean:
            j -= 1
        skew = len(ordered[j].pods) - len(ordered[i].pods)
        if skew <= constraint.max_skew:
            i += 1
            continue
        above, below = ceil(len(ordered[j].pods) - mean), ceil(mean - len(ordered[i].pods))
        move = min(above, below, ceil(Fraction(skew - constraint.max_skew, 2)))
        if move <= 0:
            i += 1
            continue
        fit = {one.task: view.fits_elsewhere(one, targets) for one in ordered[j].pods}
        ordered[j].pods.sort(key=lambda one, fit=fit: fit[one.task])  # type: ignore[misc]
        chosen = ordered[j].pods[-move:]
        going.update((one.task, one) for one in chosen if fit[one.task] or not args.node_fit)
        del ordered[j].pods[-move:]
        ordered[i].pods += chosen


def _size(one: _Domain) -> int:
    return len(one.pods)


def _last_first(pods: Sequence[Seen], rule: Filter) -> list[Seen]:
    """Those that go first stand last: pods that may not go, those tied to nodes, then the others by priority
    (sortDomains, which lets higher priorities go first)."""

    def rank(one: Seen) -> tuple[bool, bool, int]:
        spec = one.pod.spec
        tied = bool(spec.node_selector) or spec.affinity.node_required is not None or bool(spec.affinity.node_preferred)
        return rule.may_go(one), not tied, one.pod.priority

    return sorted(pods, key=rank)


# ------------------------------------------------------------------ restarts


def remove_restarting(args: Restarts, view: View, rule: Filter, limits: Limits) -> None:
    """Pods whose containers have restarted too often."""
    for node in view.nodes:
        for one in view.pods.get(node.name, ()):
            if one.restarts < args.threshold or one.pod.namespace not in args.namespaces:
                continue
            if args.label_selector is not None and not selects(args.label_selector, one.pod.labels):
                continue
            if args.states and not {"Running", *([] if one.ready else [BACK_OFF])} & {*args.states}:
                continue
            if not (rule.may_go(one) and rule.fits(one)):
                continue
            done = limits.evict(one, args.name, {})
            if done is Done.TOTAL_LIMIT:
                return
            if done is Done.NODE_LIMIT:
                break
