"""A simulated run as an application, so that tables and explanations of it are those of an event log.

Times are those of the run; what tasks read, wrote and computed is what the run says of them or, where that is of an
event log, what the event log says of the same partition.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.job_runs import JobRun, job_runs
from gnomon.insight.spark.declared import metrics_of
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.application import Application, Executor, Job, StageAttempt
from gnomon.systems.spark.tasks import COLUMNS, FIRST_METRIC, Failure, Tasks, table

_NS = 1_000_000
_FROM = re.compile(r"from node (\d{1,9})\b")
_ENDS = (Kind.END, Kind.FAIL, Kind.KILL, Kind.CANCEL)


@dataclass
class _Attempt:
    planned: int = 0
    submitted_ms: int | None = None
    completed_ms: int | None = None
    rows: array[int] = field(default_factory=lambda: array("q"))


class _Rerun:
    """A run as it is read from its log, row by row."""

    def __init__(self, application: Application, scenario: Scenario) -> None:
        self._application, self.nodes = application, [node.name for node in scenario.cluster.nodes]
        self.attempts: dict[tuple[int, int], _Attempt] = {}
        self.gone: dict[int, int] = {}
        self.failures: dict[Failure, int] = {}
        self._open: dict[int, tuple[Mapping[str, int | str], int, int]] = {}
        self._metrics = _metrics(application)
        self._tid = 0

    def take(self, log: Log, row: int, now: int) -> None:
        """Take in one row."""
        kind, subject, node = int(log.kind[row]), int(log.subject[row]), int(log.node[row])
        facts = log.details.get(row, {})
        if kind == Kind.EVENT:
            self._stage(facts, now)
        elif kind == Kind.NOTICE and node >= 0:
            self.gone.setdefault(node, now)
        elif kind == Kind.START and "stage" in facts:
            self._open[subject] = facts, now, node
        elif kind in _ENDS and subject in self._open:
            begun, launch, where = self._open.pop(subject)
            failure = -1
            if kind != Kind.END:
                why = _failure(Kind(kind), Reason(int(log.reason[row])), facts, where, self.nodes)
                failure = self.failures.setdefault(why, len(self.failures))
            index, key = int(begun["index"]), (int(begun["stage"]), int(begun["stage_attempt"]))
            one = self.attempts.setdefault(key, _Attempt())
            one.rows.extend([self._tid, index, int(begun["try"]), index, launch, now, 0, where, where, -1, 0, failure])
            known = (
                metrics_of(begun, facts) if "records_read" in facts else self._metrics.get((key[0], index), _NOTHING)
            )
            one.rows.extend(known if failure < 0 else _NOTHING)
            self._tid += 1

    def _stage(self, facts: Mapping[str, int | str], now: int) -> None:
        """What the driver says of stages."""
        if facts.get("reason") not in ("StageSubmitted", "StageCompleted"):
            return
        one = self.attempts.setdefault((int(facts["stage"]), int(facts["attempt"])), _Attempt())
        if facts["reason"] == "StageSubmitted":
            one.submitted_ms, one.planned = now, int(facts["tasks"])
        else:
            one.completed_ms = now


def application_of_run(application: Application, scenario: Scenario, log: Log) -> Application:
    """The application as the run had it: jobs, stage attempts, tasks and executors with the times of the simulation."""
    start, found = application.started_ms, _Rerun(application, scenario)
    for row, ns in enumerate(log.t_ns.tolist()):
        found.take(log, row, start + ns // _NS)
    names, failures = tuple(found.nodes), tuple(found.failures)
    made = tuple(
        _made(application, key, one, names, failures, again=one.completed_ms is None and _next(key) in found.attempts)
        for key, one in sorted(found.attempts.items())
    )
    executors = {}
    for place, node in enumerate(scenario.cluster.nodes):
        removed, cores = found.gone.get(place), node.capacity.cpu_milli // 1000
        lost = "" if removed is None else "lost node: no heartbeat any more"
        executors[node.name] = Executor(node.name, node.name, cores, start, removed, lost)
    jobs = {number: _job(application.jobs[number], one, start) for number, one in job_runs(log).items()}
    ended = max([job.ended_ms or start for job in jobs.values()], default=start)
    return replace(application, ended_ms=ended, executors=executors, jobs=jobs, attempts=made)


def _job(known: Job, ran: JobRun, start: int) -> Job:
    """A job with the times of the run."""
    result = {"SUCCEEDED": "JobSucceeded", "FAILED": "JobFailed"}.get(ran.status)
    ended = None if ran.end_ns < 0 else start + ran.end_ns // _NS
    return replace(known, submitted_ms=start + ran.start_ns // _NS, ended_ms=ended, result=result, error=ran.error)


def _next(key: tuple[int, int]) -> tuple[int, int]:
    return key[0], key[1] + 1


def _failure(kind: Kind, reason: Reason, facts: Mapping[str, int | str], where: int, nodes: Sequence[str]) -> Failure:
    """Why an attempt failed, in Spark's words."""
    message = str(facts.get("message", ""))
    if message.startswith("FetchFailed"):
        lost = _FROM.search(message)
        known = lost is not None and int(lost[1]) < len(nodes)
        return Failure("FetchFailed", text=message, executor=nodes[int(lost[1])] if lost and known else "")
    if kind != Kind.FAIL:
        return Failure("TaskKilled", text=reason.name.lower().replace("_", " "), by_app=False)
    if reason in (Reason.NODE, Reason.LOST):
        return Failure("ExecutorLostFailure", text="lost node", executor=nodes[where], by_app=False)
    return Failure("ExceptionFailure", text=message or reason.name.lower().replace("_", " "))


_NOTHING = [0] * (len(COLUMNS) - FIRST_METRIC)


def _metrics(application: Application) -> dict[tuple[int, int], list[int]]:
    """What the event log says of each partition that was computed."""
    found = {}
    for attempt in application.attempts:
        rows = attempt.tasks.succeeded.rows
        for row in rows.tolist():
            found[attempt.stage.id, row[3] if attempt.attempt else row[1]] = row[FIRST_METRIC:]
    return found


def _made(
    application: Application,
    key: tuple[int, int],
    one: _Attempt,
    names: tuple[str, ...],
    failures: tuple[Failure, ...],
    *,
    again: bool,
) -> StageAttempt:
    """An attempt. ``again``: another one had to follow it."""
    recorded = next(iter(application.attempts_of(key[0])), None)
    tasks = Tasks(table(one.rows), names, failures)
    if one.completed_ms is None and again:
        one.completed_ms = int(tasks.column("finish_ms").max()) if len(tasks) else one.submitted_ms
    return StageAttempt(
        stage=application.stages[key[0]],
        attempt=key[1],
        planned=one.planned,
        submitted_ms=one.submitted_ms,
        completed_ms=one.completed_ms,
        kind=recorded.kind if recorded else "",
        pool=recorded.pool if recorded else "default",
        failure="FetchFailed: shuffle output of a lost executor" if again else "",
        tasks=tasks,
        running=Tasks(table(array("q")), names, failures),
    )
