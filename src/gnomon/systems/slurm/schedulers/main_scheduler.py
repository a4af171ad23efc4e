"""The main scheduler: every job in the order of the queue, until one of a partition has to wait for nodes.

``_schedule`` and ``sort_job_queue2`` of ``src/slurmctld/job_scheduler.c`` (22.05 to 25.05).
"""

from __future__ import annotations

from typing import Final

from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import MAIN, Job
from gnomon.systems.slurm.cluster.state import SECOND, Partition, State
from gnomon.systems.slurm.schedulers.choosing import Code, choose, required_nodes
from gnomon.systems.slurm.schedulers.eligible import array_is_full, holds_back

DEPTH: Final = 100
"""default_queue_depth: so many jobs are looked at when the pass was asked for by an event."""
NO_NODES: Final = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"


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
    for entry in list(state.line.entries(backfill=False)):
        job, partition = entry.job, entry.partition
        if partition.cleared and _waits_behind(job, partition):
            tested += 1
            if not full and tested > depth + 1:
                state.available = state.up
                return True
            continue
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


def _waits_behind(job: Job, partition: Partition) -> bool:
    """Whether an attempt behind another job of the partition would say only what is known of this one already."""
    known = job.reason == "Priority" and job.partition == partition.name
    return known and job.array is None and not job.request.reservation


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
        if lifecycle.preempt(state, job, outcome, MAIN):
            return True
        outcome.code = Code.BUSY  # until they are gone
    _blocks(state, job, partition, outcome.code)
    return False


def _blocks(state: State, job: Job, partition: Partition, code: Code) -> None:
    """Whom the failure of a job stops: its partition; or only the nodes that it named; or nobody."""
    fails = code is Code.BUSY or (code is Code.POLICY and "assoc_limit_stop" in state.conf.scheduler)
    if code is Code.NEVER and len(job.partitions) == 1 and not job.request.reservation:
        job.priority = 0  # held until somebody looks after it
        state.line.set_aside(job)
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
