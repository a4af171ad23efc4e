"""What happens to a job: it starts, ends, is sent away, goes back to the queue, misses its deadline.

Sources: ``job_mgr.c`` (``job_complete``, ``batch_requeue_fini``, ``job_time_limit``), ``preempt.c``, ``agent.c``;
constants recorded with 22.05: a requeued job waits until 121 s later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from gnomon.systems.slurm.cluster import preempting
from gnomon.systems.slurm.cluster.ends import UNLIMITED
from gnomon.systems.slurm.cluster.job import (
    CANCELLED,
    COMPLETED,
    DEADLINE,
    FAILED,
    NODE_FAIL,
    PENDING,
    PREEMPTED,
    RUNNING,
    SUSPENDED,
    TIMEOUT,
    Job,
    Stint,
)
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND, State, is_for_one_user

HELD: Final = ("JobHeldUser", "JobHeldAdmin")
REQUEUE_DELAY: Final = 121 * SECOND
"""A requeued job begins not before its credentials have run out: cred_expire (120 s) and one second."""


def start(state: State, job: Job, allocation: Any, scheduler: str, *, limit_min: int | None = None) -> None:
    """A job starts. ``limit_min``: another limit than its own, as backfill gives to ``--time-min``."""
    if job.array is not None and not job.split:
        split_off(state, job)
    state.priorities.catch_up()
    partition = state.part(job)
    if limit_min is not None:
        job.limit_min = limit_min
    elif job.limit_min is None and state.limit_min(job, partition) is not None:
        job.limit_min = state.limit_min(job, partition)
    job.state, job.allocation, job.scheduler = RUNNING, allocation, scheduler
    job.start_ns = job.turn_ns = state.now_ns
    limit = state.limit_min(job, partition)
    job.end_ns = state.now_ns + limit * MINUTE if limit is not None else 0
    job.reason, job.preempting, job.planned_ns = "None", False, -1
    job.preempted_ns = 0
    state.pending.remove(job)
    state.running.append(job)
    _hold(state, job)
    state.exclusive_users += is_for_one_user(job, partition)
    state.licenses.take(job)
    state.changed = True
    state.starts += 1
    job.stints.append(Stint(state.now_ns, -1, RUNNING, allocation, scheduler))
    if state.power is None or not state.power.holds(job):
        state.world.start(job, scheduler)


def _hold(state: State, job: Job) -> None:
    """What a job has counts: its nodes, its expected end, limits and usage."""
    state.occupancy.take(job.allocation)
    state.ends.enter(job, job.end_ns // SECOND if job.end_ns else UNLIMITED)
    partition = state.part(job)
    tres = state.selector.tres(job.allocation, partition.conf)
    state.tree.start(job, tres, job.allocation.nodes)
    state.usage.start(job, tres, start_s=state.now_s, limit_min=state.limit_min(job, partition))


def _give(state: State, job: Job) -> None:
    """It counts no more."""
    state.ends.leave(job)
    state.occupancy.give(job.allocation, suspended=job.state == SUSPENDED)
    state.tree.end(job)
    state.usage.end(job, state.now_s)


def split_off(state: State, job: Job) -> None:
    """A task of an array gets a record of its own: the last one takes that of the array, the others new ids."""
    array = job.array
    assert array is not None
    if [one for one in array.tasks if not one.split] == [job]:
        job.id = array.id
    else:
        job.id = new_id(state)
    job.split = True
    state.jobs[job.id] = job


def new_id(state: State) -> int:
    """The next job id that nobody has (MaxJobId starts over from FirstJobId)."""
    number = state.next_id
    most = int(state.conf.number("maxjobid") or 67_043_328)
    while number in state.jobs or number in state.arrays:
        number = number + 1 if number < most else int(state.conf.number("firstjobid") or 1)
    state.next_id = number + 1 if number < most else int(state.conf.number("firstjobid") or 1)
    return number


def ended(state: State, job: Job, outcome: str, *, exit_code: str = "0:0", reason: str = "None") -> None:
    """A job that ran is over; its nodes are free."""
    release(state, job, outcome, exit_code=exit_code)
    state.tree.leave(job)
    if reason == "None" and job.reason in HELD:
        reason = job.reason  # held while it ran, which changed nothing
    job.state, job.reason, job.exit_code, job.ended_ns = outcome, reason, exit_code, state.now_ns


def release(state: State, job: Job, outcome: str, *, exit_code: str = "0:0") -> None:
    """Give back all that a job held."""
    state.priorities.catch_up()
    job.configuring = False
    state.running.remove(job)
    _give(state, job)
    state.exclusive_users -= is_for_one_user(job, state.part(job))
    state.licenses.take(job, -1)
    state.changed = True
    last = job.stints[-1]
    last.end_ns, last.state, last.exit_code = state.now_ns, outcome, exit_code


def shrink(state: State, job: Job, count: int) -> None:
    """A running job keeps the first of its nodes only (``scontrol update NumNodes=``)."""
    own = job.allocation
    if job.state != RUNNING or not 0 < count < len(own.nodes):
        return
    state.priorities.catch_up()
    _give(state, job)
    job.allocation = kept = replace(
        own,
        nodes=own.nodes[:count],
        cpus=own.cpus[:count],
        tasks=own.tasks[:count],
        memory_mb=own.memory_mb[:count],
        words=own.words[:count],
        devices=own.devices[:count],
        total_cpus=own.total_cpus - sum(own.cpus[count:]),
        slot=-1,
    )
    _hold(state, job)
    last = job.stints[-1]
    last.end_ns, last.state = state.now_ns, "RESIZING"
    job.stints.append(Stint(last.start_ns, -1, RUNNING, kept, last.scheduler))
    state.changed = True


def over(state: State, job: Job, outcome: str, reason: str, *, exit_code: str = "0:0") -> None:
    """A pending job will never run."""
    if job.array is not None and not job.split:
        split_off(state, job)
    if job in state.pending:
        state.pending.remove(job)
    state.tree.leave(job)
    job.state, job.reason, job.ended_ns, job.exit_code = outcome, reason, state.now_ns, exit_code
    state.changed = True
    state.world.drop(job)


def requeue(state: State, job: Job, outcome: str, *, hold: str = "") -> None:
    """A job that runs goes back to the queue, with its id and its priority; other jobs pass it meanwhile."""
    state.world.requeue(job, outcome)
    release(state, job, outcome)
    _queue(state, job, hold)
    state.world.wait(job)


def _queue(state: State, job: Job, hold: str) -> None:
    """A job that ran waits again: until its credentials have run out, or (``hold``: why) until it is released."""
    job.state, job.reason, job.restarts = PENDING, hold or "BeginTime", job.restarts + 1
    job.allocation, job.start_ns, job.end_ns, job.ended_ns, job.exit_code = None, -1, 0, -1, "0:0"
    job.begin_ns = 0 if hold else state.now_ns + REQUEUE_DELAY
    job.submit_ns, job.eligible_ns = state.now_ns, -1
    if hold:
        job.priority = 0
    state.pending.append(job)


def again(state: State, job: Job, *, hold: str = "") -> None:
    """A job that is over goes back to the queue, too (``scontrol requeue``)."""
    if job.stints:
        job.stints[-1].state = "REQUEUED"
    _queue(state, job, hold)
    state.tree.submit(job)
    state.changed = True
    state.world.wait(job)


def may_requeue(state: State, job: Job) -> bool:
    """Whether it may run again (--requeue, --no-requeue, JobRequeue)."""
    return state.conf.flag("jobrequeue") if job.request.requeue is None else job.request.requeue


def lose_node(state: State, job: Job) -> None:
    """A node of a running job is down: it runs again, or is over."""
    if job.request.no_kill and len(job.allocation.nodes) > 1:
        return
    if may_requeue(state, job):
        requeue(state, job, NODE_FAIL)
        return
    state.world.stop(job, NODE_FAIL)
    ended(state, job, NODE_FAIL, reason="NodeDown")


def cancel(state: State, job: Job) -> None:
    """scancel: a pending job is gone, a running one stops."""
    if job.pends:
        over(state, job, CANCELLED, "None")
    elif job.runs:
        state.world.stop(job, CANCELLED)
        ended(state, job, CANCELLED)


def time_out(state: State, job: Job) -> None:
    """A job has run to its limit."""
    state.world.stop(job, TIMEOUT)
    ended(state, job, TIMEOUT, reason="TimeLimit")


def finish(state: State, job: Job, exit_code: str) -> None:
    """A job's script is through; ``exit_code``: status and signal."""
    status, signal = exit_code.split(":")
    if (status, signal) == ("0", "0"):
        ended(state, job, COMPLETED, exit_code=exit_code)
        return
    reason = "JobLaunchFailure" if signal == "9" else "RaisedSignal" if signal != "0" else "NonZeroExitCode"
    ended(state, job, FAILED, exit_code=exit_code, reason=reason)


