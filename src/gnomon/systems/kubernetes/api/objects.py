"""What the scheduler of Kubernetes sees: pods, nodes and what stands around them, as the API has them.

Names are the API's in snake case (https://kubernetes.io/docs/reference/kubernetes-api/, version 1.34). Amounts are
exact integers by resource: ``cpu`` in millicores, all others in bytes or units, rounded up as the API rounds. Times
are ns since 1970-01-01T00:00Z. Nothing here is changed once it is made: pods that say the same share one
:class:`PodSpec`, so what is worked out of a spec can be kept by ``id(spec)`` as long as the spec is kept.

What binds pods to nodes (affinity, taints ...) is in ``constraints``, workloads (ReplicaSet, Job ...) in ``workloads``,
volumes and claims in ``storage``, what the API server checks in ``policies``; ``snapshot`` holds lists of all of them.
What a pod asks for is worked out in ``requests``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gnomon.systems.kubernetes.api.constraints import (
    Affinity,
    LabelSelector,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)

Amounts = Mapping[str, int]
"""Amounts by resource name: cpu in millicores, others in bytes or units."""

Labels = Mapping[str, str]

DEFAULT_SCHEDULER: Final = "default-scheduler"
MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a pod that only shows one that its kubelet was given as a file."""
GRACE_DEFAULT_S: Final = 30
"""terminationGracePeriodSeconds of a pod that says nothing."""

TERMINAL_PHASES: Final = frozenset(("Succeeded", "Failed"))


# ---------------------------------------------------------------- pods


@dataclass(frozen=True, slots=True)
class ContainerPort:
    """A port; ``host_port`` 0: none on the node; ``host_ip`` empty: all addresses."""

    container_port: int
    host_port: int = 0
    protocol: str = "TCP"
    host_ip: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """When a container counts as failed or ready; times in seconds. Source of the defaults: API defaults, v1.34."""

    initial_delay_s: int = 0
    period_s: int = 10
    timeout_s: int = 1
    success_threshold: int = 1
    failure_threshold: int = 3
    grace_s: int | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """A container, an init container, or a sidecar (an init container that restarts always)."""

    name: str
    image: str = ""
    requests: Amounts = field(default_factory=dict)
    limits: Amounts = field(default_factory=dict)
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    liveness: Probe | None = None
    readiness: Probe | None = None
    startup: Probe | None = None
    claims: tuple[str, ...] = ()

    @property
    def is_sidecar(self) -> bool:
        """Whether it runs beside the containers that it was started before."""
        return self.restart_policy == "Always"


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of a pod. ``kind``: its source as the API calls it; ``source``: the claim's, disk's or driver's name.

    ``read_only``: of disks that several pods may read; ``ephemeral``: a claim made for this pod alone, named
    ``<pod>-<volume>``.
    """

    name: str
    kind: str
    source: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class PodResourceClaim:
    """resourceClaims[] of a pod: by claim or by template."""

    name: str
    claim: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What a pod asks for; what differs between pods of one template (node, nomination) is in :class:`Pod`.

    ``priority`` None: not yet admitted. ``requests`` and ``limits`` are those of the pod level (spec.resources), None
    where there are none.
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    requests: Amounts | None = None
    limits: Amounts | None = None
    overhead: Amounts = field(default_factory=dict)
    scheduler_name: str = DEFAULT_SCHEDULER
    priority: int | None = None
    priority_class: str = ""
    preemption_policy: str = ""
    node_selector: Labels = field(default_factory=dict)
    affinity: Affinity = field(default_factory=Affinity)
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool = False
    restart_policy: str = "Always"
    grace_s: int = GRACE_DEFAULT_S
    active_deadline_s: int | None = None

    @property
    def never_preempts(self) -> bool:
        """Whether its preemptionPolicy is Never."""
        return self.preemption_policy == "Never"


@dataclass(frozen=True, slots=True)
class Owner:
    """The controlling ownerReference."""

    kind: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of an object's status: ``status`` True, False or Unknown."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    since_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod. ``order``: its number among all objects as they were read (or created)."""

    name: str
    namespace: str = "default"
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    spec: PodSpec = PodSpec()
    owner: Owner | None = None
    node_name: str = ""
    nominated_node: str = ""
    phase: str = "Pending"
    conditions: tuple[Condition, ...] = ()
    start_time_ns: int | None = None
    creation_ns: int | None = None
    deletion_ns: int | None = None
    uid: str = ""
    order: int = 0
    restarts: int = 0
    version: int = 0
    """metadata.resourceVersion: of objects of one kind the one that was written later has the larger (KEP-5504)."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def priority(self) -> int:
        """The priority that counts: 0 where nothing is said."""
        return self.spec.priority or 0

    @property
    def is_terminal(self) -> bool:
        """Whether it has ended: the scheduler does not see it."""
        return self.phase in TERMINAL_PHASES

    @property
    def is_there(self) -> bool:
        """Whether the API server has it already: it was not only read of in a manifest."""
        return bool(self.uid or self.node_name or self.conditions) or self.creation_ns is not None

    @property
    def is_terminating(self) -> bool:
        """Whether it is being deleted."""
        return self.deletion_ns is not None


# ---------------------------------------------------------------- nodes and what else the scheduler looks at


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a node has, under all of its names."""

    names: tuple[str, ...]
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A node. ``order``: as of :class:`Pod`."""

    name: str
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    capacity: Amounts = field(default_factory=dict)
    allocatable: Amounts = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    conditions: tuple[Condition, ...] = ()
    creation_ns: int | None = None
    order: int = 0


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace; the API server gives it the label ``kubernetes.io/metadata.name``."""

    name: str
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A priority by name; ``preemption_policy`` empty: PreemptLowerPriority."""

    name: str
    value: int
    global_default: bool = False
    preemption_policy: str = ""


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """How many of the selected pods may be gone; ``min_available`` and ``max_unavailable``: a number or a percentage.

    ``disruptions_allowed`` and ``disrupted_pods`` (names) are the status; None: there is no status yet.
    """

    name: str
    namespace: str = "default"
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    disruptions_allowed: int | None = None
    disrupted_pods: tuple[str, ...] = ()
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Service:
    """A service: its ``selector`` is one of label values; without any it selects nothing."""

    name: str
    namespace: str = "default"
    selector: Labels = field(default_factory=dict)
