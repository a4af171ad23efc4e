"""Event logs of Spark, 2.4 to 4.x, to an :class:`~gnomon.systems.spark.application.Application`.

An event log is JSON, one event a line (Spark's ``JsonProtocol``). It is read event by event: of a task only a row of
integers is kept, so that a log of a GB needs some tens of MB. Events and fields that are not known are passed over, and
the former are noted; what Spark writes and is needed has to be as Spark writes it, and is an InputError with file, line
and field where it is not.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gnomon.formats.files import Path
from gnomon.model.errors import InputError
from gnomon.systems.spark.application import Application, Executor, Job, SqlExecution, Stage, StageAttempt
from gnomon.systems.spark.read_fields import inner, integer, moment, objects, text, texts, time_ms, true, whole
from gnomon.systems.spark.read_lines import Event, Events
from gnomon.systems.spark.read_stages import error_of, failure_of, job_of, stage_of
from gnomon.systems.spark.tasks import COLUMNS, FIRST_METRIC, LOCALITIES, METRICS, Failure, Tasks, table

PLAN_MAX: Final = 2**16
"""How much of the plan of a query is kept."""

UNKNOWN_MAX: Final = 50
"""How many kinds of events that are not known are listed by name."""

_NAME_MAX: Final = 100

_LOCALITY: Final = {name: place for place, name in enumerate(LOCALITIES)}
_NO_METRICS: Final = [0] * (len(COLUMNS) - FIRST_METRIC)

_PASSED_OVER: Final = frozenset(
    """
    SparkListenerTaskGettingResult SparkListenerBlockManagerRemoved SparkListenerExecutorMetricsUpdate
    SparkListenerStageExecutorMetrics SparkListenerResourceProfileAdded SparkListenerSpeculativeTaskSubmitted
    SparkListenerMiscellaneousProcessAdded SparkListenerUnschedulableTaskSetAdded
    SparkListenerUnschedulableTaskSetRemoved SparkListenerExecutorUnblacklisted SparkListenerExecutorUnexcluded
    SparkListenerExecutorBlacklistedForStage SparkListenerExecutorExcludedForStage
    SparkListenerNodeBlacklistedForStage SparkListenerNodeExcludedForStage SparkListenerNodeBlacklisted
    SparkListenerNodeUnblacklisted SparkListenerNodeExcluded SparkListenerNodeUnexcluded
    SparkListenerDriverAccumUpdates SparkListenerSQLAdaptiveSQLMetricUpdates
    """.split()
)
"""Events that are known and add nothing."""


TELL_EVERY: Final = 5_000
"""After so many events it is told how far a log is read."""


def read_event_log(path: Path, tell: Callable[[int, int], object] | None = None) -> Application:
    """An application from its event log: a file, or the folder of a rolling log, compressed or not.

    Raises InputError with file, line and field for what is damaged and for what is no event log. A last line that is
    cut off, as in the log of an application that runs or was killed, is left out and noted.
    ``tell(done, total)`` is called now and then.
    """
    events = Events(path)
    log = _Log()
    try:
        for count, event in enumerate(events):
            log.take(event)
            if tell is not None and count % TELL_EVERY == 0:
                tell(min(events.passed, events.size), events.size)
    except InputError as error:
        raise error.at(file=events.file, line=events.line or None) from None
    return log.application(str(path), events.cut_off)


def _shown(name: str) -> str:
    return name if len(name) <= _NAME_MAX else f"{name[:_NAME_MAX]}…"


@dataclass
class _Attempt:
    """A stage attempt in the making."""

    stage: Stage
    planned: int | None = None
    submitted_ms: int | None = None
    completed_ms: int | None = None
    failure: str = ""
    kind: str = ""
    pool: str = "default"
    rows: array[int] = field(default_factory=lambda: array("q"))


class _Log:
    """What was read so far."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._version = ""
        self._properties: dict[str, str] = {}
        self._executors: dict[str, Executor] = {}
        self._jobs: dict[int, Job] = {}
        self._stages: dict[int, Stage] = {}
        self._attempts: dict[tuple[int, int], _Attempt] = {}
        self._running: dict[int, tuple[tuple[int, int], list[int]]] = {}
        self._sql: dict[int, SqlExecution] = {}
        self._names: dict[str, int] = {}
        self._failures: dict[Failure, int] = {}
        self._unpersisted: list[int] = []
        self._blocks = 0
        self._unknown: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        """Take in one event."""
        name = event["Event"].rpartition(".")[2]
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, event)
        elif name not in _PASSED_OVER:
            self._unknown[_shown(name)] += 1

    def application(self, source: str, cut_off: str) -> Application:
        """The whole. Raises InputError where the log does not begin with an application."""
        if "started_ms" not in self._known:
            allowed = "a log from its beginning, with SparkListenerApplicationStart"
            raise InputError("no application starts in this log", file=source, allowed=allowed)
        notes = [f"the log stops early: {cut_off}"] if cut_off else []
        if self._known.get("ended_ms") is None:
            notes.append("the application had not ended when the log was read, or ended without saying so")
        unknown = sorted(self._unknown.items())
        for name, count in unknown[:UNKNOWN_MAX]:
            notes.append(f"not modelled: {count:,} event{'s' * (count > 1)} {name}")
        if unknown[UNKNOWN_MAX:]:
            more = sum(count for _, count in unknown[UNKNOWN_MAX:])
            notes.append(f"not modelled: {more:,} events of {len(unknown) - UNKNOWN_MAX:,} other kinds")
        names, failures = tuple(self._names), tuple(self._failures)
        for (number, _), one in self._attempts.items():
            self._stages.setdefault(number, one.stage)  # a log from its middle tells of tasks only
        running: dict[tuple[int, int], array[int]] = {}
        for key, row in self._running.values():
            running.setdefault(key, array("q")).extend(row)
        attempts = tuple(
            StageAttempt(
                stage=self._stages.get(key[0], one.stage),
                attempt=key[1],
                planned=one.planned,
                submitted_ms=one.submitted_ms,
                completed_ms=one.completed_ms,
                failure=one.failure,
                kind=one.kind,
                pool=one.pool,
                tasks=Tasks(table(one.rows), names, failures),
                running=Tasks(table(running.get(key, array("q"))), names, failures),
            )
            for key, one in sorted(self._attempts.items())
        )
        return Application(
            **{"name": "", "id": "", "ended_ms": None, **self._known},
            version=self._version,
            properties=self._properties,
            executors=self._executors,
            jobs=dict(sorted(self._jobs.items())),
            stages=dict(sorted(self._stages.items())),
            attempts=attempts,
            sql=self._sql,
            unpersisted=tuple(self._unpersisted),
            block_updates=self._blocks,
            notes=tuple(notes),
            source=source,
        )

    # ------------------------------------------------------------------ the application and its executors

    def _log_start(self, event: Event) -> None:
        self._version = text(event, "Spark Version", "")

    def _application_start(self, event: Event) -> None:
        if "started_ms" in self._known:
            found, allowed = text(event, "App ID", ""), "the log of one application"
            raise InputError("a second application starts here", field="App ID", found=found, allowed=allowed)
        self._known.update(
            name=text(event, "App Name", ""),
            id=text(event, "App ID", ""),
            user=text(event, "User", ""),
            started_ms=time_ms(event, "Timestamp"),
        )

    def _application_end(self, event: Event) -> None:
        code = None if event.get("ExitCode") is None else whole(event, "ExitCode")
        self._known.update(ended_ms=time_ms(event, "Timestamp"), exit_code=code)

    def _environment(self, event: Event) -> None:
        self._properties.update(texts(event, "Spark Properties"))

    def _executor_added(self, event: Event) -> None:
        info = inner(event, "Executor Info", required=True)
        self._executor(
            event,
            host=text(info, "Host", ""),
            cores=integer(info, "Total Cores", 0),
            added_ms=time_ms(event, "Timestamp"),
            profile=whole(info, "Resource Profile Id", 0),
        )

    def _executor_removed(self, event: Event) -> None:
        self._executor(event, removed_ms=time_ms(event, "Timestamp"), reason=text(event, "Removed Reason", ""))

    def _executor_excluded(self, event: Event) -> None:
        key = "Executor ID" if "Executor ID" in event else "executorId"
        at = "Timestamp" if event.get("time") is None else "time"
        self._executor({"Executor ID": text(event, key)}, excluded_ms=time_ms(event, at, 0))

    def _block_manager_added(self, event: Event) -> None:
        of = inner(event, "Block Manager ID", required=True)
        if text(of, "Executor ID") in self._executors or of["Executor ID"] != "driver":
            self._executor(of, memory_bytes=whole(event, "Maximum Memory", 0))

    def _executor(self, event: Mapping[str, Any], **changed: Any) -> None:
        name = text(event, "Executor ID")
        self._executors[name] = replace(self._executors.get(name, Executor(name)), **changed)

    def _unpersist(self, event: Event) -> None:
        self._unpersisted.append(whole(event, "RDD ID"))

    def _block_updated(self, event: Event) -> None:
        self._blocks += 1

    # ------------------------------------------------------------------ jobs and stages

    def _job_start(self, event: Event) -> None:
        job = job_of(event)
        infos = objects(event, "Stage Infos")
        for info in infos:
            self._know(stage_of(info))
        if not job.stages:
            job = replace(job, stages=tuple(sorted(whole(info, "Stage ID") for info in infos)))
        self._jobs[job.id] = job

    def _job_end(self, event: Event) -> None:
        number = whole(event, "Job ID")
        if number not in self._jobs:
            raise InputError("a job ends that did not start", field="Job ID", found=number)
        self._jobs[number] = replace(
            self._jobs[number],
            ended_ms=time_ms(event, "Completion Time"),
            result=text(inner(event, "Job Result"), "Result", ""),
            error=error_of(event),
        )

    def _know(self, stage: Stage) -> Stage:
        """What a stage is; an attempt for what was missing says fewer tasks than there are."""
        before = self._stages.get(stage.id)
        if before is not None and before.tasks > stage.tasks:
            stage = replace(stage, tasks=before.tasks)
        self._stages[stage.id] = stage
        return stage

    def _stage(self, event: Event) -> None:
        info = inner(event, "Stage Info", required=True)
        stage = self._know(stage_of(info))
        one = self._attempt(stage.id, whole(info, "Stage Attempt ID", 0))
        one.stage, one.planned = stage, integer(info, "Number of Tasks", 0)
        submitted_ms = moment(info, "Submission Time")
        one.submitted_ms = one.submitted_ms if submitted_ms is None else submitted_ms
        one.completed_ms = moment(info, "Completion Time")
        one.failure = text(info, "Failure Reason", "")
        if "Properties" in event:
            one.pool = texts(event, "Properties").get("spark.scheduler.pool", "default")

    def _attempt(self, stage: int, attempt: int) -> _Attempt:
        found = self._attempts.get((stage, attempt))
        if found is None:
            found = self._attempts[stage, attempt] = _Attempt(self._stages.get(stage) or Stage(stage, "", (), 0))
        return found

    # ------------------------------------------------------------------ tasks

    def _task_start(self, event: Event) -> None:
        info = inner(event, "Task Info", required=True)
        key = whole(event, "Stage ID"), whole(event, "Stage Attempt ID", 0)
        self._attempt(*key)
        self._running[whole(info, "Task ID")] = key, [*self._row(info, -1), *_NO_METRICS]

    def _task_end(self, event: Event) -> None:
        info = inner(event, "Task Info", required=True)
        one = self._attempt(whole(event, "Stage ID"), whole(event, "Stage Attempt ID", 0))
        one.kind = text(event, "Task Type", one.kind)
        reason = failure_of(inner(event, "Task End Reason", required=True))
        failure = -1 if reason is None else self._failures.setdefault(reason, len(self._failures))
        self._running.pop(whole(info, "Task ID"), None)
        row = self._row(info, failure)
        row += _metrics(inner(event, "Task Metrics"))
        row.append(whole(inner(event, "Task Executor Metrics"), "JVMHeapMemory", 0))
        one.rows.extend(row)

    def _row(self, info: Mapping[str, Any], failure: int) -> list[int]:
        index = integer(info, "Index")
        names = self._names
        return [
            whole(info, "Task ID"),
            index,
            integer(info, "Attempt", 0),
            integer(info, "Partition ID", index),
            time_ms(info, "Launch Time"),
            time_ms(info, "Finish Time", 0),
            time_ms(info, "Getting Result Time", 0),
            names.setdefault(text(info, "Executor ID"), len(names)),
            names.setdefault(text(info, "Host", ""), len(names)),
            _LOCALITY.get(text(info, "Locality", ""), -1),
            int(true(info, "Speculative")),
            failure,
        ]

    # ------------------------------------------------------------------ queries

    def _sql_start(self, event: Event) -> None:
        number = whole(event, "executionId")
        self._sql[number] = SqlExecution(
            id=number,
            description=text(event, "description", ""),
            started_ms=time_ms(event, "time"),
            root=moment(event, "rootExecutionId"),
            plan=text(event, "physicalPlanDescription", "")[:PLAN_MAX],
            configs=texts(event, "modifiedConfigs"),
        )

    def _sql_update(self, event: Event) -> None:
        found = self._sql.get(whole(event, "executionId"))
        if found is not None:
            plan = text(event, "physicalPlanDescription", "")[:PLAN_MAX]
            self._sql[found.id] = replace(found, plan=plan, updates=found.updates + 1)

    def _sql_end(self, event: Event) -> None:
        found = self._sql.get(whole(event, "executionId"))
        if found is not None:
            error = text(event, "errorMessage", "")
            self._sql[found.id] = replace(found, ended_ms=time_ms(event, "time"), error=error)


