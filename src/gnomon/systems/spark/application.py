"""What an event log of Spark says of an application: executors, jobs, stages with their attempts and tasks, queries.

Times are ms since 1970, as the log has them; what never happened is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gnomon.systems.spark.tasks import Task, Tasks


@dataclass(frozen=True, slots=True)
class Executor:
    """An executor (``driver`` is one in local mode). ``memory_bytes``: storage and execution memory together, as its
    block manager says; ``reason``: why it was removed; ``excluded_ms``: when it was last excluded for its failures."""

    id: str
    host: str = ""
    cores: int = 0
    added_ms: int | None = None
    removed_ms: int | None = None
    reason: str = ""
    memory_bytes: int = 0
    profile: int = 0
    excluded_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """An action. ``stages``: all that it needs, also those whose output was there already (skipped). ``pool``,
    ``group``, ``description``: of the local properties it was submitted with; ``sql``: the id of its SQL execution."""

    id: int
    submitted_ms: int
    stages: tuple[int, ...]
    ended_ms: int | None = None
    result: str | None = None
    error: str = ""
    pool: str = "default"
    group: str = ""
    description: str = ""
    sql: int | None = None


@dataclass(frozen=True, slots=True)
class Rdd:
    """An RDD that a stage computes. ``operation``: the name of its scope, as ``map`` or ``Exchange``; ``cached``:
    whether it is to be kept (storage level)."""

    id: int
    name: str
    operation: str
    parents: tuple[int, ...]
    partitions: int
    cached: bool = False
    cached_partitions: int = 0
    memory_bytes: int = 0
    disk_bytes: int = 0
    barrier: bool = False
    indeterminate: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage is, apart from its attempts. ``name``: as in ``collect at App.scala:7``; ``parents``: the stages
    whose shuffles it reads; ``tasks``: how many partitions it computes when nothing of it is there."""

    id: int
    name: str
    parents: tuple[int, ...]
    tasks: int
    rdds: tuple[Rdd, ...] = ()
    profile: int = 0

    @property
    def operation(self) -> str:
        """The name without the place in the program.

        >>> Stage(0, "collect at App.scala:7", (), 4).operation
        'collect'
        """
        return self.name.partition(" at ")[0]


@dataclass(frozen=True, eq=False)
class StageAttempt:
    """One attempt of a stage. ``tasks``: in the order in which they ended; ``running``: when the log stopped;
    ``planned``: how many tasks it was submitted with: in a later attempt those that were missing; ``kind``:
    ``ShuffleMapTask`` or ``ResultTask``, empty if no task of it ended; ``pool``: of the FAIR scheduler."""

    stage: Stage
    attempt: int
    planned: int | None
    submitted_ms: int | None = None
    completed_ms: int | None = None
    failure: str = ""
    kind: str = ""
    pool: str = "default"
    tasks: Tasks = field(kw_only=True)
    running: Tasks = field(kw_only=True)

    @property
    def key(self) -> tuple[int, int]:
        """Stage and attempt."""
        return self.stage.id, self.attempt

    def counted(self) -> Iterator[Task]:
        """The attempts of tasks that took time. A task whose output was lost afterwards ends in the log once more, as
        ``Resubmitted``."""
        again = {row for row, why in self.tasks.reasons() if why.reason == "Resubmitted"}
        return (task for row, task in enumerate(self.tasks) if row not in again)


@dataclass(frozen=True, slots=True)
class SqlExecution:
    """A query. ``plan``: the last physical plan (adaptive execution changes it), cut to a bounded length; ``updates``:
    how often it was changed; ``configs``: what the session had set."""

    id: int
    description: str
    started_ms: int
    root: int | None = None
    plan: str = ""
    updates: int = 0
    ended_ms: int | None = None
    error: str = ""
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Application:
    """An application, as far as its log goes. ``properties``: ``Spark Properties`` of the environment; ``stages``: what
    is known of each, also of those that were skipped; ``attempts``: in order of stage and attempt; ``notes``: what of
    the log was left out, and that it stops early; ``block_updates``: how many of them it has (off by default)."""

    name: str
    id: str
    version: str
    started_ms: int
    ended_ms: int | None
    user: str = ""
    exit_code: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    executors: Mapping[str, Executor] = field(default_factory=dict)
    jobs: Mapping[int, Job] = field(default_factory=dict)
    stages: Mapping[int, Stage] = field(default_factory=dict)
    attempts: tuple[StageAttempt, ...] = ()
    sql: Mapping[int, SqlExecution] = field(default_factory=dict)
    unpersisted: tuple[int, ...] = ()
    block_updates: int = 0
    notes: tuple[str, ...] = ()
    source: str = ""

    def attempts_of(self, stage: int) -> tuple[StageAttempt, ...]:
        """All attempts of a stage; none if it was skipped or is not known."""
        return tuple(one for one in self.attempts if one.stage.id == stage)

    def jobs_of(self, stage: int) -> list[Job]:
        """The jobs that need a stage."""
        return [job for job in self.jobs.values() if stage in job.stages]

    def end_of(self, job: Job) -> int:
        """When a job ended, in ms; of one that had not, the last moment that the log tells of."""
        return self.last_ms if job.ended_ms is None else job.ended_ms

    @property
    def jobs_ms(self) -> tuple[int, int]:
        """When the first job was submitted and the last one ended; of no jobs, the last moment of the log."""
        jobs = self.jobs.values()
        return (
            min((job.submitted_ms for job in jobs), default=self.last_ms),
            max(map(self.end_of, jobs), default=self.last_ms),
        )

    @property
    def skipped(self) -> tuple[int, ...]:
        """Stages that jobs need and that were never submitted: their output was there, or the job ended before."""
        needed = {stage for job in self.jobs.values() for stage in job.stages}
        return tuple(sorted(needed - {one.stage.id for one in self.attempts}))

    @cached_property
    def last_ms(self) -> int:
        """The last moment that the log tells of."""
        times = [self.started_ms, self.ended_ms]
        times += [time for job in self.jobs.values() for time in (job.submitted_ms, job.ended_ms)]
        times += [int(one.tasks.column("finish_ms").max()) for one in self.attempts if len(one.tasks)]
        return max(time for time in times if time is not None)
