"""A job, a task, an executor or a query."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.insight.explain import Explanation
from gnomon.insight.explain.phrases import counted
from gnomon.insight.listing import Listing
from gnomon.insight.spark.abort import abort_of
from gnomon.insight.spark.events import links, mishaps, outputs_on
from gnomon.insight.spark.figures import median_of
from gnomon.insight.spark.idle import idle_executors
from gnomon.insight.spark.meanings import of_failure, of_loss
from gnomon.insight.spark.path import critical_path, parts
from gnomon.insight.spark.slow import findings
from gnomon.insight.spark.story_app import Cause, where_time_went, why_slow
from gnomon.insight.spark.subjects import Subject, rows_of
from gnomon.insight.spark.tables import NOTHING, executors, name_of, stages
from gnomon.insight.spark.words import share, size, time
from gnomon.model.resources import NEVER
from gnomon.systems.spark.application import Application, Job, StageAttempt
from gnomon.systems.spark.tasks import LOCALITIES, Tasks


def explain_job(application: Application, number: int) -> Explanation:
    """Where the time of a job went."""
    job = application.jobs[number]
    end = application.end_of(job)
    total = end - job.submitted_ms
    path = [one for one in critical_path(application) if one.begin_ms >= job.submitted_ms and one.end_ms <= end]
    own = [one for one in application.attempts if one.stage.id in job.stages and _in(one, job, end)]
    causes = [Cause(one, finding) for one in own for finding in findings(application, one) if finding.cost_ms]
    causes.sort(key=lambda one: -one.finding.cost_ms)
    skipped = len(set(job.stages) & set(application.skipped))
    text = f"job {number} took {time(total)}: {counted(len(own), 'stage attempt')} ran"
    text += f", {counted(skipped, 'stage')} skipped, their output was there" if skipped else ""
    abort = abort_of(application)
    if abort is not None and abort.job == number:
        text = abort.text
    elif causes:
        text += f". What costs most, {time(causes[0].finding.cost_ms)}: {causes[0].finding.text}"
    listings = [where_time_went(parts(path), total), stages(application, own), why_slow(causes)]
    mine = [one for one in mishaps(application) if one.job == number or one.stage in job.stages]
    return Explanation(
        subject=f"job/{number}",
        state={"JobSucceeded": "succeeded", "JobFailed": "failed"}.get(job.result or "", "running"),
        summary=text,
        native=job.error.partition("\n")[0] or text,
        chain=links(application, mine),
        listings=tuple(one for one in listings if one.rows),
        notes=application.notes,
    )


def _in(attempt: StageAttempt, job: Job, end: int) -> bool:
    return attempt.submitted_ms is None or job.submitted_ms <= attempt.submitted_ms <= end


def explain_task(application: Application, subject: Subject) -> Explanation:
    """What the attempts of a task did, and how they differ from the median of the others."""
    rows = rows_of(subject, application)
    attempt, row = rows[-1]
    good = [(one, place) for one, place in rows if one.tasks.why(place) is None]
    attempt, row = good[0] if good else (attempt, row)
    task = attempt.tasks[row]
    others = attempt.tasks.succeeded
    why = attempt.tasks.why(row)
    name = f"task {attempt.stage.id}.{task.index}"
    median = _median(others, "duration") if len(others) else 0
    text = f"{name} (partition {task.partition}) ran {time(task.duration_ms)} on executor {attempt.tasks.executor(row)}"
    text += f", {counted(len(rows), 'attempt')} in all" if len(rows) > 1 else ""
    if why is not None:
        text += f", and failed: {of_failure(why).what}"
    else:
        text += f"; the median of its stage is {time(median)}"
        found = [one for one in findings(application, attempt) if one.object == f"task/{attempt.stage.id}.{task.index}"]
        text += f". {found[0].text}" if found else ""
    mine = [one for one in mishaps(application) if f"task {name_of(attempt)}.{task.index}," in one.text]
    return Explanation(
        subject=f"task/{attempt.stage.id}.{task.index}",
        state="succeeded" if good else "failed",
        summary=text,
        native=why.text.partition("\n")[0] if why is not None and why.text else text,
        chain=links(application, mine),
        listings=(_attempts(application, rows), _phases(attempt, row)),
        notes=application.notes,
    )


def _attempts(application: Application, rows: Sequence[tuple[StageAttempt, int]]) -> Listing:
    headers = ["ATTEMPT", "STAGE", "TASK ID", "EXECUTOR", "LOCALITY", "LAUNCHED", "DURATION", "HOW IT ENDED"]
    table = []
    for attempt, row in rows:
        task, why = attempt.tasks[row], attempt.tasks.why(row)
        level = LOCALITIES[task.locality] if task.locality >= 0 else NOTHING
        copy = " (a copy)" if task.speculative else ""
        how = "success" if why is None else f"{why.reason}: {of_failure(why).what}"
        launched = time(task.launch_ms - application.started_ms)
        cells = [
            f"{task.attempt}{copy}",
            name_of(attempt),
            str(task.task_id),
            attempt.tasks.executor(row),
            level,
            launched,
        ]
        table.append([*cells, time(task.duration_ms), how])
    return Listing(headers, table, right=(2, 5, 6), title="ITS ATTEMPTS")


def _phases(attempt: StageAttempt, row: int) -> Listing:
    """What a task did with its time, beside the medians of its stage."""
    task, good = attempt.tasks[row], attempt.tasks.succeeded
    mine = {
        "duration": task.duration_ms,
        "scheduler delay": task.delay_ms,
        "deserialize_ms": task.deserialize_ms,
        "run_ms": task.run_ms,
        "gc_ms": task.gc_ms,
        "fetch_wait_ms": task.fetch_wait_ms,
    }
    labels = {
        "duration": "Duration",
        "scheduler delay": "Scheduler Delay",
        "deserialize_ms": "Task Deserialization Time",
        "run_ms": "Executor Run Time",
        "gc_ms": "  of which GC",
        "fetch_wait_ms": "  of which Shuffle Read Blocked",
    }
    rows = [
        [labels[name], time(value), time(_median(good, name)) if len(good) else NOTHING]
        for name, value in mine.items()
        if value or (len(good) and _median(good, name))
    ]
    data = {"Input": ("input_bytes", "input_records"), "Shuffle Write": ("write_bytes", "write_records")}
    read = size(task.shuffle_read_bytes), f"{task.read_records:,}"
    if task.shuffle_read_bytes:
        rows.append(["Shuffle Read", f"{read[0]} / {read[1]} records", _of_median(good, "read", "read_records")])
    for label, (count, records) in data.items():
        if getattr(task, count):
            rows.append(
                [
                    label,
                    f"{size(getattr(task, count))} / {getattr(task, records):,} records",
                    _of_median(good, count, records),
                ]
            )
    if task.memory_spilled_bytes:
        rows.append(
            [
                "Spill (memory / disk)",
                f"{size(task.memory_spilled_bytes)} / {size(task.disk_spilled_bytes)}",
                size(_median(good, "memory_spilled_bytes")) if len(good) else NOTHING,
            ]
        )
    return Listing(["PART", "IT", "MEDIAN"], rows, right=(1, 2), title="WHAT IT DID")


def _of_median(good: Tasks, count: str, records: str) -> str:
    return f"{size(_median(good, count))} / {_median(good, records):,} records" if len(good) else NOTHING


def _median(good: Tasks, name: str) -> int:
    if name == "duration":
        values = good.duration_ms
    elif name == "read":
        values = good.shuffle_read_bytes
    elif name == "scheduler delay":
        values = good.delay_ms
    else:
        values = good.column(name)
    return median_of(values)


def explain_executor(application: Application, name: str) -> Explanation:
    """What an executor did, why it left or stays, and what was lost with it."""
    one = application.executors[name]
    meaning = of_loss(one.reason)
    outputs = outputs_on(application, one)
    idle = next((found for found in idle_executors(application) if found.name == name), None)
    if one.removed_ms is None:
        state, text = "alive", f"executor {name} ({one.host}, {counted(one.cores, 'core')}) was there to the end"
        if idle is not None:
            text += f"; its last task ended {time(idle.length_ms)} before it"
            holds = f"{counted(outputs, 'map output')}" if outputs else "cached blocks" if idle.cached else "nothing"
            when = "it is not released by itself" if idle.leaves_ms >= NEVER else "it may be released"
            text += f", it holds {holds}: {when}" if "spark.dynamicAllocation.enabled" in application.properties else ""
    else:
        state = "released" if meaning.rule == "released" else "lost"
        after = time(one.removed_ms - application.started_ms)
        text = f"executor {name} ({one.host}) was removed {after} after the start: {meaning.what}"
        text += f"; with it the output of {counted(outputs, 'map task')}" if outputs and state == "lost" else ""
        text += f". What to change: {meaning.change}" if meaning.change else ""
    table = executors(application)
    rows = [row for row in table.rows if row[0] == name]
    own = [found for found in mishaps(application) if found.executor == name]
    listing = Listing(table.headers, rows, right=table.right, title="WHAT RAN ON IT")
    return Explanation(
        f"executor/{name}",
        state,
        text,
        one.reason.partition("\n")[0] or text,
        chain=links(application, own),
        listings=(listing,),
        notes=application.notes,
    )


def explain_query(application: Application, number: int) -> Explanation:
    """The jobs of a SQL execution."""
    query = application.sql[number]
    own = [job for job in application.jobs.values() if job.sql == number]
    end = application.last_ms if query.ended_ms is None else query.ended_ms
    total = end - query.started_ms
    in_jobs = sum((job.ended_ms or end) - job.submitted_ms for job in own)
    text = f"query {number} ({query.description.partition(chr(10))[0]}) took {time(total)}, "
    text += f"{time(min(in_jobs, total))} of it in {counted(len(own), 'job')} ({share(min(in_jobs, total), total)})"
    text += f"; adaptive execution changed its plan {counted(query.updates, 'time')}" if query.updates else ""
    attempts = [one for one in application.attempts if any(one.stage.id in job.stages for job in own)]
    state = "failed" if query.error else "running" if query.ended_ms is None else "succeeded"
    native = query.error.partition("\n")[0] or text
    listing = stages(application, attempts)
    return Explanation(f"sql/{number}", state, text, native, listings=(listing,), notes=application.notes)
