"""The critical path of an application: which tasks, one after the other, its end waited for.

Walked backwards from the last task of each job. A task that was launched when its stage was submitted waited for the
last task of the stages that it reads; one that was launched later waited for a slot, that is for the task before it on
its executor. What is between them is the driver's: planning, submission, the wait for a local slot.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.systems.spark.application import Application, Job, StageAttempt
from gnomon.systems.spark.tasks import Task

SUBMISSION_MS: Final = 100
"""A task that starts so soon after its stage was submitted did not wait for a slot."""

RESULT_MS: Final = 200
"""A slot may be used again so long before the finish time of its task: that is when the result is taken in."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the path, from ``begin_ms`` to ``end_ms``: a task, or the driver where there is none (``what`` says
    what for)."""

    begin_ms: int
    end_ms: int
    what: str
    attempt: StageAttempt | None = None
    task: Task | None = None

    @property
    def length_ms(self) -> int:
        """How long it is."""
        return self.end_ms - self.begin_ms


@dataclass(frozen=True, slots=True)
class Part:
    """All that the path spends in one stage attempt, or with the driver for one reason; ``longest``: of its tasks."""

    what: str
    total_ms: int
    tasks: int
    attempt: StageAttempt | None = None
    longest: Task | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    attempt: StageAttempt
    task: Task


class _Runs:
    """All attempts of tasks, to be asked who ended last before a moment: of a stage, or on an executor."""

    def __init__(self, application: Application) -> None:
        self.executors = application.executors
        self.of_stage: dict[int, list[_Run]] = {}
        self.of_executor: dict[int, list[_Run]] = {}
        self.of_task: dict[tuple[int, int, int], list[_Run]] = {}
        runs = [_Run(one, task) for one in application.attempts for task in one.counted()]
        for run in sorted(runs, key=_finish):
            self.of_stage.setdefault(run.attempt.stage.id, []).append(run)
            self.of_executor.setdefault(run.task.executor, []).append(run)
            self.of_task.setdefault((*run.attempt.key, run.task.index), []).append(run)

    def last(self, stage: int, begin: int, end: int) -> _Run | None:
        """Of the tasks of a stage that were launched and ended in a time, the one that ended last."""
        runs = self.of_stage.get(stage, [])
        for place in range(bisect_right(runs, end, key=_finish) - 1, -1, -1):
            if runs[place].task.launch_ms >= begin:
                return runs[place]
        return None

    def on_slot(self, now: _Run) -> _Run | None:
        """Whose slot a task probably has: the one on its executor that ended nearest to its launch."""
        runs, launch = self.of_executor[now.task.executor], now.task.launch_ms
        best: _Run | None = None
        for place in range(bisect_right(runs, launch + RESULT_MS, key=_finish) - 1, -1, -1):
            run = runs[place]
            if best is not None and launch - run.task.finish_ms > abs(best.task.finish_ms - launch):
                break
            if run.task.launch_ms < launch:
                nearer = best is None or abs(run.task.finish_ms - launch) < abs(best.task.finish_ms - launch)
                best = run if nearer else best
        return best


def _finish(run: _Run) -> int:
    return run.task.finish_ms


def critical_path(application: Application) -> list[Segment]:
    """The path through the whole application, oldest first, without gaps from its start to its end."""
    runs = _Runs(application)
    end = application.last_ms
    found: list[Segment] = []
    jobs = sorted(application.jobs.values(), key=lambda job: -application.end_of(job))
    for job in jobs:
        ended = application.end_of(job)
        if ended > end or (found and job.submitted_ms >= end):
            continue  # beside one that ended later
        found += _gap(ended, end, "after the last job" if not found else "between jobs")
        found += _of_job(job, ended, runs)
        end = found[-1].begin_ms if found else job.submitted_ms
    found += _gap(application.started_ms, end, "before the first job")
    return [one for one in reversed(found) if one.length_ms > 0]


def parts(path: Sequence[Segment]) -> list[Part]:
    """The path by stage attempts and by what the driver does, the longest first."""
    groups: dict[object, list[Segment]] = {}
    for one in path:
        groups.setdefault(one.attempt.key if one.attempt else one.what, []).append(one)
    found = []
    for group in groups.values():
        tasks = [one for one in group if one.task is not None]
        longest = max(tasks, key=lambda one: one.length_ms).task if tasks else None
        total = sum(one.length_ms for one in group)
        found.append(Part(group[0].what, total, len(tasks), group[0].attempt, longest))
    return sorted(found, key=lambda part: -part.total_ms)


def _gap(begin: int, end: int, what: str) -> list[Segment]:
    return [Segment(begin, end, f"driver: {what}")] if end > begin else []


def _of_job(job: Job, ended: int, runs: _Runs) -> list[Segment]:
    """The path through a job, newest first."""
    begin = job.submitted_ms
    last = [run for stage in job.stages if (run := runs.last(stage, begin, ended)) is not None]
    now = max(last, key=_finish, default=None)
    if now is None:
        return _gap(begin, ended, "a job without tasks")
    found = _gap(now.task.finish_ms, ended, "ending a job")
    upper = now.task.finish_ms
    seen: set[tuple[int, int, int]] = set()
    while now is not None and (key := (*now.attempt.key, now.task.task_id)) not in seen:
        seen.add(key)
        what = f"stage {now.attempt.stage.id}" + (f".{now.attempt.attempt}" if now.attempt.attempt else "")
        found.append(Segment(now.task.launch_ms, upper, what, now.attempt, now.task))
        before = _before(now, job, runs)
        if before is not None and before.task.launch_ms < begin:
            before = None  # of a job before it
        lower = begin if before is None else max(before.task.finish_ms, begin)
        why = "between tasks" if before and before.attempt is now.attempt else "between stages"
        why = "starting a job" if before is None else why
        added = _added_ms(now, runs)
        if lower < added <= now.task.launch_ms:
            found += _gap(added, now.task.launch_ms, why)
            found += [Segment(lower, added, "waiting for an executor")]
        else:
            found += _gap(lower, now.task.launch_ms, why)
        upper = min(lower, now.task.launch_ms)
        now = before
    return found


def _added_ms(now: _Run, runs: _Runs) -> int:
    """When the executor of a task was there."""
    executor = runs.executors.get(now.attempt.tasks.names[now.task.executor])
    return 0 if executor is None or executor.added_ms is None else executor.added_ms


def _before(now: _Run, job: Job, runs: _Runs) -> _Run | None:
    """Whom a task waited for; None for the start of its job."""
    launch, submitted = now.task.launch_ms, now.attempt.submitted_ms
    if submitted is None or launch - submitted <= SUBMISSION_MS:
        wanted = [*now.attempt.stage.parents, *([now.attempt.stage.id] if now.attempt.attempt else [])]
        last = [run for stage in wanted if (run := runs.last(stage, job.submitted_ms, launch)) is not None]
        return max((run for run in last if run.attempt is not now.attempt), key=_finish, default=None)
    tries = runs.of_task[*now.attempt.key, now.task.index]
    tries = [run for run in tries if run.task.attempt < now.task.attempt and run.task.finish_ms <= launch]
    return tries[-1] if tries else runs.on_slot(now)
