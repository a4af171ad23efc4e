"""What became of pods, in the words of Kubernetes: which restarted, which went, which wait, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gnomon.engine.log import Kind, Log, Reason
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.controllers.kubelets import CRASH_LOOP
from gnomon.systems.kubernetes.fleets.native import Native, native_of
from gnomon.systems.kubernetes.scheduler.account import LEFT

TERMINATING: Final = "Terminating"
WORDS: Final = {
    Reason.EXIT: "Error",
    Reason.MEMORY: "OOMKilled",
    Reason.NODE_MEMORY: "OOMKilled",
    Reason.EVICTED: "Evicted",
    Reason.DRAINED: "Evicted",
    Reason.PREEMPTED: "Preempted",
    Reason.NODE: "NodeNotReady",
    Reason.DELETED: "Deleted",
    Reason.DEVICE: "UnexpectedAdmissionError",
}
"""The reasons of ``kubectl describe`` and of events."""

_IN_PLACE: Final = (Reason.EXIT, Reason.MEMORY, Reason.NODE_MEMORY, Reason.KILLED)


@dataclass
class Departure:
    """Something that happened to pods: how often, to which, first to whom and when. ``restarts``: the container starts
    again in the same pod."""

    word: str
    restarts: bool
    first: int
    first_ns: int
    times: int = 0
    tasks: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Departures:
    """``happened``: in the order in which it first did; ``restarts``: of each task, over the whole run; ``present``: of
    the pod that each has at the end, as kubectl counts them."""

    happened: tuple[Departure, ...]
    restarts: Mapping[int, int]
    present: Mapping[int, int]


def departures_of(scenario: Scenario, log: Log) -> Departures:
    """What happened to pods."""
    native = native_of(scenario)
    found: dict[tuple[str, bool], Departure] = {}
    restarts: dict[int, int] = {}
    present: dict[int, int] = {}
    following = _next_rows(log)
    for row in np.flatnonzero(np.isin(log.kind, LEFT) & (log.subject >= 0)).tolist():
        task, kind = int(log.subject[row]), Kind(int(log.kind[row]))
        if kind is Kind.END:
            continue
        again = kind is Kind.FAIL and _is_restart(native, log, row, following.get(row, -1))
        restarts[task] = restarts.get(task, 0) + again
        present[task] = present.get(task, 0) + 1 if again else 0
        word = _word(log, row, kind)
        one = found.setdefault((word, again), Departure(word, again, task, int(log.t_ns[row])))
        one.times += 1
        one.tasks.add(task)
    return Departures(tuple(found.values()), restarts, present)


def _next_rows(log: Log) -> dict[int, int]:
    """For each failure, the row that tells what follows for its task."""
    kinds = (Kind.FAIL, Kind.START, Kind.RETRY, Kind.QUEUE)
    last: dict[int, int] = {}
    found: dict[int, int] = {}
    for row in np.flatnonzero(np.isin(log.kind, kinds) & (log.subject >= 0)).tolist():
        task = int(log.subject[row])
        before = last.get(task, -1)
        if before >= 0 and log.kind[before] == Kind.FAIL:
            found[before] = row
        last[task] = row
    return found


def _is_restart(native: Native, log: Log, row: int, following: int) -> bool:
    """Whether the containers of a pod start again, and no other pod is made in its place."""
    task, reason = int(log.subject[row]), Reason(int(log.reason[row]))
    if following < 0 or native.pods[task].spec.restart_policy == "Never":
        return False
    then = int(log.kind[following])
    return then in (Kind.START, Kind.RETRY) if reason in _IN_PLACE else reason is Reason.NODE and then == Kind.START


def _word(log: Log, row: int, kind: Kind) -> str:
    said = log.details.get(row, {})
    if "reason" in said:
        return str(said["reason"])
    if kind is Kind.CANCEL:
        return "Deleted"
    if kind is Kind.PREEMPT:
        return "Preempted"
    reason = Reason(int(log.reason[row]))
    if reason is Reason.KILLED:
        return "Unhealthy" if "probe" in str(said.get("message")) else "Killed"
    return WORDS.get(reason, reason.name.capitalize())


@dataclass(frozen=True, slots=True)
class Held:
    """Why a pod does not run: ``status`` as kubectl lists it, ``reason`` and ``message`` of its latest event."""

    status: str
    reason: str
    message: str = ""


def held_by(log: Log, tasks: Mapping[int, int]) -> dict[int, Held]:
    """Why pods do not run. ``tasks``: those that do not, each with the last row that says something of its state."""
    found = {}
    for task, row in tasks.items():
        said, kind = log.details.get(row, {}), Kind(int(log.kind[row]))
        message = str(said.get("message", ""))
        if kind is Kind.RETRY:
            found[task] = Held(CRASH_LOOP, "BackOff", last_event(log, task, CRASH_LOOP))
        elif "reason" in said:
            reason = str(said["reason"])
            found[task] = Held("not created" if reason == "FailedCreate" else "Pending", reason, message)
        else:
            reason = "FailedScheduling" if message else _PLAIN.get(Reason(int(log.reason[row])), "not tried yet")
            found[task] = Held("Pending", reason, message)
    return found


_PLAIN: Final = {Reason.GATED: "SchedulingGated", Reason.NO_LEADER: "no leader decides"}


def last_event(log: Log, task: int, reason: str) -> str:
    """What the latest event of a pod with this reason says; empty: there is none."""
    rows = np.flatnonzero((log.kind == Kind.EVENT) & (log.subject == task)).tolist()
    said = [log.details[row] for row in rows if log.details.get(row, {}).get("reason") == reason]
    return str(said[-1]["message"]) if said else ""
