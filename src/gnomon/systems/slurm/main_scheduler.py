"""The main scheduler: every job in the order of the queue, until one of a partition has to wait for nodes.

``_schedule`` and ``sort_job_queue2`` of ``src/slurmctld/job_scheduler.c`` (22.05 to 25.05).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from typing import Final

from gnomon.systems.slurm import lifecycle, preempting
from gnomon.systems.slurm.choosing import Code, choose, required_nodes, wants_more_cpus
from gnomon.systems.slurm.eligible import array_is_full, holds_back, is_runnable_in
from gnomon.systems.slurm.job import MAIN, Job
from gnomon.systems.slurm.state import SECOND, Partition, State

DEPTH: Final = 100
"""default_queue_depth: so many jobs are looked at when the pass was asked for by an event."""
NO_NODES: Final = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
Entry = tuple[Job, Partition]


def queue(state: State, *, backfill: bool) -> list[Entry]:
    """Who may be looked at, a record for each partition of each, in the order of the queue. Of an array only the first
    task that is not split off."""
    found: list[Entry] = []
    for job in list(_records(state)):
        job.preempting = False
        if holds_back(state, job) or not job.pends:
            continue
        for name in job.partitions:
            partition = state.partitions.get(name)
            if partition is None:
                continue
            job.partition = name
            if wants_more_cpus(state, job, partition):
                state.say(job, "PartitionConfig")
            elif is_runnable_in(state, job, partition, backfill=backfill):
                found.append((job, partition))
    return ordered(state, found)


def _records(state: State) -> Iterator[Job]:
    seen: set[int] = set()
    for job in state.pending:
        if job.array is not None and not job.split:
            if job.array.id in seen:
                continue
            seen.add(job.array.id)
        yield job


def ordered(state: State, entries: list[Entry]) -> list[Entry]:
    """By who may preempt whom, reservation, tier, priority, submission, id and task."""
    entries.sort(key=lambda entry: _key(state, *entry))
    if preempting.is_on(state) and len(entries) > 1:

        def before(a: Entry, b: Entry) -> int:
            return _preempts(state, a, b)

        entries.sort(key=cmp_to_key(before))
    return entries


def _key(state: State, job: Job, partition: Partition) -> tuple[int, ...]:
    reserved = 0 if job.request.reservation else 1
    return (
        reserved,
        -partition.conf.priority_tier,
        -state.priorities.of(job, partition),
        job.submit_ns // SECOND,
        job.order_id,
        job.array_task,
    )


def _preempts(state: State, a: Entry, b: Entry) -> int:
    if preempting.may_take_in(state, a, b):
        return -1
    return 1 if preempting.may_take_in(state, b, a) else 0


def schedule(state: State, *, full: bool) -> bool:
    """One pass; ``full``: however long the queue is. Whether some of the queue was not looked at."""
    tested = 0
    state.available = state.up
    depth = int(state.conf.scheduler.get("default_queue_depth", DEPTH))
    for partition in state.partitions.values():
        partition.failed = partition.cleared = False
    for reservation in state.reservations.values():
        reservation.failed = False
    rejected: tuple[int, str] | None = None
    for job, partition in queue(state, backfill=False):
        follower: Job | None = job
        while follower is not None and follower.pends and follower.priority:
            head, follower = follower, None
            array = head.array
            if array is not None and rejected == (array.id, partition.name):
                break
            if array is not None:
                rejected = (array.id, partition.name)
                if array_is_full(state, head) or holds_back(state, head):
                    break
            tested += 1
            if not full and tested > depth + 1:
                state.available = state.up
                return True
            if _attempt(state, head, partition):
                rejected = None
                follower = next(iter(array.unsplit), None) if array is not None else None
    state.available = state.up
    return False


def _attempt(state: State, job: Job, partition: Partition) -> bool:
    """Try one job in one partition; whether it started."""
    job.partition = partition.name
    if job.preempting:
        return False
    if job.het is not None:
        _fail(state, partition)
        return False
    reservation = state.reservations.get(job.request.reservation)
    if reservation is not None and reservation.failed:
        state.say(job, "Priority")
        return False
    if partition.failed and reservation is None:
        if not partition.cleared:
            _fail(state, partition)
        if job.reason in ("None", "Resources", NO_NODES) or job.reason.startswith("Nodes required"):
            state.say(job, "Priority")
        return False
    if lifecycle.misses_deadline(state, job):
        return False
    required = required_nodes(state, job)
    if job.reason.startswith("ReqNodeNotAvail") and required.any() and required[~state.available].any():
        return False
    if int((state.available & partition.nodes).sum()) < (job.request.nodes_min or 1):
        state.say(job, NO_NODES)
        _fail(state, partition)
        return False
    outcome = choose(state, job)
    if outcome.code is Code.OK and not outcome.victims:
        lifecycle.start(state, job, outcome.allocation, MAIN)
        return True
    if outcome.code is Code.OK:
        return lifecycle.preempt(state, job, outcome, MAIN)
    _blocks(state, job, partition, outcome.code)
    return False


def _blocks(state: State, job: Job, partition: Partition, code: Code) -> None:
    """Whom the failure of a job stops: its partition; or only the nodes that it named; or nobody."""
    fails = code is Code.BUSY or (code is Code.POLICY and "assoc_limit_stop" in state.conf.scheduler)
    if code is Code.NEVER and len(job.partitions) == 1 and not job.request.reservation:
        job.priority = 0  # held until somebody looks after it
    required = required_nodes(state, job)
    if required.any() and int(required.sum()) >= (job.request.nodes_min or 1):
        fails = False
        state.available &= ~required
    reservation = state.reservations.get(job.request.reservation)
    if reservation is not None:
        if code is Code.RESERVATION:
            state.available &= ~reservation.nodes
        reservation.failed |= fails
        fails = False
    age_s = int(state.conf.scheduler.get("bf_min_age_reserve", 0))
    if fails and age_s and state.now_ns - max(job.eligible_ns, 0) < age_s * SECOND:
        fails = False
    least = state.priorities.least_to_reserve(job)
    if fails and least and job.priority < least:
        fails = False
    if fails:
        _fail(state, partition)


def _fail(state: State, partition: Partition) -> None:
    partition.failed = partition.cleared = True
    state.available &= ~partition.nodes
