"""What the driver adds to the run time of tasks, estimated from an event log.

Between two tasks on a slot the driver deserialises, schedules and takes in a result; that is seen where a task was
waiting when a slot became free. The estimates are medians: a log of a busy machine has outliers that would not be
there again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate
from statistics import median
from typing import Final

import numpy as np

from gnomon.systems.spark.application import Application, Job, StageAttempt
from gnomon.systems.spark.conf import task_cpus
from gnomon.systems.spark.tasks import Task

MS: Final = 1_000_000
RESULT_MS: Final = 3
"""From the end of a task to its finish time in the log, where a log tells nothing: what quiet logs of 4.3.0 show."""
STAGE_MS: Final = 10
"""From the last finish of its parents to the first launch of a stage, where a log tells nothing: as above."""


@dataclass(frozen=True)
class Delays:
    """In ms. ``result``: a slot is free again so long before its task's finish time; ``stage``: from the last finish of
    its parents to the first launch of a stage; ``overhead``: how long a task has its slot beyond its run time;
    ``held``: how long each task (stage, attempt, index, try) had its slot; ``setup``, ``teardown``, ``start``: of each
    job, from submission to its first launch and from its last finish to its end, and when it is submitted: at a time
    of the application, or after the end of another."""

    result: int = RESULT_MS
    stage: int = STAGE_MS
    overhead: int = 0
    held: Mapping[tuple[int, int, int, int], int] = field(default_factory=dict)
    setup: Mapping[int, int] = field(default_factory=dict)
    teardown: Mapping[int, int] = field(default_factory=dict)
    start: Mapping[int, tuple[int, int | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Seen:
    attempt: StageAttempt
    task: Task

    @property
    def key(self) -> tuple[int, int, int, int]:
        return (*self.attempt.key, self.task.index, self.task.attempt)


def delays(application: Application) -> Delays:
    """The delays that the log of an application shows."""
    seen = sorted(_tasks(application), key=lambda one: (one.task.launch_ms, one.task.finish_ms))
    spans, load = _spans(application), _Load(application, seen)
    pairs = list(_relaunches(application, seen, spans))
    result = max(0, round(median([before.task.finish_ms - launch for before, launch in pairs]))) if pairs else RESULT_MS
    held = {one.key: max(one.task.duration_ms - result, 0) for one in seen}
    held.update({before.key: launch - before.task.launch_ms for before, launch in pairs})
    own = [held[one.key] - one.task.run_ms for one in seen if one.task.run_ms]
    waits = list(_stage_waits(application, spans, load))
    return Delays(
        result=result,
        stage=max(0, round(median(waits))) if waits else STAGE_MS,
        overhead=max(0, round(median(own))) if own else 0,
        held=held,
        setup=_setups(application, spans, load),
        teardown={job: _teardown(spans, one) for job, one in application.jobs.items()},
        start=_starts(application),
    )


def _tasks(application: Application) -> Iterator[_Seen]:
    """All attempts of tasks that ended, but those that were taken back later."""
    for attempt in application.attempts:
        yield from (_Seen(attempt, task) for task in attempt.counted() if task.finish_ms)


def _relaunches(application: Application, seen: list[_Seen], spans: _Spans) -> Iterator[tuple[_Seen, int]]:
    """Tasks whose slot was wanted when they ended, and when it was used again: by one that could have been launched
    already, as its stage had been submitted, and it is not the first of it."""
    by_executor: dict[int, list[_Seen]] = {}
    for one in seen:
        by_executor.setdefault(one.task.executor, []).append(one)
    firsts = {one.attempt.key: one.first for of in spans.values() for one in of}
    for tasks in by_executor.values():
        slots = _slots(application, tasks)
        running: list[_Seen] = []
        for one in tasks:
            if len(running) == slots:
                first = min(running, key=lambda other: other.task.finish_ms)
                running.remove(first)
                if firsts[one.attempt.key] < min(one.task.launch_ms, first.task.finish_ms):
                    yield first, one.task.launch_ms
            running.append(one)


def _slots(application: Application, tasks: list[_Seen]) -> int:
    """How many tasks the executor of these ran at a time, by its cores."""
    first = tasks[0]
    name = first.attempt.tasks.names[first.task.executor]
    executor = application.executors.get(name)
    return max(1, executor.cores // task_cpus(application)) if executor else 1


@dataclass(frozen=True, slots=True)
class _Span:
    """From the first launch to the last finish of a stage attempt that has tasks."""

    attempt: StageAttempt
    first: int
    last: int


_Spans = Mapping[int, list[_Span]]
"""By stage."""


def _spans(application: Application) -> _Spans:
    found: dict[int, list[_Span]] = {}
    for one in application.attempts:
        if len(one.tasks):
            first, last = int(one.tasks.column("launch_ms").min()), int(one.tasks.column("finish_ms").max())
            found.setdefault(one.stage.id, []).append(_Span(one, first, last))
    return found


def _stage_waits(application: Application, spans: _Spans, load: _Load) -> Iterator[int]:
    """How long stages waited for their first launch after their parents were done, where slots were free."""
    for span in [one for of in spans.values() for one in of]:
        attempt, first = span.attempt, span.first
        parents = [spans[parent][-1].last for parent in attempt.stage.parents if parent in spans]
        if attempt.attempt or not parents:
            continue
        last = max(parents)
        job = next((job for job in application.jobs.values() if attempt.stage.id in job.stages), None)
        if job is None or not job.submitted_ms <= last < first or load.is_full(last, first):
            continue
        yield first - last


class _Load:
    """How many tasks ran when, and when all slots were in use."""

    def __init__(self, application: Application, seen: Sequence[_Seen]) -> None:
        cores = sum(executor.cores for executor in application.executors.values())
        self._slots = max(cores // task_cpus(application), 1)
        self._launches = np.sort(np.array([one.task.launch_ms for one in seen], np.int64))
        self._ends = np.sort(np.array([max(one.task.finish_ms, one.task.launch_ms) for one in seen], np.int64))

    def is_full(self, begin_ms: int, end_ms: int) -> bool:
        """Whether all slots are in use at a time, or at some time before another: then it was not the driver that took
        its time, but a task of somebody who goes before, launched when the slot became free."""
        first, last = np.searchsorted(self._launches, begin_ms, "right"), np.searchsorted(self._launches, end_ms)
        times = np.concatenate([[begin_ms], self._launches[first:last]])
        began, ended = (np.searchsorted(one, times, "right") for one in (self._launches, self._ends))
        return bool(np.any(began - ended >= self._slots))


def _of_job(spans: _Spans, job: Job) -> list[_Span]:
    """The stage attempts that ran for a job."""
    return [one for stage in job.stages for one in spans.get(stage, ())]


def _setups(application: Application, spans: _Spans, load: _Load) -> dict[int, int]:
    """From the submission of each job to its first launch; of those that found all slots in use, as far as that is of
    the driver's making: to the submission of its first stage, and what the others need from there."""
    found, late = {}, {}
    launches = []
    for number, job in application.jobs.items():
        ran = _of_job(spans, job)
        if not ran:
            found[number] = 0
            continue
        first = min(one.first for one in ran)
        submitted = min(one.attempt.submitted_ms or job.submitted_ms for one in ran)
        if load.is_full(submitted, submitted):
            late[number] = max(0, submitted - job.submitted_ms)
        else:
            found[number] = max(0, first - job.submitted_ms)
            launches.append(max(0, first - submitted))
    usual = round(median(launches)) if launches else STAGE_MS
    return {**found, **{number: ms + usual for number, ms in late.items()}}


