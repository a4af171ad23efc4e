"""What really becomes of a job when the model is run on: when it starts, on what, what made room for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gnomon.insight.slurm.rehearsal import RESTARTS_MAX, Rehearsal
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster.job import COMPLETED, OVER, Job
from gnomon.systems.slurm.cluster.state import SECOND

SETTLES_S = 5
"""So long after the next pass of backfill everything has been looked at."""


@dataclass(frozen=True, slots=True)
class Run:
    """One time that the job ran: from, to (-1: not ended), how it ended, where, started by which scheduler."""

    start_ns: int
    end_ns: int
    state: str
    nodes: tuple[str, ...]
    scheduler: str


@dataclass(frozen=True, slots=True)
class Freed:
    """A job that gave room on nodes that the job asked about then got."""

    name: str
    at_ns: int
    state: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """``start_ns``: when the run began that it ends or still runs in (NEVER: none); ``waits``: what it waited for, with
    the time; ``given_ns``: when it was given nodes that had to be switched on (-1: it was not); ``starts``: how many
    jobs were started in all; ``loops``: whether it is requeued again and again; ``ended_ns``: when all stopped."""

    task: int
    name: str
    state: str
    reason: str
    exit_code: str
    submit_ns: int
    start_ns: int
    over_ns: int
    runs: tuple[Run, ...]
    waits: tuple[tuple[int, str], ...]
    freed: tuple[Freed, ...]
    given_ns: int
    starts: int
    loops: bool
    ended_ns: int

    @property
    def ran(self) -> bool:
        """Whether it came to run to an end of its own, or still runs."""
        return self.start_ns < NEVER


def begun(job: Job) -> bool:
    """Whether a job runs, or has run through."""
    return (job.runs and not job.configuring) or (job.state in OVER and (bool(job.stints) or job.state == COMPLETED))


def play_out(played: Rehearsal, tasks: Sequence[int], until_ns: int = NEVER) -> None:
    """Run until all of some jobs are over, or nothing happens any more."""
    played.run(min(max(played.submitted_ns(task) for task in tasks), until_ns))
    jobs = [job for task in tasks if (job := played.job(task)) is not None]

    def goes_on() -> bool:
        return any(job.state not in OVER and job.restarts < RESTARTS_MAX for job in jobs)

    minutes = any("Minutes" in job.reason or "Usage" in job.reason for job in jobs)
    played.run_while(goes_on, until_ns, patient=minutes)


def course_of(played: Rehearsal, job: Job) -> Course:
    """The course of a job, of a rehearsal that was played out."""
    state = played.state
    runs = tuple(
        Run(one.start_ns, one.end_ns, one.state, tuple(state.names(list(one.allocation.nodes))), one.scheduler)
        for one in job.stints
    )
    starts = runs[-1].start_ns if runs and begun(job) else NEVER
    return Course(
        job.task,
        job.name,
        job.state,
        job.reason,
        job.exit_code,
        job.submitted_ns,
        starts,
        job.ended_ns if job.state in OVER else NEVER,
        runs,
        tuple(played.machine.waits.get(job, ())),
        tuple(_freed(played, job)) if runs else (),
        _given_ns(played, job),
        state.starts,
        job.restarts >= RESTARTS_MAX,
        state.now_ns,
    )


def _given_ns(played: Rehearsal, job: Job) -> int:
    power = played.state.power
    return power.given.get(job, -1) if power is not None else -1


def _freed(played: Rehearsal, job: Job) -> Iterator[Freed]:
    """Who left the nodes of the last run, between the pass that could not start it and its start."""
    last = job.stints[-1]
    mine = set(last.allocation.nodes)
    since = max(job.submitted_ns, last.start_ns - 90 * SECOND)
    for other in played.jobs:
        for stint in other.stints:
            shared = mine & set(stint.allocation.nodes)
            if other is not job and shared and since <= stint.end_ns <= last.start_ns:
                nodes = tuple(played.state.names(sorted(shared)))
                yield Freed(other.name, stint.end_ns, stint.state, nodes)


def settle_ns(played: Rehearsal) -> int:
    """How long it takes until both schedulers have looked."""
    scheduler = played.state.conf.scheduler
    interval = int(scheduler.get("bf_interval", 30) or 30)
    main = int(scheduler.get("batch_sched_delay", 3) or 3)
    return (max(interval, main) + SETTLES_S) * SECOND


def moment_ns(played: Rehearsal, course: Course, until_ns: int) -> int:
    """The moment at which a job's waiting is explained: at the time that was asked for; else when all that was sent has
    been looked at, if it waits then; else when it was looked at first; of one that never starts, at the end."""
    settles = settle_ns(played)
    if until_ns < NEVER:
        return until_ns
    if not course.ran and course.over_ns >= NEVER:
        return course.ended_ns
    over = min(course.start_ns, course.over_ns)
    for candidate in (played.last_ns + settles, course.submit_ns + settles):
        if course.submit_ns <= candidate < over:
            return candidate
    return max(over - 1, course.submit_ns)
