"""A job that waits at a moment, with the controller as it is then."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.insight.explain.phrases import span
from gnomon.insight.slurm.course import Course
from gnomon.insight.slurm.rehearsal import Rehearsal
from gnomon.model.errors import InvariantError
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.reservations import Verdict, usable_nodes
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND, Mask, Partition, State
from gnomon.systems.slurm.controller import look_ahead
from gnomon.systems.slurm.schedulers.choosing import alternatives, demand_of, possible_nodes, required_nodes

NO_LIMIT_NS = 300 * 24 * 60 * MINUTE
"""So far ahead is only what waits for the end of a job without a time limit."""
SOON_NS = 65 * SECOND
"""What starts so soon starts at once: two passes of backfill."""


@dataclass(eq=False)
class Moment:
    """``played``: the rehearsal, stopped; ``course``: what becomes of the job if nothing is changed; ``reason``: as
    squeue shows it, read before anything is looked into, for that changes what is remembered."""

    played: Rehearsal
    job: Job
    course: Course

    def __post_init__(self) -> None:
        self.now_ns = self.played.state.now_ns
        self.reason = self.job.reason
        self.planned_ns = self.job.planned_ns
        self.planned_nodes = self.job.planned_nodes
        self.plans = {
            other: (other.planned_ns, other.planned_nodes)
            for other in self.state.pending
            if other is not self.job and other.planned_ns >= 0
        }
        self.state.available = self.state.up

    @property
    def state(self) -> State:
        """The controller's."""
        return self.played.state

    @property
    def partition(self) -> Partition:
        """The partition that it was looked at for last."""
        return self.state.part(self.job)

    @cached_property
    def demand(self) -> Any:
        """What it asks there."""
        return demand_of(self.state, self.job, self.partition)

    @cached_property
    def possible(self) -> Mask:
        """The nodes of its partition that it does not exclude and whose features do."""
        mask = possible_nodes(self.state, self.job, self.partition)
        features = np.zeros(len(mask), np.bool_)
        for one in alternatives(self.state, self.job):
            features |= one
        return mask & features

    @cached_property
    def verdict(self) -> Verdict:
        """What reservations leave to it now."""
        return usable_nodes(self.state, self.job, self.now_ns)

    @cached_property
    def limit_min(self) -> int:
        """Its time limit as schedulers reckon with it."""
        return self.state.planned_min(self.job, self.partition)

    @cached_property
    def fits_now(self) -> Any:
        """What it would get now if nobody stood in line before it; None: nothing."""
        state = self.state
        if self.verdict.reason:
            return None
        required = required_nodes(state, self.job)
        usable = self.possible & state.up & state.settled & self.verdict.usable
        return state.selector.select(self.verdict.occupancy, self.demand, usable, required)

    @cached_property
    def fits_empty(self) -> Any:
        """What it would get if nothing ran and every node was up; None: nothing, ever."""
        empty = self.state.selector.occupancy()
        required = required_nodes(self.state, self.job)
        return self.state.selector.select(empty, self.demand, self.possible, required)

    @cached_property
    def line(self) -> list[Job]:
        """Those who wait in the line of its partition, or of one that shares nodes with it, before it."""
        before: list[Job] = []
        mine = self.partition.nodes
        for other, partition in in_line(self.state):
            if other is self.job or (other.array is not None and other.array is self.job.array):
                break
            if (partition.nodes & mine).any() and other not in before:
                before.append(other)
        return before

    @cached_property
    def expected_ns(self) -> int:
        """When it starts as far as time limits tell (-1: nobody can say): as backfill promises it, else as
        ``--test-only`` would say."""
        if self.planned_ns >= 0:
            return self._known(self.planned_ns)
        found = look_ahead.expected(self.state, self.job)
        return self._known(found[0]) if found is not None else -1

    def _known(self, time_ns: int) -> int:
        """A time that only a job without a time limit can have led to is none."""
        return time_ns if time_ns - self.now_ns < NO_LIMIT_NS else -1

    def promises(self) -> list[tuple[int, Job, tuple[int, ...]]]:
        """The starts that are promised to others before this job would end if it started now: (ns, job, nodes)."""
        end_ns = self.now_ns + self.limit_min * MINUTE
        found = [(at, other, nodes) for other, (at, nodes) in self.plans.items() if self.now_ns < at < end_ns]
        return sorted(found, key=lambda one: (one[0], one[1].order_id))

    def at(self, time_ns: int) -> str:
        """A time of the scenario in words."""
        return span(max(time_ns, 0))


def in_line(state: State) -> list[tuple[Job, Partition]]:
    """Who may be looked at, in the order of the queue: a record for each partition of each."""
    return [(entry.job, entry.partition) for entry in state.line.entries(backfill=False)]


def job_of(played: Rehearsal, task: int) -> Job:
    """The job of a task that was submitted."""
    job = played.job(task)
    if job is None:
        raise InvariantError("a job that was submitted is gone")
    return job