def _teardown(spans: _Spans, job: Job) -> int:
    last = [one.last for one in _of_job(spans, job)]
    return max(0, job.ended_ms - max(last)) if last and job.ended_ms is not None else 0


NEXT_MS: Final = 200
"""A job that comes so soon after the end of another is taken for the next step of the same thread of the program."""


def _starts(application: Application) -> dict[int, tuple[int, int | None]]:
    """When each job is submitted: so long after the end of one that was submitted before, or at a time after the first
    job."""
    found: dict[int, tuple[int, int | None]] = {}
    jobs = sorted(application.jobs.values(), key=lambda job: (job.submitted_ms, job.id))
    by_id = sorted(application.jobs.values(), key=lambda job: job.id)
    until = accumulate((math.inf if job.ended_ms is None else job.ended_ms for job in by_id), max, initial=-math.inf)
    older_until = {job.id: last for job, last in zip(by_id, until, strict=False)}
    ends: list[tuple[int, int]] = []  # of those submitted before, that had not ended yet
    last: tuple[int, int] | None = None
    for job in jobs:
        while ends and ends[0][0] <= job.submitted_ms:
            last = max(last or ends[0], heappop(ends))
        found[job.id] = job.submitted_ms - jobs[0].submitted_ms, None
        if last is not None:
            gap = job.submitted_ms - last[0]
            if older_until[job.id] <= job.submitted_ms or gap <= NEXT_MS:
                found[job.id] = gap, last[1]
        if job.ended_ms is not None:
            heappush(ends, (job.ended_ms, job.id))
    return found
