"""The summary of a run of Spark: its jobs and stage attempts in the columns of Spark's UI, from the log alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.job_runs import JobRun, job_runs
from gnomon.insight.listing import Listing, Summary
from gnomon.insight.spark.words import size
from gnomon.model.quantity import format_duration
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.replay import MOVED, Recorded
from gnomon.systems.spark.tasks import IntArray

NOTHING: Final = "-"
_MS: Final = 1_000_000
_LOST: Final = (Reason.NODE, Reason.KILLED, Reason.EVICTED, Reason.DRAINED, Reason.DELETED)


@dataclass
class Attempt:
    """An attempt of a stage. ``lost``: attempts of tasks that ended with their executor; ``sums``: of the done ones."""

    stage: int
    attempt: int
    name: str
    tasks: int
    start_ns: int
    end_ns: int = -1
    done: int = 0
    failed: int = 0
    lost: int = 0
    copies: int = 0
    sums: dict[str, int] = field(default_factory=dict)


def summarise(scenario: Scenario, log: Log) -> Summary:
    """What a run came to. ``jobs`` and ``stages``, each attempt of one."""
    jobs, attempts = job_runs(log), _attempts(log, _moved(scenario))
    data: dict[str, Any] = {
        "jobs": [_job_data(one) for one in jobs.values()],
        "stages": [_attempt_data(one) for _, one in sorted(attempts.items())],
    }
    return Summary(data, (_job_table(jobs), _stage_table(attempts)))


Moved = Mapping[int, IntArray]


def _moved(scenario: Scenario) -> Moved:
    """What the tasks of each stage read and wrote, where that is recorded: the run of a log does not say it again."""
    execution = getattr(scenario.native, "execution", None)
    return execution.moved if isinstance(execution, Recorded) else {}


def _attempts(log: Log, moved: Moved) -> dict[tuple[int, int], Attempt]:
    """The attempts of stages, by stage and number."""
    attempts: dict[tuple[int, int], Attempt] = {}
    runs: dict[int, tuple[Attempt, int]] = {}
    for row, (kind, task, t_ns) in enumerate(
        zip(log.kind.tolist(), log.subject.tolist(), log.t_ns.tolist(), strict=True)
    ):
        facts = log.details.get(row, {})
        if kind == Kind.EVENT and facts.get("reason") == "StageSubmitted":
            key = int(facts["stage"]), int(facts["attempt"])
            attempts[key] = Attempt(*key, str(facts["message"]), int(facts["tasks"]), t_ns)
        elif kind == Kind.EVENT and facts.get("reason") == "StageCompleted":
            attempts[int(facts["stage"]), int(facts["attempt"])].end_ns = t_ns
        elif kind == Kind.START and "stage_attempt" in facts:
            runs[task] = attempts[int(facts["stage"]), int(facts["stage_attempt"])], int(facts["index"])
        elif task in runs:
            one, index = runs[task]
            if kind == Kind.END and one.stage in moved:
                facts = {**facts, **dict(zip(MOVED, moved[one.stage][index].tolist(), strict=True))}
            _happened(one, Kind(kind), Reason(int(log.reason[row])), facts)
    return attempts


def _happened(one: Attempt, kind: Kind, reason: Reason, facts: Mapping[str, int | str]) -> None:
    """What a row about one of its tasks adds."""
    if kind is Kind.END:
        one.done += 1
        fetched = int(facts.get("local_bytes", 0)) + int(facts.get("remote_bytes", 0))
        read = {"shuffle_read_bytes": fetched, **facts}
        for name in MOVED:
            one.sums[name] = one.sums.get(name, 0) + int(read.get(name, 0))
    elif kind is Kind.FAIL and reason in _LOST:
        one.lost += 1
    elif kind is Kind.FAIL:
        one.failed += 1
    elif kind is Kind.COPY and reason is Reason.SPECULATIVE:
        one.copies += 1


def _job_data(one: JobRun) -> dict[str, Any]:
    times = {"submitted_s": one.start_ns / 1e9, **({"ended_s": one.end_ns / 1e9} if one.end_ns >= 0 else {})}
    return {"job": one.number, "name": one.name, "status": one.status, **times, "error": one.error}


def _attempt_data(one: Attempt) -> dict[str, Any]:
    times = {"submitted_s": one.start_ns / 1e9, **({"completed_s": one.end_ns / 1e9} if one.end_ns >= 0 else {})}
    counts = {name: getattr(one, name) for name in ("tasks", "done", "failed", "lost", "copies")}
    return {"stage": one.stage, "attempt": one.attempt, "name": one.name, **counts, **times, **one.sums}


def _job_table(jobs: Mapping[int, JobRun]) -> Listing:
    rows = [
        [
            str(one.number),
            one.name,
            one.status,
            _time(one.start_ns),
            _time(one.end_ns - one.start_ns) if one.end_ns >= 0 else NOTHING,
            one.error.partition("\n")[0] or NOTHING,
        ]
        for one in jobs.values()
    ]
    return Listing(["JOB", "DESCRIPTION", "STATUS", "SUBMITTED", "DURATION", "ERROR"], rows, right=(0, 3, 4))


def _time(ns: int) -> str:
    """To the ms, as Spark's UI has it."""
    return format_duration((ns + _MS // 2) // _MS * _MS)


def _stage_table(attempts: Mapping[tuple[int, int], Attempt]) -> Listing:
    headers = ["STAGE", "DESCRIPTION", "TASKS", "FAILED", "LOST", "COPIES", "SUBMITTED", "DURATION"]
    headers += ["INPUT", "SHUFFLE-READ", "SHUFFLE-WRITE"]
    rows = []
    for _, one in sorted(attempts.items()):
        sizes = [one.sums.get(f"{name}_bytes", 0) for name in ("input", "shuffle_read", "shuffle_write")]
        rows.append(
            [
                f"{one.stage}" if one.attempt == 0 else f"{one.stage}.{one.attempt}",
                one.name,
                f"{one.done}/{one.tasks}",
                *(str(count) if count else NOTHING for count in (one.failed, one.lost, one.copies)),
                _time(one.start_ns),
                _time(one.end_ns - one.start_ns) if one.end_ns >= 0 else NOTHING,
                *(size(count) if count else NOTHING for count in sizes),
            ]
        )
    return Listing(headers, rows, right=(2, 3, 4, 5, 6, 7, 8, 9, 10))
