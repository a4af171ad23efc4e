"""Work that was lost and done again, and tasks that ran twice at one time."""

from __future__ import annotations

import numpy as np

from gnomon.engine.log import Kind, Reason
from gnomon.insight.accounting import promoted, spent, stop_ns
from gnomon.insight.history import History


def rework(past: History) -> tuple[int, int]:
    """The run time whose work was lost, and the run time that did such work again, in ns, over all tasks.

    A task stands at a position, in ns of run time, and has come to one that was the furthest. A failed attempt takes it
    from where it stood on by what it ran, and back to what was saved; what it runs below the furthest position is done
    again. When the result of a task that was done is lost (UNDO), it is back at the beginning. An attempt that was
    preempted, killed or cancelled leaves no trace; it is no failure.
    """
    log, stays = past.log, past.attempts
    undone = np.flatnonzero((log.kind == Kind.UNDO) & (log.subject >= 0))
    concerned = np.union1d(stays.task[stays.closed_by == Kind.FAIL], log.subject[undone])
    if not len(concerned):
        return 0, 0
    time, began = spent(past), promoted(past)
    mine = np.flatnonzero(np.isin(stays.task, concerned))
    changes = [(int(stays.task[i]), int(stays.open_row[i]), i) for i in mine.tolist()]
    changes += [(int(log.subject[row]), row, -1) for row in undone.tolist()]
    lost = redone = at = furthest = 0
    now = -1
    for task, _, stay in sorted(changes):
        if task != now:
            now, at, furthest = task, 0, 0
        if stay < 0:
            lost, at = lost + at, 0
            continue
        reached = at + int(time.ran_ns[stay]) + (int(time.ran_ns[began[stay]]) if stay in began else 0)
        redone += max(0, min(furthest, reached) - at)
        by = stays.closed_by[stay]
        if by == Kind.FAIL:
            lost += int(log.value[stays.close_row[stay]])
            at += int(time.kept_ns[stay])
        elif by == Kind.END:
            at = reached
        furthest = max(furthest, reached) if by in (Kind.FAIL, Kind.END) else furthest
    return lost, redone


def overlaps(past: History, *, without: Reason = Reason.NONE) -> dict[int, int]:
    """For each task of which two attempts or copies ran at one time: for how long (ns) two or more did.

    ``without``: copies that came for this reason do not count. Copies count to their end, be it beyond the time
    observed.
    """
    places, copies, first = past.places, past.copies, len(past.attempts)
    counted = np.flatnonzero(copies.opened_why != without)
    if not len(counted):
        return {}
    last_ns = max(past.end_ns, int(past.log.t_ns[-1]))
    until = np.minimum(np.minimum(places.close_ns, stop_ns(past)), last_ns)
    attempts = np.flatnonzero(np.isin(past.attempts.task, copies.task[counted]))
    changes: dict[int, list[tuple[int, int]]] = {}
    for i in [*attempts.tolist(), *(first + counted).tolist()]:
        start, end = int(places.start_ns[i]), int(until[i])
        if start < end:
            changes.setdefault(int(places.task[i]), []).extend(((start, 1), (end, -1)))
    found = {task: _doubled(moments) for task, moments in changes.items()}
    return {task: ns for task, ns in sorted(found.items()) if ns}


def _doubled(changes: list[tuple[int, int]]) -> int:
    """For how long the running sum of changes is two or more."""
    total = level = before = 0
    for t_ns, change in sorted(changes):
        if level > 1:
            total += t_ns - before
        level, before = level + change, t_ns
    return total