def preempt(state: State, job: Job, outcome: Any, scheduler: str) -> bool:
    """The victims of a job go. Whether it has started at once, beside those who stand still."""
    modes = {other: preempting.mode_of(state, other) for other in outcome.victims}
    if not preempting.is_at_work(state, job):
        for other, mode in modes.items():
            _send_away(state, other, mode)
    if set(modes.values()) == {"SUSPEND"}:
        start(state, job, outcome.allocation, scheduler)
        return True
    job.preempting = True
    job.preempted_ns = job.preempted_ns or state.now_ns
    state.say(job, "Resources")
    state.changed = True
    return False


def _send_away(state: State, other: Job, mode: str) -> None:
    acts: dict[str, Callable[[], None]] = {
        "SUSPEND": lambda: suspend(state, other),
        "REQUEUE": lambda: requeue(state, other, PREEMPTED),
        "CANCEL": lambda: _cancelled(state, other),
    }
    grace = preempting.grace_s(state, other)
    if mode == "SUSPEND" or not grace:
        acts[mode]()
        return
    other.preempting = True
    state.set_end(other, min(other.end_ns or state.now_ns + grace * SECOND, state.now_ns + grace * SECOND))

    def go() -> None:
        if other.runs:
            acts[mode]()

    state.world.at(other.end_ns, go)


def _cancelled(state: State, other: Job) -> None:
    state.world.stop(other, PREEMPTED)
    ended(state, other, PREEMPTED)


def suspend(state: State, job: Job) -> None:
    """A running job stands still; it keeps its memory, and its cores for afterwards."""
    job.state = SUSPENDED
    state.occupancy.suspend(job.allocation)
    state.world.suspend(job)


def resume(state: State, job: Job) -> None:
    """It goes on."""
    job.state = RUNNING
    state.occupancy.resume(job.allocation)
    state.world.resume(job)


def misses_deadline(state: State, job: Job) -> bool:
    """Whether a job can no longer end by its deadline (``deadline_ok``); it is over then."""
    if not job.deadline_ns:
        return False
    partition = state.part(job)
    least = job.request.time_min_min if job.request.time_min_min is not None else state.limit_min(job, partition)
    if state.now_ns + (least or 1) * MINUTE <= job.deadline_ns:
        return False
    over(state, job, DEADLINE, "DeadLine", exit_code="1:0")
    return True
