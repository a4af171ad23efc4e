"""Backfill: every pending job is promised its start; one that delays no promise starts now.

``_attempt_backfill`` of ``src/plugins/sched/backfill/backfill.c`` (22.05 to 25.05). The plan is a map from now to the
end of the window: in each slot of time the nodes that are not promised. Promises hold whole nodes, last as long as time
limits say, and are made anew at each pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from gnomon.systems.slurm import lifecycle, preempting
from gnomon.systems.slurm.choosing import (
    Code,
    alternatives,
    choose,
    demand_of,
    exceeds,
    expected_ends,
    limit_after,
    possible_nodes,
    required_nodes,
    wants_whole,
)
from gnomon.systems.slurm.eligible import array_is_full, is_independent
from gnomon.systems.slurm.hetjobs import start_het_jobs
from gnomon.systems.slurm.job import BACKFILL, Job
from gnomon.systems.slurm.main_scheduler import queue
from gnomon.systems.slurm.reservations import usable_nodes
from gnomon.systems.slurm.state import MINUTE, SECOND, Mask, Partition, State

MOST_TRIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """The ``bf_…`` parameters, in seconds where they are times (defaults: slurm.conf(5))."""

    interval_s: int = 30
    resolution_s: int = 60
    window_s: int = 86_400
    most_tests: int = 500
    most_starts: int = 0
    most_slots: int = 500
    per_user: int = 0
    per_partition: int = 0
    per_user_partition: int = 0
    per_account: int = 0
    array_promises: int = 20
    promises_per_partition: int = 0
    least_age_s: int = 0
    one_per_job: bool = False
    running_reserve: bool = False

    @classmethod
    def of(cls, scheduler: Mapping[str, str]) -> Settings:
        """From SchedulerParameters."""

        def number(name: str, default: int) -> int:
            return int(scheduler.get(name, default) or default)

        tests = number("bf_max_job_test", number("max_job_bf", 500))
        return cls(
            interval_s=number("bf_interval", 30),
            resolution_s=max(1, number("bf_resolution", 60)),
            window_s=number("bf_window", 1440) * 60,
            most_tests=tests,
            most_starts=number("bf_max_job_start", 0),
            most_slots=number("bf_node_space_size", tests),
            per_user=number("bf_max_job_user", 0),
            per_partition=number("bf_max_job_part", 0),
            per_user_partition=number("bf_max_job_user_part", 0),
            per_account=number("bf_max_job_assoc", 0),
            array_promises=number("bf_max_job_array_resv", 20),
            promises_per_partition=number("bf_job_part_count_reserve", 0),
            least_age_s=number("bf_min_age_reserve", 0),
            one_per_job="bf_one_resv_per_job" in scheduler,
            running_reserve="bf_running_job_reserve" in scheduler,
        )


@dataclass(slots=True)
class Slot:
    """From ``begin`` to before ``end`` (seconds) these nodes are not promised."""

    begin: int
    end: int
    nodes: Mask


@dataclass
class Pass:
    """One pass: the map, and what it counts."""

    state: State
    settings: Settings
    slots: list[Slot]
    tests: int = 0
    starts: int = 0
    tested: dict[tuple[str, ...], int] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    arrays: dict[int, int] = field(default_factory=dict)
    planned: dict[int, tuple[int, ...]] = field(default_factory=dict)
    het: dict[int, int] = field(default_factory=dict)

    @property
    def window_end(self) -> int:
        """Where the map ends."""
        return self.slots[-1].end


def backfill(state: State, settings: Settings) -> int:
    """One pass over the queue; how many jobs it started."""
    now, step = state.now_s, settings.resolution_s
    first = Slot(now // step * step, (now + settings.window_s) // step * step, state.available.copy())
    this = Pass(state, settings, [first])
    for job in state.pending:
        job.planned_ns, job.planned_nodes = -1, ()
    for job, partition in queue(state, backfill=True):
        if this.tests >= settings.most_tests or (settings.most_starts and this.starts >= settings.most_starts):
            break
        if len(this.slots) >= settings.most_slots + 1:
            break
        follower: Job | None = job
        while follower is not None and follower.pends and follower.priority:
            head, follower = follower, None
            head.partition = partition.name
            again = _test(this, head, partition)
            if again and head.array is not None:
                rest = [one for one in head.array.unsplit if one is not head and one.planned_ns < 0]
                follower = rest[0] if rest else None
    this.starts += start_het_jobs(state)
    return this.starts


def _test(this: Pass, job: Job, partition: Partition) -> bool:
    """Look at one job: it starts, is promised a start, or neither. Whether the next task of its array is looked at."""
    state = this.state
    if job.preempting or not job.pends or array_is_full(state, job) or _counts_too_many(this, job, partition):
        return False
    if not state.licenses.have(job) or not is_independent(state, job) or exceeds(state, job, partition):
        return False
    if state.limits is not None and (reason := state.limits.before(job)):
        state.say(job, reason)
        return False
    if lifecycle.misses_deadline(state, job):
        return False
    limit, planned = _limits(state, job, partition)
    hold = _may_not_reserve(this, job, partition)
    later = max(state.now_s, this.het.get(job.het.id, 0) if job.het is not None else 0)
    if later > this.window_end:
        return False
    if job.het is not None:
        this.het[job.het.id] = this.window_end + 1  # the others start no sooner, until this one is known to start
    counted = False
    for _ in range(MOST_TRIES):
        outcome = _try(this, job, partition, planned, later, counted=counted)
        counted = True
        if outcome is None:
            return False
        if isinstance(outcome, int):
            if hold:
                return False
            later = outcome
            continue
        return _settle(this, job, partition, outcome, limit=limit, planned=planned, hold=hold)
    return False


@dataclass(slots=True)
class Plan:
    """A job would start at ``start`` (s) with this allocation, on ``nodes``; ``usable``: those it was chosen from;
    ``later``: when more nodes are free (0: never)."""

    start: int
    allocation: Any
    nodes: Mask
    usable: Mask
    later: int


def _limits(state: State, job: Job, partition: Partition) -> tuple[int, int]:
    """The time limit a job would get, and the one it is planned with, in minutes: the least it takes, if it says so."""
    limit = state.planned_min(job, partition)
    if job.deadline_ns:
        limit = min(limit, (job.deadline_ns - state.now_ns) // MINUTE)
    least = job.request.time_min_min
    return limit, least if least is not None and least < limit else limit


def _try(this: Pass, job: Job, partition: Partition, planned: int, later: int, *, counted: bool) -> Plan | int | None:
    """Look for nodes from a time on: a plan; or a time to look again from; or None, when it is no use."""
    state, settings = this.state, this.settings
    now, start = state.now_s, later
    verdict = usable_nodes(state, job, start * SECOND, planned)
    if verdict.reason:
        return None
    if start > this.window_end:
        return None
    end = start + planned * 60
    usable = possible_nodes(state, job, partition) & verdict.usable & state.up & state.settled
    usable, later = _over_slots(this, usable, start, end)
    if verdict.later_ns:
        ends = -(-verdict.later_ns // SECOND) // settings.resolution_s * settings.resolution_s + 1
        if ends < this.window_end and (not later or ends < later):
            later = ends
    required = required_nodes(state, job)
    if required[~usable].any() or int(usable.sum()) < (job.request.nodes_min or 1):
        return later or None
    if not counted:
        this.tests += 1
    found = _will_run(state, job, partition, usable, required, verdict.occupancy)
    if found is None:
        return later or None
    begins, allocation = max(found[0], start), found[1]
    chosen = np.zeros(len(usable), np.bool_)
    chosen[list(allocation.nodes)] = True
    if later and begins > later:
        return later
    if begins > now and _overlaps(this, chosen, begins, planned):
        return begins + (settings.resolution_s if begins == start else 0)
    return Plan(begins, allocation, chosen, usable, later)


def _over_slots(this: Pass, usable: Mask, start: int, end: int) -> tuple[Mask, int]:
    """The nodes that are not promised to others from start to end; and when that will be more than the first slot has
    (0: never)."""
    later, slots, before = 0, this.slots, usable
    for i, slot in enumerate(slots):
        if slot.end <= start:
            continue
        if not later and i + 1 < len(slots):
            grown = before & slots[i + 1].nodes & ~(usable & slot.nodes)
            if grown.any():
                later = slot.end
        if slot.begin <= end:
            usable = usable & slot.nodes
        else:
            if not later and i + 1 < len(slots) and i + 2 < len(slots):
                later = slots[i + 1].end
            break
    return usable, later


def _will_run(
    state: State, job: Job, partition: Partition, usable: Mask, required: Mask, occupancy: Any
) -> tuple[int, Any] | None:
    """When and where the nodes would do, as running jobs end by their limits; now, if those who may give way did."""
    demand = demand_of(state, job, partition)
    line = preempting.candidates(state, job) if preempting.is_on(state) else []
    modes = {other: preempting.mode_of(state, other) for other in line}
    gone = [other.allocation for other in line if modes[other] != "SUSPEND"]
    standing = [other.allocation for other in line if modes[other] == "SUSPEND"]
    running = expected_ends(state, modes)
    for feature in alternatives(state, job):
        found: tuple[int, Any] | None = state.selector.will_run(
            occupancy, demand, usable & feature, required, running, now=state.now_s, gone=gone, standing=standing
        )
        if found is not None:
            return found
    return None


def _settle(this: Pass, job: Job, partition: Partition, plan: Plan, *, limit: int, planned: int, hold: bool) -> bool:
    """Start the job, or promise it what was found. Whether the next task of its array may be looked at."""
    state, now = this.state, this.state.now_s
    if plan.start <= now and job.het is None:
        usable = plan.usable
        given = _longest(this, plan.nodes, planned, limit) if planned < limit else None
        outcome = choose(state, job, usable=usable, minutes=planned)
        if outcome.code is Code.OK and not outcome.victims:
            lifecycle.start(state, job, outcome.allocation, BACKFILL, limit_min=given)
            this.starts += 1
            if wants_whole(job, partition) and not preempting.gives_way(state, job):
                _keep(this, job)
            return True
        if outcome.code is Code.OK:
            lifecycle.preempt(state, job, outcome, BACKFILL)
        elif outcome.code in (Code.POLICY, Code.RESERVATION):
            return False
        plan.start = now
    job.planned_ns, job.planned_nodes = plan.start * SECOND, tuple(np.flatnonzero(plan.nodes).tolist())
    if job.het is not None:
        this.het[job.het.id] = plan.start
    if job.reason == "None":
        state.say(job, "Resources" if job.het is not None else job.reason)
    if (plan.start > now and hold) or plan.start > now + this.settings.window_s:
        return False
    if reason := limit_after(state, job, plan.allocation):
        state.say(job, reason)
        return False
    this.promised[partition.name] = this.promised.get(partition.name, 0) + 1
    _promise(this, plan.nodes, plan.start, planned)
    this.planned[job.task] = job.planned_nodes
    if job.array is None:
        return False
    this.arrays[job.array.id] = this.arrays.get(job.array.id, 0) + 1
    room = job.array.limit is None or this.arrays[job.array.id] + job.array.running < job.array.limit
    return this.arrays[job.array.id] < this.settings.array_promises and room


def _span(this: Pass, start: int, planned: int) -> tuple[int, int]:
    """The time that a promise takes in the map: whole steps, up to the last whole one until 22.05."""
    step = this.settings.resolution_s
    begin = max(start // step * step, this.slots[0].begin)
    rest = step - 1 if this.state.conf.version > (22, 5) else 0
    return begin, max((start + planned * 60 + rest) // step * step, begin + step)


def _overlaps(this: Pass, nodes: Mask, start: int, planned: int) -> bool:
    """Whether some of the nodes are promised in that time."""
    begin, end = _span(this, start, planned)
    return any(slot.begin < end and slot.end > begin and (nodes & ~slot.nodes).any() for slot in this.slots)


def _promise(this: Pass, nodes: Mask, start: int, planned: int) -> None:
    """Take nodes out of the map for a time."""
    _take(this, nodes, *_span(this, start, planned))


def _keep(this: Pass, job: Job) -> None:
    """A job that has just started with whole nodes: they are out of the map until its end (``_bf_reserve_running``)."""
    nodes = np.zeros(len(this.state.available), np.bool_)
    nodes[list(job.allocation.nodes)] = True
    step = this.settings.resolution_s
    end = -(-job.end_ns // SECOND // step) * step if job.end_ns else this.window_end
    _take(this, nodes, this.slots[0].begin, end)


def _take(this: Pass, nodes: Mask, begin: int, end: int) -> None:
    end = min(end, this.window_end)
    slots: list[Slot] = []
    for slot in this.slots:
        cuts = sorted({slot.begin, slot.end, *(t for t in (begin, end) if slot.begin < t < slot.end)})
        for a, b in pairwise(cuts):
            inside = begin <= a and b <= end
            slots.append(Slot(a, b, slot.nodes & ~nodes if inside else slot.nodes))
    this.slots = slots


def _longest(this: Pass, nodes: Mask, least: int, most: int) -> int:
    """The longest limit (minutes) that takes nothing from a promise, between the least and what was asked for."""
    now, limit = this.state.now_s, most
    for slot in this.slots:
        if now < slot.begin < now + most * 60 and (nodes & ~slot.nodes).any():
            limit = min(limit, (slot.begin - now) // 60)
    for one in this.state.reservations.values():
        if one.start_ns > this.state.now_ns and (one.nodes & nodes).any():
            limit = min(limit, (one.start_ns - this.state.now_ns) // MINUTE)
    return max(least, limit)


def _may_not_reserve(this: Pass, job: Job, partition: Partition) -> bool:
    """Whether a job may only start now, and is promised nothing."""
    settings, state = this.settings, this.state
    least = state.priorities.least_to_reserve(job)
    if least and job.priority < least:
        return True
    if settings.least_age_s and state.now_ns - max(job.eligible_ns, 0) < settings.least_age_s * SECOND:
        return True
    if settings.one_per_job and job.planned_ns >= 0:
        return True
    most = settings.promises_per_partition
    return bool(most) and this.promised.get(partition.name, 0) >= most


def _counts_too_many(this: Pass, job: Job, partition: Partition) -> bool:
    """Whether as many jobs of its user, account or partition were looked at as may."""
    settings = this.settings
    bounds = (
        (settings.per_partition, ("part", partition.name)),
        (settings.per_user, ("user", job.user)),
        (settings.per_account, ("assoc", job.account, job.user)),
        (settings.per_user_partition, ("user_part", job.user, partition.name)),
    )
    for most, key in bounds:
        if most:
            if this.tested.get(key, 0) >= most:
                return True
            this.tested[key] = this.tested.get(key, 0) + 1
    return False
