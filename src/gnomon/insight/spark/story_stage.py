"""A stage: its attempts, its tasks, what makes it slow or fail, and what would make the application shorter."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.insight.explain import Explanation
from gnomon.insight.explain.changes import Change
from gnomon.insight.explain.phrases import counted
from gnomon.insight.listing import Listing
from gnomon.insight.spark.abort import abort_of
from gnomon.insight.spark.advice import Tell, base_ms, ideas_for, ideas_for_all, joins, silent, tried
from gnomon.insight.spark.bench import bench_of
from gnomon.insight.spark.events import links, mishaps
from gnomon.insight.spark.figures import Finding
from gnomon.insight.spark.path import critical_path
from gnomon.insight.spark.slow import findings
from gnomon.insight.spark.story_app import Cause, told, why_slow
from gnomon.insight.spark.tables import name_of, stages, state_of, summary_of_tasks
from gnomon.insight.spark.words import share, time
from gnomon.systems.spark.application import Application, StageAttempt


def explain_stage(application: Application, number: int, attempt: int = -1, tell: Tell = silent) -> Explanation:
    """Why a stage took so long, or failed. ``attempt``: one of them, -1: all; ``tell``: see
    :data:`gnomon.insight.spark.advice.Tell`."""
    attempts = [one for one in application.attempts_of(number) if attempt < 0 or one.attempt == attempt]
    if not attempts:
        return _skipped(application, number)
    causes = [Cause(one, finding) for one in attempts for finding in findings(application, one)]
    causes.sort(key=lambda one: -one.finding.cost_ms)
    causes = [one for one in causes if one.finding.cost_ms] or causes[:1]
    changes, useless, notes = _advise(application, attempts, causes, tell)
    own = [one for one in mishaps(application) if one.stage == number or one.event == "executor-lost"]
    tasks = max(attempts, key=lambda one: len(one.tasks))
    failure = next((one.failure for one in reversed(attempts) if one.failure), "")
    text = _summary(application, attempts, causes)
    return Explanation(
        subject=f"stage/{name_of(attempts[0]) if attempt >= 0 else number}",
        state=state_of(attempts[-1]),
        summary=text,
        native=failure.partition("\n")[0] or text,
        chain=links(application, own),
        changes=tuple(changes),
        listings=(stages(application, attempts), why_slow(causes), summary_of_tasks(tasks.tasks.succeeded), *useless),
        notes=(*application.notes, *notes),
    )


def on_path_ms(application: Application, number: int) -> int:
    """How long the critical path is in the tasks of a stage."""
    return sum(
        one.length_ms
        for one in critical_path(application)
        if one.attempt is not None and one.attempt.stage.id == number
    )


def _summary(application: Application, attempts: Sequence[StageAttempt], causes: Sequence[Cause]) -> str:
    first, last = attempts[0], attempts[-1]
    number, stage = first.stage.id, first.stage
    path, total = on_path_ms(application, number), application.last_ms - application.started_ms
    text = f"stage {number} ({stage.operation}, {counted(stage.tasks, 'task')}) "
    if first.submitted_ms is not None and last.completed_ms is not None:
        text += f"took {time(last.completed_ms - first.submitted_ms)}"
    else:
        text += "had not ended"
    if len(attempts) > 1:
        text += f" in {len(attempts)} attempts"
    text += f"; the end of the application waited {time(path)} for its tasks ({share(path, total)} of {time(total)})"
    if not path:
        text += ", so making it faster changes nothing"
    abort = abort_of(application)
    if abort is not None and any(job.id == abort.job for job in application.jobs_of(number)):
        text += f". {abort.text}"
    if causes:
        text += f". {causes[0].finding.text}"
        if causes[0].finding.cost_ms:
            text += f"; that costs the stage {time(causes[0].finding.cost_ms)}"
    return text


def _advise(
    application: Application, attempts: Sequence[StageAttempt], causes: Sequence[Cause], tell: Tell
) -> tuple[list[Change], list[Listing], list[str]]:
    bench = bench_of(application)
    base = base_ms(bench)
    if not base:
        return [], [], ["no changes were tried: no job has a task that succeeded"]
    own: list[Finding] = [one.finding for one in causes if one.attempt is attempts[0]]
    ideas = [*ideas_for_all(bench), *ideas_for(bench, attempts[0], own)]
    changes, useless, notes = told(bench, base, tried(bench, ideas, tell), left=len(ideas))
    if any(one.rule == "skew" for one in own) and not joins(attempts[0], bench):
        notes.append("AQE's skew join splits partitions of joins only: it does not help a group-by or an RDD's reduce")
    return changes, useless, notes


def _skipped(application: Application, number: int) -> Explanation:
    jobs = ", ".join(str(job.id) for job in application.jobs_of(number))
    text = (
        f"stage {number} was never submitted: its output was there already when job {jobs} needed it, or the job ended "
    )
    text += "before its turn"
    return Explanation(f"stage/{number}", "skipped", text, text, notes=application.notes)
