"""Stages, jobs and failures from the objects of an event log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from gnomon.systems.spark.application import Job, Rdd, Stage
from gnomon.systems.spark.read_fields import inner, integer, objects, text, texts, time_ms, true, whole, wholes
from gnomon.systems.spark.tasks import TEXT_MAX, Failure

Object = Mapping[str, Any]

INDETERMINATE: Final = "INDETERMINATE"


def stage_of(info: Object) -> Stage:
    """A stage from its ``Stage Info``."""
    return Stage(
        id=whole(info, "Stage ID"),
        name=text(info, "Stage Name", ""),
        parents=tuple(sorted(wholes(info, "Parent IDs"))),
        tasks=integer(info, "Number of Tasks", 0),
        rdds=tuple(_rdd(one) for one in objects(info, "RDD Info")),
        profile=whole(info, "Resource Profile Id", 0),
    )


def _rdd(info: Object) -> Rdd:
    level = inner(info, "Storage Level")
    return Rdd(
        id=whole(info, "RDD ID"),
        name=text(info, "Name", ""),
        operation=_operation(text(info, "Scope", "")),
        parents=wholes(info, "Parent IDs"),
        partitions=integer(info, "Number of Partitions", 0),
        cached=true(level, "Use Memory") or true(level, "Use Disk"),
        cached_partitions=whole(info, "Number of Cached Partitions", 0),
        memory_bytes=whole(info, "Memory Size", 0),
        disk_bytes=whole(info, "Disk Size", 0),
        barrier=true(info, "Barrier"),
        indeterminate=text(info, "DeterministicLevel", "") == INDETERMINATE,
    )


def _operation(scope: str) -> str:
    """The name of a scope, which is written as JSON in a text."""
    try:
        found = orjson.loads(scope) if scope else {}
    except orjson.JSONDecodeError:
        return ""
    name = found.get("name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def job_of(event: Object) -> Job:
    """A job as it is submitted. Its stages are in ``Stage Infos`` too, and in the oldest logs only in ``Stage IDs``."""
    said = texts(event, "Properties")
    sql = said.get("spark.sql.execution.id", "")
    return Job(
        id=whole(event, "Job ID"),
        submitted_ms=time_ms(event, "Submission Time"),
        stages=tuple(sorted(wholes(event, "Stage IDs"))),
        pool=said.get("spark.scheduler.pool", "default"),
        group=said.get("spark.jobGroup.id", ""),
        description=said.get("spark.job.description", ""),
        sql=int(sql) if sql.isdecimal() and sql.isascii() and len(sql) < 19 else None,
    )


def failure_of(reason: Object) -> Failure | None:
    """Why a task ended, from its ``Task End Reason``; None for success."""
    word = text(reason, "Reason")
    if word == "Success":
        return None
    if word == "FetchFailed":
        lost = inner(reason, "Block Manager Address")
        return Failure(
            word,
            text=_cut(text(reason, "Message", "")),
            executor=text(lost, "Executor ID", ""),
            shuffle=whole(reason, "Shuffle ID", -1),
            map_index=whole(reason, "Map Index", whole(reason, "Map ID", -1)),
            reduce=whole(reason, "Reduce ID", -1),
        )
    if word == "ExecutorLostFailure":
        by_app = true(reason, "Exit Caused By App") if "Exit Caused By App" in reason else True
        executor = text(reason, "Executor ID", "")
        return Failure(word, text=_cut(text(reason, "Loss Reason", "")), executor=executor, by_app=by_app)
    if word == "ExceptionFailure":
        description = text(reason, "Description", "")
        return Failure(word, class_name=text(reason, "Class Name", ""), text=_cut(description))
    return Failure(word, text=_cut(text(reason, "Kill Reason", "")), by_app=word not in _NOT_COUNTED)


_NOT_COUNTED: Final = ("TaskKilled", "Resubmitted", "TaskCommitDenied")
"""These do not count for ``spark.task.maxFailures`` (``TaskEndReason.countTowardsTaskFailures``)."""


def error_of(event: Object) -> str:
    """What a job failed with."""
    raised = inner(inner(event, "Job Result"), "Exception")
    return _cut(text(raised, "Message", ""))


def _cut(message: str) -> str:
    return message if len(message) <= TEXT_MAX else message[:TEXT_MAX]
