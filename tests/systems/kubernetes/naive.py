"""The filters and scores of the default profile, one node and one pod at a time, straight from the semantics sheet: no
columns, no counts that are kept. Slow, and written to be read; what the fast path is held against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.systems.kubernetes.api.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    PREFER_NO_SCHEDULE,
    PodAffinityTerm,
    Taint,
    TopologySpreadConstraint,
)
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.requests import host_ports, pod_requests
from gnomon.systems.kubernetes.api.selectors import node_matches, selects, term_matches, term_selects, tolerates

Refusal = tuple[str, list[str]]


@dataclass
class Cluster:
    nodes: list[Node]
    on: dict[str, list[Pod]]

    def running(self) -> list[tuple[Pod, Node]]:
        return [(pod, node) for node in self.nodes for pod in self.on[node.name]]


def refusal(cluster: Cluster, pod: Pod, node: Node) -> Refusal | None:
    for name, reasons in (
        ("NodeUnschedulable", cordoned(pod, node)),
        ("TaintToleration", taints(pod, node)),
        ("NodeAffinity", affinity_to_node(pod, node)),
        ("NodePorts", ports(cluster, pod, node)),
        ("NodeResourcesFit", resources(cluster, pod, node)),
        ("PodTopologySpread", spread(cluster, pod, node)),
        ("InterPodAffinity", between_pods(cluster, pod, node)),
    ):
        if reasons:
            return name, sorted(reasons)
    return None


def cordoned(pod: Pod, node: Node) -> list[str]:
    taint = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
    if node.unschedulable and not any(tolerates(one, taint) for one in pod.spec.tolerations):
        return ["node(s) were unschedulable"]
    return []


def taints(pod: Pod, node: Node) -> list[str]:
    for taint in node.taints:
        if taint.effect != PREFER_NO_SCHEDULE and not any(tolerates(one, taint) for one in pod.spec.tolerations):
            return [f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"]
    return []


def affinity_to_node(pod: Pod, node: Node) -> list[str]:
    fits = node_matches(pod.spec, node.labels, node.name)
    return [] if fits else ["node(s) didn't match Pod's node affinity/selector"]


def ports(cluster: Cluster, pod: Pod, node: Node) -> list[str]:
    taken = [port for other in cluster.on[node.name] for port in host_ports(other.spec)]
    for address, protocol, port in host_ports(pod.spec):
        for other, kind, number in taken:
            if (protocol, port) == (kind, number) and (address == other or "0.0.0.0" in (address, other)):
                return ["node(s) didn't have free ports for the requested pod ports"]
    return []


def resources(cluster: Cluster, pod: Pod, node: Node) -> list[str]:
    there = cluster.on[node.name]
    reasons = ["Too many pods"] if len(there) + 1 > node.allocatable.get("pods", 0) else []
    for name, amount in pod_requests(pod.spec).items():
        used = sum(pod_requests(other.spec).get(name, 0) for other in there)
        if amount > 0 and amount > node.allocatable.get(name, 0) - used:
            reasons.append(f"Insufficient {name}")
    return reasons


def honored(pod: Pod, node: Node, one: TopologySpreadConstraint) -> bool:
    if one.node_affinity_policy == "Honor" and not node_matches(pod.spec, node.labels, node.name):
        return False
    return one.node_taints_policy != "Honor" or not taints(pod, node)


def counted(cluster: Cluster, pod: Pod, node: Node, one: TopologySpreadConstraint) -> int:
    if one.label_selector is None or not one.label_selector.requirements:
        return 0
    return sum(
        other.namespace == pod.namespace and selects(one.label_selector, other.labels)
        for other in cluster.on[node.name]
    )


def spread(cluster: Cluster, pod: Pod, node: Node) -> list[str]:
    hard = [one for one in pod.spec.topology_spread_constraints if one.when_unsatisfiable == DO_NOT_SCHEDULE]
    for one in hard:
        if one.topology_key not in node.labels:
            return ["node(s) didn't match pod topology spread constraints (missing required label)"]
        domains: dict[str, int] = {}
        for other in cluster.nodes:
            if all(each.topology_key in other.labels for each in hard) and honored(pod, other, one):
                value = other.labels[one.topology_key]
                domains[value] = domains.get(value, 0) + counted(cluster, pod, other, one)
        lowest = min(domains.values(), default=0) if len(domains) >= (one.min_domains or 1) else 0
        itself = selects(one.label_selector, pod.labels)
        if domains.get(node.labels[one.topology_key], 0) + itself - lowest > one.max_skew:
            return ["node(s) didn't match pod topology spread constraints"]
    return []


def chosen_by(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    return term_selects(term, owner.namespace, other.labels, other.namespace, {})


def same_domain(key: str, one: Node, other: Node) -> bool:
    return key in one.labels and one.labels[key] == other.labels.get(key)


def between_pods(cluster: Cluster, pod: Pod, node: Node) -> list[str]:
    terms = pod.spec.affinity.pod_required
    near = [(p, n) for p, n in cluster.running() if all(chosen_by(term, pod, p) for term in terms)]
    met = all(any(same_domain(term.topology_key, node, n) for _, n in near) for term in terms)
    counts = any(term.topology_key in n.labels for term in terms for _, n in near)
    if terms and not met:
        first = not counts and all(chosen_by(term, pod, pod) for term in terms)
        if not (first and all(term.topology_key in node.labels for term in terms)):
            return ["node(s) didn't match pod affinity rules"]
    for other, where in cluster.running():
        if any(
            chosen_by(term, pod, other) and same_domain(term.topology_key, node, where)
            for term in pod.spec.affinity.anti_required
        ):
            return ["node(s) didn't match pod anti-affinity rules"]
    for other, where in cluster.running():
        if any(
            chosen_by(term, other, pod) and same_domain(term.topology_key, node, where)
            for term in other.spec.affinity.anti_required
        ):
            return ["node(s) didn't satisfy existing pods anti-affinity rules"]
    return []


# ---------------------------------------------------------------- scores


def scores(cluster: Cluster, pod: Pod, feasible: Sequence[Node]) -> dict[str, dict[str, int]]:
    """By node and plugin the final points, weights included; plugins that skip are absent."""
    columns: dict[str, list[int] | None] = {
        "TaintToleration": reversed_share([preferences(pod, node) for node in feasible], 3),
        "NodeAffinity": preferred_nodes(pod, feasible),
        "NodeResourcesFit": [least_allocated(cluster, pod, node) for node in feasible],
        "PodTopologySpread": soft_spread(cluster, pod, feasible),
        "InterPodAffinity": preferred_pods(cluster, pod, feasible),
        "NodeResourcesBalancedAllocation": balanced(cluster, pod, feasible),
        "ImageLocality": [0 for _ in feasible],
    }
    return {
        node.name: {name: column[i] for name, column in columns.items() if column is not None}
        for i, node in enumerate(feasible)
    }


def preferences(pod: Pod, node: Node) -> int:
    return sum(
        taint.effect == PREFER_NO_SCHEDULE and not any(tolerates(one, taint) for one in pod.spec.tolerations)
        for taint in node.taints
    )


def reversed_share(raw: list[int], weight: int) -> list[int]:
    most = max(raw)
    return [weight * (100 - 100 * value // most if most else 100) for value in raw]


def preferred_nodes(pod: Pod, feasible: Sequence[Node]) -> list[int] | None:
    terms = pod.spec.affinity.node_preferred
    if not terms:
        return None
    raw = [sum(t.weight for t in terms if term_matches(t.preference, n.labels, n.name)) for n in feasible]
    most = max(raw)
    return [2 * (100 * value // most) if most else 0 for value in raw]


def least_allocated(cluster: Cluster, pod: Pod, node: Node) -> int:
    points = []
    for name in ("cpu", "memory"):
        capacity = node.allocatable.get(name, 0)
        if capacity:
            asked = sum(pod_requests(one.spec, non_zero=True)[name] for one in [*cluster.on[node.name], pod])
            points.append(0 if asked > capacity else (capacity - asked) * 100 // capacity)
    return sum(points) // len(points) if points else 0


def balanced(cluster: Cluster, pod: Pod, feasible: Sequence[Node]) -> list[int] | None:
    if not any(pod_requests(pod.spec).get(name) for name in ("cpu", "memory")):
        return None
    points = []
    for node in feasible:
        fractions = []
        for name in ("cpu", "memory"):
            capacity = node.allocatable.get(name, 0)
            asked = sum(pod_requests(one.spec).get(name, 0) for one in [*cluster.on[node.name], pod])
            if capacity:
                fractions.append(min(1.0, asked / capacity))
        spread_ = abs(fractions[0] - fractions[1]) / 2 if len(fractions) == 2 else 0.0
        points.append(int((1 - spread_) * 100))
    return points


def soft_spread(cluster: Cluster, pod: Pod, feasible: Sequence[Node]) -> list[int] | None:
    soft = [one for one in pod.spec.topology_spread_constraints if one.when_unsatisfiable != DO_NOT_SCHEDULE]
    if not soft:
        return None
    keys = [one.topology_key for one in soft]
    scored = [node for node in feasible if all(key in node.labels for key in keys)]
    raw: dict[str, int] = {}
    for node in scored:
        total = 0.0
        for one in soft:
            key = one.topology_key
            if key == HOSTNAME:
                size, found = len(scored), counted(cluster, pod, node, one)
            else:
                size = len({other.labels[key] for other in scored})
                found = sum(
                    counted(cluster, pod, other, one)
                    for other in cluster.nodes
                    if all(each in other.labels for each in keys)
                    and same_domain(key, node, other)
                    and honored(pod, other, one)
                )
            total += found * math.log(size + 2) + (one.max_skew - 1)
        raw[node.name] = int(total + 0.5)
    if not raw:
        return [0 for _ in feasible]
    most, least = max(raw.values()), min(raw.values())
    return [
        0 if node.name not in raw else 2 * (100 * (most + least - raw[node.name]) // most if most else 100)
        for node in feasible
    ]


def preferred_pods(cluster: Cluster, pod: Pod, feasible: Sequence[Node]) -> list[int] | None:
    pairs: list[tuple[str, str, int]] = []
    for other, where in cluster.running():
        mine, theirs = pod.spec.affinity, other.spec.affinity
        found = [(t.term, t.weight, chosen_by(t.term, pod, other)) for t in mine.pod_preferred]
        found += [(t.term, -t.weight, chosen_by(t.term, pod, other)) for t in mine.anti_preferred]
        found += [(t, 1, chosen_by(t, other, pod)) for t in theirs.pod_required]
        found += [(t.term, t.weight, chosen_by(t.term, other, pod)) for t in theirs.pod_preferred]
        found += [(t.term, -t.weight, chosen_by(t.term, other, pod)) for t in theirs.anti_preferred]
        for term, weight, matches in found:
            if matches and term.topology_key in where.labels:
                pairs.append((term.topology_key, where.labels[term.topology_key], weight))
    if not pairs:
        return None
    raw = [sum(weight for key, value, weight in pairs if node.labels.get(key) == value) for node in feasible]
    most, least = max(raw), min(raw)
    return [2 * int(100 * ((value - least) / (most - least))) if most > least else 0 for value in raw]
