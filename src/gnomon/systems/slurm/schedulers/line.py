"""The queue: pending jobs in the order in which both schedulers look at them, kept in order as jobs come and go.

A job stands in it once for each partition that takes it; of an array only the first task without a record of its own.
Those who cannot run whatever is free (held, dependent, not begun, too large for their partition) stand aside, and are
looked at again in each pass. Source: ``build_job_queue``, ``sort_job_queue2`` of ``src/slurmctld/job_scheduler.c``.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from functools import cmp_to_key
from operator import attrgetter
from typing import Any

from gnomon.systems.slurm.cluster import preempting
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import SECOND, Partition, State
from gnomon.systems.slurm.schedulers.choosing import wants_more_cpus
from gnomon.systems.slurm.schedulers.eligible import holds_back, is_runnable_in

Key = tuple[int, ...]
_key = attrgetter("key")


class Entry:
    """A job in a partition, with its place in the order. ``slot``: its row in the columns that kernels take."""

    __slots__ = ("job", "key", "partition", "slot")

    def __init__(self, job: Job, partition: Partition, key: Key) -> None:
        self.job, self.partition, self.key = job, partition, key
        self.slot = -1

    def __iter__(self) -> Iterator[Any]:
        return iter((self.job, self.partition))


class Line:
    """The entries in order, and those who stand aside."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.ready: list[Entry] = []
        self._aside: dict[Job, None] = {}
        self._placed: dict[Job, list[Entry]] = {}
        self._preempts = preempting.is_on(state)
        self.left: list[Entry] = []

    def entries(self, *, backfill: bool) -> list[Entry]:
        """Everybody who may be looked at now, in order."""
        self._catch_up()
        for job in list(self._aside):
            self._look_at(job, backfill=backfill)
        if self._preempts:
            for entry in self.ready:
                entry.job.preempting = False
        if self._preempts and len(self.ready) > 1:
            return sorted(self.ready, key=cmp_to_key(self._before))
        return self.ready

    def first(self) -> Entry | None:
        """The first in order, as far as is known."""
        return self.ready[0] if self.ready else None

    @property
    def aside(self) -> list[Job]:
        """Those who cannot run whatever is free, and those who just came."""
        self._catch_up()
        return list(self._aside)

    def reorder(self) -> bool:
        """Priorities are others now. Whether the order is."""
        before: Key = ()
        same = True
        for entry in self.ready:
            entry.key = self._key(entry.job, entry.partition)
            same = same and before < entry.key
            before = entry.key
        if not same:
            self.ready.sort(key=_key)
        return not same

    def renew(self) -> None:
        """Something about jobs or partitions was changed from outside: everybody is looked at anew."""
        for job in list(self._placed):
            self._remove(job)
            self._aside[job] = None

    def set_aside(self, job: Job) -> None:
        """A job cannot run whatever is free."""
        self._remove(job)
        self._aside[job] = None

    def _catch_up(self) -> None:
        """Take note of who came and who went."""
        pending = self._state.pending
        for job in pending.gone:
            self._aside.pop(job, None)
            self._remove(job)
            if not job.pends:
                self._state.priorities.forget(job)
        pending.gone.clear()
        for job in pending.came:
            if job in pending:
                self._aside[job] = None
        pending.came.clear()

    def _remove(self, job: Job) -> None:
        for entry in self._placed.pop(job, ()):
            place = bisect_left(self.ready, entry.key, key=_key)
            while self.ready[place] is not entry:
                place += 1
            del self.ready[place]
            self.left.append(entry)
        array = job.array
        if array is not None and (head := next(iter(array.unsplit), None)) is not None:
            self._aside[head] = None

    def _look_at(self, job: Job, *, backfill: bool) -> None:
        """Let somebody in who stands aside, if nothing but nodes holds him."""
        state = self._state
        if job not in state.pending:
            self._aside.pop(job, None)
            return
        if job.array is not None and not job.split and next(iter(job.array.unsplit), None) is not job:
            del self._aside[job]  # the first one stands for all
            return
        job.preempting = False
        if holds_back(state, job) or not job.pends:
            return
        takers = []
        for name in job.partitions:
            partition = state.partitions.get(name)
            if partition is None:
                continue
            job.partition = name
            if wants_more_cpus(state, job, partition):
                state.say(job, "PartitionConfig")
            elif is_runnable_in(state, job, partition, backfill=backfill):
                takers.append(partition)
        for partition in takers:
            self._place(job, partition)
        if len(takers) == len(job.partitions):  # else the others may take it later
            del self._aside[job]

    def _place(self, job: Job, partition: Partition) -> None:
        placed = self._placed.setdefault(job, [])
        if any(entry.partition is partition for entry in placed):
            return
        entry = Entry(job, partition, self._key(job, partition))
        placed.append(entry)
        insort(self.ready, entry, key=_key)

    def _key(self, job: Job, partition: Partition) -> Key:
        return (
            0 if job.request.reservation else 1,
            -partition.conf.priority_tier,
            -self._state.priorities.of(job, partition),
            job.submit_ns // SECOND,
            job.order_id,
            job.array_task,
        )

    def _before(self, a: Entry, b: Entry) -> int:
        """Who may preempt whom goes first, whatever else."""
        state = self._state
        if preempting.may_take_in(state, (a.job, a.partition), (b.job, b.partition)):
            return -1
        if preempting.may_take_in(state, (b.job, b.partition), (a.job, a.partition)):
            return 1
        return -1 if a.key < b.key else 1
