"""An event log as work to run again: its jobs and stages, and tasks that take what they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

import numpy as np

from gnomon.control.batch.plan import BatchPlan, Course, Execution, JobPlan, StagePlan, Where
from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.delays import MS, Delays, delays
from gnomon.systems.spark.tasks import IntArray

MOVED: Final = ("input_bytes", "shuffle_read_bytes", "shuffle_write_bytes", "records_read", "records_written")
"""What tasks read and wrote, as the log of a run calls it."""


@dataclass(frozen=True)
class Recorded(Execution):
    """The :class:`gnomon.control.batch.plan.Execution` of a recorded run. ``length_ms``: how long the tasks of each
    stage hold their slots; ``records``: how many each reads; ``moved``: what each read and wrote, a row a task in the
    columns of :data:`MOVED`."""

    length_ms: Mapping[int, tuple[int, ...]]
    records: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    moved: Mapping[int, IntArray] = field(default_factory=dict)
    has_functions = False

    def prefers(self, stage: StagePlan, partition: int) -> Sequence[tuple[int, int]]:
        """What a task waited for is in its times already."""
        return ()

    def begin(self, where: Where) -> Course:
        """It takes what it took then, wherever it is."""
        stage, partition = where.stage.number, where.partition
        records = self.records[stage][partition] if stage in self.records else 0
        return Course(self.length_ms[stage][partition] * MS, records=records)

    def resume(self, where: Where, ran_ns: int) -> Course:
        """All is known from the beginning."""
        raise AssertionError("the length of a recorded task is known")

    def done(self, where: Where) -> Mapping[str, int | str]:
        """Nothing more."""
        return {}

    def lost(self, stage: StagePlan, partition: int) -> None:
        """It will take as long again."""


TASKS_MAX: Final = 10_000_000


@dataclass(frozen=True)
class Replay:
    """A log as a plan. ``notes``: what of it is left out."""

    plan: BatchPlan
    execution: Recorded
    delays: Delays
    notes: tuple[Note, ...] = ()


def replay(application: Application, *, exact: bool = False) -> Replay:
    """The jobs of an application, to be run again on another cluster. ``exact``: it is the same cluster, and what the
    driver added to each task is added again; else what it usually adds, if it was not less.

    A stage that was skipped, or that only made again what was lost of its output, is the one that made it before;
    failures are not repeated, for they were faults of that day; stages of which no task ended are left out.
    """
    known = delays(application)
    same = _same(application)
    ran = sorted({one.stage.id for one in application.attempts} - same.keys())
    if (tasks := sum(_tasks(application, number) for number in ran)) > TASKS_MAX:
        problem = "more tasks than are replayed"
        raise InputError(problem, file=application.source, found=f"{tasks:,}", allowed=f"{TASKS_MAX:,} in all")
    lengths = {number: _lengths(application, number, known, exact=exact) for number in ran}
    lengths = {number: found for number, found in lengths.items() if found}
    read = {same.get(p, p) for number in lengths for p in application.stages[number].parents}
    stages: dict[int, StagePlan] = {}
    first = 0
    for number, found in lengths.items():
        stage = application.stages[number]
        parents = {same.get(parent, parent) for parent in stage.parents} & lengths.keys()
        before = tuple(sorted(parent for parent in parents if parent < number))  # as Spark numbers them
        stages[number] = StagePlan(number, stage.name, first, len(found), before, writes=number in read)
        first += len(found)
    jobs = _jobs(application, known, {number: same.get(number, number) for number in application.stages}, stages)
    plan = _needed(BatchPlan(jobs, stages))
    lengths = {number: lengths[number] for number in plan.stages}
    return Replay(
        plan,
        Recorded(lengths, _records(application, lengths), _moved(application, lengths)),
        known,
        tuple(_notes(application, lengths)),
    )


def _needed(plan: BatchPlan) -> BatchPlan:
    """Without stages that no job needs, as in a log that lacks the job, or what it says of its stages."""
    wanted = {stage for job in plan.jobs.values() for stage in plan.ancestors(job.result)}
    if wanted >= plan.stages.keys():
        return plan
    stages: dict[int, StagePlan] = {}
    first = 0
    for number, stage in plan.stages.items():
        if number in wanted:
            stages[number] = replace(stage, first=first)
            first += stage.tasks
    return replace(plan, stages=stages)


def _jobs(
    application: Application, known: Delays, same: Mapping[int, int], stages: Mapping[int, StagePlan]
) -> dict[int, JobPlan]:
    jobs: dict[int, JobPlan] = {}
    for number, job in application.jobs.items():
        results = [same.get(stage, stage) for stage in job.stages if same.get(stage, stage) in stages]
        if not results:
            continue
        last = max(stage for stage in job.stages if stage in application.stages)
        at_ms, after = known.start[number]
        while after is not None and after not in jobs:  # one that ran nothing
            more, after = known.start[after]
            at_ms += more
        jobs[number] = JobPlan(
            number,
            job.description or application.stages[last].name or f"job {number}",
            result=max(results),
            at_ns=at_ms * MS,
            after=after,
            pool=job.pool,
            setup_ns=known.setup[number] * MS,
            teardown_ns=known.teardown[number] * MS,
        )
    return jobs


def _same(application: Application) -> dict[int, int]:
    """Stages whose output was there, and who made it before: a stage that ends in the same RDD, and whose output
    others read."""
    read = {parent for stage in application.stages.values() for parent in stage.parents}
    maker: dict[int, int] = {}
    found: dict[int, int] = {}
    for number, stage in application.stages.items():
        last = max((rdd.id for rdd in stage.rdds), default=-1)
        if last < 0 or number not in read:
            continue
        if not _was_there(application, number):
            maker.setdefault(last, number)
        elif last in maker:
            found[number] = maker[last]
    return found


def _was_there(application: Application, number: int) -> bool:
    """Whether a stage had output when its job began: it never ran, or its first attempt made only what was lost of it
    since. Spark 4 counts the skipped attempt too, so that the first that runs is not 0 (``DAGScheduler``,
    ``increaseAttemptIdOnFirstSkip``)."""
    attempts = application.attempts_of(number)
    if not attempts:
        return True
    first = attempts[0]
    return first.attempt > 0 or (first.planned is not None and first.planned < application.stages[number].tasks)


def _lengths(application: Application, number: int, known: Delays, *, exact: bool) -> tuple[int, ...]:
    """How long each task of a stage has its slot: its run time, and what the driver usually adds; of those of which no
    attempt succeeded, the median of the others."""
    found: dict[int, int] = {}
    for attempt in application.attempts_of(number):
        for task in attempt.tasks.succeeded:
            held = known.held.get((*attempt.key, task.index, task.attempt))
            if held is None:  # it ended at no time that the log tells
                continue
            place = task.partition if attempt.attempt else task.index
            found[place] = min(held, task.run_ms + known.overhead) if task.run_ms and not exact else held
    if not found:
        return ()
    usual = round(median(found.values()))
    return tuple(found.get(index, usual) for index in range(_tasks(application, number)))


def _tasks(application: Application, number: int) -> int:
    """How many tasks a stage has: as it is said, and those that succeeded."""
    count = application.stages[number].tasks
    for attempt in application.attempts_of(number):
        places = attempt.tasks.succeeded.column("partition" if attempt.attempt else "index")
        count = max(count, int(places.max(initial=-1)) + 1)
    return count


def _records(application: Application, lengths: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """How many records each task of each stage read."""
    found = {}
    for number, tasks in lengths.items():
        read = [0] * len(tasks)
        for attempt in application.attempts_of(number):
            for task in attempt.tasks.succeeded:
                read[task.partition if attempt.attempt else task.index] = task.read_records + task.input_records
        found[number] = tuple(read)
    return found


def _moved(application: Application, lengths: Mapping[int, tuple[int, ...]]) -> dict[int, IntArray]:
    """What each task of each stage read and wrote."""
    found = {}
    for number, lasting in lengths.items():
        moved = np.zeros((len(lasting), len(MOVED)), np.int64)
        for attempt in application.attempts_of(number):
            tasks = attempt.tasks.succeeded
            read = tasks.column("input_records") + tasks.column("read_records")
            written = tasks.column("output_records") + tasks.column("write_records")
            sizes = tasks.column("input_bytes"), tasks.shuffle_read_bytes, tasks.column("write_bytes")
            moved[tasks.column("partition" if attempt.attempt else "index")] = np.stack([*sizes, read, written], axis=1)
        found[number] = moved
    return found


def _notes(application: Application, lengths: Mapping[int, tuple[int, ...]]) -> list[Note]:
    notes = [Note("warning", "log", text) for text in application.notes]
    failed = sum(len(one.tasks.failed) for one in application.attempts)
    if failed:
        notes.append(Note("not modelled", "failures", "attempts that failed in the log do not fail again", failed))
    left = {one.stage.id for one in application.attempts if not len(one.tasks.succeeded)} - lengths.keys()
    if left:
        notes.append(Note("not modelled", "stages", "stages of which no task succeeded are left out", len(left)))
    return notes
