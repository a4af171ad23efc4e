"""The state of a run at one row of its log: what is free on each node, who holds the rest, who waits.

It is folded from the log up to that row, so that what a decision saw can be told long after it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.engine.log import COLUMNS, Kind, Log, Reason, State
from gnomon.engine.outcome import Outcome, outcome
from gnomon.insight.explain.ground import Ground
from gnomon.insight.history import FloatArray
from gnomon.model.cluster import Reservation
from gnomon.model.resources import NEVER
from gnomon.model.work import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Situation:
    """Just before one row of the log (its length: after the last one), at the time ``now_ns``."""

    ground: Ground
    row: int
    now_ns: int

    @cached_property
    def stays(self) -> IntArray:
        """Who holds a place: indices into the places of the run (attempts, and copies that run beside them)."""
        attempts = self.ground.past.places
        open_then = (attempts.open_row < self.row) & ((attempts.close_row < 0) | (attempts.close_row >= self.row))
        return np.flatnonzero(open_then)

    @cached_property
    def holders(self) -> IntArray:
        """The tasks that hold a place."""
        return self.ground.past.places.task[self.stays]

    @cached_property
    def node(self) -> IntArray:
        """Where the holders are; a pool is node 0."""
        return np.maximum(self.ground.past.places.node[self.stays], 0)

    @cached_property
    def start_ns(self) -> IntArray:
        """When the holders began to run, NEVER if that comes later or not at all."""
        start = self.ground.past.places.start_ns[self.stays]
        return np.where(start <= self.now_ns, start, NEVER)

    @cached_property
    def taken(self) -> IntArray:
        """What each holder has taken, one row each."""
        return self.ground.taken(self.holders, self.ground.past.places.devices[self.stays])

    @cached_property
    def share(self) -> FloatArray:
        """The largest part of the cluster, of any resource or device, that each holder has taken."""
        parts = self.taken / np.maximum(self.ground.capacity.sum(axis=0), 1)
        largest: FloatArray = parts.max(axis=1, initial=0.0)
        return largest

    @cached_property
    def free(self) -> IntArray:
        """What is free on each node."""
        rows = self.ground.capacity.copy()
        np.subtract.at(rows, self.node, self.taken)
        for node, device in self.ground.lost_devices(self.row):
            rows[node, self.ground.plain + device] = 0
        return rows

    @cached_property
    def closed(self) -> dict[int, int]:
        """The nodes that take no new work, and the row that closed each (of several reasons the first)."""
        log, rows = self.ground.past.log, self.ground.closings
        rows = rows[rows < self.row][::-1]
        key = log.node[rows] * (max(Reason) + 1) + log.reason[rows]
        latest = rows[np.unique(key, return_index=True)[1]]
        shut = np.sort(latest[log.kind[latest] == Kind.CLOSE])[::-1]
        return dict(zip(log.node[shut].tolist(), shut.tolist(), strict=True))

    def barred(self, task: int) -> BoolArray:
        """The nodes that a task does not get whatever is free: closed ones, and those that its job avoids."""
        nodes = np.zeros(len(self.ground.capacity), np.bool_)
        nodes[[*self.closed, *self.ground.avoided(task, self.row)]] = True
        return nodes

    @cached_property
    def due_ns(self) -> IntArray:
        """When each holder is expected to give back its place: by its estimate (or really, if the policy knows that),
        now if it is late, NEVER if it has not begun to run."""
        work, policy = self.ground.work, self.ground.scenario.policy
        lengths = work.duration_ns if policy.option(policy.backfill, "ends", False) else work.estimate_ns
        ends = self.start_ns + np.minimum(lengths[self.holders], NEVER - np.minimum(self.start_ns, NEVER))
        return np.where(self.start_ns < NEVER, np.maximum(ends, self.now_ns), NEVER)

    @cached_property
    def _outcome(self) -> Outcome:
        log = self.ground.past.log
        before = Log(*(getattr(log, name)[: self.row] for name in COLUMNS))
        return outcome(before, len(self.ground.work))

    @cached_property
    def waiting(self) -> IntArray:
        """The tasks that have arrived and have no place."""
        return np.flatnonzero(self._outcome.state == State.WAITING)

    def reason(self, task: int) -> Reason:
        """The reason in the task's latest row."""
        return Reason(int(self._outcome.reason[task]))

    def of_tenant(self, task: int) -> IntArray:
        """Positions among the holders of those of the task's tenant."""
        tenant = self.ground.tenant
        return np.flatnonzero(tenant[self.holders] == tenant[task])

    def reserved(self, task: int, begin_ns: int) -> dict[int, Reservation]:
        """On which nodes a reservation is in the way of a task that starts at ``begin_ns``, and which.

        The window must find its amount free, together with all outsiders that will be there when it begins
        (:mod:`gnomon.scheduling.windows`).
        """
        work = self.ground.work
        end_ns, user = begin_ns + self.ground.estimate_ns(task), work.users[int(work.user[task])]
        found: dict[int, Reservation] = {}
        for number, window in enumerate(self.ground.scenario.cluster.reservations):
            if user not in window.users and window.start_ns < end_ns and window.end_ns > begin_ns:
                about = number, self.ground.shape(task)
                if about not in self._closed:
                    self._closed[about] = self._closed_to(task, window)
                for node in self._closed[about]:
                    found.setdefault(node, window)
        return found

    @cached_property
    def _closed(self) -> dict[tuple[int, int], list[int]]:
        """By reservation and shape the nodes on which an outsider would be in the way."""
        return {}

    def _closed_to(self, task: int, window: Reservation) -> list[int]:
        ground = self.ground
        inside = np.array([user in window.users for user in ground.work.users], np.bool_)
        outsiders = ~inside[ground.work.user[self.holders]] & (self.due_ns > window.start_ns)
        left = ground.capacity.copy()
        np.subtract.at(left, self.node[outsiders], self.taken[outsiders])
        nodes = np.array(ground.nodes_of(window), np.int64)
        left[nodes] -= np.array([ground.kept(window, node) for node in nodes.tolist()])
        closed: list[int] = nodes[ground.places(left[nodes], task) == 0].tolist()
        return closed


def rows_of(log: Log, tasks: Sequence[int], kind: Kind | None = None) -> IntArray:
    """The rows about some tasks, of one kind if one is given, in order."""
    mine = log.subject == tasks[0] if len(tasks) == 1 else np.isin(log.subject, tasks)
    return np.flatnonzero(mine & (log.kind == kind) if kind else mine)
