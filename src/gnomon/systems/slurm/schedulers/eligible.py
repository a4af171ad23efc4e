"""Whether a pending job is looked at at all: begin time, dependencies, holds, array limits, limits of its partition.

Sources: ``job_independent`` and ``test_job_dependency`` (``src/slurmctld/job_scheduler.c``), ``job_limits_check``
(``job_mgr.c``), of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import CANCELLED, COMPLETED, OVER, PENDING, Job
from gnomon.systems.slurm.cluster.state import MINUTE, Partition, State
from gnomon.systems.slurm.sbatch.request import Dependency

HELD = ("JobHeldUser", "JobHeldAdmin", "BadConstraints", "JobHoldMaxRequeue", "ReservationDeleted")
"""Reasons that a job of priority 0 keeps."""

PART_REASONS = ("PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "PartitionInactive", "QOSUsageThreshold")


@dataclass(slots=True)
class Condition:
    """One dependency of one job, and what came of it: whether it is met, or can never be."""

    what: Dependency
    met: bool = False
    never: bool = False
    last: list[Job] = field(default_factory=list)


def is_independent(state: State, job: Job) -> bool:
    """Whether begin time and dependencies let a job run now; its reason is set where they do not."""
    if job.reason in ("JobHeldUser", "JobHeldAdmin"):
        return False
    if job.dependencies:
        verdict = dependency(state, job)
        if verdict == "never" and kills(state, job):
            lifecycle.over(state, job, CANCELLED, "DependencyNeverSatisfied")
            return False
        if verdict != "met":
            state.say(job, "Dependency" if verdict == "waits" else "DependencyNeverSatisfied")
            return False
        job.dependencies = []
    if job.begin_ns > state.now_ns:
        state.say(job, "BeginTime")
        return False
    own = state.reservations.get(job.request.reservation)
    if own is not None and not own.is_on(state.now_ns):
        state.say(job, "Reservation")
        return False
    if job.eligible_ns == -1:
        job.eligible_ns = max(job.begin_ns, state.now_ns) if job.begin_ns else state.now_ns
    if job.reason in ("BeginTime", "Dependency", "DependencyNeverSatisfied"):
        state.say(job, "None")
    return True


def kills(state: State, job: Job) -> bool:
    """Whether a job is cancelled when its dependency can never be met (--kill-on-invalid-dep, kill_invalid_depend)."""
    said = job.request.kill_on_invalid_dep
    return "kill_invalid_depend" in state.conf.words("dependencyparameters") if said is None else said


def dependency(state: State, job: Job) -> str:
    """``met``, ``waits``, or ``never``. With ``?`` between them one condition is enough."""
    for condition in job.dependencies:
        if not condition.met and not condition.never:
            _test(state, job, condition)
    conditions: list[Condition] = job.dependencies
    if job.request.any_dependency:
        if any(one.met for one in conditions):
            return "met"
        return "never" if all(one.never for one in conditions) else "waits"
    if any(one.never for one in conditions):
        return "never"
    return "met" if all(one.met for one in conditions) else "waits"


def _test(state: State, job: Job, condition: Condition) -> None:
    kind = condition.what.kind
    if kind == "singleton":
        condition.met = not any(
            other.request.name == job.request.name and other.user == job.user and _goes_before(other, job)
            for other in [*state.running, *state.pending]
        )
        return
    others = condition.last or _others(state, job, condition.what)
    condition.last = others
    if not others:  # unknown, or forgotten: counts as satisfied (recorded, 22.05)
        condition.met = True
    elif kind == "after":
        wait_ns = condition.what.minutes * MINUTE
        begun = [_begun_ns(other) for other in others]
        condition.met = all(at >= 0 and at + wait_ns <= state.now_ns for at in begun)
    elif all(other.state in OVER for other in others):
        good = all(other.state == COMPLETED for other in others)
        wanted = {"afterany": True, "afterburstbuffer": True, "afternotok": not good}.get(kind, good)
        condition.met, condition.never = wanted, not wanted
    elif kind in ("afterok", "aftercorr") and any(other.state in OVER - {COMPLETED} for other in others):
        condition.never = True


def _begun_ns(job: Job) -> int:
    """When a job began, or was over without that; -1: neither."""
    if job.stints:
        return job.stints[0].start_ns
    return job.start_ns if job.start_ns >= 0 else job.ended_ns if job.state in OVER else -1


def _goes_before(other: Job, job: Job) -> bool:
    return other is not job and (other.runs or other.order_id < job.order_id)


def _others(state: State, job: Job, what: Dependency) -> list[Job]:
    array = state.arrays.get(what.job)
    if array is None:
        het = [other for other in state.jobs.values() if other.het is not None and other.het.id == what.job]
        return het or ([state.jobs[what.job]] if what.job in state.jobs else [])
    number = job.array_task if what.kind == "aftercorr" and job.array is not None else what.task
    return array.tasks if number is None else [one for one in array.tasks if one.array_task == number]


def holds_back(state: State, job: Job) -> bool:
    """Whether a job cannot run whatever its partition: it is held, depends, or its array runs enough tasks."""
    if job.preempting:
        return False
    independent = is_independent(state, job)
    if job.priority == 0:
        if job.reason not in HELD:
            state.say(job, "JobHeldAdmin")
        return True
    if not independent and job.reason in ("JobHeldAdmin", "JobHeldUser"):
        state.say(job, "Dependency")
    return not independent


def array_is_full(state: State, job: Job) -> bool:
    """Whether as many tasks of its array run as may; a task then has that as its reason."""
    array = job.array
    if array is None or array.limit is None or array.running < array.limit:
        if job.reason == "JobArrayTaskLimit":
            state.say(job, "None")
        return False
    state.say(job, "JobArrayTaskLimit")
    return True


def partition_says(
    state: State, job: Job, partition: Partition, *, shortest: bool = False, as_asked: bool = False
) -> str:
    """The reason for which a partition takes no job of this size or length, "" if it does. ``shortest``: with the least
    time limit that the job would take, as backfill asks; ``as_asked``: before its nodes are made up for it."""
    conf = partition.conf
    if conf.state == "INACTIVE":
        return "PartitionInactive"
    if not partition.up:
        return "PartitionDown"
    least = job.request.nodes_min or 1
    most = job.request.nodes_max
    if conf.max_nodes is not None and max(least, most or 0) > conf.max_nodes:
        return "PartitionNodeLimit"
    if most is not None and most < conf.min_nodes:
        return "PartitionNodeLimit"
    if as_asked:
        if job.request.nodes_min is not None and least < conf.min_nodes:
            return "PartitionNodeLimit"
    elif len(job.partitions) > 1 and least < conf.min_nodes and not _is_raised(state, job, conf.min_nodes):
        return "PartitionNodeLimit"
    limit = state.limit_min(job, partition)
    if shortest and job.request.time_min_min is not None:
        limit = job.request.time_min_min
    if conf.max_time_min is not None and limit is not None and limit > conf.max_time_min and job.limit_min is not None:
        return "PartitionTimeLimit"
    if state.limits is not None and state.limits.below_threshold(job) is not None:
        return "QOSUsageThreshold"
    return ""


def _is_raised(state: State, job: Job, to: int) -> bool:
    """Whether a job that asks for fewer nodes than one of its partitions wants counts as one of so many: it is taken
    for the least that any of them wants (``_valid_job_part``)."""
    return min(state.partitions[name].conf.min_nodes for name in job.partitions) >= to


def is_runnable_in(state: State, job: Job, partition: Partition, *, backfill: bool) -> bool:
    """Whether a partition's limits let a job in; its reason says so where they do not."""
    reason = partition_says(state, job, partition, shortest=backfill)
    if not reason and (job.request.nodes_min or 1) > partition.size:
        reason = "PartitionNodeLimit"
    if reason:
        state.say(job, reason)
        return False
    if job.reason in PART_REASONS and job.state == PENDING:
        state.say(job, "None")
    return True
