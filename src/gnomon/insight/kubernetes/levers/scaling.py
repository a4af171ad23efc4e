"""Pods that go and do not come back: by scaling down the workload that would make them anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from gnomon.insight.explain.changes import OTHERS
from gnomon.insight.kubernetes.levers.bench import Bench, Effect, Lever
from gnomon.insight.kubernetes.subjects import owner_of
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import Deployment, ReplicaSet, StatefulSet

COST: Final = "controller.kubernetes.io/pod-deletion-cost"
"""The annotation by which a ReplicaSet chooses among pods that are ready (``pkg/controller/controller_utils.go``,
ActivePodsWithRanks)."""

_SCALABLE: Final = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


def workload_of(pod: Pod, objects: Objects) -> str:
    """The workload of a pod as ``deployment/namespace/name``."""
    kind, name = owner_of(pod, objects)
    return f"{kind.lower()}/{pod.namespace}/{name}"


def replicas_of(pod: Pod, objects: Objects) -> int | None:
    """How many pods the workload of a pod is to have; None where its object is not there."""
    kind, name = owner_of(pod, objects)
    every: dict[str, Sequence[Deployment | StatefulSet | ReplicaSet]] = {
        "Deployment": objects.deployments,
        "StatefulSet": objects.stateful_sets,
        "ReplicaSet": objects.replica_sets,
        "ReplicationController": objects.replica_sets,
    }
    for one in every.get(kind, ()):
        if (one.namespace, one.name) == (pod.namespace, name):
            return one.replicas
    return None


def scaled_down(
    bench: Bench, pod: Pod, where: str, attempt: Callable[[], Effect | None], among: Iterable[Pod] | None = None
) -> Iterator[Lever]:
    """Fewer replicas, so that one pod goes for good. ``attempt``: what comes of it when that is gone; ``where``: what
    that frees; ``among``: the pods that there are (None: those that have a node).

    A StatefulSet gives up the pod with the highest ordinal; a ReplicaSet first those without a node, then those of the
    least deletion cost. A Job is told to make its pods later.
    """
    objects = bench.moment.objects
    kind, name = bench.owner(pod)
    workload = workload_of(pod, objects)
    if among is None:
        among = (one.pod for there in bench.state.pods for one in there.values())
    owned = [
        one
        for one in among
        if one.namespace == pod.namespace and one.owner is not None and bench.owner(one) == (kind, name)
    ]
    if kind not in _SCALABLE or (kind == "StatefulSet" and any(_ordinal(one) > _ordinal(pod) for one in owned)):
        return
    fewer, before = len(owned) - 1, replicas_of(pod, objects)
    before = len(owned) if before is None else before
    how = "" if kind == "StatefulSet" or len(owned) == 1 else f", with {pod.name} as the one to go ({COST})"
    yield Lever(
        kind=OTHERS,
        size=1.0,
        phrase=f"scale {workload} from {before} to {fewer}{how}, which frees {where}",
        object=workload,
        field="spec.replicas",
        before=before,
        after=fewer,
        attempt=attempt,
        group="delete a pod",
    )


def _ordinal(pod: Pod) -> int:
    tail = pod.name.rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1
