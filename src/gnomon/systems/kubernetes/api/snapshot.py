"""Objects by kind, in their order of appearance: a cluster at one moment, or what is to be made in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.descheduling import DeschedulerPolicy
from gnomon.systems.kubernetes.api.objects import Namespace, Node, Pod, PodDisruptionBudget, PriorityClass, Service
from gnomon.systems.kubernetes.api.policies import LimitRange, ResourceQuota
from gnomon.systems.kubernetes.api.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    ResourceClaim,
    StorageClass,
)
from gnomon.systems.kubernetes.api.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    PodGroup,
    ReplicaSet,
    StatefulSet,
)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A pod (``namespace/name``) that the API server did not take, and what it said."""

    pod: str
    text: str


@dataclass(frozen=True, slots=True)
class Objects:
    """Lists by kind. ``replica_sets`` holds ReplicationControllers too. ``configuration``: a KubeSchedulerConfiguration
    as it is written, ``descheduler``: the policy of one; None where there is none.

    ``rejections``: what the API server refused; ``notes``: what was ignored or taken for granted.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    services: tuple[Service, ...] = ()
    replica_sets: tuple[ReplicaSet, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    stateful_sets: tuple[StatefulSet, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    jobs: tuple[Job, ...] = ()
    cron_jobs: tuple[CronJob, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    resource_quotas: tuple[ResourceQuota, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    claims: tuple[PersistentVolumeClaim, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_nodes: tuple[CSINode, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    configuration: Mapping[str, Any] | None = None
    descheduler: DeschedulerPolicy | None = None
    rejections: tuple[Rejection, ...] = ()
    notes: tuple[Note, ...] = ()
