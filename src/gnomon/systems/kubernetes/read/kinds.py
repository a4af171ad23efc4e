"""Which kinds of the API are read, and one object of any kind as a typed value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gnomon.systems.kubernetes.api.names import Rule, invalid, label, path_segment, subdomain
from gnomon.systems.kubernetes.api.objects import Pod, PodSpec
from gnomon.systems.kubernetes.read import cluster_fields as cluster
from gnomon.systems.kubernetes.read import workload_fields as workload
from gnomon.systems.kubernetes.read.annotations import read_annotations
from gnomon.systems.kubernetes.read.fields import Fields, Findings
from gnomon.systems.kubernetes.read.pod_fields import SpecReader, read_conditions, read_owner
from gnomon.systems.kubernetes.read.workload_fields import QUIET_METADATA, ReadSpec

CONFIGURATION: Final = "KubeSchedulerConfiguration"
PHASES: Final = ("Pending", "Running", "Succeeded", "Failed", "Unknown")

_Read = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind: the list of :class:`Objects` that takes it, how it is read, whether it makes pods, and the rule of its
    names."""

    name: str
    into: str
    read: _Read
    namespaced: bool = True
    quiet: tuple[str, ...] = ()
    makes_pods: bool = False
    names: Rule = subdomain


KINDS: Final[Mapping[tuple[str, str], Kind]] = {
    (group, kind.name): kind
    for group, kind in (
        ("", Kind("Node", "nodes", cluster.read_node, namespaced=False)),
        ("", Kind("Namespace", "namespaces", cluster.read_namespace, namespaced=False, quiet=("spec",), names=label)),
        ("", Kind("Service", "services", cluster.read_service, names=label)),
        ("", Kind("ResourceQuota", "resource_quotas", cluster.read_quota)),
        ("", Kind("LimitRange", "limit_ranges", cluster.read_limit_range)),
        ("", Kind("PersistentVolume", "volumes", cluster.read_volume, namespaced=False)),
        ("", Kind("PersistentVolumeClaim", "claims", cluster.read_claim)),
        ("", Kind("ReplicationController", "replica_sets", workload.read_replication_controller, makes_pods=True)),
        ("apps", Kind("ReplicaSet", "replica_sets", workload.read_replica_set, makes_pods=True)),
        ("apps", Kind("Deployment", "deployments", workload.read_deployment, makes_pods=True)),
        ("apps", Kind("StatefulSet", "stateful_sets", workload.read_stateful_set, makes_pods=True)),
        ("apps", Kind("DaemonSet", "daemon_sets", workload.read_daemon_set, makes_pods=True)),
        ("batch", Kind("Job", "jobs", workload.read_job, makes_pods=True)),
        ("batch", Kind("CronJob", "cron_jobs", workload.read_cron_job, makes_pods=True)),
        ("scheduling.x-k8s.io", Kind("PodGroup", "pod_groups", workload.read_pod_group)),
        ("policy", Kind("PodDisruptionBudget", "disruption_budgets", cluster.read_budget, names=path_segment)),
        (
            "scheduling.k8s.io",
            Kind(
                "PriorityClass",
                "priority_classes",
                cluster.read_priority_class,
                namespaced=False,
                quiet=("description",),
            ),
        ),
        (
            "storage.k8s.io",
            Kind(
                "StorageClass",
                "storage_classes",
                cluster.read_storage_class,
                namespaced=False,
                quiet=("reclaimPolicy", "allowVolumeExpansion", "mountOptions"),
            ),
        ),
        ("storage.k8s.io", Kind("CSINode", "csi_nodes", cluster.read_csi_node, namespaced=False)),
        ("resource.k8s.io", Kind("ResourceClaim", "resource_claims", cluster.read_resource_claim)),
    )
}
"""The kinds by group and name, pods left out, which :class:`ObjectReader` reads itself."""

POD: Final = Kind("Pod", "pods", lambda: None)


def kind_of(value: Mapping[str, Any]) -> Kind | None:
    """The kind of an object; None for one that is not modelled."""
    group = str(value.get("apiVersion")).rpartition("/")[0]
    name = value.get("kind")
    if not group and name == "Pod":
        return POD
    return KINDS.get((group, name)) if isinstance(name, str) else None


class ObjectReader:
    """Reads objects of known kinds; specs of pods that say the same are shared."""

    def __init__(self) -> None:
        self._specs = SpecReader()

    def read(self, value: Mapping[str, Any], kind: Kind, order: int, findings: Findings) -> Any:
        """The typed value. Where ``findings`` has problems afterwards, it is not to be used."""
        body = Fields(value, findings, kind.name)
        body.raw("apiVersion"), body.raw("kind")
        metadata = body.inside("metadata")
        if not metadata.text("generateName") or metadata.text("name"):
            metadata.named("name", kind.names)
        space = metadata.text("namespace") if kind.namespaced else ""
        if space and (text := label(space)) is not None:
            metadata.wrong("namespace", invalid(space, text))

        def read_spec(parent: Fields) -> PodSpec:
            return self._specs.read(parent, findings, kind.name)

        if kind is POD:
            found = _pod(body, metadata, order, read_spec)
        elif kind.makes_pods:
            found = kind.read(body, metadata, order, read_spec)
        else:
            found = kind.read(body, metadata, order)
        metadata.finish(quiet=QUIET_METADATA)
        body.finish(quiet=("spec", "status", *kind.quiet))
        return found


def _pod(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> Pod:
    status, spec = body.inside("status"), body.inside("spec")
    return Pod(
        name=metadata.text("name") or f"{metadata.text('generateName')}{order}",
        namespace=metadata.text("namespace", "default"),
        labels=metadata.checked_labels("labels"),
        annotations=read_annotations(metadata),
        spec=read_spec(body),
        owner=read_owner(metadata),
        node_name=spec.text("nodeName"),
        nominated_node=status.text("nominatedNodeName"),
        phase=status.text("phase", "Pending", of=PHASES),
        conditions=read_conditions(status),
        start_time_ns=status.time_ns("startTime"),
        creation_ns=metadata.time_ns("creationTimestamp"),
        deletion_ns=metadata.time_ns("deletionTimestamp"),
        uid=metadata.text("uid"),
        order=order,
        restarts=sum(one.integer("restartCount") for one in status.items("containerStatuses")),
        version=_version(metadata),
    )


def _version(metadata: Fields) -> int:
    """The resource version as a number; 0 for one that is none, as of servers that do not count."""
    written = metadata.raw("resourceVersion")
    return int(written) if isinstance(written, str) and written.isdecimal() and len(written) < 20 else 0
