"""What does not change in a run: nodes as rows of exact integers, what tasks ask of them, who belongs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property

import numpy as np

from gnomon.engine.log import Kind, Reason
from gnomon.insight.history import History
from gnomon.model.cluster import Reservation
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Scenario, Tenant
from gnomon.model.work import BoolArray, IntArray, Work
from gnomon.scheduling.layout import Layout, accepts, lay_out


class Ground:
    """The fixed facts of one run.

    Columns of rows are the plain dimensions of ``names`` (all but the last, ``gpu``), then one for each device slot:
    :class:`gnomon.scheduling.layout.Layout`. Nodes are in the order of the scenario's cluster. A *unit* is what starts
    together: a task, or all tasks of its job where gangs start whole.
    """

    def __init__(self, past: History) -> None:
        self.past = past
        self.scenario: Scenario = past.scenario
        self.work: Work = past.scenario.work
        self.layout: Layout = lay_out(past.scenario)
        self.names = self.layout.names
        self.plain = self.layout.plain
        requests = [shape.request for shape in self.work.shapes]
        self.capacity: IntArray = np.array([self.layout.row(n.capacity) for n in self.scenario.cluster.nodes], np.int64)
        self.need: IntArray = np.array([self.layout.totals(r) for r in requests], np.int64).reshape(-1, len(self.names))
        self.gpus: IntArray = np.array([request.gpus for request in requests], np.int64)
        self.share: IntArray = np.array([request.gpu_share_e4 for request in requests], np.int64)
        self.accepting = cache(self._accepting)

    @cached_property
    def stopped(self) -> Reason:
        """Why the run ended early, NONE if it did not."""
        log = self.past.log
        return Reason(int(log.reason[-1])) if len(log) and log.kind[-1] == Kind.STOP else Reason.NONE

    @cached_property
    def horizon_ns(self) -> int:
        """The end of what is known: the horizon of a run that reached it, else the time of the last row."""
        if self.stopped is Reason.LIMIT_TIME:
            return self.scenario.limits.until_ns
        return int(self.past.log.t_ns[-1]) if len(self.past.log) else 0

    # ------------------------------------------------------------------ tasks

    def shape(self, task: int) -> int:
        """The index of a task's shape."""
        return int(self.work.shape[task])

    def unit(self, task: int) -> tuple[int, ...]:
        """The tasks that start together with this one."""
        if self.work.jobs is None or not self.scenario.gang:
            return (task,)
        return tuple(np.flatnonzero(self.work.job == self.work.job[task]).tolist())

    def asked(self, tasks: Sequence[int]) -> dict[str, int]:
        """What tasks ask for together, by resource, without those they do not ask for."""
        total = self.need[self.work.shape[list(tasks)]].sum(axis=0)
        return {name: int(value) for name, value in zip(self.names, total, strict=True) if value}

    def estimate_ns(self, task: int) -> int:
        """How long a task is expected to run, NEVER if it does not end."""
        return int(min(self.work.estimate_ns[task], NEVER))

    # ------------------------------------------------------------------ tenants

    @cached_property
    def tenant(self) -> IntArray:
        """The tenant of each task: whom fair orders and limits look at."""
        return self.work.user if self.scenario.tenants_by == "user" else self.work.queue

    def tenant_name(self, task: int) -> str:
        """The name of a task's tenant."""
        names = self.work.users if self.scenario.tenants_by == "user" else self.work.queues
        return names[int(self.tenant[task])]

    def tenant_label(self, task: int) -> str:
        """The tenant of a task, as ``queue/batch``."""
        return f"{self.scenario.tenants_by}/{self.tenant_name(task)}"

    def tenant_rules(self, task: int) -> Tenant | None:
        """The share and the limits of a task's tenant, if it has any."""
        name = self.tenant_name(task)
        return next((one for one in self.scenario.tenants if one.name == name), None)

    # ------------------------------------------------------------------ nodes

    def node_name(self, node: int) -> str:
        """The name of a node."""
        return self.scenario.cluster.nodes[node].name

    def nodes_of(self, window: Reservation) -> list[int]:
        """The nodes that a reservation is about."""
        return [i for i, node in enumerate(self.scenario.cluster.nodes) if window.node in ("", node.name)]

    def kept(self, window: Reservation, node: int) -> list[int]:
        """What a reservation sets aside of a node, as a row."""
        capacity = self.scenario.cluster.nodes[node].capacity
        amount = capacity if window.amount is None else window.amount
        return self.layout.row(amount, from_the_end=True, devices=capacity.gpus)

    def _accepting(self, shape: int) -> BoolArray:
        """Which nodes are of a kind and have the labels that a shape wants."""
        wanted = self.work.shapes[shape]
        nodes = self.scenario.cluster.nodes
        return np.array([accepts(node, wanted.node_kinds, wanted.node_labels) for node in nodes], np.bool_)

    @cached_property
    def closings(self) -> IntArray:
        """The rows that close or open nodes."""
        return np.flatnonzero(np.isin(self.past.log.kind, (Kind.CLOSE, Kind.OPEN)))

    @cached_property
    def _device_faults(self) -> dict[int, tuple[int, int, int]]:
        """By row of a fault that took a device: the node, the device, the row of its end (the log's length: none)."""
        log, found = self.past.log, {}
        for row, facts in log.details.items():
            if log.kind[row] == Kind.FAULT and facts.get("kind") == "device":
                heal = np.flatnonzero((log.kind == Kind.HEAL) & (log.cause == row))
                found[row] = int(log.node[row]), int(facts.get("amount", 0)), int(heal[0]) if len(heal) else len(log)
        return found

    def lost_devices(self, row: int) -> list[tuple[int, int]]:
        """The devices (node, number) that are lost just before a row."""
        return [(node, number) for at, (node, number, heal) in self._device_faults.items() if at < row <= heal]

    @cached_property
    def _failures(self) -> IntArray:
        """The rows of attempts that failed, but for those that only went with their gang."""
        log = self.past.log
        return np.flatnonzero((log.kind == Kind.FAIL) & (log.reason != Reason.PEER))

    def avoided(self, task: int, row: int) -> list[int]:
        """The nodes that a task's job avoids just before a row, as too many of its attempts failed there."""
        most = self.work.recovery_of(task).exclude
        if not most:
            return []
        log = self.past.log
        rows = self._failures[(self._failures < row)]
        rows = rows[self.work.job[log.subject[rows]] == self.work.job[task]]
        nodes, counts = np.unique(log.node[rows[log.node[rows] >= 0]], return_counts=True)
        found: list[int] = nodes[counts >= most].tolist()
        return found

    def could_ever(self, task: int) -> BoolArray:
        """Which nodes would take a task if they were empty."""
        return self.accepting(self.shape(task)) & (self.places(self.capacity, task) > 0)

    def places(self, rows: IntArray, task: int) -> IntArray:
        """How many such tasks each row (nodes by columns) has room for; a part of a device must be of one device."""
        shape = self.shape(task)
        need, gpus, share = self.need[shape, : self.plain], int(self.gpus[shape]), int(self.share[shape])
        asked = need > 0
        found = np.full(len(rows), NEVER, np.int64)
        if asked.any():
            found = np.maximum((rows[:, : self.plain][:, asked] // need[asked]).min(axis=1), 0)
        if gpus:
            devices = np.maximum(rows[:, self.plain :], 0) // share
            found = np.minimum(found, devices.sum(axis=1) // gpus)
        return found

    def seats(self, rows: IntArray, tasks: Sequence[int], barred: Mapping[int, BoolArray]) -> list[int]:
        """The first node with room for each task in turn, until one finds none.

        ``barred``: the nodes that are closed to tasks of a shape, besides those that it does not accept.
        """
        rows, found = rows.copy(), []
        for task in tasks:
            shape = self.shape(task)
            open_to = self.accepting(shape) & (self.places(rows, task) > 0) & ~barred.get(shape, np.False_)
            if not open_to.any():
                break
            node = int(open_to.argmax())
            found.append(node)
            rows[node, : self.plain] -= self.need[shape, : self.plain]
            devices = rows[node, self.plain :]
            room = np.flatnonzero(devices >= self.share[shape])
            devices[room[np.argsort(devices[room], kind="stable")][: self.gpus[shape]]] -= self.share[shape]
        return found

    def offer(self, row: IntArray, task: int) -> dict[str, tuple[int, int]]:
        """By resource, what a task asks for and what of it a node's row offers.

        Of devices that is how many have enough left, or, for a part of one, the largest part that any of them has left.
        """
        shape = self.shape(task)
        found = {
            name: (int(self.need[shape, i]), int(row[i]))
            for i, name in enumerate(self.names[:-1])
            if self.need[shape, i]
        }
        gpus, share, devices = int(self.gpus[shape]), int(self.share[shape]), row[self.plain :]
        if gpus and share < E4:
            found["gpu"] = (share, int(devices.max(initial=0)))
        elif gpus:
            found["gpu"] = (gpus * E4, int((devices >= E4).sum()) * E4)
        return found

    def shortage(self, row: IntArray, task: int) -> float:
        """How much a row lacks, as parts of what is asked, summed up over the resources."""
        return sum(max(0, asked - free) / asked for asked, free in self.offer(row, task).values())

    def taken(self, tasks: IntArray, devices: IntArray) -> IntArray:
        """What tasks on these devices (masks) take from their nodes, one row each."""
        shapes = self.work.shape[tasks]
        on = (devices[:, None] >> np.arange(self.layout.slots)) & 1
        return np.hstack((self.need[shapes, : self.plain], on * self.share[shapes, None]))