def _metrics(found: Mapping[str, Any]) -> list[int]:
    """The columns of metrics, in order; a task that was lost has none."""
    if not found:
        return _NO_METRICS[:-1]
    row: list[int] = []
    for group, names in METRICS.items():
        values = found if group is None else inner(found, group)
        row += [value if type(value := values.get(name, 0)) is int else whole(values, name, 0) for name in names]
    if max(row) > 2**62 or min(row) < -(2**62):
        raise InputError("a number that is larger than any", field="Task Metrics", found=max(row, key=abs))
    return row


_HANDLERS: Final[Mapping[str, Callable[[_Log, Event], None]]] = {
    "SparkListenerLogStart": _Log._log_start,
    "SparkListenerApplicationStart": _Log._application_start,
    "SparkListenerApplicationEnd": _Log._application_end,
    "SparkListenerEnvironmentUpdate": _Log._environment,
    "SparkListenerExecutorAdded": _Log._executor_added,
    "SparkListenerExecutorRemoved": _Log._executor_removed,
    "SparkListenerExecutorExcluded": _Log._executor_excluded,
    "SparkListenerExecutorBlacklisted": _Log._executor_excluded,
    "SparkListenerBlockManagerAdded": _Log._block_manager_added,
    "SparkListenerBlockUpdated": _Log._block_updated,
    "SparkListenerUnpersistRDD": _Log._unpersist,
    "SparkListenerJobStart": _Log._job_start,
    "SparkListenerJobEnd": _Log._job_end,
    "SparkListenerStageSubmitted": _Log._stage,
    "SparkListenerStageCompleted": _Log._stage,
    "SparkListenerTaskStart": _Log._task_start,
    "SparkListenerTaskEnd": _Log._task_end,
    "SparkListenerSQLExecutionStart": _Log._sql_start,
    "SparkListenerSQLAdaptiveExecutionUpdate": _Log._sql_update,
    "SparkListenerSQLExecutionEnd": _Log._sql_end,
}
