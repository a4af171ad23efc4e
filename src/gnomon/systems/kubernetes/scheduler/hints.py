"""Queueing hints: which events may help a pod that was refused (sheet §3). Pure functions of the event and the pod.

Only the plugins that refused a pod are asked. Where kube-scheduler 1.34 registers an event without a hint of its own,
it helps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from gnomon.systems.kubernetes.api.constraints import DO_NOT_SCHEDULE
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.requests import host_ports, pod_requests
from gnomon.systems.kubernetes.api.selectors import node_matches, selects, tolerates, untolerated
from gnomon.systems.kubernetes.scheduler.plugins.node_ports import EVERYWHERE
from gnomon.systems.kubernetes.scheduler.plugins.node_unschedulable import CORDON


@dataclass(frozen=True)
class NodeChanged:
    """A node came (``old`` None), went (``new`` None) or changed."""

    old: Node | None
    new: Node | None


@dataclass(frozen=True)
class PodChanged:
    """An assigned pod came (``old`` None), went (``new`` None) or changed."""

    old: Pod | None
    new: Pod | None


@dataclass(frozen=True)
class StorageChanged:
    """A claim, a volume, a class or a CSINode came or changed."""


Event = NodeChanged | PodChanged | StorageChanged


def may_help(event: Event, pod: Pod, by: Iterable[str]) -> bool:
    """Whether an event may help a pod that these plugins refused.

    >>> small, large = Node("n", allocatable={"cpu": 1000, "pods": 9}), Node("n", allocatable={"cpu": 9000, "pods": 9})
    >>> from gnomon.systems.kubernetes.api.objects import Container, PodSpec
    >>> pod = Pod("p", spec=PodSpec((Container("c", requests={"cpu": 2000}),)))
    >>> [may_help(NodeChanged(None, node), pod, ["NodeResourcesFit"]) for node in (small, large)]
    [False, True]
    """
    return any(name in _HINTS and _HINTS[name](event, pod) for name in by)


def helped(event: Event, waiting: Iterable[tuple[Pod, Iterable[str]]]) -> list[str]:
    """The keys of the pods that an event may help, of pods and the plugins that refused them."""
    return [pod.key for pod, by in waiting if may_help(event, pod, by)]


def _resources(event: Event, pod: Pod) -> bool:
    requests = pod_requests(pod.spec)
    if isinstance(event, PodChanged):
        if event.old is None:
            return False
        before = pod_requests(event.old.spec)
        after = pod_requests(event.new.spec) if event.new is not None else {}
        return event.new is None or any(requests.get(name, 0) and after.get(name, 0) < before[name] for name in before)
    if not isinstance(event, NodeChanged) or event.new is None:
        return False
    room = event.new.allocatable
    if any(amount > room.get(name, 0) for name, amount in requests.items()) or room.get("pods", 0) < 1:
        return False
    if event.old is None:
        return True
    wanted = (*(name for name, amount in requests.items() if amount), "pods")
    return any(room.get(name, 0) > event.old.allocatable.get(name, 0) for name in wanted)


def _node_flips(good: Callable[[Node, Pod], bool]) -> Callable[[Event, Pod], bool]:
    """A node that comes and is good, or that becomes good."""

    def hint(event: Event, pod: Pod) -> bool:
        if not isinstance(event, NodeChanged) or event.new is None or not good(event.new, pod):
            return False
        return event.old is None or not good(event.old, pod)

    return hint


def _tolerated(node: Node, pod: Pod) -> bool:
    return untolerated(node.taints, pod.spec.tolerations) is None


def _open(node: Node, pod: Pod) -> bool:
    return not node.unschedulable or any(tolerates(one, CORDON) for one in pod.spec.tolerations)


def _selected(node: Node, pod: Pod) -> bool:
    return node_matches(pod.spec, node.labels, node.name)


def _ports(event: Event, pod: Pod) -> bool:
    if isinstance(event, NodeChanged):
        return event.old is None
    if not isinstance(event, PodChanged) or event.old is None or event.new is not None:
        return False
    freed = host_ports(event.old.spec)
    return any(
        (protocol, port) == (other_protocol, other_port) and (address == other or EVERYWHERE in (address, other))
        for address, protocol, port in host_ports(pod.spec)
        for other, other_protocol, other_port in freed
    )


def _spread(event: Event, pod: Pod) -> bool:
    hard = [one for one in pod.spec.topology_spread_constraints if one.when_unsatisfiable == DO_NOT_SCHEDULE]
    if isinstance(event, NodeChanged):
        nodes = [node for node in (event.old, event.new) if node is not None]
        return not hard or any(all(one.topology_key in node.labels for one in hard) for node in nodes)
    if not isinstance(event, PodChanged):
        return False
    pods = [one for one in (event.old, event.new) if one is not None]
    if event.old is not None and event.new is not None and event.old.labels == event.new.labels:
        return False
    return any(
        other.namespace == pod.namespace
        and (not hard or any(selects(one.label_selector, other.labels) for one in hard))
        for other in pods
    )


def _affinity(event: Event, pod: Pod) -> bool:
    affinity = pod.spec.affinity
    if isinstance(event, NodeChanged):
        if event.new is None:
            return False
        keys = {term.topology_key for term in (*affinity.pod_required, *affinity.anti_required)}
        return event.old is None or any(event.old.labels.get(key) != event.new.labels.get(key) for key in keys)
    if not isinstance(event, PodChanged):
        return False
    # A pod that comes may be the one it wants to be near; one that goes may be the one it, or that other, avoids. The
    # namespaces of the terms are not looked at: at worst the pod is tried once too often.
    if event.new is not None and any(selects(term.label_selector, event.new.labels) for term in affinity.pod_required):
        return True
    gone = event.old
    return gone is not None and (
        any(selects(term.label_selector, gone.labels) for term in affinity.anti_required)
        or any(selects(term.label_selector, pod.labels) for term in gone.spec.affinity.anti_required)
    )


def _storage(event: Event, pod: Pod) -> bool:
    if isinstance(event, NodeChanged):
        return event.new is not None and (event.old is None or event.old.labels != event.new.labels)
    return not isinstance(event, PodChanged) or event.new is None


_HINTS: Final[dict[str, Callable[[Event, Pod], bool]]] = {
    "NodeResourcesFit": _resources,
    "TaintToleration": _node_flips(_tolerated),
    "NodeAffinity": _node_flips(_selected),
    "NodeUnschedulable": _node_flips(_open),
    "NodePorts": _ports,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _affinity,
    "VolumeRestrictions": _storage,
    "NodeVolumeLimits": _storage,
    "VolumeBinding": _storage,
    "VolumeZone": _storage,
}
