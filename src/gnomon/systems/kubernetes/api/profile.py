"""What a scheduler is made of: the plugins of each point in their order, with weights and arguments.

The composition of kube-scheduler 1.34 is :data:`DEFAULT_WEIGHTS`, and ``Profile()`` (semantics sheet §4.2;
https://kubernetes.io/docs/reference/scheduling/config/). ``read.configuration`` changes it as a
KubeSchedulerConfiguration says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.systems.kubernetes.api.constraints import HOSTNAME, ZONE, NodeSelectorTerm, PreferredNodeTerm
from gnomon.systems.kubernetes.api.objects import DEFAULT_SCHEDULER

DEFAULT_WEIGHTS: dict[str, int] = {
    "SchedulingGates": 0,
    "PrioritySort": 0,
    "NodeUnschedulable": 0,
    "NodeName": 0,
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodePorts": 0,
    "NodeResourcesFit": 1,
    "VolumeRestrictions": 0,
    "NodeVolumeLimits": 0,
    "VolumeBinding": 0,
    "VolumeZone": 0,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 0,
    "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DefaultBinder": 0,
}
"""The default plugins in their order, with their weights (0: none set, which counts as 1 where it scores)."""

FILTERS = frozenset(
    """NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions
    NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources""".split()
)
SCORES = frozenset(
    """TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity
    NodeResourcesBalancedAllocation ImageLocality""".split()
)
POST_FILTERS = frozenset(["DynamicResources", "DefaultPreemption"])
PRE_FILTERS = frozenset(
    """NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone
    PodTopologySpread InterPodAffinity DynamicResources""".split()
)
PRE_ENQUEUE = frozenset(["SchedulingGates", "DynamicResources", "DefaultPreemption"])


@dataclass(frozen=True)
class FitArgs:
    """NodeResourcesFitArgs: how free resources are scored, and which extended resources the filter leaves out."""

    strategy: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = (("cpu", 1), ("memory", 1))
    shape: tuple[tuple[int, int], ...] = ()
    """Of RequestedToCapacityRatio: (utilisation in percent, score 0..10)."""
    ignored: frozenset[str] = frozenset()
    ignored_groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SpreadConstraint:
    """A default constraint of PodTopologySpreadArgs."""

    key: str
    max_skew: int
    hard: bool


SYSTEM_DEFAULTS = (
    SpreadConstraint(HOSTNAME, 3, False),
    SpreadConstraint(ZONE, 5, False),
)
"""Sheet §4.5: what pods of a Service or a controller get when they declare no constraint."""


@dataclass(frozen=True)
class SpreadArgs:
    """PodTopologySpreadArgs. ``defaults`` apply to pods without constraints; ``system``: they are the built-in ones."""

    defaults: tuple[SpreadConstraint, ...] = SYSTEM_DEFAULTS
    system: bool = True


@dataclass(frozen=True)
class AffinityArgs:
    """InterPodAffinityArgs."""

    hard_weight: int = 1
    ignore_preferred_of_existing: bool = False


@dataclass(frozen=True)
class PreemptionArgs:
    """DefaultPreemptionArgs: how many nodes are tried at most."""

    min_percentage: int = 10
    min_absolute: int = 100


@dataclass(frozen=True)
class Profile:
    """One scheduler by name.

    >>> Profile().scores[:2]
    (('TaintToleration', 3), ('NodeAffinity', 2))
    """

    name: str = DEFAULT_SCHEDULER
    pre_enqueue: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in PRE_ENQUEUE)
    pre_filters: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in PRE_FILTERS)
    filters: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in FILTERS)
    post_filters: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in POST_FILTERS)
    scores: tuple[tuple[str, int], ...] = tuple((k, w or 1) for k, w in DEFAULT_WEIGHTS.items() if k in SCORES)
    fit: FitArgs = FitArgs()
    balanced: tuple[str, ...] = ("cpu", "memory")
    spread: SpreadArgs = SpreadArgs()
    affinity: AffinityArgs = AffinityArgs()
    preemption: PreemptionArgs = PreemptionArgs()
    added_required: tuple[NodeSelectorTerm, ...] | None = None
    """NodeAffinityArgs: what every pod of the profile requires of its node besides its own."""
    added_preferred: tuple[PreferredNodeTerm, ...] = ()
    percentage: int | None = None
    """percentageOfNodesToScore of the profile."""


@dataclass(frozen=True)
class Settings:
    """The scheduler as it is set up: its profiles by name, ``percentage``: percentageOfNodesToScore (0: by the number
    of nodes), and the back-off of those who were refused."""

    profiles: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT_SCHEDULER: Profile()})
    percentage: int = 0
    initial_backoff_s: int = 1
    max_backoff_s: int = 10
