"""Scenarios that differ from one in a single fact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.model.cluster import Node
from gnomon.model.recovery import Recovery
from gnomon.model.resources import E4, Resources
from gnomon.model.scenario import Scenario, Tenant
from gnomon.model.work import Shape


def with_column(scenario: Scenario, column: str, tasks: Sequence[int], value: object) -> Scenario:
    """Some tasks with another priority, estimate, duration..."""
    changed = getattr(scenario.work, column).copy()
    changed[list(tasks)] = value
    return replace(scenario, work=replace(scenario.work, **{column: changed}))


def with_shapes(scenario: Scenario, tasks: Sequence[int], change: Callable[[Shape], Shape]) -> Scenario:
    """Some tasks with another request, or other wishes about nodes."""
    work = scenario.work
    column, shapes = work.shape.copy(), list(work.shapes)
    for old in np.unique(column[list(tasks)]).tolist():
        mine = [task for task in tasks if work.shape[task] == old]
        column[mine] = len(shapes)
        shapes.append(change(work.shapes[old]))
    return replace(scenario, work=replace(work, shape=column, shapes=tuple(shapes)))


def with_request(scenario: Scenario, tasks: Sequence[int], name: str, amount: int) -> Scenario:
    """Some tasks that ask for at most an amount of a resource."""

    def less(shape: Shape) -> Shape:
        asked = shape.request.amount(name)
        return replace(shape, request=with_amount(shape.request, name, amount)) if asked > amount else shape

    return with_shapes(scenario, tasks, less)


def with_more(scenario: Scenario, tasks: Sequence[int], name: str, amount: int) -> Scenario:
    """Some tasks that ask for at least an amount of a resource."""

    def more(shape: Shape) -> Shape:
        asked = shape.request.amount(name)
        return replace(shape, request=with_amount(shape.request, name, amount)) if asked < amount else shape

    return with_shapes(scenario, tasks, more)


def with_limit(scenario: Scenario, tasks: Sequence[int], name: str, amount: int) -> Scenario:
    """Some tasks with another limit of what they may use."""
    return with_shapes(scenario, tasks, lambda shape: replace(shape, limit=with_amount(shape.limit, name, amount)))


def with_recovery(scenario: Scenario, tasks: Sequence[int], recovery: Recovery) -> Scenario:
    """Some tasks for which something else is done when an attempt is lost."""
    work = scenario.work
    column = np.zeros(len(work), np.int64) if work.recovery is None else work.recovery.copy()
    column[list(tasks)] = len(work.recoveries)
    return replace(scenario, work=replace(work, recovery=column, recoveries=(*work.recoveries, recovery)))


def with_node_memory(scenario: Scenario, node: int, amount: int) -> Scenario:
    """A node with another amount of memory."""
    nodes = list(scenario.cluster.nodes)
    nodes[node] = replace(nodes[node], capacity=replace(nodes[node].capacity, memory_bytes=amount))
    return replace(scenario, cluster=replace(scenario.cluster, nodes=tuple(nodes)))


def with_amount(what: Resources, name: str, amount: int) -> Resources:
    """Another amount of one resource. Devices: whole ones, or a part of one.

    >>> with_amount(Resources(gpus=2), "gpu", 5_000)
    Resources(cpu_milli=0, memory_bytes=0, gpus=1, gpu_share_e4=5000, named=())
    """
    if name == "cpu":
        return replace(what, cpu_milli=amount)
    if name == "memory":
        return replace(what, memory_bytes=amount)
    if name == "gpu":
        return replace(what, gpus=max(amount // E4, 1), gpu_share_e4=min(amount, E4))
    return replace(what, named=tuple((one, amount if one == name else value) for one, value in what.named))


def on_their_own(scenario: Scenario, tasks: Sequence[int]) -> Scenario:
    """Tasks of a job that start one by one: each is a job of its own."""
    work = scenario.work
    assert work.jobs is not None
    job = work.job.copy()
    job[list(tasks)] = len(work.jobs) + np.arange(len(tasks))
    names = (*work.jobs, *(work.id(task) for task in tasks))
    return replace(scenario, work=replace(work, job=_dense(job), jobs=tuple(names[k] for k in np.unique(job))))


def without(scenario: Scenario, tasks: Sequence[int]) -> Scenario:
    """The work without some tasks (and their jobs)."""
    return with_column(scenario, "usable", tasks, False)


def with_tenant(scenario: Scenario, name: str, **facts: Any) -> Scenario:
    """A tenant with another share or other limits."""
    tenants = list(scenario.tenants)
    if all(tenant.name != name for tenant in tenants):
        tenants.append(Tenant(name))
    changed = tuple(replace(one, **facts) if one.name == name else one for one in tenants)
    return replace(scenario, tenants=changed)


def with_window_until(scenario: Scenario, name: str, end_ns: int) -> Scenario:
    """A reservation that ends at another time, or is not made if it has not begun by then."""
    cluster = scenario.cluster
    kept = [one for one in cluster.reservations if one.name != name or one.start_ns < end_ns]
    windows = tuple(replace(one, end_ns=end_ns) if one.name == name else one for one in kept)
    return replace(scenario, cluster=replace(cluster, reservations=windows))


def with_nodes(scenario: Scenario, like: Node, count: int) -> Scenario:
    """More nodes at the end of the cluster."""
    cluster = scenario.cluster
    more = tuple(replace(like, name=f"{like.name}+{number}") for number in range(1, count + 1))
    return replace(scenario, cluster=replace(cluster, nodes=(*cluster.nodes, *more)))


def with_pool(scenario: Scenario, cpu_milli: int) -> Scenario:
    """A pool of another number of processors."""
    cluster = scenario.cluster
    pool = cluster.nodes[0]
    node = replace(pool, capacity=replace(pool.capacity, cpu_milli=cpu_milli))
    return replace(scenario, cluster=replace(cluster, nodes=(node,)))


def _dense(job: np.ndarray) -> np.ndarray:
    return np.unique(job, return_inverse=True)[1].astype(np.int64)
