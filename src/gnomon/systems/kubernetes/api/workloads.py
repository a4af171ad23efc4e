"""What makes pods: ReplicaSets, Deployments, StatefulSets, DaemonSets, Jobs and CronJobs.

Names as in ``objects``. Defaults are the API's (``pkg/apis/{apps,batch}/v1/defaults.go`` of v1.34). A number or a
percentage (``maxSurge: 25%``) stays as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.systems.kubernetes.api.constraints import LabelSelector
from gnomon.systems.kubernetes.api.objects import Labels, Owner, PodSpec
from gnomon.systems.kubernetes.api.storage import PersistentVolumeClaim

IntOrPercent = int | str
"""A number, or a percentage as text."""


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """What pods are made of."""

    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    spec: PodSpec = field(default_factory=PodSpec)


@dataclass(frozen=True, slots=True)
class Workload:
    """What all of them have. ``order``: as of a pod."""

    name: str
    namespace: str = "default"
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    owner: Owner | None = None
    uid: str = ""
    creation_ns: int | None = None
    order: int = 0


@dataclass(frozen=True, slots=True)
class ReplicaSet(Workload):
    """A ReplicaSet, or a ReplicationController (``kind``), whose selector is one of values."""

    kind: str = "ReplicaSet"
    replicas: int = 1
    selector: LabelSelector | None = None
    template: PodTemplate | None = None
    min_ready_s: int = 0


@dataclass(frozen=True, slots=True)
class Deployment(Workload):
    """A Deployment; ``strategy`` RollingUpdate or Recreate."""

    replicas: int = 1
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    strategy: str = "RollingUpdate"
    max_surge: IntOrPercent = "25%"
    max_unavailable: IntOrPercent = "25%"
    min_ready_s: int = 0
    progress_deadline_s: int = 600
    paused: bool = False
    revision_history_limit: int = 10


@dataclass(frozen=True, slots=True)
class StatefulSet(Workload):
    """A StatefulSet; ``pod_management`` OrderedReady or Parallel, ``strategy`` RollingUpdate or OnDelete."""

    replicas: int = 1
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    pod_management: str = "OrderedReady"
    strategy: str = "RollingUpdate"
    partition: int = 0
    max_unavailable: IntOrPercent = 1
    min_ready_s: int = 0
    first_ordinal: int = 0
    claim_templates: tuple[PersistentVolumeClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class DaemonSet(Workload):
    """A DaemonSet; ``strategy`` RollingUpdate or OnDelete."""

    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    strategy: str = "RollingUpdate"
    max_surge: IntOrPercent = 0
    max_unavailable: IntOrPercent = 1
    min_ready_s: int = 0


@dataclass(frozen=True, slots=True)
class PodFailureRule:
    """A rule of podFailurePolicy: ``action`` FailJob, FailIndex, Ignore or Count, for exit codes or pod conditions.

    ``exit_operator`` In or NotIn, empty where the rule is one of ``conditions`` (type and status).
    """

    action: str
    exit_operator: str = ""
    exit_codes: tuple[int, ...] = ()
    container: str = ""
    conditions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SuccessRule:
    """A rule of successPolicy: these indexes (as written, ``0,2-4``), or this many of them; None: all."""

    indexes: str = ""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Job(Workload):
    """A Job. ``completions`` None: one success ends it, whatever ``parallelism``; ``backoff_limit`` None: the default
    (6, or none with a limit per index). Of its status: ``is_over`` by its conditions, how many pods have ``succeeded``
    and ``failed``, and which indexes (as written, ``0,2-4``) are done, or given up."""

    parallelism: int = 1
    completions: int | None = 1
    is_over: bool = False
    succeeded: int = 0
    failed: int = 0
    done_indexes: str = ""
    failed_indexes: str = ""
    completion_mode: str = "NonIndexed"
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    active_deadline_s: int | None = None
    ttl_after_finished_s: int | None = None
    suspend: bool = False
    pod_replacement_policy: str = ""
    failure_rules: tuple[PodFailureRule, ...] = ()
    success_rules: tuple[SuccessRule, ...] = ()
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()

    @property
    def places(self) -> int:
        """How many pods there are to be in all, each with a place of its own.

        >>> Job("j", completions=5, parallelism=2).places, Job("j", completions=None, parallelism=3).places
        (5, 3)
        """
        return self.parallelism if self.completions is None else self.completions


@dataclass(frozen=True, slots=True)
class CronJob(Workload):
    """A CronJob: ``schedule`` in cron's five fields; ``job`` is what it makes, without a name."""

    schedule: str = ""
    time_zone: str = ""
    concurrency_policy: str = "Allow"
    starting_deadline_s: int | None = None
    suspend: bool = False
    successful_history: int = 3
    failed_history: int = 1
    job: Job = Job("")


@dataclass(frozen=True, slots=True)
class PodGroup(Workload):
    """A gang of the coscheduling plugin (scheduling.x-k8s.io/v1alpha1)."""

    min_member: int = 1
    min_resources: Mapping[str, int] = field(default_factory=dict)
    schedule_timeout_s: int | None = None
