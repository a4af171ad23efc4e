"""Objects of Kubernetes as a scenario: nodes, and a task for each pod that is there or that a workload makes.

Which tasks workloads have is told in ``makers``. What only Kubernetes has (affinity, taints, budgets...) stays with the
objects, which the scheduling cycle reads; the scenario carries them in ``native``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gnomon.formats.files import Path, several
from gnomon.model.cluster import Cluster, Machine
from gnomon.model.cluster import Node as ModelNode
from gnomon.model.errors import InputError
from gnomon.model.resources import E4, MAX_AMOUNT, NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.usage import Usage
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.systems.kubernetes.api.objects import Amounts, Node, Pod
from gnomon.systems.kubernetes.api.requests import pod_limits, pod_requests
from gnomon.systems.kubernetes.api.snapshot import Objects, Rejection
from gnomon.systems.kubernetes.apiserver.admission import as_created
from gnomon.systems.kubernetes.apiserver.making import Admission
from gnomon.systems.kubernetes.fleets.applied import applied
from gnomon.systems.kubernetes.fleets.claim_templates import claimed
from gnomon.systems.kubernetes.fleets.fleet import Change
from gnomon.systems.kubernetes.fleets.job_runs import runs_of
from gnomon.systems.kubernetes.fleets.left_out import notes_of
from gnomon.systems.kubernetes.fleets.makers import Maker
from gnomon.systems.kubernetes.fleets.missing_owners import with_owners
from gnomon.systems.kubernetes.fleets.native import Native
from gnomon.systems.kubernetes.operation import NEWEST, operation_of, recovery_of
from gnomon.systems.kubernetes.read.annotations import DURATION, annotated_ns
from gnomon.systems.kubernetes.read.files import read
from gnomon.systems.kubernetes.read.samples import Samples, read_samples, usage_of

BESIDE: Final = ("ephemeral-storage", "attachable-volumes", "hugepages-")
"""Beginnings of resources that the scheduling cycle alone counts: they would not fit, or not matter to, the ledger."""


PODS_MAX: Final = 1_000_000
"""How many pods workloads may ask for together."""


def read_scenario(paths: Path | Sequence[Path], **options: Any) -> Scenario:
    """The scenario of files: :func:`scenario_of` what is read of them.

    ``usage``: files of samples; ``changes``: pairs of a time (ns) and files; ``until_ns``: when the run ends.
    """
    changes = tuple(Change(at_ns, read(files), several(files)) for at_ns, files in options.pop("changes", ()))
    return scenario_of(read(paths), changes=changes, **options)


def scenario_of(
    objects: Objects,
    *,
    version: tuple[int, int] = NEWEST,
    name: str = "",
    changes: Sequence[Change] = (),
    usage: Sequence[Path] = (),
    until_ns: int = NEVER,
) -> Scenario:
    """The scenario that objects describe. Raises InputError for a cluster without nodes, and for two pods of one name.

    Pods that have ended are left out; pods that are bound run from the beginning on, in the order of their start.
    """
    if not objects.nodes:
        raise InputError("there are no nodes", allowed="a file of them too: kubectl get nodes -o yaml > nodes.yaml")
    for stage in (objects, *(change.objects for change in changes)):
        _check_number(stage)
    native, submit_ns, notes = _native(objects, changes, version, until_ns)
    pods, nodes = native.pods, native.objects.nodes
    named = {pod.key: pod for pod in pods}
    if len(named) < len(pods):
        twice = next(pod.key for pod in pods if named[pod.key] is not pod)
        raise InputError("two pods of one name", field="metadata.name", found=twice)
    samples = read_samples(usage, named, {node.name: node.capacity.get("memory", 0) for node in nodes})
    workloads = {task: fleet.workload for fleet in native.fleets for task in fleet.tasks}
    work = Work.from_tasks(
        _task(pod, submit_ns[task], workloads.get(task), samples.pods.get(pod.key)) for task, pod in enumerate(pods)
    )
    bound = _bound(pods)
    return Scenario(
        Cluster(tuple(_node(node, bound.get(node.name, ()), samples) for node in nodes)),
        replace(work, notes=(*notes, *samples.notes(), *_about_nodes(nodes, bound))),
        system="kubernetes",
        kill_at_limit=False,
        gang=False,
        operation=operation_of(version),
        native=native,
        name=name,
    )


def _native(
    objects: Objects, changes: Sequence[Change], version: tuple[int, int], until_ns: int
) -> tuple[Native, Sequence[int], list[Note]]:
    """The objects as the API server has them with all pods that there may be; when each pod comes; what is noted."""
    objects, changes = applied(objects, changes)
    objects = with_owners(objects)
    found = claimed(objects, [change.objects for change in changes])
    whole = as_created(found.added_to(objects))
    notes = [*whole.notes, *found.notes, *notes_of(whole, changes, until_ns)]
    admission = Admission(whole.priority_classes, whole.limit_ranges)
    made = Maker(whole, changes, admission.of).all(runs_of(whole, changes, until_ns))
    rejections = tuple(Rejection(pod, text) for pod, text in admission.refused.items())
    native = Native(
        replace(whole, replica_sets=(*whole.replica_sets, *made.replica_sets), rejections=rejections),
        tuple(made.pods),
        version,
        tuple(made.fleets),
        tuple(made.rollouts),
        tuple(made.jobs),
        tuple(made.daemon_rollouts),
        tuple(changes),
        {task: admission.refused[pod.key] for task, pod in enumerate(made.pods) if pod.key in admission.refused},
    )
    return native, made.submit_ns, notes


def _about_nodes(nodes: Sequence[Node], bound: Mapping[str, Sequence[Pod]]) -> Iterator[Note]:
    """Nodes that pods are bound to and that are not there, and those that take none. ``bound``: pods by node."""
    lost = sorted(bound.keys() - {node.name for node in nodes})
    if lost:
        text = f"pods of nodes that are not there are deleted after 40 s: {', '.join(lost[:5])}"
        yield Note("default", "spec.nodeName", text)
    empty = [node.name for node in nodes if not node.allocatable]
    if empty:
        text = f"nodes that state no capacity take no pods: {', '.join(empty[:5])}{'...' if empty[5:] else ''}"
        yield Note("default", "Node status.capacity", text, len(empty))


def _check_number(objects: Objects) -> None:
    """Raise InputError for workloads that ask for more pods than can be simulated."""
    asked = {f"{type(one).__name__} {one.namespace}/{one.name}": one.replicas for one in objects.replica_sets}
    asked |= {f"Deployment {one.namespace}/{one.name}": one.replicas for one in objects.deployments}
    asked |= {f"StatefulSet {one.namespace}/{one.name}": one.replicas for one in objects.stateful_sets}
    asked |= {f"Job {one.namespace}/{one.name}": one.completions or one.parallelism for one in objects.jobs}
    if sum(asked.values()) > PODS_MAX:
        most = max(asked, key=lambda name: asked[name])
        raise InputError("too many pods", field=most, found=asked[most], allowed=f"{PODS_MAX:,} pods in all")


def _bound(pods: tuple[Pod, ...]) -> dict[str, list[Pod]]:
    """The pods that are on a node already, by its name."""
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.node_name:
            found.setdefault(pod.node_name, []).append(pod)
    return found


def _node(node: Node, bound: Sequence[Pod], samples: Samples) -> ModelNode:
    """A node with what pods may ask of it; more where the pods that are bound to it ask for more (static pods do)."""
    held: dict[str, int] = {}
    for pod in bound:
        for name, amount in {**pod_requests(pod.spec), "pods": 1}.items():
            held[name] = held.get(name, 0) + amount
    offered = {**node.allocatable}
    offered.setdefault("pods", 0)
    offered = {name: max(offered.get(name, 0), held.get(name, 0)) for name in {**offered, **held}}
    for name in ("cpu", "memory"):
        most = max(offered.get(name, 0), node.capacity.get(name, 0))
        if most > MAX_AMOUNT:
            about = f"Node {node.name}, {name} (its own, or what the pods that are bound to it ask for)"
            raise InputError("more than can be counted", field=about, found=most, allowed=f"up to {MAX_AMOUNT}")
    machine = Machine(
        cpu_milli=node.capacity.get("cpu", 0),
        memory_bytes=max(node.capacity.get("memory", 0), offered.get("memory", 0)),
        used_bytes=samples.beside(node.name, bound),
    )
    return ModelNode(node.name, amounts(offered), labels=tuple(sorted(node.labels.items())), machine=machine)


def _task(pod: Pod, submit_ns: int, workload: str | None, usage: Usage | None) -> Task:
    requests = {**pod_requests(pod.spec), "pods": 1}
    limits = {name: amount for name, amount in pod_limits(pod.spec).items() if name in ("cpu", "memory")}
    owner = workload or (pod.owner.name if pod.owner is not None else "")
    return Task(
        id=pod.key,
        shape=Shape(amounts(requests), limit=amounts(limits)),
        submit_ns=submit_ns,
        duration_ns=duration_ns(pod),
        estimate_ns=NEVER,
        user=pod.namespace,
        queue=pod.spec.scheduler_name,
        priority=pod.priority,
        job=f"{pod.namespace}/{owner}" if owner else pod.key,
        usage=usage if usage is not None else usage_of(pod),
        recovery=recovery_of(pod),
    )


def amounts(found: Amounts) -> Resources:
    """Amounts of the API as the ledger has them: what is larger fits nowhere, however large it is."""
    named = tuple(
        sorted(
            (name, amount * E4)
            for name, amount in found.items()
            if name not in ("cpu", "memory") and not name.startswith(BESIDE) and amount * E4 <= MAX_AMOUNT
        )
    )
    cpu, memory = (min(found.get(name, 0), MAX_AMOUNT) for name in ("cpu", "memory"))
    return Resources(cpu, memory, named=named)


def duration_ns(pod: Pod) -> int:
    """How long a pod runs, by its annotation; NEVER if it does not say, as services do."""
    said = annotated_ns(pod, DURATION)
    return NEVER if said is None else said
