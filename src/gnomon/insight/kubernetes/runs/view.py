"""A run as kubectl would list it: what became of each workload, Job and pod, folded from the log once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.engine.outcome import Outcome, outcome
from gnomon.insight.explain.phrases import seconds
from gnomon.insight.kubernetes.runs.course import Course, course_of
from gnomon.insight.kubernetes.runs.departures import TERMINATING, WORDS, Held, departures_of, held_by, last_event
from gnomon.insight.kubernetes.runs.readiness import Span, at, counted_over, end_of, events_by_object, ready_spans
from gnomon.insight.kubernetes.runs.workloads import label, workloads_of
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.fleets.fleet import JobRun
from gnomon.systems.kubernetes.fleets.native import native_of

_WAITING: Final = (State.WAITING, State.HELD, State.DELAYED, State.REJECTED)
_OVER: Final = {State.DONE: "Completed", State.FAILED: "Error", State.KILLED: "Deleted"}


@dataclass(frozen=True, slots=True)
class JobState:
    """A Job, or the Jobs of a CronJob (``made``)."""

    name: str
    state: str
    succeeded: int
    failed: int
    made: int
    started_ns: int
    ended_ns: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "job": self.name,
            "state": self.state,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "made": self.made,
            "started_s": seconds(self.started_ns),
            "ended_s": seconds(self.ended_ns),
        }


class View:
    """A run, folded once."""

    def __init__(self, scenario: Scenario, log: Log) -> None:
        self.scenario, self.log, self.native = scenario, log, native_of(scenario)
        self.end_ns = end_of(scenario, log)
        self.departures = departures_of(scenario, log)

    @cached_property
    def what(self) -> Outcome:
        return outcome(self.log, len(self.scenario.work))

    @cached_property
    def spans(self) -> dict[int, list[Span]]:
        return ready_spans(self.scenario, self.log)

    @cached_property
    def events(self) -> dict[str, list[tuple[int, str]]]:
        """What controllers said of each object."""
        return events_by_object(self.log)

    @cached_property
    def courses(self) -> list[Course]:
        return [course_of(one, self.spans, self.events, self.end_ns) for one in workloads_of(self.native)]

    @cached_property
    def stopping(self) -> dict[int, int]:
        """How many pods of each task are still stopping."""
        log, found = self.log, Counter[int]()
        for row in np.flatnonzero(np.isin(log.kind, (Kind.COPY, Kind.COPY_END))).tolist():
            found[int(log.subject[row])] += 1 if log.kind[row] == Kind.COPY else -1
        return {task: count for task, count in found.items() if count > 0}

    @cached_property
    def held(self) -> dict[int, Held]:
        """Why the pods that do not run do not."""
        log = self.log
        tasks = set(np.flatnonzero(np.isin(self.what.state, _WAITING)).tolist())
        kinds = (Kind.ARRIVE, Kind.WAIT, Kind.RETRY, Kind.QUEUE, Kind.REJECT, Kind.HOLD)
        last: dict[int, int] = {}
        for row in np.flatnonzero(np.isin(log.kind, kinds)).tolist():
            if (task := int(log.subject[row])) in tasks:
                last[task] = row
        return {**held_by(log, last), **self._unready}

    @property
    def _unready(self) -> dict[int, Held]:
        """The pods of workloads that run and are not ready."""
        log, last = self.log, min(self.end_ns, NEVER - 1)
        running = set(np.flatnonzero(self.what.state == State.RUNNING).tolist())
        tasks = {task for one in self.courses for task in one.workload.tasks if task in running}
        away = [task for task in sorted(tasks) if not at(counted_over(self.spans, (task,)), last)]
        return {task: Held("Running", "not ready", self._unwell(log, task)) for task in away}

    def _unwell(self, log: Log, task: int) -> str:
        """Why a pod that runs is not ready."""
        node = int(self.what.node[task])
        closing = np.flatnonzero((log.node == node) & (log.reason == Reason.LOST))
        if len(closing) and log.kind[closing[-1]] in (Kind.CLOSE, Kind.NOTICE):
            return f"node {self.scenario.cluster.nodes[node].name} is not ready"
        return last_event(log, task, "Unhealthy")

    @cached_property
    def owners(self) -> dict[int, str]:
        """The workload of each task, as kubectl takes it."""
        found = {task: one.workload.label for one in self.courses for task in one.workload.tasks}
        for run in self.native.jobs:
            found |= dict.fromkeys(self.native.fleets[run.fleet].tasks, _job_label(run))
        return found

    @cached_property
    def happened(self) -> list[dict[str, Any]]:
        return [
            {
                "reason": one.word,
                "then": "restarted" if one.restarts else "gone",
                "times": one.times,
                "pods": len(one.tasks),
                "first": self.native.pods[one.first].key,
                "first_s": seconds(one.first_ns),
            }
            for one in self.departures.happened
        ]

    @cached_property
    def waiting(self) -> list[dict[str, Any]]:
        alike: dict[tuple[str, str, str], list[int]] = {}
        for task, one in sorted(self.held.items()):
            own = self.owners.get(task, "") if one.reason in ("FailedCreate", "BackOff") else one.message
            alike.setdefault((one.status, one.reason, own), []).append(task)
        return [
            {
                "status": status,
                "reason": reason,
                "pods": len(tasks),
                "first": self.native.pods[tasks[0]].key,
                "message": self.held[tasks[0]].message,
            }
            for (status, reason, _), tasks in alike.items()
        ]

    @cached_property
    def pods(self) -> list[dict[str, Any]]:
        """The pods that are there at the end, and those that are stopping."""
        return [one for task in range(len(self.native.pods)) for one in self._pods_of(task)]

    def _pods_of(self, task: int) -> Iterator[dict[str, Any]]:
        state = State(int(self.what.state[task]))
        nodes = self.scenario.cluster.nodes
        node = int(self.what.node[task])
        base = {"pod": self.native.pods[task].key, "restarts": self.departures.present.get(task, 0)}
        last = min(self.end_ns, NEVER - 1)
        if state is State.RUNNING:
            ready = bool(at(counted_over(self.spans, (task,)), last))
            yield {**base, "status": "Running", "ready": ready, "node": nodes[node].name}
        elif task in self.held and self.held[task].status != "not created":
            yield {**base, "status": self.held[task].status, "ready": False, "node": None}
        elif state in (State.DONE, State.FAILED):
            word = "Completed" if state is State.DONE else end_word(self.what, task)
            yield {**base, "status": word, "ready": False, "node": nodes[node].name if node >= 0 else None}
        if task in self.stopping:
            yield {**base, "status": TERMINATING, "ready": False, "node": None}

    @cached_property
    def jobs(self) -> list[JobState]:
        crons: dict[str, list[JobState]] = {}
        found = []
        for run in self.native.jobs:
            one = self._job(run)
            if run.cron:
                crons.setdefault(label("CronJob", run.job.namespace, run.cron), []).append(one)
            else:
                found.append(one)
        return [*found, *(_together(name, runs) for name, runs in crons.items())]

    def _job(self, run: JobRun) -> JobState:
        fleet, what = self.native.fleets[run.fleet], self.what
        tasks = list(fleet.tasks)
        succeeded = int((what.state[tasks] == State.DONE).sum()) if tasks else 0
        gone = [
            one.tasks & set(tasks) for one in self.departures.happened if not one.restarts and one.word != "Deleted"
        ]
        starts = what.first_start_ns[tasks] if tasks else np.zeros(0, np.int64)
        started = int(starts.min()) if len(starts) else NEVER
        about = f"Job {run.job.namespace}/{run.job.name}"
        state, ended = "", NEVER
        for t_ns, reason in self.events.get(about, ()):
            if reason in ("Completed", "SuccessCriteriaMet"):
                state, ended = "Complete", t_ns
            elif reason in _JOB_FAILED:
                state, ended = f"Failed ({reason})", t_ns
        if not state:
            state = "Running" if started < NEVER else "waiting" if (what.state[tasks] > State.UNBORN).any() else ""
        return JobState(_job_label(run), state or "not made", succeeded, sum(map(len, gone)), 1, started, ended)


_JOB_FAILED: Final = (
    *("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"),
)


def _together(name: str, runs: list[JobState]) -> JobState:
    """The Jobs of a CronJob, as one."""
    made = [one for one in runs if one.state != "not made"]
    counts = Counter(one.state for one in made)
    state = ", ".join(f"{count} {word}" for word, count in counts.items()) or "none made"
    started = min((one.started_ns for one in made), default=NEVER)
    ended = max((one.ended_ns for one in made if one.ended_ns < NEVER), default=NEVER)
    return JobState(
        name, state, sum(one.succeeded for one in made), sum(one.failed for one in made), len(made), started, ended
    )


def _job_label(run: JobRun) -> str:
    return label("Job", run.job.namespace, run.job.name)


def end_word(what: Outcome, task: int) -> str:
    """Why a task is over, in a word of Kubernetes."""
    state = State(int(what.state[task]))
    return WORDS.get(Reason(int(what.reason[task])), _OVER[state])
