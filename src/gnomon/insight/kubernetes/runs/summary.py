"""The summary of a run in the words of Kubernetes: what is ready, Jobs, what happened to pods, and which wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gnomon.engine.log import Log, State
from gnomon.insight.explain.phrases import seconds, span
from gnomon.insight.kubernetes.runs.course import Course, RolledOut
from gnomon.insight.kubernetes.runs.view import View, end_word
from gnomon.insight.listing import Listing, Summary
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

ROWS_MAX: Final = 40
"""How many rows of a table are shown; the data has all of them."""

NOTHING: Final = "-"


def summarise(scenario: Scenario, log: Log) -> Summary:
    """What a run came to. Times in the data are seconds, null where something did not happen.

    ``workloads``: ``desired`` and ``ready`` at the end; ``whole_s``, when all were ready first; from then on
    ``least_ready`` (first at ``least_s``) and ``short_s``, for how long fewer were ready than wanted; ``restarts``, and
    ``rollouts``, a version each: ``from_s``, ``done_s``, ``timed_out_s``.
    """
    view = View(scenario, log)
    data: dict[str, Any] = {
        "workloads": [_course_data(view, one) for one in view.courses],
        "jobs": [one.as_dict() for one in view.jobs],
        "happened": view.happened,
        "waiting": view.waiting,
        "pods": view.pods,
    }
    listings = (
        _workloads(view.courses, data["workloads"]),
        _jobs(data["jobs"]),
        _waiting(view.waiting),
        _happened(view.happened),
        _pods(view.pods),
    )
    words = {task: one.reason for task, one in view.held.items()}
    for task in np.flatnonzero(np.isin(view.what.state, (State.KILLED, State.FAILED))).tolist():
        words[task] = end_word(view.what, task)
    return Summary(data, tuple(one for one in listings if one.rows), words)


def _course_data(view: View, one: Course) -> dict[str, Any]:
    return {
        "workload": one.workload.label,
        "desired": one.desired,
        "ready": one.ready,
        "whole_s": seconds(one.whole_ns),
        "least_ready": one.least if one.whole_ns < NEVER else None,
        "least_s": seconds(one.least_ns),
        "short_s": seconds(one.short_ns),
        "restarts": sum(view.departures.restarts.get(task, 0) for task in one.workload.tasks),
        "rollouts": [
            {
                "from_s": seconds(rollout.at_ns),
                "done_s": seconds(rollout.done_ns),
                "timed_out_s": seconds(rollout.timed_out_ns),
            }
            for rollout in one.rollouts
        ],
    }


# ------------------------------------------------------------------ as tables


def _workloads(courses: Sequence[Course], data: Sequence[Mapping[str, Any]]) -> Listing:
    rows = [
        [
            found["workload"],
            f"{one.ready}/{one.desired}",
            str(one.least) if one.whole_ns < NEVER else NOTHING,
            span(one.least_ns) if one.whole_ns < NEVER and one.short_ns else NOTHING,
            span(one.short_ns) if one.short_ns else NOTHING,
            f"{found['restarts']:,}",
            _rolled_out(one.rollouts),
        ]
        for one, found in zip(courses, data, strict=True)
    ]
    headers = ("WORKLOAD", "READY", "LEAST", "AT", "SHORT-FOR", "RESTARTS", "ROLLED-OUT")
    return _listing(headers, rows, right=(2, 5))


def _rolled_out(rollouts: Sequence[RolledOut]) -> str:
    """When the last version was out."""
    last = rollouts[-1]
    if last.by_hand:
        return "by hand (OnDelete)"
    since = f" (from {span(last.at_ns)})" if last.at_ns else ""
    if last.done_ns < NEVER:
        return f"{span(last.done_ns)}{since}"
    timed_out = f", ProgressDeadlineExceeded at {span(last.timed_out_ns)}" if last.timed_out_ns < NEVER else ""
    return f"no{since}{timed_out}"


def _jobs(data: Sequence[Mapping[str, Any]]) -> Listing:
    rows = [
        [
            one["job"],
            one["state"],
            f"{one['succeeded']:,}",
            f"{one['failed']:,}",
            _time(one, "started_s"),
            _time(one, "ended_s"),
        ]
        for one in data
    ]
    return _listing(("JOB", "STATE", "SUCCEEDED", "FAILED", "STARTED", "ENDED"), rows, right=(2, 3))


def _waiting(data: Sequence[Mapping[str, Any]]) -> Listing:
    rows = [[f"{one['pods']:,}", one["first"], one["status"], one["reason"], one["message"] or NOTHING] for one in data]
    headers = ("PODS", "FIRST", "STATUS", "REASON", "MESSAGE")
    return _listing(headers, rows, right=(0,), title="PODS THAT ARE NOT READY AT THE END")


def _happened(data: Sequence[Mapping[str, Any]]) -> Listing:
    rows = [
        [one["reason"], one["then"], f"{one['times']:,}", f"{one['pods']:,}", one["first"], _time(one, "first_s")]
        for one in data
    ]
    headers = ("REASON", "POD", "TIMES", "PODS", "FIRST", "AT")
    return _listing(headers, rows, right=(2, 3), title="WHAT HAPPENED TO PODS")


def _pods(data: Sequence[Mapping[str, Any]]) -> Listing:
    rows = [
        [one["pod"], "yes" if one["ready"] else "no", one["status"], str(one["restarts"]), one["node"] or NOTHING]
        for one in data
    ]
    headers = ("POD", "READY", "STATUS", "RESTARTS", "NODE")
    return _listing(headers, rows, right=(3,), title="PODS AT THE END", wide=True)


def _listing(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    title: str = "",
    wide: bool = False,
) -> Listing:
    """A table of not too many rows."""
    if len(rows) > ROWS_MAX:
        more = f"... and {len(rows) - ROWS_MAX + 1:,} more (-o json)"
        rows = [*rows[: ROWS_MAX - 1], [more, *[""] * (len(headers) - 1)]]
    return Listing(headers, rows, right, title, wide)


def _time(one: Mapping[str, Any], name: str) -> str:
    value = one[name]
    return NOTHING if value is None else span(round(value * 10**9))
