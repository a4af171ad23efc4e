"""How it came to be: the rows about a task, and their causes walked backwards through the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.case import Case, Goal
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import amounts_of, listed, seconds, span
from gnomon.insight.explain.queues import place_in_queue
from gnomon.insight.explain.situation import rows_of
from gnomon.model.resources import NEVER

OWN_MAX = 12
"""How many of the rows about the subject are shown: the latest."""

CAUSES_MAX = 8
"""How many rows a walk back goes."""

HOLDERS_MAX = 3
"""How many of those who hold what it waits for are shown."""


@dataclass(frozen=True, slots=True)
class Link:
    """One row of the log in words."""

    row: int
    t_ns: int
    event: str
    text: str

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {"row": self.row, "t_s": seconds(self.t_ns), "event": self.event, "text": self.text}


def chain(ground: Ground, tasks: Sequence[int], also: Sequence[int] = ()) -> list[Link]:
    """The rows about a task or a job, those that caused them, and others of interest (``also``), oldest first.

    From the last row about the subject causes are followed back to what came from outside, at most
    :data:`CAUSES_MAX` of them; each other row about it brings its direct cause.
    """
    log = ground.past.log
    own = rows_of(log, tasks).tolist()
    shown = dict.fromkeys(_of_subject(ground, own, len(tasks)))
    found = {*shown, *also, *(int(log.cause[row]) for row in shown)} - {-1}
    row, steps = (own[-1] if own else -1), 0
    while row >= 0 and steps <= CAUSES_MAX:
        found.add(row)
        row, steps = int(log.cause[row]), steps + 1
    older = 0
    while row >= 0:
        row, older = int(log.cause[row]), older + 1
    links = [Link(at, int(log.t_ns[at]), event(ground, at), sentence(ground, at)) for at in sorted(found)]
    if older and links:
        first = links[0]
        links[0] = Link(first.row, first.t_ns, first.event, f"{first.text} ({older:,} causes go before it)")
    return links


def _of_subject(ground: Ground, own: Sequence[int], tasks: int) -> list[int]:
    """The latest rows; of several tasks of a job one row stands for all of one kind at one time."""
    if tasks == 1:
        return list(own[-OWN_MAX:])
    log = ground.past.log
    latest = {(int(log.instant[row]), int(log.kind[row]), int(log.reason[row])): row for row in own}
    return sorted(latest.values())[-OWN_MAX:]


def event(ground: Ground, row: int) -> str:
    """The kind of a row as a word."""
    return Kind(int(ground.past.log.kind[row])).name.lower()


def sentence(ground: Ground, row: int) -> str:
    """A row of the log in words."""
    log, work = ground.past.log, ground.work
    kind, reason = Kind(int(log.kind[row])), Reason(int(log.reason[row]))
    task, value = int(log.subject[row]), int(log.value[row])
    name = work.id(task) if task >= 0 else ""
    match kind:
        case Kind.ARRIVE:
            length = ground.estimate_ns(task)
            long = "without an end" if length >= NEVER else f"for {span(length)}"
            return f"{name} arrives and asks for {amounts_of(ground.asked((task,)))} {long}"
        case Kind.REJECT | Kind.WAIT:
            verb = "is refused" if kind == Kind.REJECT else "waits"
            return f"{name} {verb}: {_because(ground, reason, value)}"
        case Kind.HOLD:
            return f"{name} takes its place{_where(ground, row)}, and holds it until its peers have theirs"
        case Kind.START:
            return f"{name} starts with {amounts_of(ground.asked((task,)))}{_where(ground, row)}"
        case Kind.END:
            return f"{name} ends and gives back {amounts_of(ground.asked((task,)))}{_where(ground, row, bits=False)}"
        case Kind.KILL:
            wanted = int(work.duration_ns[task])
            more = f"needs {span(wanted)}" if wanted < NEVER else "would run on"
            return f"{name} is killed when its estimate of {span(ground.estimate_ns(task))} is over, and {more}"
        case Kind.PREEMPT:
            by = f"{work.id(value)} (priority {work.priority[value]} over {work.priority[task]})"
            return f"{name} gives way to {by}{_where(ground, row, bits=False)}"
        case Kind.WAKE:
            return windows_at(ground, int(log.t_ns[row]))
        case Kind.STOP:
            return f"the run ends: {STOPPED.get(reason, reason.name.lower())}"
    return f"{name} is cancelled"


STOPPED = {
    Reason.LIMIT_EVENTS: "it has as many events as it may",
    Reason.LIMIT_TIME: "nothing later is simulated",
    Reason.LIMIT_REPEATS: "it makes no progress any more",
    Reason.DEADLOCK: "deadlock, for tasks hold what the others wait for",
    Reason.INTERRUPTED: "it was interrupted",
}

_WHY = {
    Reason.TOO_LARGE: "it asks for more than any node has",
    Reason.NO_NODE_KIND: "no node is of a kind, or has the labels, that it accepts",
    Reason.OVER_LIMIT: "it asks for more than its {tenants_by} may ever hold",
    Reason.GANG_TOO_LARGE: "the tasks of its job together are more than the empty cluster has room for",
    Reason.UNUSABLE: "its row in the input cannot run as it stands",
    Reason.DROPPED: "there is no room, and nobody waits under this policy",
    Reason.RESOURCES: "not enough is free",
    Reason.RESERVED: "what is free is set aside",
    Reason.PEERS: "its peers have no place yet",
    Reason.TENANT_LIMIT: "its {tenants_by} holds as much as it may",
    Reason.TENANT_RUNNING: "its {tenants_by} runs as many tasks as it may",
    Reason.ORDER: "others stand in front",
    Reason.BACKFILL: "it may not delay a start that is promised to another",
    Reason.TURN: "it is another's turn",
}


def _because(ground: Ground, reason: Reason, value: int) -> str:
    text = _WHY.get(reason, reason.name.lower()).format(tenants_by=ground.scenario.tenants_by)
    if reason is Reason.RESOURCES and 0 <= value < NEVER:
        return f"{text}; it is promised a start at {span(value)}"
    if reason in (Reason.ORDER, Reason.BACKFILL) and value >= 0:
        return f"{text}: {ground.work.id(value)}"
    return text


def _where(ground: Ground, row: int, *, bits: bool = True) -> str:
    """On which node and devices; nothing for a pool."""
    log = ground.past.log
    node, mask = int(log.node[row]), int(log.value[row]) if bits else 0
    if ground.scenario.cluster.pool or node < 0:
        return ""
    devices = [str(k) for k in range(ground.layout.slots) if mask >> k & 1]
    return f" on {ground.node_name(node)}" + (f" (gpu {listed(devices)})" if devices else "")


def windows_at(ground: Ground, t_ns: int, *, past: bool = False) -> str:
    """Which reservations begin and end at a time."""
    windows = {window.name: window for window in ground.scenario.cluster.reservations}.values()
    begins = [window.name for window in windows if window.start_ns == t_ns]
    ends = [window.name for window in windows if window.end_ns == t_ns]
    said = []
    for names, now, then in ((begins, "begins", "began"), (ends, "ends", "ended")):
        if names:
            said.append(f"{listed(names)} {then if past else now}")
    return listed(said)


def rows_of_interest(case: Case) -> list[int]:
    """Rows that tell who got what it waits for: starts on the nodes that come nearest, or of its tenant, and why the
    one in front waits."""
    ground, here = case.ground, case.here
    log, opened = ground.past.log, ground.past.attempts.open_row
    if case.goal is not Goal.START or case.infeasible:
        return []
    nodes = {wait.object.removeprefix("node/") for wait in case.waits if wait.rule == "resources"}
    on = [i for i in range(len(here.stays)) if ground.node_name(int(here.node[i])) in nodes]
    if "limit" in case.kinds:
        on += here.of_tenant(case.task).tolist()
    largest = sorted(set(on), key=lambda i: -here.share[i])[:HOLDERS_MAX]
    rows = [int(opened[here.stays[i]]) for i in largest]
    first = place_in_queue(here, case.task).first if "behind" in case.kinds else None
    if first is not None:
        waiting = rows_of(log, (first,), Kind.WAIT)
        rows += waiting[waiting < here.row][-1:].tolist()
    objects = {wait.object for wait in case.waits}
    windows = [w for w in ground.scenario.cluster.reservations if f"reservation/{w.name}" in objects]
    begin = (log.kind == Kind.WAKE) & np.isin(log.t_ns, [window.start_ns for window in windows])
    return [*rows, *np.flatnonzero(begin).tolist()]
