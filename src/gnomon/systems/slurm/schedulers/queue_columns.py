"""The queue as columns that backfill's kernel looks along: a row for each job in each partition that may take it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gnomon.systems.slurm.cluster import preempting
from gnomon.systems.slurm.cluster.state import SECOND, State, is_for_one_user
from gnomon.systems.slurm.config.bf_settings import BY_JOB
from gnomon.systems.slurm.schedulers import planning
from gnomon.systems.slurm.schedulers.choosing import alternatives, demand_of, possible_nodes, required_nodes
from gnomon.systems.slurm.schedulers.line import Entry
from gnomon.systems.slurm.schedulers.planning import Chart, Lined
from gnomon.systems.slurm.select.speed import Columns

_NOBODY: Final = 0  # the mask without nodes


class Queue:
    """Rows are made when a job is first looked at, and used again when it is gone; masks of nodes are shared, and made
    anew when nodes go down or come back."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.entries: list[Entry] = []
        self._rows, self._free = 0, list[int]()
        self._value = np.zeros((64, planning.FIELDS), np.int64)
        self._order = np.zeros(64, np.int32)
        self._masks: dict[tuple[Any, ...], int] = {}
        self._stack = np.zeros((16, self._nodes), np.int8)
        self._words = np.zeros((16, len(planning.packed(self._stack[0]))), np.int64)
        self._seen: tuple[int, ...] | None = None
        self._lined: Columns[Lined] | None = None
        settings = state.conf.scheduler
        self._all_python = preempting.is_on(state) or any(name in settings for name in BY_JOB)
        self._future: Any = None
        self._of: Any = None

    @property
    def _nodes(self) -> int:
        return len(self._state.conf.nodes)

    def look_in_detail(self) -> None:
        """Let no job be looked at by the kernel, which keeps no account of the nodes that it promises to whom."""
        self._all_python = True

    def set_up(self, entries: list[Entry], *, whole: bool) -> int:
        """Line these entries up. How many are worth while to look at."""
        state = self._state
        self.entries = entries
        for left in state.line.left:
            if left.slot >= 0:
                self._free.append(left.slot)
        state.line.left.clear()
        seen = (*state.down, -1, *state.drained, -2, *state.completing)
        if seen != self._seen or self._of is not state.selector:
            self._seen, self._of, self._future = seen, state.selector, state.occupancy.copy()
            self._masks = {}
            for entry in entries:
                if entry.slot >= 0:
                    self._fill(entry)
        for entry in entries:
            if entry.slot < 0:
                entry.slot = self._row()
                self._fill(entry)
        if len(entries) > len(self._order):
            self._order, self._lined = np.zeros(2 * len(entries), np.int32), None
        order, value = self._order[: len(entries)], self._value
        order[:] = [entry.slot for entry in entries]
        python = state.limits is not None or bool(state.reservations) or state.exclusive_users > 0 or self._all_python
        value[order, planning.PLANNED] = -1
        if python:
            value[order, planning.KIND] = planning.PYTHON
        length = len(order)
        if not whole:
            able = (value[order, planning.CPUS] <= state.selector.free_cpus(state.occupancy, state.up)) | (
                value[order, planning.KIND] == planning.PYTHON
            )
            length = int(np.flatnonzero(able)[-1]) + 1 if able.any() else 0
        if length:
            self.renew()
        return length

    def renew(self) -> None:
        """Who runs is others now."""
        self._state.selector.store.line_up_sorted(self._state.ends)

    def _row(self) -> int:
        if self._free:
            return self._free.pop()
        if self._rows == len(self._value):
            larger = np.zeros((2 * self._rows, planning.FIELDS), np.int64)
            larger[: self._rows] = self._value
            self._value, self._lined = larger, None
        self._rows += 1
        return self._rows - 1

    def _fill(self, entry: Entry) -> None:
        """The row of an entry."""
        state, job, partition = self._state, entry.job, entry.partition
        request = job.request
        sets = alternatives(state, job)
        plain = (
            job.het is None
            and job.array is None
            and not request.licenses
            and not job.deadline_ns
            and request.time_min_min is None
            and request.switches is None
            and not request.reservation
            and len(sets) == 1
            and "*" not in request.features
            and not is_for_one_user(job, partition)
        )
        demand = demand_of(state, job, partition)
        plain = plain and state.selector.is_usual(demand)
        key = (partition.name, request.exclude, request.tmp_mb, request.features)
        row = self._value[entry.slot]
        row[planning.DEMAND] = state.selector.rows.of(demand)
        row[planning.USABLE] = self._mask(
            key, lambda: possible_nodes(state, job, partition) & sets[0] & state.up & state.settled
        )
        row[planning.REQUIRED] = (
            self._mask(("required", request.node_list), lambda: required_nodes(state, job))
            if request.node_list
            else _NOBODY
        )
        row[planning.MINUTES] = state.planned_min(job, partition)
        row[planning.NODES] = request.nodes_min or 1
        row[planning.CPUS] = state.selector.least_cpus(demand)
        row[planning.KIND] = planning.PLAIN if plain else planning.PYTHON
        row[planning.PLANNED] = -1

    def _mask(self, key: tuple[Any, ...], make: Any) -> int:
        found = self._masks.get(key)
        if found is None:
            found = self._masks[key] = len(self._masks) + 1
            if found == len(self._stack):
                self._stack, self._lined = np.concatenate([self._stack, np.zeros_like(self._stack)]), None
                self._words = np.concatenate([self._words, np.zeros_like(self._words)])
            self._stack[found] = make()
            self._words[found] = planning.packed(self._stack[found])
        return found

    def look(self, chart: Columns[Chart]) -> int:
        """Ask the kernel to go on: see :func:`planning.look`."""
        if chart.columns.at[planning.NEXT] >= chart.columns.at[planning.LENGTH]:
            return planning.THROUGH
        if self._lined is None:
            self._lined = Columns(Lined(self._order, self._value, self._stack, self._words))
        selector, occupancy = self._state.selector, self._state.occupancy
        of = selector.speed.of
        answer = selector.speed.form(planning.look)(
            of(selector.hardware_columns),
            of(occupancy.columns),
            of(self._future.columns),
            of(selector.rows.columns),
            of(selector.trial),
            of(selector.store.columns),
            of(chart),
            of(self._lined),
        )
        return int(answer)

    def note_plans(self, length: int) -> None:
        """Tell the jobs what start they were promised."""
        for i, start in self._planned(length):
            self.entries[i].job.planned_ns = start * SECOND

    def _planned(self, length: int) -> list[tuple[int, int]]:
        """The places of those whom the kernel promised a start, and when."""
        start = self._value[self._order[:length], planning.PLANNED]
        promised = np.flatnonzero(start >= 0)
        return list(zip(promised.tolist(), start[promised].tolist(), strict=True))

    def next_start_s(self, length: int) -> int:
        """The earliest of the promised starts that are to come, 0: none is."""
        value, now = self._value[self._order[:length]], self._state.now_s
        asked = np.flatnonzero(value[:, planning.KIND] == planning.PYTHON).tolist()
        jobs = (self.entries[i].job for i in asked)
        starts = [job.planned_ns // SECOND for job in jobs if job.pends]
        starts += value[:, planning.PLANNED].tolist()
        return min((start for start in starts if start > now), default=0)
