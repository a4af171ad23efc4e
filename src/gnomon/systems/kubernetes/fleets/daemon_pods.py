"""The pods of DaemonSets: on which nodes there is to be one, and what it asks for there.

Source: ``pkg/controller/daemon`` (NodeShouldRunDaemonPod, Predicates; util, AddOrUpdateDaemonPodTolerations), v1.29.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gnomon.systems.kubernetes.api.constraints import NodeSelectorTerm, Requirement, Toleration
from gnomon.systems.kubernetes.api.objects import Node, Pod, PodSpec
from gnomon.systems.kubernetes.api.selectors import node_matches, untolerated
from gnomon.systems.kubernetes.api.workloads import DaemonSet, PodTemplate

TOLERATIONS: Final = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/pid-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
)
"""What the controller adds; pods of the host's network tolerate ``network-unavailable``, too."""

NETWORK: Final = Toleration("node.kubernetes.io/network-unavailable", "Exists", "", "NoSchedule")


def tolerating(plain: PodSpec) -> PodSpec:
    """A spec with the tolerations that the controller adds."""
    added = (*TOLERATIONS, NETWORK) if plain.host_network else TOLERATIONS
    return replace(plain, tolerations=(*plain.tolerations, *(one for one in added if one not in plain.tolerations)))


def should_run(spec: PodSpec, node: Node) -> bool:
    """Whether a node is to have a pod of a spec (with its tolerations): its labels are as selected, and no taint keeps
    it away. Room is not looked at: a pod that lacks it waits.

    >>> from gnomon.systems.kubernetes.api.constraints import Taint
    >>> spec = tolerating(PodSpec(node_selector={"gpu": "yes"}))
    >>> [should_run(spec, node) for node in (Node("a"), Node("b", {"gpu": "yes"}))]
    [False, True]
    >>> [should_run(spec, Node("b", {"gpu": "yes"}, taints=(Taint(key),))) for key in ("mine", TOLERATIONS[5].key)]
    [False, True]
    """
    return node_matches(spec, node.labels, node.name) and untolerated(node.taints, spec.tolerations) is None


def bound_to(template: PodTemplate, spec: PodSpec, node: Node) -> PodTemplate:
    """The template of the pod of a node: each term of its affinity wants that node by its name
    (ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    here = (Requirement("metadata.name", "In", (node.name,)),)
    wanted = spec.affinity.node_required
    terms = tuple(replace(term, match_fields=here) for term in wanted or (NodeSelectorTerm(),))
    return replace(template, spec=replace(spec, affinity=replace(spec.affinity, node_required=terms)))


def node_of(pod: Pod) -> str | None:
    """The node that a pod of a DaemonSet is for.

    >>> there = bound_to(PodTemplate(), PodSpec(), Node("a"))
    >>> node_of(Pod("p", spec=there.spec)), node_of(Pod("p"))
    ('a', None)
    """
    terms = pod.spec.affinity.node_required or ()
    named = {one.values for term in terms for one in term.match_fields if one.operator == "In"}
    return min(named)[0] if len(named) == 1 and len(min(named)) == 1 else None


def is_steered(specs: list[tuple[int, DaemonSet]]) -> bool:
    """Whether a DaemonSet changes, or comes, while the cluster runs."""
    return len(specs) > 1 or specs[0][0] > 0
