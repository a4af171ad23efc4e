"""What binds pods to nodes, and to one another: selectors, affinity, spread constraints, taints and tolerations.

Names as in ``objects``; matching is in ``selectors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
MEMORY_PRESSURE: Final = "node.kubernetes.io/memory-pressure"
"""Keys of the taints that the node lifecycle controller sets (``pkg/controller/nodelifecycle``, taintKeyThroughMap)."""

TOLERATION_S: Final = 300
"""How long a pod stays on a node that is not ready or unreachable, where it does not say."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """``key operator values``. ``operator``: In, NotIn, Exists, DoesNotExist, and for nodes Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of its requirements: those of matchLabels as ``In`` of one value (by key), then the matchExpressions.

    Without any, everything matches; a selector that is left out is None and matches nothing.
    """

    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """All of its expressions and fields (``metadata.name`` is the only field); without any, no node matches."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class PreferredNodeTerm:
    """preferredDuringSchedulingIgnoredDuringExecution of the node affinity; ``weight`` 1 to 100."""

    weight: int
    preference: NodeSelectorTerm


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """Pods of a topology domain. ``namespaces`` and ``namespace_selector`` unite; both left out: the pod's own."""

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WeightedPodAffinityTerm:
    """A preferred term; ``weight`` 1 to 100."""

    weight: int
    term: PodAffinityTerm


@dataclass(frozen=True, slots=True)
class Affinity:
    """nodeAffinity, podAffinity and podAntiAffinity.

    ``node_required`` None: no requirement; an empty tuple is one that no node meets.
    """

    node_required: tuple[NodeSelectorTerm, ...] | None = None
    node_preferred: tuple[PreferredNodeTerm, ...] = ()
    pod_required: tuple[PodAffinityTerm, ...] = ()
    pod_preferred: tuple[WeightedPodAffinityTerm, ...] = ()
    anti_required: tuple[PodAffinityTerm, ...] = ()
    anti_preferred: tuple[WeightedPodAffinityTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class TopologySpreadConstraint:
    """``min_domains`` None: 1. Policies: Honor or Ignore."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str = DO_NOT_SCHEDULE
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node. ``added_ns``: timeAdded, None where nothing is said."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE
    added_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Toleration:
    """Empty ``key`` with Exists: every taint; empty ``effect``: every effect; ``seconds`` None: for ever."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None
