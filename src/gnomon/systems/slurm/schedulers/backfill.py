"""Backfill: every pending job is promised its start; one that delays no promise starts now.

``_attempt_backfill`` of ``src/plugins/sched/backfill/backfill.c`` (22.05 to 25.05). The plan is a map from now to the
end of the window: in each slot of time the nodes that are not promised. Promises hold whole nodes, last as long as time
limits say, and are made anew at each pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster import lifecycle, preempting
from gnomon.systems.slurm.cluster.job import BACKFILL, Job
from gnomon.systems.slurm.cluster.reservations import next_change_ns, usable_nodes
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND, Mask, Partition, State
from gnomon.systems.slurm.config.bf_settings import Settings
from gnomon.systems.slurm.schedulers import planning
from gnomon.systems.slurm.schedulers.choosing import (
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
from gnomon.systems.slurm.schedulers.eligible import array_is_full, is_independent
from gnomon.systems.slurm.schedulers.hetjobs import start_het_jobs
from gnomon.systems.slurm.schedulers.planning import Chart
from gnomon.systems.slurm.schedulers.queue_columns import Queue
from gnomon.systems.slurm.select import at as places
from gnomon.systems.slurm.select.speed import Columns

MOST_TRIES: Final = 10_000


@dataclass
class Pass:
    """What one pass counts."""

    state: State
    settings: Settings
    chart: Columns[Chart]
    starts: int = 0
    tested: dict[tuple[str, ...], int] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    arrays: dict[int, int] = field(default_factory=dict)
    het: dict[int, int] = field(default_factory=dict)
    planned: set[Job] = field(default_factory=set)

    @property
    def at(self) -> Any:
        """The numbers of the map, by the names in :mod:`planning`."""
        return self.chart.columns.at

    @property
    def window_end(self) -> int:
        """Where the map ends."""
        return int(self.chart.columns.end[self.at[planning.COUNT] - 1])

    def call(self, kernel: Any, *numbers: int) -> Any:
        """Ask a kernel over the map and the trial of the selector."""
        selector = self.state.selector
        speed = selector.speed
        return speed.form(kernel)(speed.of(self.chart), speed.of(selector.trial), *numbers)


class Backfill:
    """The scheduler beside the main one. ``needed_ns``: without any event its next pass is of use from then on;
    ``somebody_fits``: the free CPUs are enough for some of those who wait."""

    def __init__(self, state: State, settings: Settings) -> None:
        self.state, self.settings = state, settings
        slots = min(settings.most_slots, 4 * settings.most_tests) + 4
        self._chart = Columns(planning.chart_for(len(state.conf.nodes), slots))
        self._queue = Queue(state)
        self.needed_ns = NEVER
        self.somebody_fits = True

    def look_in_detail(self) -> None:
        """From now on jobs know which nodes they are promised, with equal results, but slower."""
        self._queue.look_in_detail()

    def run(self, *, whole: bool = False) -> int:
        """One pass; how many jobs it started. It stops behind the last job that the free CPUs are enough for, as nobody
        behind that can start; with ``whole`` everybody is looked at, for the sake of the plan."""
        state, settings = self.state, self.settings
        entries = state.line.entries(backfill=True)
        entries = [entry for entry in entries if entry.job.pends] if len(state.line.ready) != len(entries) else entries
        queue = self._queue
        length = queue.set_up(list(entries), whole=whole or not state.selector.speed.compiled)
        this = Pass(state, settings, self._chart)
        self.somebody_fits = length > 0
        self._begin(length)
        while True:
            if settings.most_starts and this.starts >= settings.most_starts:
                break
            answer = queue.look(self._chart)
            if answer == planning.ASK:
                self._ask(this, queue.entries[int(this.at[planning.NEXT])])
                this.at[planning.NEXT] += 1
                queue.renew()
            elif answer >= 0:
                self._start(this, queue.entries[answer])
            else:
                break
        this.starts += start_het_jobs(state)
        queue.note_plans(length)
        self.needed_ns = self._next_need(length)
        return this.starts

    def _begin(self, length: int) -> None:
        """An empty map over the window: the nodes that are up."""
        c, settings, now = self._chart.columns, self.settings, self.state.now_s
        step = settings.resolution_s
        c.begin[0], c.end[0] = now // step * step, (now + settings.window_s) // step * step
        c.open[0] = planning.packed(self.state.available)
        at = c.at
        at[:] = 0
        at[planning.COUNT], at[planning.TIME], at[planning.STEP] = 1, now, step
        at[planning.WINDOW_S], at[planning.LENGTH] = settings.window_s, length
        at[planning.UP] = step - 1 if self.state.conf.version > (22, 5) else 0
        at[planning.MOST_TESTS], at[planning.MOST_SLOTS] = settings.most_tests, settings.most_slots

    def _ask(self, this: Pass, entry: Any) -> None:
        """A job that the kernel does not know how to look at, and those of its array behind it."""
        follower: Job | None = entry.job
        while follower is not None and follower.pends and follower.priority:
            head, follower = follower, None
            head.partition = entry.partition.name
            again = _test(this, head, entry.partition)
            if again and head.array is not None:
                rest = [one for one in head.array.unsplit if one is not head and one not in this.planned]
                follower = rest[0] if rest else None

    def _start(self, this: Pass, entry: Any) -> None:
        """The kernel has found that a job can start now."""
        state, job = self.state, entry.job
        if not job.pends or not job.priority:
            return
        job.partition = entry.partition.name
        t = state.selector.trial.columns
        nodes = tuple(t.node[: int(t.at[places.COUNT_NODES])].tolist())
        usable = this.chart.columns.mask.astype(np.bool_)
        outcome = choose(state, job, usable=usable)
        if outcome.code is Code.OK and not outcome.victims:
            lifecycle.start(state, job, outcome.allocation, BACKFILL)
            this.starts += 1
            _keep(this, job, entry.partition)
        else:
            _promise(this, nodes, state.now_s, state.planned_min(job, entry.partition))
        self._queue.renew()

    def _next_need(self, length: int) -> int:
        """When it is worth while to look again though nothing happens: a job should have ended, or was to start."""
        state = self.state
        if not length:
            return NEVER
        times = [self._queue.next_start_s(length) * SECOND, state.ends.after(state.now_s) * SECOND]
        return min([time for time in (*times, next_change_ns(state)) if time > state.now_ns], default=NEVER)


def _test(this: Pass, job: Job, partition: Partition) -> bool:
    """Look at one job: it starts, is promised a start, or neither. Whether the next task of its array is looked at."""
    state = this.state
    if job.preempting or not job.pends or array_is_full(state, job) or _counts_too_many(this, job, partition):
        return False
    if not state.licenses.have(job) or not is_independent(state, job) or exceeds(state, job, partition):
        return False
    if state.limits is not None and (reason := state.limits.before(job, job.request.nodes_min or 1)):
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
            if hold or outcome == later:  # the same again would come of it
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
    trial = state.selector.trial.columns
    trial.usable[:] = usable
    this.call(planning.over_slots, start, end)
    usable, later = trial.usable.astype(np.bool_), int(this.at[planning.LATER])
    if verdict.later_ns:
        ends = -(-verdict.later_ns // SECOND) // settings.resolution_s * settings.resolution_s + 1
        if ends < this.window_end and (not later or ends < later):
            later = ends
    required = required_nodes(state, job)
    if required[~usable].any() or int(usable.sum()) < (job.request.nodes_min or 1):
        return later or None
    if not counted:
        this.at[planning.TESTS] += 1
    found = _will_run(state, job, partition, usable, required, verdict.occupancy)
    if found is None:
        return later or None
    begins, allocation = max(found[0], start), found[1]
    chosen = np.zeros(len(usable), np.bool_)
    chosen[list(allocation.nodes)] = True
    if later and begins > later:
        return later
    if begins > now and this.call(planning.overlaps, begins, planned):
        return begins + (settings.resolution_s if begins == start else 0)
    return Plan(begins, allocation, chosen, usable, later)


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
            _keep(this, job, partition)
            return True
        if outcome.code is Code.OK:
            lifecycle.preempt(state, job, outcome, BACKFILL)
        elif outcome.code in (Code.POLICY, Code.RESERVATION):
            return False
        plan.start = now
    job.planned_ns, job.planned_nodes = plan.start * SECOND, tuple(np.flatnonzero(plan.nodes).tolist())
    this.planned.add(job)
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
    _promise(this, job.planned_nodes, plan.start, planned)
    if job.array is None:
        return False
    this.arrays[job.array.id] = this.arrays.get(job.array.id, 0) + 1
    # how many of its tasks may run at once does not count here (``pend_run_tasks`` is of burst buffers)
    return this.arrays[job.array.id] < this.settings.array_promises


def _promise(this: Pass, nodes: Sequence[int], start: int, planned: int) -> None:
    """Take nodes out of the map for a time."""
    trial = this.state.selector.trial.columns
    trial.node[: len(nodes)] = nodes
    trial.at[places.COUNT_NODES] = len(nodes)
    this.call(planning.promise, start, planned)


def _keep(this: Pass, job: Job, partition: Partition) -> None:
    """A job that has just started with whole nodes: they are out of the map until its end (``_bf_reserve_running``)."""
    state = this.state
    if not wants_whole(job, partition) or preempting.gives_way(state, job):
        return
    trial, nodes, step = state.selector.trial.columns, job.allocation.nodes, this.settings.resolution_s
    trial.node[: len(nodes)] = nodes
    trial.at[places.COUNT_NODES] = len(nodes)
    end = -(-job.end_ns // SECOND // step) * step if job.end_ns else this.window_end
    this.call(planning.take, 0, min(end, this.window_end))


def _longest(this: Pass, nodes: Mask, least: int, most: int) -> int:
    """The longest limit (minutes) that takes nothing from a promise, between the least and what was asked for."""
    now, limit = this.state.now_s, most
    chart, taken = this.chart.columns, planning.packed(nodes)
    for i in range(int(this.at[planning.COUNT])):
        if now < chart.begin[i] < now + most * 60 and (taken & ~chart.open[i]).any():
            limit = min(limit, (int(chart.begin[i]) - now) // 60)
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
    if settings.one_per_job and job in this.planned:
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
