"""How it came to be: the rows about a task, and their causes walked backwards through the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.case import Case, Goal
from gnomon.insight.explain.crowd import crowd
from gnomon.insight.explain.faults import fault_behind
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import counted, seconds
from gnomon.insight.explain.queues import place_in_queue
from gnomon.insight.explain.sentences import sentence
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.explain.troubles import Trouble

OWN_MAX = 12
"""How many of the rows about the subject are shown: the latest."""

CAUSES_MAX = 8
"""How many rows a walk back goes; those about use, faults and recovery that are there anyway come on top."""

HOLDERS_MAX = 3
"""How many of those who hold what it waits for are shown."""


HEALS_MAX = 4
"""Of how many faults the end is shown."""


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
    :data:`CAUSES_MAX` of them; each other row about it brings its direct cause, and a loss the way back to its fault,
    and these do not count among those if they are about recovery. What others went through does.
    """
    log = ground.past.log
    own = rows_of(log, tasks).tolist()
    shown = dict.fromkeys(_of_subject(ground, own, len(tasks)))
    found = {*shown, *also, *(int(log.cause[row]) for row in shown)} - {-1}
    for row in sorted(row for row in found if _is_recovery(ground, row)):
        found.update(_back_to_fault(ground, row))
    last, steps = (own[-1] if own else -1), 0
    row = int(log.cause[last]) if own else -1
    while row >= 0 and steps < CAUSES_MAX:
        steps += not (row in found and _is_recovery(ground, row))
        found.add(row)
        row, last = int(log.cause[row]), row
    older = 0
    while row >= 0:
        row, older = int(log.cause[row]), older + 1
    found.update(_ends_of_faults(ground, found))
    links = [Link(at, int(log.t_ns[at]), event(ground, at), sentence(ground, at)) for at in sorted(found)]
    told = f" ({counted(older, 'cause')} before it)"
    return [replace(one, text=one.text + told) if older and one.row == last else one for one in links]


def _is_recovery(ground: Ground, row: int) -> bool:
    """Whether a row is about use, faults or recovery."""
    return bool(ground.past.log.kind[row] >= Kind.FAIL)


def _back_to_fault(ground: Ground, row: int) -> list[int]:
    """The rows from one of recovery back to the fault behind it; none if no fault is, or something was placed between
    them: then that is what counts."""
    log, walk = ground.past.log, []
    while row >= 0 and log.kind[row] != Kind.START:
        walk.append(row)
        if log.kind[row] == Kind.FAULT:
            return walk
        row = int(log.cause[row])
    return []


def _ends_of_faults(ground: Ground, rows: Iterable[int]) -> list[int]:
    """When the faults among some rows were over, if they were before the last of these."""
    log, last = ground.past.log, max(rows, default=-1)
    faults = [row for row in rows if log.kind[row] == Kind.FAULT]
    heals = np.flatnonzero((log.kind[: last + 1] == Kind.HEAL) & np.isin(log.cause[: last + 1], faults))
    found: list[int] = heals[:HEALS_MAX].tolist()
    return found


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


def rows_of_interest(case: Case) -> list[int]:
    """Rows that tell who got what it waits for: starts on the nodes that come nearest, or of its tenant, and why the
    one in front waits."""
    ground, here = case.ground, case.here
    log, opened = ground.past.log, ground.past.places.open_row
    if case.goal is Goal.WELL:
        return _of_mishap(case)
    if "no-leader" in case.rules:
        led: list[int] = np.flatnonzero(log.kind == Kind.LEAD).tolist()
        return [*led, *(fault.number for row in led if (fault := fault_behind(ground, row)) is not None)]
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
    names = {wait.object.removeprefix("node/") for wait in case.waits if wait.rule == "closed"}
    for node, row in here.closed.items():
        if ground.node_name(node) in names:
            rows += [row, *_back_to_fault(ground, row)]
    objects = {wait.object for wait in case.waits}
    windows = [w for w in ground.scenario.cluster.reservations if f"reservation/{w.name}" in objects]
    begin = (log.kind == Kind.WAKE) & np.isin(log.t_ns, [window.start_ns for window in windows])
    return [*rows, *np.flatnonzero(begin).tolist()]


def _of_mishap(case: Case) -> list[int]:
    """What went wrong for the one whose result it waits for; who used most of a node whose memory was used up."""
    ground, found = case.ground, case.mishap
    assert found is not None
    log, node = ground.past.log, int(ground.past.log.node[found.row])
    rows = [found.row, *_back_to_fault(ground, found.row)]
    rows += rows_of(log, (case.task,), Kind.START)[:1].tolist()
    if found.trouble is Trouble.STILL:
        noticed = np.flatnonzero((log.kind == Kind.NOTICE) & (log.cause == found.row))
        rows += [*noticed.tolist(), *np.flatnonzero((log.kind == Kind.CLOSE) & np.isin(log.cause, noticed)).tolist()]
    if found.reason in (Reason.NODE_MEMORY, Reason.EVICTED):
        those = crowd(ground, node, found.row)
        most = sorted(range(len(those.tasks)), key=lambda i: (-those.used[i], i))[:HOLDERS_MAX]
        starts = [rows_of(log, (those.tasks[i],), Kind.START) for i in most]
        rows += [int(start[start < found.row][-1]) for start in starts if (start < found.row).any()]
        rows += [int(log.cause[found.row])] if log.cause[found.row] >= 0 else []
    return rows
