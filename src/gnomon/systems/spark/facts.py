"""Facts of an application that its event log settles: times, counts, sums, quantiles and skew, stage by stage.

The form and the definitions are those of the recorded cases: times in ms since the application started, quantiles by
nearest rank over the tasks that ended in success, sums over all that ended, ratios to three digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from gnomon.systems.spark.application import Application, StageAttempt
from gnomon.systems.spark.tasks import IntArray, Tasks

QUANTILES: Final = (("p25", 25), ("p50", 50), ("p75", 75), ("p95", 95))
"""Which are told besides the least and the largest, in hundredths."""

_TEXT_MAX: Final = 160


def nearest_rank(ordered: Sequence[int], hundredths: int) -> int:
    """The quantile of values in order, as the smallest that is not below so many of them.

    >>> [nearest_rank([1, 2, 3, 4], q) for q in (0, 25, 26, 50, 95)]
    [1, 1, 2, 2, 4]
    """
    return ordered[max(0, -(-hundredths * len(ordered) // 100) - 1)]


def quantiles(values: IntArray) -> dict[str, int] | None:
    """Least, quartiles, 95 % and largest; None of nothing."""
    ordered = sorted(values.tolist())
    if not ordered:
        return None
    named = {name: nearest_rank(ordered, q) for name, q in QUANTILES}
    return {"min": ordered[0], **named, "max": ordered[-1]}


def skew(values: IntArray) -> float | None:
    """The largest of them by the median, to three digits; None where there is nothing, or the median is 0."""
    found = quantiles(values)
    return round(found["max"] / found["p50"], 3) if found and found["p50"] else None


def peak_running(tasks: Sequence[Tasks]) -> int:
    """How many ran at a time at most. Who ends at a moment makes room for who starts at it."""
    changes: list[tuple[int, int]] = []
    for one in tasks:
        changes += [(time, 1) for time in one.column("launch_ms").tolist()]
        changes += [(time, -1) for time in one.column("finish_ms").tolist()]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def facts(application: Application) -> dict[str, Any]:
    """All the facts of an application, in the form of the recorded cases."""
    start = application.started_ms
    ended = [one.tasks for one in application.attempts if len(one.tasks)]
    first = [int(tasks.column("launch_ms").min()) for tasks in ended]
    last = [int(tasks.column("finish_ms").max()) for tasks in ended]
    return {
        "app": application.name,
        "spark_version": application.version or None,
        "makespan_ms": _since(start, application.ended_ms),
        "first_launch_ms": _since(start, min(first, default=None)),
        "last_finish_ms": _since(start, max(last, default=None)),
        "peak_running_tasks": peak_running(ended),
        "jobs": [
            {
                "job": job.id,
                "stages": list(job.stages),
                "submitted_ms": job.submitted_ms - start,
                "ended_ms": _since(start, job.ended_ms),
                "result": job.result,
            }
            for job in application.jobs.values()
        ],
        "skipped_stages": list(application.skipped),
        "stages": [_of_attempt(one, start) for one in application.attempts],
        "executors": {
            name: {
                "cores": one.cores if one.added_ms is not None else None,
                "added_ms": _since(start, one.added_ms),
                "removed_ms": _since(start, one.removed_ms),
                "reason": _first_line(one.reason),
            }
            for name, one in sorted(application.executors.items())
        },
        "block_updates": application.block_updates,
    }


def failures_by_kind(tasks: Tasks) -> dict[str, int]:
    """How many attempts of tasks failed, by reason and class of the exception, in the order in which they came."""
    return dict(Counter(why.kind for _, why in tasks.reasons()))


def _of_attempt(one: StageAttempt, start: int) -> dict[str, Any]:
    tasks, good = one.tasks, one.tasks.succeeded

    def total(column: str) -> int:
        return int(tasks.column(column).sum())

    executors = Counter(tasks.names[place] for place in tasks.column("executor").tolist())
    return {
        "stage": one.stage.id,
        "attempt": one.attempt,
        "name": one.stage.operation,
        "parents": list(one.stage.parents),
        "num_tasks": one.planned,
        "task_ends": len(tasks),
        "succeeded": len(good),
        "failed": failures_by_kind(tasks),
        "retried_tasks": int((tasks.column("attempt") > 0).sum()),
        "speculative_tasks": total("speculative"),
        "submitted_ms": _since(start, one.submitted_ms),
        "completed_ms": _since(start, one.completed_ms),
        "failure": _first_line(one.failure),
        "duration_ms": quantiles(good.duration_ms),
        "skew_max_over_median": skew(good.duration_ms),
        "executor_run_ms": total("run_ms"),
        "gc_ms": total("gc_ms"),
        "shuffle_read_bytes": int(tasks.shuffle_read_bytes.sum()),
        "shuffle_remote_read_bytes": total("remote_read_bytes"),
        "shuffle_read_records": total("read_records"),
        "shuffle_write_bytes": total("write_bytes"),
        "shuffle_write_records": total("write_records"),
        "memory_spilled_bytes": total("memory_spilled_bytes"),
        "disk_spilled_bytes": total("disk_spilled_bytes"),
        "shuffle_read_skew": skew(good.shuffle_read_bytes),
        "tasks_per_executor": dict(executors),
    }


def _since(start: int, moment: int | None) -> int | None:
    return None if moment is None else moment - start


def _first_line(text: str) -> str | None:
    return text.partition("\n")[0][:_TEXT_MAX] or None
