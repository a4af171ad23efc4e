"""Why a job was aborted, in terms of the counter that ran over: failures of one task, or fetch failures of a stage."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.insight.explain.phrases import Numbers, counted
from gnomon.insight.spark.meanings import of_failure
from gnomon.systems.spark.application import Application, Job, StageAttempt
from gnomon.systems.spark.conf import recorded_whole
from gnomon.systems.spark.tasks import Failure


@dataclass(frozen=True, slots=True)
class Abort:
    """``rule``: ``task-failures``, ``stage-attempts`` or ``other``; ``numbers``: the counter and its limit."""

    job: int
    rule: str
    text: str
    numbers: Numbers


def abort_of(application: Application) -> Abort | None:
    """Why the first job that failed did; None where none did."""
    job = next((one for one in application.jobs.values() if one.result == "JobFailed"), None)
    if job is None:
        return None
    return _by_stage(application, job) or _by_task(application, job) or _other(job)


def fetch_failed(attempt: StageAttempt) -> bool:
    """Whether an attempt ended because it could not fetch what it reads."""
    return any(why.reason == "FetchFailed" for _, why in attempt.tasks.reasons())


def recomputed(application: Application, stage: int) -> int:
    """How many tasks of a stage were submitted again, because their output was lost or they were not done."""
    return sum(one.planned or 0 for one in application.attempts_of(stage) if one.attempt)


def _by_stage(application: Application, job: Job) -> Abort | None:
    """Fetch failures in so many attempts of a stage in a row. The set of them is cleared when the stage succeeds."""
    limit = recorded_whole(application, "spark.stage.maxConsecutiveAttempts")
    for stage in job.stages:
        attempts = application.attempts_of(stage)
        failed = [one for one in attempts if fetch_failed(one)]
        if len(failed) < limit or failed[-1] is not attempts[-1]:
            continue
        again = sum(recomputed(application, parent) for parent in application.stages[stage].parents)
        own = recomputed(application, stage)
        begun = min((one.submitted_ms or job.submitted_ms for one in attempts), default=job.submitted_ms)
        gone = [one.removed_ms for one in application.executors.values() if one.removed_ms is not None]
        lost = sum(begun <= removed <= application.end_of(job) for removed in gone)
        text = f"job {job.id} was aborted: stage {stage} had {len(failed)} attempts in a row that could not fetch what "
        text += f"they read, and spark.stage.maxConsecutiveAttempts is {limit}. {counted(lost, 'executor')} left while "
        text += f"it ran, each with its shuffle output: {counted(again, 'map task')} and {counted(own, 'task')} of the "
        text += "stage itself were run again. Fetch failures do not count for spark.task.maxFailures"
        numbers: Numbers = {"attempts": len(failed), "limit": limit, "recomputed": again, "executors_lost": lost}
        return Abort(job.id, "stage-attempts", text, numbers)
    return None


def _by_task(application: Application, job: Job) -> Abort | None:
    """One task that failed too often in one task set. Failures that are nobody's fault do not count."""
    limit = recorded_whole(application, "spark.task.maxFailures")
    for stage in job.stages:
        for attempt in application.attempts_of(stage):
            tasks, counts = attempt.tasks, dict[int, list[Failure]]()
            indices = tasks.column("index").tolist()
            for row, why in tasks.reasons():
                if why.by_app and why.reason != "FetchFailed":
                    counts.setdefault(indices[row], []).append(why)
            worst = max(counts, key=lambda index: len(counts[index]), default=None)
            if worst is None or not attempt.failure:
                continue
            count = len(counts[worst])
            reached = f", which is spark.task.maxFailures ({limit})" if count >= limit else ""
            text = f"job {job.id} was aborted: task {worst} of stage {stage} failed {count} times{reached}; "
            text += f"the last time: {of_failure(counts[worst][-1]).what}"
            return Abort(job.id, "task-failures", text, {"failures": count, "limit": limit})
    return None


def _other(job: Job) -> Abort:
    line = job.error.partition("\n")[0]
    return Abort(job.id, "other", f"job {job.id} failed: {line or 'the log does not say why'}", {})
