"""How long tasks waited for a place: before their first start, and whenever they stood in a queue again.

A task that lost its place, to another or with its node, waits anew from when it is in a queue (QUEUE, or the PREEMPT
that put it there) to its next start. What it spends otherwise between two attempts (in a back-off, or in the place that
is kept for it while a container restarts) is no wait for a place. A wait that is not over counts up to the end of the
time observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Kind, Log
from gnomon.insight.history import History
from gnomon.model.work import IntArray

_OPENS: Final = (Kind.QUEUE, Kind.PREEMPT)
_CLOSES: Final = (Kind.START, Kind.END, Kind.KILL, Kind.CANCEL, Kind.FAIL, Kind.REJECT, Kind.RETRY, Kind.UNDO)


@dataclass(frozen=True)
class Waits:
    """The longest wait of each task. ``ns``: how long it was, 0 for a task that never arrived; ``row``: that of its
    end, -1 where it is not over (or never was)."""

    ns: IntArray
    row: IntArray


def longest_waits(past: History) -> Waits:
    """The longest wait of each task, from when it is submitted."""
    log, what = past.log, past.outcome
    until = np.minimum(np.minimum(what.first_start_ns, what.end_ns), past.end_ns)
    ns = np.where(past.accepted, np.maximum(until - np.minimum(past.submit_ns, until), 0), 0)
    row = _first_rows(log, len(ns))
    for task, begin, close in _again(log):
        took = (int(log.t_ns[close]) if close >= 0 else past.end_ns) - begin
        if took > ns[task]:
            ns[task], row[task] = took, close
    return Waits(ns, row)


def _first_rows(log: Log, tasks: int) -> IntArray:
    """The row of the first start of each task."""
    found = np.full(tasks, -1, np.int64)
    rows = np.flatnonzero((log.kind == Kind.START) & (log.subject >= 0))
    found[log.subject[rows][::-1]] = rows[::-1]
    return found


def _again(log: Log) -> list[tuple[int, int, int]]:
    """Waits after the first: the task, when it began, and the row of its end (-1: none)."""
    kinds: npt.NDArray[np.bool_] = np.zeros(max(Kind) + 1, np.bool_)
    kinds[list(_OPENS)] = True
    opens = kinds[log.kind] & (log.subject >= 0)
    if not opens.any():
        return []
    kinds[list(_CLOSES)] = True
    among = np.zeros(int(log.subject.max()) + 1, np.bool_)
    among[log.subject[opens]] = True
    rows = np.flatnonzero(kinds[log.kind] & (log.subject >= 0))
    rows = rows[among[log.subject[rows]]]
    since: dict[int, int] = {}
    found = []
    for row, task, kind in zip(rows.tolist(), log.subject[rows].tolist(), log.kind[rows].tolist(), strict=True):
        if kind in _OPENS:
            since.setdefault(task, int(log.t_ns[row]))
        elif (begin := since.pop(task, None)) is not None:
            found.append((task, begin, row))
    found += [(task, begin, -1) for task, begin in since.items()]
    return found
