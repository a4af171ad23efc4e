"""What jobs have taken of the nodes, as Python sees it, and the store of who runs where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.select.allocation import Allocation
from gnomon.systems.slurm.select.columns import BITS, Hardware, Occupied, Running
from gnomon.systems.slurm.select.speed import Columns, Speed
from gnomon.systems.slurm.select.taking import ALL, CORES_ONLY, shift


def _each(columns: tuple[npt.NDArray[Any], ...]) -> tuple[npt.NDArray[Any], ...]:
    return columns


def nothing_taken(h: Hardware) -> Occupied:
    """The occupancy of nodes without jobs."""
    n, cores = h.barred.shape
    tracked = int(h.track.max(initial=-1)) + 1
    return Occupied(
        cores=np.zeros((n, cores), np.int8),
        free=h.every.copy(),
        idle=h.every.sum(axis=1, dtype=np.int32),
        memory=np.zeros(n, np.int64),
        jobs=np.zeros(n, np.int32),
        whole=np.zeros(n, np.int32),
        state=np.zeros(n, np.int32),
        part_jobs=np.zeros((tracked, n), np.int32),
        part_cores=np.zeros((tracked, n), np.int32),
        rows=np.zeros((len(h.row_part), n, cores), np.int8),
        taken=np.zeros(h.kind.shape, np.int32),
    )


class Store:
    """The shares of jobs that run, in columns; room is made as needed."""

    def __init__(self, h: Hardware, jobs: int = 256, shares: int = 1024) -> None:
        self._lined: Any = None
        self._words, self._tpc = -(-h.barred.shape[1] // BITS), h.tpc.tolist()
        self._holders = h.kind.shape[1]
        self.columns: Columns[Running] = Columns(self.empty(jobs, shares))
        self._free_jobs = list(range(jobs - 1, -1, -1))
        self._free_shares = list(range(shares - 1, -1, -1))

    def empty(self, jobs: int, shares: int) -> Running:
        """Room for so many jobs and shares."""
        return Running(
            first=np.full(jobs, -1, np.int32),
            partition=np.zeros(jobs, np.int32),
            whole=np.zeros(jobs, np.int8),
            share=np.zeros(jobs, np.int32),
            row=np.full(jobs, -1, np.int32),
            after=np.full(shares, -1, np.int32),
            node=np.zeros(shares, np.int32),
            memory=np.zeros(shares, np.int64),
            cores=np.zeros((shares, self._words), np.int64),
            devices=np.zeros((shares, self._holders), np.int32),
            cpus=np.zeros(shares, np.int64),
            listed=np.zeros(2, np.int64),
            order=np.zeros(jobs, np.int32),
            ends=np.zeros(jobs, np.int64),
            freed=np.zeros(jobs, np.int64),
            gone=np.zeros(jobs, np.int32),
        )

    def _grow(self, jobs: int, shares: int) -> None:
        old = self.columns.columns
        new = self.empty(jobs, shares)
        for before, after in zip(_each(old), _each(new), strict=True):
            after[: len(before)] = before
        self._free_jobs += range(jobs - 1, len(old.first) - 1, -1)
        self._free_shares += range(shares - 1, len(old.after) - 1, -1)
        self.columns = Columns(new)

    def enter(self, allocation: Allocation) -> int:
        """Keep the shares of an allocation; its slot."""
        if allocation.slot >= 0:
            return allocation.slot
        count = len(allocation.nodes)
        jobs, shares = len(self.columns.columns.first), len(self.columns.columns.after)
        if not self._free_jobs or len(self._free_shares) < count:
            self._grow(jobs if self._free_jobs else jobs * 2, max(shares * 2, shares + count))
        r, slot = self.columns.columns, self._free_jobs.pop()
        rows = self._free_shares[-count:]
        del self._free_shares[-count:]
        r.node[rows], r.memory[rows] = allocation.nodes, allocation.memory_mb
        r.cores[rows], r.devices[rows] = allocation.words, allocation.devices
        r.after[rows] = [*rows[1:], -1]
        r.first[slot], r.partition[slot], r.row[slot] = rows[0], allocation.partition, -1
        r.whole[slot], r.share[slot] = allocation.whole, allocation.share
        words = zip(allocation.nodes, allocation.words.tolist(), strict=True)
        r.cpus[rows] = [self._tpc[n] * sum(word.bit_count() for word in row) for n, row in words]
        allocation.slot = slot
        return slot

    def leave(self, allocation: Allocation) -> None:
        """Forget an allocation."""
        r, slot = self.columns.columns, allocation.slot
        share = int(r.first[slot])
        while share >= 0:
            self._free_shares.append(share)
            share = int(r.after[share])
        r.first[slot] = -1
        self._free_jobs.append(slot)
        allocation.slot = -1

    def line_up(self, running: Sequence[tuple[int, Allocation]]) -> None:
        """Put jobs in the order of their expected ends, given as (end in s, allocation)."""
        self._lined = None
        line = sorted(running, key=lambda one: one[0])
        while len(line) > len(self.columns.columns.order):
            self._grow(len(self.columns.columns.first) * 2, len(self.columns.columns.after))
        r = self.columns.columns
        r.listed[0] = len(line)
        r.order[: len(line)] = [self.enter(allocation) for _, allocation in line]
        r.ends[: len(line)] = [end for end, _ in line]

    def line_up_sorted(self, ends: Any) -> None:
        """The same of those who are in order already, if others run than before; ``ends``: see :class:`ends.Ends`."""
        if self._lined is ends and not ends.changed:
            return
        self.line_up([(end, allocation) for end, _, allocation in ends.line])
        self._lined, ends.changed = ends, False


class Occupancy:
    """What is taken of the nodes.

    ``take`` and ``give`` are each other's reverse; a copy is another occupancy of the same jobs.
    """

    def __init__(self, h: Columns[Hardware], store: Store, speed: Speed, columns: Occupied | None = None) -> None:
        self._h, self._store, self._speed = h, store, speed
        self.columns: Columns[Occupied] = Columns(nothing_taken(h.columns) if columns is None else columns)
        self._is_copy = columns is not None

    def take(self, allocation: Allocation) -> None:
        """A job starts."""
        self._store.enter(allocation)
        self._shift(allocation, 1, ALL)

    def give(self, allocation: Allocation, *, suspended: bool = False) -> None:
        """A job is over. ``suspended``: it has its cores no more."""
        if suspended:
            self._shift(allocation, 1, CORES_ONLY)
        self._shift(allocation, -1, ALL)
        if not self._is_copy:
            self._store.leave(allocation)

    def suspend(self, allocation: Allocation) -> None:
        """A job stands still: it keeps memory and devices only."""
        self._shift(allocation, -1, CORES_ONLY)

    def resume(self, allocation: Allocation) -> None:
        """It goes on."""
        self._shift(allocation, 1, CORES_ONLY)

    def _shift(self, allocation: Allocation, sign: int, what: int) -> None:
        speed = self._speed
        call = speed.form(shift)
        store = self._store.columns
        call(speed.of(self._h), speed.of(self.columns), speed.of(store), allocation.slot, sign, what)

    def hold(self, cores: Mapping[int, Sequence[int]]) -> None:
        """Take cores out, as reservations of cores do: node number to core numbers. Nobody gives them back."""
        o, h = self.columns.columns, self._h.columns
        for node, numbers in cores.items():
            for core in numbers:
                if o.cores[node, core] == 0 and not h.barred[node, core]:
                    o.free[node, core // h.cores[node]] -= 1
                    o.idle[node] -= 1
                o.cores[node, core] += 1
                o.rows[:, node, core] += 1
            if numbers:
                o.jobs[node] += 1  # it is not for those who want all of it

    def copy(self) -> Occupancy:
        """Another occupancy that starts as this one."""
        columns = Occupied._make(column.copy() for column in _each(self.columns.columns))
        return Occupancy(self._h, self._store, self._speed, columns)

    def copy_into(self, other: Occupancy) -> None:
        """Make another occupancy the same as this."""
        for column, into in zip(_each(self.columns.columns), _each(other.columns.columns), strict=True):
            np.copyto(into, column)

    def is_of(self, jobs: Iterable[tuple[Allocation, bool]]) -> bool:
        """Whether just what these jobs have is taken, given as (allocation, whether it is suspended)."""
        left = self.copy()
        for allocation, suspended in jobs:
            left.give(allocation, suspended=suspended)
        nothing = nothing_taken(self._h.columns)
        each = zip(_each(left.columns.columns), _each(nothing), strict=True)
        return all(np.array_equal(one, other) for one, other in each)

    def busy_nodes(self) -> npt.NDArray[np.bool_]:
        """Which nodes have jobs."""
        return self.columns.columns.jobs > 0
