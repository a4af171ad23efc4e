"""The columns of a world: nodes, shapes, windows, tasks, units, tenants, and room for what grows.

Each function gives those of one kind by their names in :class:`gnomon.engine.world.World`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.log import Kind, State
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape
from gnomon.scheduling.layout import Layout, accepts
from gnomon.scheduling.placing import ASK_PYTHON

Columns = dict[str, Any]


def node_columns(layout: Layout) -> Columns:
    """Capacity and what is free, all of it at first."""
    capacity = np.array([layout.row(node.capacity) for node in layout.nodes], np.int64)
    totals = np.array([layout.totals(node.capacity) for node in layout.nodes], np.int64)
    return {
        "capacity": capacity,
        "free": capacity.copy(),
        "rest": capacity.copy(),
        "withheld": np.zeros_like(capacity),
        "closed": np.zeros(len(capacity), np.int8),
        "watch_node": np.zeros(len(capacity), np.int8),
        "node_row": np.full(len(capacity), -1, np.int32),
        "total": totals.sum(axis=0),
    }


def shape_columns(layout: Layout, shapes: tuple[Shape, ...]) -> Columns:
    """What every shape needs, and the nodes it accepts."""
    need = np.array([layout.totals(shape.request) for shape in shapes], np.int64).reshape(-1, len(layout.names))
    rules = {(shape.node_kinds, shape.node_labels) for shape in shapes} - {((), ())}
    numbered = {rule: row for row, rule in enumerate(sorted(rules))}
    allowed = [[accepts(node, *rule) for node in layout.nodes] for rule in numbered]
    return {
        "need": need,
        "gpus": np.array([shape.request.gpus for shape in shapes], np.int32),
        "share": np.array([shape.request.gpu_share_e4 for shape in shapes], np.int64),
        "mask": np.array([numbered.get((s.node_kinds, s.node_labels), -1) for s in shapes], np.int32),
        "allowed": np.array(allowed, np.int8).reshape(-1, len(layout.nodes)),
        "least": need[:, :-1].min(axis=0) if len(need) else np.zeros(layout.plain, np.int64),
    }


def window_columns(layout: Layout, cluster: Cluster, users: tuple[str, ...]) -> Columns:
    """Advance reservations, one row for each node that they concern, and the times at which they begin and end."""
    node, begin, end, amount, open_to = [], [], [], [], []
    names = [n.name for n in layout.nodes]
    for window in cluster.reservations:
        if window.node and window.node not in names:
            allowed = ", ".join(sorted(names)[:20])
            raise InputError(
                "a reservation is for an unknown node", field=window.name, found=window.node, allowed=allowed
            )
        if not 0 <= window.start_ns < window.end_ns:
            raise InputError("a reservation ends before it begins", field=window.name)
        for index, each in enumerate(layout.nodes):
            if window.node in ("", each.name):
                wanted = each.capacity if window.amount is None else window.amount
                row = layout.row(wanted, from_the_end=True, devices=each.capacity.gpus)
                if any(w > c for w, c in zip(row, layout.row(each.capacity), strict=True)):
                    raise InputError(f"a reservation asks for more than node {each.name} has", field=window.name)
                node.append(index)
                begin.append(window.start_ns)
                end.append(window.end_ns)
                amount.append(row)
                open_to.append([user in window.users for user in users])
    times = sorted({t for t in (*begin, *end) if t < NEVER})
    return {
        "window_node": np.array(node, np.int32),
        "window_from": np.array(begin, np.int64),
        "window_to": np.array(end, np.int64),
        "window_amount": np.array(amount, np.int64).reshape(-1, layout.plain + layout.slots),
        "window_user": np.array(open_to, np.int8).reshape(len(node), len(users)),
        "wakes": np.array(times, np.int64),
    }


def task_columns(scenario: Scenario) -> Columns:
    """The tasks as they come, none of them born."""
    work, n = scenario.work, len(scenario.work)
    killed = (work.duration_ns > work.estimate_ns) & scenario.kill_at_limit
    duration = np.where(killed, work.estimate_ns, np.maximum(work.duration_ns, 0))
    return {
        "submit": work.submit_ns.astype(np.int64),
        "duration": duration,
        "estimate": np.maximum(work.estimate_ns, 0),
        "fate": np.where(killed, int(Kind.KILL), int(Kind.END)).astype(np.int8),
        "shape": work.shape.astype(np.int32),
        "job": work.job.astype(np.int32),
        "user": work.user.astype(np.int32),
        "priority": work.priority.astype(np.int64),
        "state": np.full(n, int(State.UNBORN), np.int8),
        "why": np.zeros(n, np.int8),
        "start": np.full(n, NEVER, np.int64),
        "due": np.full(n, NEVER, np.int64),
        "node": np.full(n, -1, np.int32),
        "devices": np.zeros(n, np.int64),
        "ticket": np.full(n, -1, np.int64),
        "arrive_row": np.full(n, -1, np.int32),
        "start_row": np.full(n, -1, np.int32),
        "watch": np.zeros(n, np.int8),
    }


def unit_columns(scenario: Scenario, columns: Columns) -> Columns:
    """Units and jobs: members side by side, a gang as one unit, the tasks of other jobs as units of their own."""
    job, n = columns["job"], len(columns["job"])
    member = np.argsort(job, kind="stable").astype(np.int32)
    jobs = int(job.max(initial=-1)) + 1
    size = np.bincount(job, minlength=jobs).astype(np.int32)
    job_first = (np.cumsum(size) - size).astype(np.int32)
    if scenario.gang:
        first, count, unit = job_first, size, job.astype(np.int32)
        latest = np.zeros(jobs, np.int64)
        np.maximum.at(latest, job, columns["submit"])
        columns["submit"] = latest[job]  # a gang has arrived when its last task has
        most = np.full(jobs, -NEVER, np.int64)
        np.maximum.at(most, job, columns["priority"])
        columns["priority"] = most[job]  # and is as urgent as its most urgent task
    else:
        first, count = np.arange(n, dtype=np.int32), np.ones(n, np.int32)
        unit = np.empty(n, np.int32)
        unit[member] = first
    head = member[first]
    return {
        "unit": unit,
        "first": first,
        "size": count,
        "member": member,
        "rank": np.zeros(len(first), np.int64),
        "verdict": np.zeros(len(first), np.int8),
        "after": np.full(len(first), -1, np.int32),
        "before": np.full(len(first), -1, np.int32),
        "arrivals": np.lexsort((head, columns["submit"][head])).astype(np.int32),
        "slot": np.full(len(first), NEVER, np.int64),
        "missing": size.copy(),
        "job_first": job_first,
        "job_count": size,
        "avoids": np.full(jobs, -1, np.int32),
        "avoid": np.zeros((0, len(columns["capacity"])), np.int8),
    }


def tenant_columns(scenario: Scenario, layout: Layout, columns: Columns, *, fair: bool) -> Columns:
    """Tenants with their shares and limits; one for all where nothing tells them apart. ``fair``: the order does."""
    work = scenario.work
    if scenario.tenants_by not in ("user", "queue"):
        raise unknown_name("tenants_by", scenario.tenants_by, ("user", "queue"))
    names, index = (work.users, work.user) if scenario.tenants_by == "user" else (work.queues, work.queue)
    limited = any(t.limit is not None or t.max_running is not None for t in scenario.tenants)
    apart = fair or limited
    if not apart:
        names, index = ("",), np.zeros(len(work), np.int64)
    known = {t.name: t for t in scenario.tenants}
    count = max(len(names), 1)
    weight, limit = np.ones(count), np.full((count, len(layout.names)), NEVER, np.int64)
    most = np.full(count, NEVER, np.int64)
    for i, tenant in ((i, known[name]) for i, name in enumerate(names) if name in known and apart):
        if not 0 < tenant.weight < float("inf"):
            raise InputError("a weight is above 0", field=f"tenant {tenant.name}", found=tenant.weight)
        weight[i] = tenant.weight
        if tenant.limit is not None:
            named = tenant.limit.names()
            limit[i] = [tenant.limit.amount(name) if name in named else NEVER for name in layout.names]
        if tenant.max_running is not None:
            most[i] = tenant.max_running
    return {
        "tenant": index[columns["member"][columns["first"]]].astype(np.int32),
        "head": np.full(count, -1, np.int32),
        "tail": np.full(count, -1, np.int32),
        "cursor": np.full(count, -1, np.int32),
        "weight": weight,
        "used": np.zeros((count, len(layout.names)), np.int64),
        "limit": limit,
        "running": np.zeros(count, np.int64),
        "most_running": most,
        "usage": np.zeros(count, np.float64),
        "usage_at": np.zeros(count, np.int64),
        "tenant_row": np.full(count, -1, np.int32),
    }


def spare_columns(n: int, columns: Columns, *, conservative: bool) -> Columns:
    """Room for what grows: agenda, line, decisions, log, profile (the last two grow on demand)."""
    rows = 4 * n + 4096  # an arrival, a wait, a start and an end each; it grows where there are more
    steps = 256 if conservative else 0
    return {
        "end_time": np.empty(n + 1, np.int64),
        "end_ticket": np.empty(n + 1, np.int64),
        "end_task": np.empty(n + 1, np.int32),
        "line": np.empty(n + 1, np.int32),
        "line_due": np.empty(n + 1, np.int64),
        "row": np.zeros((2, columns["capacity"].shape[1]), np.int64),
        "victims": np.empty(n + 1, np.int32),
        "decided": np.full(int(columns["size"].max(initial=1)) + 1, ASK_PYTHON, np.int32),
        "step_time": np.empty(steps, np.int64),
        "step_free": np.empty((steps, *columns["capacity"].shape), np.int64),
        "log_t": np.empty(rows, np.int64),
        "log_instant": np.empty(rows, np.int32),
        "log_kind": np.empty(rows, np.int8),
        "log_subject": np.empty(rows, np.int32),
        "log_node": np.empty(rows, np.int32),
        "log_cause": np.empty(rows, np.int32),
        "log_reason": np.empty(rows, np.int8),
        "log_value": np.empty(rows, np.int64),
    }
