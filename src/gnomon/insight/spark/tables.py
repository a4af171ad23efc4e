"""Tables of an application as Spark's UI has them: stages, executors, jobs, and the summary of a stage's tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from gnomon.insight.listing import Listing
from gnomon.insight.spark.words import share, size, time
from gnomon.systems.spark.application import Application, StageAttempt
from gnomon.systems.spark.facts import failures_by_kind, nearest_rank
from gnomon.systems.spark.tasks import IntArray, Tasks

NOTHING: Final = "-"

_NAME_MAX: Final = 40


def stages(application: Application, attempts: Sequence[StageAttempt] | None = None) -> Listing:
    """One row a stage attempt, in Spark's columns."""
    headers = (
        "STAGE DESCRIPTION SUBMITTED DURATION TASKS FAILED INPUT OUTPUT SHUFFLE-READ SHUFFLE-WRITE SPILL GC".split()
    )
    headers += ["MEDIAN", "MAX", "STATE"]
    rows = []
    for one in application.attempts if attempts is None else attempts:
        tasks, good = one.tasks, one.tasks.succeeded
        durations = sorted(good.duration_ms.tolist())
        failed = sum(failures_by_kind(tasks).values())
        rows.append(
            [
                name_of(one),
                cut(one.stage.name),
                NOTHING if one.submitted_ms is None else time(one.submitted_ms - application.started_ms),
                NOTHING
                if one.completed_ms is None or one.submitted_ms is None
                else time(one.completed_ms - one.submitted_ms),
                f"{len(good)}/{one.planned or one.stage.tasks}",
                str(failed) if failed else NOTHING,
                *(_size(tasks, name) for name in ("input_bytes", "output_bytes")),
                _sized(int(tasks.shuffle_read_bytes.sum())),
                *(_size(tasks, name) for name in ("write_bytes", "disk_spilled_bytes")),
                time(_total(tasks, "gc_ms")) if _total(tasks, "gc_ms") else NOTHING,
                time(nearest_rank(durations, 50)) if durations else NOTHING,
                time(durations[-1]) if durations else NOTHING,
                state_of(one),
            ]
        )
    return Listing(headers, rows, right=tuple(range(2, 14)), title="STAGES")


def jobs(application: Application) -> Listing:
    """One row a job."""
    headers = ["JOB", "DESCRIPTION", "SUBMITTED", "DURATION", "STAGES", "SKIPPED", "POOL", "RESULT"]
    skipped = set(application.skipped)
    rows = []
    for job in application.jobs.values():
        last = application.stages.get(max(job.stages, default=-1))
        rows.append(
            [
                str(job.id),
                cut(job.description or (last.name if last else "")),
                time(job.submitted_ms - application.started_ms),
                NOTHING if job.ended_ms is None else time(job.ended_ms - job.submitted_ms),
                str(len(job.stages)),
                str(len(skipped.intersection(job.stages))),
                job.pool,
                _RESULTS.get(job.result or "", "running"),
            ]
        )
    return Listing(headers, rows, right=(0, 2, 3, 4, 5), title="JOBS")


_RESULTS: Final = {"JobSucceeded": "succeeded", "JobFailed": "failed"}


def executors(application: Application) -> Listing:
    """One row an executor, with what ran on it."""
    headers = (
        "EXECUTOR HOST CORES ADDED REMOVED TASKS FAILED TASK-TIME GC INPUT SHUFFLE-READ SHUFFLE-WRITE REASON".split()
    )
    done: Counter[str] = Counter()
    sums: dict[str, Counter[str]] = {name: Counter() for name in _SUMMED}
    for attempt in application.attempts:
        tasks = attempt.tasks
        columns = {name: column(tasks).tolist() for name, column in _SUMMED.items()}
        for place, executor in enumerate(tasks.column("executor").tolist()):
            done[tasks.names[executor]] += 1
            for name, values in columns.items():
                sums[name][tasks.names[executor]] += values[place]
    rows = []
    for name in sorted(set(application.executors) | set(done), key=_by_number):
        one = application.executors.get(name)
        start = application.started_ms
        rows.append(
            [
                name,
                one.host if one else NOTHING,
                str(one.cores) if one and one.cores else NOTHING,
                NOTHING if one is None or one.added_ms is None else time(one.added_ms - start),
                NOTHING if one is None or one.removed_ms is None else time(one.removed_ms - start),
                str(done[name]),
                str(sums["failed"][name]) if sums["failed"][name] else NOTHING,
                time(sums["time"][name]),
                share(sums["gc"][name], sums["run"][name]),
                *(_sized(sums[key][name]) for key in ("input", "read", "write")),
                cut(one.reason.partition("\n")[0]) if one and one.reason else NOTHING,
            ]
        )
    return Listing(headers, rows, right=tuple(range(2, 12)), title="EXECUTORS")


