"""Reads plain YAML: clusters, work, reservations and tenants, as the model has them.

>>> from gnomon.formats.yaml import parse_yaml
>>> (document,) = parse_yaml('''
... nodes: [{name: n, cpu: 8, memory: 32Gi, count: 2}]
... tasks: [{id: build, cpu: 4, duration: 10m}, {job: train, cpu: 1, count: 2, duration: 1h}]
... ''')
>>> [node.name for node in read_cluster(document).nodes]
['n-0', 'n-1']
>>> list(read_work(document).ids)
['build', 'train-0', 'train-1']

Every error names file, line, field, what was found and what is allowed; unknown fields are errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gnomon.formats.schema import COUNT_MAX, validated
from gnomon.formats.yaml import Located
from gnomon.model.cluster import Cluster, Node, Reservation
from gnomon.model.errors import unknown_name
from gnomon.model.recovery import Recovery
from gnomon.model.resources import NEVER, NOTHING, Resources
from gnomon.model.scenario import Tenant
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.systems.plain.needs import needed
from gnomon.systems.plain.recovery_specs import read_recovery
from gnomon.systems.plain.specs import AmountSpec, NodeSpec, ReservationSpec, TaskSpec, TenantSpec
from gnomon.systems.plain.usage_specs import read_usage

SECTIONS = ("nodes", "reservations", "tasks")
"""What a plain file may hold."""

TINY_BYTES = 2**20
"""Less memory than any task asks for on purpose."""

_PLAIN: Final = Recovery()


def read_cluster(document: Located) -> Cluster:
    """The cluster of a mapping with ``nodes`` and maybe ``reservations``."""
    _check_sections(document)
    if "nodes" not in document.value:
        raise document.error("nodes are missing", allowed=", ".join(SECTIONS))
    nodes = document.at("nodes")
    found = tuple(_nodes(nodes))
    if not found:
        raise nodes.error("a cluster needs a node")
    cluster = Cluster(found, source=document.file or "")
    if "reservations" in document.value:
        cluster = replace(cluster, reservations=read_reservations(document.at("reservations"), cluster))
    return cluster


def read_work(document: Located, *, recovery: Recovery = _PLAIN) -> Work:
    """The work of a mapping with ``tasks``, or of a list of tasks. ``recovery``: of tasks that say nothing of it."""
    tasks = document
    if not isinstance(document.value, list):
        _check_sections(document)
        if "tasks" not in document.value:
            raise document.error("tasks are missing", allowed=", ".join(SECTIONS))
        tasks = document.at("tasks")
    work = Work.from_tasks(_tasks(tasks, recovery), source=tasks.file or "")
    return replace(work, notes=tuple(_work_notes(work)))


def _work_notes(work: Work) -> Iterator[Note]:
    """What was taken for granted of tasks, and may not have been meant."""
    if endless := int((work.duration_ns == NEVER).sum()):
        text = "a task without duration or estimate runs on until the end of the simulation"
        yield Note("default", "tasks.duration", text, endless)
    tiny = [0 < shape.request.memory_bytes < TINY_BYTES for shape in work.shapes]
    if bytewise := sum(tiny[shape] for shape in work.shape.tolist()):
        yield Note("guess", "tasks.memory", "less than 1Mi: a number without a unit is bytes", bytewise)


def read_reservations(reservations: Located, cluster: Cluster) -> tuple[Reservation, ...]:
    """The reservations of a list, one for each node that they name."""
    known = {node.name for node in cluster.nodes}
    found = []
    for position, spec in enumerate(validated(list[ReservationSpec], reservations)):
        names = [spec.node] if spec.node is not None else spec.nodes
        for name in names:
            if name not in known:
                unknown = unknown_name("node", name, known)
                raise reservations.error(unknown.problem, position, "node" if spec.node else "nodes", found=name)
        amount = None if spec.amount is None else spec.amount.amounts()
        whole = Reservation(spec.name, spec.start, spec.end_ns(), amount=amount, users=tuple(spec.users))
        found += [replace(whole, node=name) for name in names or [""]]
    return tuple(found)


def read_tenants(tenants: Located) -> tuple[Tenant, ...]:
    """The users or queues of a list, with their shares and limits."""
    specs = validated(list[TenantSpec], tenants)
    _check_unique(tenants, [(spec.name, position, "name") for position, spec in enumerate(specs)])
    return tuple(
        Tenant(
            spec.name,
            weight=spec.share or spec.weight or 1.0,
            limit=None if spec.limit is None else spec.limit.amounts(),
            max_running=spec.max_running,
        )
        for spec in specs
    )


def _check_sections(document: Located) -> None:
    if not isinstance(document.value, dict):
        raise document.error("a mapping is wanted", allowed=", ".join(SECTIONS))
    for name in document.value:
        if name not in SECTIONS:
            unknown = unknown_name("field", name, SECTIONS)
            raise document.error(unknown.problem, name, allowed=unknown.allowed)


def _nodes(nodes: Located) -> Iterator[Node]:
    specs = validated(list[NodeSpec], nodes)
    _check_number(nodes, [spec.count for spec in specs])
    entries = [(name, i, "name") for i, spec in enumerate(specs) for name in _names(spec.name, spec.count)]
    _check_unique(nodes, entries)
    alike = [Node("", spec.amounts(), spec.kind, tuple(sorted(spec.labels.items())), spec.really()) for spec in specs]
    return (replace(alike[position], name=name) for name, position, _ in entries)


def _tasks(tasks: Located, recovery: Recovery) -> Iterator[Task]:
    specs = validated(list[TaskSpec], tasks)
    _check_number(tasks, [spec.count for spec in specs])
    entries = [
        (name, i, "id" if spec.id else "job")
        for i, spec in enumerate(specs)
        for name in _names(spec.id or spec.job, spec.count)
    ]
    _check_unique(tasks, entries)
    alike = [_task(spec, tasks.at(position), recovery) for position, spec in enumerate(specs)]
    for position, needs in needed(tasks, specs, entries).items():
        alike[position] = replace(alike[position], needs=needs)
    return (replace(alike[position], id=name) for name, position, _ in entries)


def _task(spec: TaskSpec, document: Located, recovery: Recovery) -> Task:
    ends = spec.duration if spec.duration is not None else spec.estimate
    duration_ns = NEVER if ends is None else ends
    return Task(
        id="",
        shape=Shape(spec.amounts(), tuple(spec.kinds), tuple(sorted(spec.labels.items())), _limit(spec, document)),
        submit_ns=spec.submit,
        duration_ns=duration_ns,
        estimate_ns=spec.estimate,
        user=spec.user,
        queue=spec.queue,
        priority=spec.priority,
        deadline_ns=spec.deadline,
        job=spec.job,
        usage=None if "usage" not in document.value else read_usage(document.at("usage"), duration_ns),
        recovery=recovery if "recovery" not in document.value else read_recovery(document.at("recovery")),
    )


def _limit(spec: TaskSpec, document: Located) -> Resources:
    """The most that a task may use, which is not less than what it asks for."""
    if spec.limits is None:
        return NOTHING
    limit, request = spec.limits.amounts(), spec.amounts()
    for name in limit.names():
        if limit.amount(name) < request.amount(name):
            field = name if name != "gpu" else "gpus" if spec.limits.gpus else "gpu_share"
            steps = (field,) if field in AmountSpec.model_fields else ("resources", field)
            found: Any = document.at("limits", *steps).value
            raise document.error("less than what the task asks for", "limits", *steps, found=found)
    return limit


def _check_number(items: Located, counts: list[int | None]) -> None:
    if sum(count or 1 for count in counts) > COUNT_MAX:
        raise items.error(f"more than {COUNT_MAX}, counts included")


def _names(name: str, count: int | None) -> list[str]:
    return [name] if count is None else [f"{name}-{number}" for number in range(count)]


def _check_unique(items: Located, entries: list[tuple[str, int, str]]) -> None:
    """Names with the position of their item and the field that gave it: none may be there twice."""
    seen: dict[str, int] = {}
    for name, position, field in entries:
        first = seen.setdefault(name, position)
        if first != position:
            line = items.line(first)
            where = "" if line is None else f" (first in line {line})"
            raise items.error(f"this {field} is there twice{where}", position, field, found=name)
