"""What went wrong in an application, in order: lost executors, failed attempts, stages and jobs, and what followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gnomon.insight.explain.chain import Link
from gnomon.insight.explain.phrases import counted
from gnomon.insight.spark.meanings import of_failure, of_loss
from gnomon.insight.spark.tables import name_of
from gnomon.systems.spark.application import Application, Executor, StageAttempt

EVENTS_MAX: Final = 16
"""How many are told: the first ones and the last ones."""

QUIET: Final = ("released", "exit")
"""Executors that left so were not wanted any more."""


@dataclass(frozen=True, slots=True)
class Mishap:
    """Something that went wrong, of which stage, executor or job (-1, empty: of none)."""

    t_ms: int
    event: str
    text: str
    stage: int = -1
    executor: str = ""
    job: int = -1


def mishaps(application: Application) -> list[Mishap]:
    """All of them, oldest first."""
    found = [one for executor in application.executors.values() for one in _of_executor(application, executor)]
    for attempt in application.attempts:
        found += _of_attempt(application, attempt)
    for job in application.jobs.values():
        if job.result == "JobFailed" and job.ended_ms is not None:
            text = f"job {job.id} fails: {_first(job.error) or 'it is not said why'}"
            found.append(Mishap(job.ended_ms, "job-failed", text, job=job.id))
    return sorted(found, key=lambda one: one.t_ms)


def links(application: Application, found: list[Mishap]) -> tuple[Link, ...]:
    """As the chain of an explanation. Of very many the middle is left out."""
    shown = found
    if len(found) > EVENTS_MAX:
        shown = [*found[: EVENTS_MAX // 2], *found[-EVENTS_MAX // 2 :]]
    start = application.started_ms
    return tuple(Link(place, (one.t_ms - start) * 1_000_000, one.event, one.text) for place, one in enumerate(shown))


def _of_executor(application: Application, one: Executor) -> Iterator[Mishap]:
    meaning = of_loss(one.reason)
    if one.removed_ms is None or meaning.rule in QUIET or one.removed_ms >= application.jobs_ms[1]:
        return  # after the last job executors leave because all is over
    outputs = outputs_on(application, one)
    with_it = f"; with it the output of {counted(outputs, 'map task')}" if outputs else ""
    yield Mishap(
        one.removed_ms, "executor-lost", f"executor {one.id} is lost: {meaning.what}{with_it}", executor=one.id
    )


def outputs_on(application: Application, one: Executor) -> int:
    """How many map outputs were on an executor when it was removed, or at the end."""
    count = 0
    for attempt in application.attempts:
        if attempt.kind != "ShuffleMapTask":
            continue
        tasks = attempt.tasks.succeeded
        here = [place for place, name in enumerate(tasks.names) if name == one.id]
        if here:
            mine = tasks.column("executor") == here[0]
            count += int((mine & (tasks.column("finish_ms") <= (one.removed_ms or application.last_ms))).sum())
    return count


def _of_attempt(application: Application, attempt: StageAttempt) -> Iterator[Mishap]:
    name, number = name_of(attempt), attempt.stage.id
    failed = attempt.tasks.failed
    for place, why in failed.reasons():
        task = failed[place]
        if why.reason in ("TaskKilled", "Resubmitted"):
            continue
        text = f"task {name}.{task.index}, attempt {task.attempt}, fails on executor {failed.executor(place)}: "
        text += of_failure(why).what
        yield Mishap(task.finish_ms, "task-failed", text, number, failed.executor(place))
    again = sum(why.reason == "Resubmitted" for _, why in failed.reasons())
    if again:
        last = int(failed.column("finish_ms").max())
        text = f"{counted(again, 'task')} of stage {name} count as not done: their output is lost"
        yield Mishap(last, "outputs-lost", text, number)
    if attempt.failure and attempt.completed_ms is not None:
        yield Mishap(attempt.completed_ms, "stage-failed", f"stage {name} fails: {_first(attempt.failure)}", number)
    if attempt.attempt and attempt.submitted_ms is not None:
        text = f"stage {name}: {counted(attempt.planned or 0, 'task')} of {attempt.stage.tasks:,} run again"
        yield Mishap(attempt.submitted_ms, "stage-again", text, number)


def _first(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 200 else f"{line[:197]}..."
