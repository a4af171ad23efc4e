"""The summary of a run in the words of MapReduce: the phases of each job, and its counters, from the log alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.job_runs import job_runs
from gnomon.insight.listing import Listing, Summary
from gnomon.model.quantity import format_duration
from gnomon.model.scenario import Scenario
from gnomon.systems.mapreduce.counters import PRINTED, TASK_COUNTERS, Counts, total

NOTHING: Final = "-"
_LOCALITY: Final = {"NODE_LOCAL": "DATA_LOCAL_MAPS", "RACK_LOCAL": "RACK_LOCAL_MAPS", "ANY": "OTHER_LOCAL_MAPS"}
_NOT_FAILED: Final = (Reason.NODE, Reason.KILLED, Reason.EVICTED, Reason.DRAINED, Reason.DELETED)


@dataclass
class Phase:
    """The maps or the reduces of a job. ``counts`` are of the attempts that count at the end; times ns, -1: never."""

    job: int
    kind: str
    tasks: int = 0
    launched: int = 0
    failed: int = 0
    killed: int = 0
    copies: int = 0
    again: int = 0
    start_ns: int = -1
    end_ns: int = -1
    counts: dict[int, Counts] = field(default_factory=dict)
    near: dict[str, int] = field(default_factory=dict)


def summarise(scenario: Scenario, log: Log) -> Summary:
    """What a run came to. ``phases``: by job, ``map`` and ``reduce``; ``counters``: by job, Hadoop's names;
    ``failures``: why jobs failed; ``running``: jobs that had not ended."""
    phases = _phases(scenario, log)
    jobs = sorted({one.job for one in phases})
    counters = {job: counters_of([one for one in phases if one.job == job]) for job in jobs}
    ran = job_runs(log).values()
    failures = [one.error for one in ran if one.error]
    running = [f"{one.number + 1:04d}" for one in ran if one.status == "RUNNING"]
    data: dict[str, Any] = {
        "failures": failures,
        "running": running,
        "phases": [_data(one) for one in phases],
        "counters": {f"{job:04d}": dict(counters[job]) for job in jobs},
    }
    failed = [Listing(["JOB FAILED"], [[line] for text in failures for line in text.splitlines()])] if failures else []
    if running:
        failed.append(Listing(["JOB", "STATE"], [[job, "RUNNING"] for job in running]))
    counted = [_counter_table(job, counters[job], len(jobs)) for job in jobs]
    return Summary(data, (_phase_table(phases), *failed, *counted))


def _phases(scenario: Scenario, log: Log) -> list[Phase]:
    """All phases, in the order of jobs, maps first."""
    found: dict[tuple[int, str], Phase] = {}
    of: list[Phase] = []
    for task in range(len(scenario.work)):
        job, kind, _ = scenario.work.id(task).split("_")
        phase = found.setdefault((int(job), kind), Phase(int(job), "map" if kind == "m" else "reduce"))
        phase.tasks += 1
        of.append(phase)
    kinds, tasks, times = log.kind.tolist(), log.subject.tolist(), log.t_ns.tolist()
    for row, (kind, task, t_ns) in enumerate(zip(kinds, tasks, times, strict=True)):
        if task >= 0:
            _add(of[task], task, Kind(kind), t_ns, Reason(int(log.reason[row])), log.details.get(row, {}))
    return [found[key] for key in sorted(found)]


def _add(phase: Phase, task: int, kind: Kind, t_ns: int, reason: Reason, facts: Mapping[str, Any]) -> None:
    """What a row of the log adds to a phase."""
    if kind == Kind.START:
        phase.launched += 1
        phase.start_ns = t_ns if phase.start_ns < 0 else phase.start_ns
        counter = _LOCALITY.get(str(facts.get("locality", "")))
        if counter:
            phase.near[counter] = phase.near.get(counter, 0) + 1
    elif kind == Kind.COPY and reason is Reason.SPECULATIVE:
        phase.launched += 1
        phase.copies += 1
    elif (kind == Kind.COPY_END and reason is not Reason.NONE) or (kind == Kind.FAIL and reason in _NOT_FAILED):
        phase.killed += 1
    elif kind == Kind.FAIL:
        phase.failed += 1
    elif kind == Kind.UNDO:
        phase.again += 1
        phase.counts.pop(task, None)
    elif kind == Kind.END:
        phase.end_ns = t_ns
        phase.counts[task] = {name: int(facts[name]) for name in TASK_COUNTERS if name in facts}


def counters_of(phases: list[Phase]) -> Counts:
    """The counters of a job."""
    found: list[Counts] = []
    for one in phases:
        kind = f"{one.kind.upper()}S"
        seen = {f"NUM_FAILED_{kind}": one.failed, f"NUM_KILLED_{kind}": one.killed}
        found += [{name: count for name, count in seen.items() if count}, {f"TOTAL_LAUNCHED_{kind}": one.launched}]
        found += [one.near if one.kind == "map" else {}, *one.counts.values()]
    return total(found)


def _data(one: Phase) -> dict[str, Any]:
    names = ("tasks", "launched", "failed", "killed", "copies", "again")
    times = {
        f"{name}_s": getattr(one, f"{name}_ns") / 1e9 for name in ("start", "end") if getattr(one, f"{name}_ns") >= 0
    }
    return {"job": f"{one.job:04d}", "phase": one.kind, **{name: getattr(one, name) for name in names}, **times}


def _phase_table(phases: list[Phase]) -> Listing:
    headers = ["JOB", "PHASE", "TASKS", "ATTEMPTS", "FAILED", "KILLED", "COPIES", "RUN-AGAIN", "START", "END"]
    rows = [
        [
            f"{one.job:04d}",
            one.kind,
            f"{len(one.counts)}/{one.tasks}",
            str(one.launched),
            *(str(count) if count else NOTHING for count in (one.failed, one.killed, one.copies, one.again)),
            *(format_duration(t // 10**6 * 10**6) if t >= 0 else NOTHING for t in (one.start_ns, one.end_ns)),
        ]
        for one in phases
    ]
    return Listing(headers, rows, right=tuple(range(2, 10)))


def _counter_table(job: int, counters: Counts, jobs: int) -> Listing:
    rows = [[PRINTED[name], f"{value:,}"] for name, value in counters.items()]
    return Listing(["COUNTER", "VALUE"], rows, right=(1,), title=f"job {job:04d}" if jobs > 1 else "")
