"""The cluster as the descheduler's caches have it in one cycle, and whether a pod would fit elsewhere.

Source: kubernetes-sigs/descheduler (as of v0.34) ``pkg/descheduler/node/node.go``: NodeFit, PodFitsAnyOtherNode,
fitsRequest, NodeUtilization; ``pkg/utils/predicates.go``. Of the scheduler's filters it looks at the node selector and
required affinity, taints, requests, the cordon and the pod's own anti-affinity, and at no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.systems.kubernetes.api.constraints import LabelSelector
from gnomon.systems.kubernetes.api.objects import Amounts, Labels, Node, Pod
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.api.selectors import REJECTING, node_matches, selects, term_selects, tolerates

BASIC = ("cpu", "memory", "pods")


@dataclass(frozen=True)
class Seen:
    """A pod on a node. ``task``: of the run, -1 for one that is terminating."""

    pod: Pod
    node: str
    task: int = -1
    restarts: int = 0
    ready: bool = True
    start_ns: int = 0

    @property
    def terminates(self) -> bool:
        """Whether it is being deleted."""
        return self.task < 0 or self.pod.is_terminating


@dataclass(frozen=True)
class View:
    """``nodes``: those that are ready, in their order; ``pods``: by node, in the order of their objects (of a real
    descheduler that order is any); ``namespaces``: their labels."""

    nodes: Sequence[Node]
    pods: Mapping[str, Sequence[Seen]]
    namespaces: Mapping[str, Labels]
    _asked: dict[str, Amounts] = field(default_factory=dict)

    def selected(self, selector: LabelSelector | None) -> list[Node]:
        """The nodes that a selector selects; None: all."""
        return [node for node in self.nodes if selector is None or selects(selector, node.labels)]

    def used(self, node: str, names: Iterable[str]) -> dict[str, int]:
        """What the pods of a node ask for; of ``pods`` how many there are. Those that are terminating count."""
        asked = self._asked.get(node)
        if asked is None:
            there = self.pods.get(node, ())
            asked = self._asked[node] = {**_together(there), "pods": len(there)}
        return {name: asked.get(name, 0) for name in names}

    def fits_elsewhere(self, one: Seen, nodes: Iterable[Node]) -> bool:
        """Whether one of some nodes, other than its own, would take a pod."""
        return any(node.name != one.node and self.fits(one, node) for node in nodes)

    def fits(self, one: Seen, node: Node) -> bool:
        """Whether a node would take a pod, by the rules of the descheduler."""
        spec = one.pod.spec
        if not may_run_on(one.pod, node) or node.unschedulable:
            return False
        asked = pod_requests(spec)
        used = self.used(node.name, {*asked, "pods"})
        free = {name: node.allocatable.get(name, 0) - amount for name, amount in used.items()}
        if any(amount > free[name] for name, amount in asked.items()) or free["pods"] <= 0:
            return False
        return not any(
            term_selects(term, one.pod.namespace, other.pod.labels, other.pod.namespace, self.namespaces)
            for term in spec.affinity.anti_required
            for other in self.pods.get(node.name, ())
        )


def _together(pods: Iterable[Seen]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in pods:
        for name, amount in pod_requests(one.pod.spec).items():
            found[name] = found.get(name, 0) + amount
    return found


def may_run_on(pod: Pod, node: Node) -> bool:
    """Whether a pod's node selector, required affinity and tolerations let it be on a node."""
    rejecting = [taint for taint in node.taints if taint.effect in REJECTING]
    tolerated = all(any(tolerates(one, taint) for one in pod.spec.tolerations) for taint in rejecting)
    return tolerated and node_matches(pod.spec, node.labels, node.name)


def tolerates_some(pod: Pod, nodes: Iterable[Node]) -> bool:
    """Whether a pod tolerates all taints, also those that only say "rather not", of at least one node. A pod with fewer
    tolerations than a node has taints is taken not to (PodToleratesTaints of ``pkg/utils/pod.go``)."""
    return any(
        len(pod.spec.tolerations) >= len(node.taints)
        and all(any(tolerates(one, taint) for one in pod.spec.tolerations) for taint in node.taints)
        for node in nodes
    )
