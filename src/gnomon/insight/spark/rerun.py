"""A simulated run as an application, so that tables and explanations of it are those of an event log.

Times are those of the run; what tasks read, wrote and computed is what the event log says of the same partition.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gnomon.engine.log import Kind, Log
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.application import Application, Executor, Job, StageAttempt
from gnomon.systems.spark.tasks import COLUMNS, FIRST_METRIC, Failure, Tasks, table

_NS = 1_000_000
_ENDS = (Kind.END, Kind.FAIL, Kind.KILL, Kind.CANCEL)


@dataclass
class _Attempt:
    planned: int = 0
    submitted_ms: int | None = None
    completed_ms: int | None = None
    rows: array[int] = field(default_factory=lambda: array("q"))


def application_of_run(application: Application, scenario: Scenario, log: Log) -> Application:
    """The application as the run had it: jobs, stage attempts, tasks and executors with the times of the simulation."""
    start = application.started_ms
    times = [start + int(ns) // _NS for ns in log.t_ns.tolist()]
    names = tuple(node.name for node in scenario.cluster.nodes)
    attempts: dict[tuple[int, int], _Attempt] = {}
    jobs: dict[int, Job] = {}
    open_: dict[int, tuple[Mapping[str, int | str], int, int]] = {}
    metrics = _metrics(application)
    tid = 0
    for row, (kind, subject, node) in enumerate(
        zip(log.kind.tolist(), log.subject.tolist(), log.node.tolist(), strict=True)
    ):
        facts, now = log.details.get(row, {}), times[row]
        if kind == Kind.EVENT:
            _event(application, facts, now, attempts, jobs)
        elif kind == Kind.START and "stage" in facts:
            open_[subject] = facts, now, node
        elif kind in _ENDS and subject in open_:
            begun, launch, where = open_.pop(subject)
            key = int(begun["stage"]), int(begun["stage_attempt"])
            one = attempts.setdefault(key, _Attempt())
            one.rows.extend(_row(begun, tid, (launch, now), where, failed=kind != Kind.END))
            one.rows.extend(metrics.get((key[0], int(begun["index"])), _NOTHING))
            tid += 1
    failures = (Failure("ExceptionFailure"),)
    made = tuple(_made(application, key, one, names, failures) for key, one in sorted(attempts.items()))
    ended = max([job.ended_ms or start for job in jobs.values()], default=start)
    nodes = {
        node.name: Executor(node.name, node.name, node.capacity.cpu_milli // 1000, start)
        for node in scenario.cluster.nodes
    }
    return replace(application, ended_ms=ended, executors=nodes, jobs=jobs, attempts=made)


_NOTHING = [0] * (len(COLUMNS) - FIRST_METRIC)


def _metrics(application: Application) -> dict[tuple[int, int], list[int]]:
    """What the event log says of each partition that was computed."""
    found = {}
    for attempt in application.attempts:
        rows = attempt.tasks.succeeded.rows
        for row in rows.tolist():
            found[attempt.stage.id, row[3] if attempt.attempt else row[1]] = row[FIRST_METRIC:]
    return found


def _row(begun: Mapping[str, int | str], tid: int, span: tuple[int, int], node: int, *, failed: bool) -> list[int]:
    index = int(begun["index"])
    launch, finish = span
    return [tid, index, int(begun["try"]), index, launch, finish, 0, node, node, -1, 0, 0 if failed else -1]


def _made(
    application: Application,
    key: tuple[int, int],
    one: _Attempt,
    names: tuple[str, ...],
    failures: tuple[Failure, ...],
) -> StageAttempt:
    recorded = next(iter(application.attempts_of(key[0])), None)
    return StageAttempt(
        stage=application.stages[key[0]],
        attempt=key[1],
        planned=one.planned,
        submitted_ms=one.submitted_ms,
        completed_ms=one.completed_ms,
        kind=recorded.kind if recorded else "",
        pool=recorded.pool if recorded else "default",
        tasks=Tasks(table(one.rows), names, failures),
        running=Tasks(table(array("q")), names, failures),
    )


def _event(
    application: Application,
    facts: Mapping[str, int | str],
    now: int,
    attempts: dict[tuple[int, int], _Attempt],
    jobs: dict[int, Job],
) -> None:
    """What the driver says."""
    reason = facts.get("reason")
    if reason in ("StageSubmitted", "StageCompleted"):
        one = attempts.setdefault((int(facts["stage"]), int(facts["attempt"])), _Attempt())
        if reason == "StageSubmitted":
            one.submitted_ms, one.planned = now, int(facts["tasks"])
        else:
            one.completed_ms = now
    elif reason == "JobSubmitted":
        number = int(facts["job"])
        jobs[number] = replace(application.jobs[number], submitted_ms=now, ended_ms=None, result=None, error="")
    elif reason in ("JobEnded", "JobFailed"):
        number = int(facts["job"])
        result = "JobSucceeded" if reason == "JobEnded" else "JobFailed"
        jobs[number] = replace(jobs[number], ended_ms=now, result=result, error=str(facts.get("message", "")))