_SUMMED: Final[dict[str, Callable[[Tasks], IntArray]]] = {
    "failed": lambda tasks: (tasks.column("failure") >= 0).astype("int64"),
    "time": lambda tasks: tasks.duration_ms,
    "gc": lambda tasks: tasks.column("gc_ms"),
    "run": lambda tasks: tasks.column("run_ms"),
    "input": lambda tasks: tasks.column("input_bytes"),
    "read": lambda tasks: tasks.shuffle_read_bytes,
    "write": lambda tasks: tasks.column("write_bytes"),
}


def summary_of_tasks(tasks: Tasks) -> Listing:
    """Quantiles of the metrics of tasks that succeeded; those that are 0 for all of them are left out."""
    headers = ["METRIC", "MIN", "25 %", "MEDIAN", "75 %", "MAX"]
    rows = []
    for name, column, shown in _METRICS:
        values = sorted(column(tasks).tolist())
        if values and values[-1]:
            rows.append([name, *(shown(nearest_rank(values, q)) for q in (0, 25, 50, 75, 100))])
    return Listing(headers, rows, right=(1, 2, 3, 4, 5), title="ITS TASKS (those that succeeded)")


def _plain(count: int) -> str:
    return f"{count:,}"


_METRICS: Final[tuple[tuple[str, Callable[[Tasks], IntArray], Callable[[int], str]], ...]] = (
    ("Duration", lambda tasks: tasks.duration_ms, time),
    ("Executor Run Time", lambda tasks: tasks.column("run_ms"), time),
    ("Task Deserialization Time", lambda tasks: tasks.column("deserialize_ms"), time),
    ("GC Time", lambda tasks: tasks.column("gc_ms"), time),
    ("Input Size", lambda tasks: tasks.column("input_bytes"), size),
    ("Input Records", lambda tasks: tasks.column("input_records"), _plain),
    ("Shuffle Read Size", lambda tasks: tasks.shuffle_read_bytes, size),
    ("Shuffle Read Records", lambda tasks: tasks.column("read_records"), _plain),
    ("Shuffle Read Blocked Time", lambda tasks: tasks.column("fetch_wait_ms"), time),
    ("Shuffle Write Size", lambda tasks: tasks.column("write_bytes"), size),
    ("Shuffle Write Records", lambda tasks: tasks.column("write_records"), _plain),
    ("Output Size", lambda tasks: tasks.column("output_bytes"), size),
    ("Spill (memory)", lambda tasks: tasks.column("memory_spilled_bytes"), size),
    ("Spill (disk)", lambda tasks: tasks.column("disk_spilled_bytes"), size),
    ("Peak Execution Memory", lambda tasks: tasks.column("peak_execution_bytes"), size),
)


def name_of(attempt: StageAttempt) -> str:
    """A stage attempt, as ``3`` or ``3.1``."""
    return f"{attempt.stage.id}.{attempt.attempt}" if attempt.attempt else str(attempt.stage.id)


def state_of(attempt: StageAttempt) -> str:
    """How an attempt ended."""
    if attempt.failure:
        return "failed"
    return "running" if attempt.completed_ms is None else "complete"


def cut(text: str, most: int = _NAME_MAX) -> str:
    """A text that is not longer than a column.

    >>> cut("collect at App.scala:7"), len(cut(50 * "x"))
    ('collect at App.scala:7', 40)
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _by_number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() and name.isascii() else (-1, name)


def _total(tasks: Tasks, column: str) -> int:
    return int(tasks.column(column).sum())


def _size(tasks: Tasks, column: str) -> str:
    return _sized(_total(tasks, column))


def _sized(count: int) -> str:
    return size(count) if count else NOTHING
