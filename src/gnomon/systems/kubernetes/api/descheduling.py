"""What a DeschedulerPolicy says: which pods are sent away, for the scheduler to place them anew, and which never are.

Names are those of ``descheduler/v1alpha2`` in snake case (kubernetes-sigs/descheduler, ``pkg/api/v1alpha2/types.go``
and the ``types.go`` of each plugin, as of v0.34). Thresholds are in
:data:`PERCENT`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gnomon.systems.kubernetes.api.constraints import DO_NOT_SCHEDULE, LabelSelector

POLICY: Final = "DeschedulerPolicy"
EVICTOR: Final = "DefaultEvictor"
LOW: Final = "LowNodeUtilization"
HIGH: Final = "HighNodeUtilization"
DUPLICATES: Final = "RemoveDuplicates"
SPREAD: Final = "RemovePodsViolatingTopologySpreadConstraint"
RESTARTS: Final = "RemovePodsHavingTooManyRestarts"

INTERVAL: Final = "gnomon.dev/descheduling-interval"
"""An annotation of the policy: the flag ``--descheduling-interval``, which the policy itself has no field for."""

INTERVAL_NS: Final = 300 * 10**9
"""What the Helm chart sets (``deschedulingInterval: 5m`` of ``charts/descheduler/values.yaml``)."""

LOCAL_STORAGE: Final = "PodsWithLocalStorage"
DAEMONS: Final = "DaemonSetPods"
CRITICAL: Final = "SystemCriticalPods"
FAILED_BARE: Final = "FailedBarePods"
CLAIMS: Final = "PodsWithPVC"
NO_BUDGET: Final = "PodsWithoutPDB"
DEVICES: Final = "PodsWithResourceClaims"
DEFAULT_PROTECTIONS: Final = (LOCAL_STORAGE, DAEMONS, CRITICAL, FAILED_BARE)
EXTRA_PROTECTIONS: Final = (CLAIMS, NO_BUDGET, DEVICES)

PERCENT: Final = 10_000
"""Units of a threshold that make one percent."""

Thresholds = Mapping[str, int]
"""Shares by resource, in 1/10,000 of a percent."""


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Which namespaces count: those included (none named: all) that are not excluded."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __contains__(self, name: object) -> bool:
        return (not self.include or name in self.include) and name not in self.exclude


@dataclass(frozen=True, slots=True)
class Evictor:
    """DefaultEvictor: which pods may be sent away at all. ``priority_threshold``: pods from this priority on may not
    (``priority_class``: the same by name); ``protections``: kinds of pods that may not."""

    node_selector: LabelSelector | None = None
    label_selector: LabelSelector | None = None
    priority_threshold: int | None = None
    priority_class: str = ""
    node_fit: bool = False
    min_replicas: int = 0
    min_pod_age_ns: int = 0
    mandatory: bool = False
    """Whether the annotation prefer-no-eviction is a rule (noEvictionPolicy Mandatory)."""
    protections: frozenset[str] = frozenset(DEFAULT_PROTECTIONS)


@dataclass(frozen=True, slots=True)
class Utilization:
    """LowNodeUtilization or HighNodeUtilization (``name``). ``targets``: only of the former; ``deviation``: thresholds
    count from the mean; ``number_of_nodes``: nothing is done unless more nodes than that are below the thresholds."""

    name: str
    thresholds: Thresholds
    targets: Thresholds = field(default_factory=dict)
    deviation: bool = False
    number_of_nodes: int = 0
    namespaces: Namespaces = Namespaces()
    node_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Duplicates:
    """RemoveDuplicates."""

    exclude_owner_kinds: tuple[str, ...] = ()
    namespaces: Namespaces = Namespaces()
    name: str = DUPLICATES


@dataclass(frozen=True, slots=True)
class SpreadViolations:
    """RemovePodsViolatingTopologySpreadConstraint; ``constraints``: DoNotSchedule, ScheduleAnyway or both."""

    constraints: tuple[str, ...] = (DO_NOT_SCHEDULE,)
    node_fit: bool = True
    label_selector: LabelSelector | None = None
    namespaces: Namespaces = Namespaces()
    name: str = SPREAD


@dataclass(frozen=True, slots=True)
class Restarts:
    """RemovePodsHavingTooManyRestarts; ``states``: phases or reasons of waiting containers, empty: any."""

    threshold: int
    states: tuple[str, ...] = ()
    label_selector: LabelSelector | None = None
    namespaces: Namespaces = Namespaces()
    name: str = RESTARTS


Plugin = Utilization | Duplicates | SpreadViolations | Restarts


@dataclass(frozen=True, slots=True)
class Profile:
    """Plugins that go by one evictor, in the order in which they are enabled."""

    name: str
    evictor: Evictor = Evictor()
    deschedule: tuple[Plugin, ...] = ()
    balance: tuple[Plugin, ...] = ()


@dataclass(frozen=True, slots=True)
class DeschedulerPolicy:
    """``per_node``, ``per_namespace``, ``total``: most evictions in one cycle; ``grace_s``: what pods have to stop
    instead of their own grace period; ``interval_ns``: between two cycles."""

    profiles: tuple[Profile, ...] = ()
    node_selector: LabelSelector | None = None
    per_node: int | None = None
    per_namespace: int | None = None
    total: int | None = None
    grace_s: int | None = None
    interval_ns: int = INTERVAL_NS

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plugins that are enabled and modelled."""
        return tuple(one for profile in self.profiles for one in (*profile.deschedule, *profile.balance))
