"""Objects of Kubernetes as a scenario: nodes, and a task for each pod that is there or that a workload makes.

A task is a place for a pod, not the pod itself: of a Deployment's replica that loses its node the next pod is the next
attempt of the same task. What only Kubernetes has (affinity, taints, budgets...) stays with the objects, which the
scheduling cycle reads; the scenario carries them in ``native``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gnomon.formats.files import Path
from gnomon.model.cluster import Cluster, Machine
from gnomon.model.cluster import Node as ModelNode
from gnomon.model.errors import InputError
from gnomon.model.quantity import parse_duration
from gnomon.model.resources import E4, MAX_AMOUNT, NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.systems.kubernetes.admission import as_created
from gnomon.systems.kubernetes.objects import Amounts, Node, Owner, Pod, PodSpec
from gnomon.systems.kubernetes.operation import NEWEST, operation, recovery_of
from gnomon.systems.kubernetes.read import read
from gnomon.systems.kubernetes.requests import pod_limits, pod_requests
from gnomon.systems.kubernetes.snapshot import Objects
from gnomon.systems.kubernetes.workloads import DaemonSet, Deployment, Job, PodTemplate, ReplicaSet, StatefulSet

DURATION: Final = "gnomon.dev/duration"
"""The annotation of a pod, or of the template that makes it, that tells how long it runs."""

BESIDE: Final = ("ephemeral-storage", "attachable-volumes", "hugepages-")
"""Beginnings of resources that the scheduling cycle alone counts: they would not fit, or not matter to, the ledger."""


@dataclass(frozen=True)
class Native:
    """What the scheduling cycle reads. ``pods``: the pod of each task, in the order of the tasks."""

    objects: Objects
    pods: tuple[Pod, ...]
    version: tuple[int, int] = NEWEST


def read_scenario(paths: Path | Sequence[Path]) -> Scenario:
    """The scenario of files: :func:`scenario_of` what is read of them."""
    return scenario_of(read(paths))


def scenario_of(objects: Objects, *, version: tuple[int, int] = NEWEST, name: str = "") -> Scenario:
    """The scenario that objects describe. Raises InputError for a cluster without nodes, and for two pods of one name.

    Pods that have ended are left out; pods that are bound run from the beginning on, in the order of their start.
    """
    if not objects.nodes:
        raise InputError("there are no nodes", allowed="objects of kind Node, as of kubectl get nodes -o yaml")
    whole = as_created(objects)
    made = as_created(replace(objects, pods=tuple(_made(whole))))
    pods = tuple(pod for pod in (*whole.pods, *made.pods) if not pod.is_terminal)
    limits = {(job.namespace, job.name): job.backoff_limit for job in objects.jobs}
    work = Work.from_tasks(_task(pod, limits) for pod in pods)
    known = {node.name for node in whole.nodes}
    cluster = Cluster(tuple(_node(node, _bound(pods, node.name)) for node in whole.nodes))
    lost = sorted({pod.node_name for pod in pods if pod.node_name and pod.node_name not in known})
    notes = [*whole.notes]
    if lost:
        text = f"pods are bound to nodes that are not there: {', '.join(lost[:5])}"
        notes.append(Note("guess", "spec.nodeName", text))
    return Scenario(
        cluster,
        replace(work, notes=tuple(notes)),
        system="kubernetes",
        kill_at_limit=False,
        gang=False,
        operation=operation(version),
        native=Native(whole, pods, version),
        name=name,
    )


def _bound(pods: tuple[Pod, ...], node: str) -> Iterator[Pod]:
    return (pod for pod in pods if pod.node_name == node)


def _node(node: Node, bound: Iterator[Pod]) -> ModelNode:
    """A node with what pods may ask of it; more where the pods that are bound to it ask for more (static pods do)."""
    held: dict[str, int] = {}
    for pod in bound:
        for name, amount in {**pod_requests(pod.spec), "pods": 1}.items():
            held[name] = held.get(name, 0) + amount
    offered = {**node.allocatable}
    offered.setdefault("pods", 0)
    offered = {name: max(amount, held.get(name, 0)) for name, amount in offered.items()}
    machine = Machine(
        cpu_milli=node.capacity.get("cpu", 0),
        memory_bytes=max(node.capacity.get("memory", 0), offered.get("memory", 0)),
    )
    return ModelNode(node.name, amounts(offered), labels=tuple(sorted(node.labels.items())), machine=machine)


def _task(pod: Pod, backoff_limits: Mapping[tuple[str, str], int | None]) -> Task:
    requests = {**pod_requests(pod.spec), "pods": 1}
    limits = {name: amount for name, amount in pod_limits(pod.spec).items() if name in ("cpu", "memory")}
    limit = 6
    if pod.owner is not None and pod.owner.kind == "Job":
        said = backoff_limits.get((pod.namespace, pod.owner.name))
        limit = 6 if said is None else said
    return Task(
        id=pod.key,
        shape=Shape(amounts(requests), limit=amounts(limits)),
        duration_ns=duration_ns(pod),
        estimate_ns=NEVER,
        user=pod.namespace,
        queue=pod.spec.scheduler_name,
        priority=pod.priority,
        job=f"{pod.namespace}/{pod.owner.name}" if pod.owner is not None else pod.key,
        recovery=recovery_of(pod, backoff_limit=limit),
    )


def amounts(found: Amounts) -> Resources:
    """Amounts of the API as the ledger has them."""
    named = tuple(
        sorted(
            (name, amount * E4)
            for name, amount in found.items()
            if name not in ("cpu", "memory") and not name.startswith(BESIDE) and amount * E4 <= MAX_AMOUNT
        )
    )
    return Resources(found.get("cpu", 0), found.get("memory", 0), named=named)


def duration_ns(pod: Pod) -> int:
    """How long a pod runs, by its annotation; NEVER if it does not say, as services do."""
    said = pod.annotations.get(DURATION)
    if said is None:
        return NEVER
    try:
        return parse_duration(said)
    except ValueError as error:
        raise InputError(str(error), field=f"pod {pod.key}, metadata.annotations.{DURATION}", found=said) from None


# ---------------------------------------------------------------- what workloads make


def _made(objects: Objects) -> Iterator[Pod]:
    """The pods that workloads have not made yet, as their controllers would, in the order of the workloads."""
    order = 1 + max((pod.order for pod in objects.pods), default=0)
    for pod in _of_workloads(objects):
        yield replace(pod, order=order)
        order += 1


def _of_workloads(objects: Objects) -> Iterator[Pod]:
    have: dict[tuple[str, str, str], int] = {}
    for pod in objects.pods:
        if pod.owner is not None and not pod.is_terminal:
            key = pod.namespace, pod.owner.kind, pod.owner.name
            have[key] = have.get(key, 0) + 1
    sets = {(one.namespace, one.owner.name) for one in objects.replica_sets if one.owner is not None}
    for one in objects.replica_sets:
        if one.template is not None:
            count = one.replicas - have.get((one.namespace, one.kind, one.name), 0)
            yield from _pods(one, one.kind, one.template, count)
    for deployment in objects.deployments:
        if (deployment.namespace, deployment.name) not in sets:  # else its ReplicaSet makes them
            yield from _pods(deployment, "ReplicaSet", deployment.template, deployment.replicas)
    for stateful in objects.stateful_sets:
        present = {pod.name for pod in objects.pods if pod.namespace == stateful.namespace}
        for number in range(stateful.first_ordinal, stateful.first_ordinal + stateful.replicas):
            if f"{stateful.name}-{number}" not in present:
                yield _pod(stateful, "StatefulSet", stateful.template, f"{stateful.name}-{number}")
    for daemons in objects.daemon_sets:
        yield from _daemons(daemons, objects)
    for job in objects.jobs:
        if not job.suspend:
            wanted = job.completions if job.completions is not None else job.parallelism
            yield from _pods(job, "Job", job.template, wanted - have.get((job.namespace, "Job", job.name), 0))


def _pods(workload: ReplicaSet | Deployment | Job, kind: str, template: PodTemplate, count: int) -> Iterator[Pod]:
    for number in range(count):
        yield _pod(workload, kind, template, f"{workload.name}-{number}")


def _daemons(daemons: DaemonSet, objects: Objects) -> Iterator[Pod]:
    """One a node, bound to it by node affinity; which nodes do not take it, the scheduler says."""
    there = {
        pod.node_name
        for pod in objects.pods
        if pod.owner is not None and pod.owner.kind == "DaemonSet" and pod.owner.name == daemons.name
    }
    for node in objects.nodes:
        if node.name not in there:
            selector = {**daemons.template.spec.node_selector, "kubernetes.io/hostname": node.name}
            spec = replace(daemons.template.spec, node_selector=selector)
            yield _pod(daemons, "DaemonSet", replace(daemons.template, spec=spec), f"{daemons.name}-{node.name}")


def _pod(
    workload: ReplicaSet | Deployment | StatefulSet | DaemonSet | Job, kind: str, template: PodTemplate, name: str
) -> Pod:
    spec: PodSpec = template.spec
    annotations = {**template.annotations}
    if DURATION in workload.annotations:
        annotations.setdefault(DURATION, workload.annotations[DURATION])
    return Pod(
        name,
        workload.namespace,
        labels=dict(template.labels),
        annotations=annotations,
        spec=spec,
        owner=Owner(kind, workload.name),
    )
