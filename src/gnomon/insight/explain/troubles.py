"""What went wrong for a subject after it had started, if anything: the row that matters, and what is wanted instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight.explain.faults import fault_behind
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import failures
from gnomon.insight.explain.ordeals import delay_ns, duplicates, planned_ns, slowest, stopped_by
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.explain.wanted import Wanted, done_by, run_again, run_once, run_to_its_end, start_anew
from gnomon.model.resources import NEVER


class Trouble(Enum):
    """It failed for good, ran twice, waits for another attempt, stands still on a node that has stopped, was done late
    as attempts were lost, or was slow."""

    FAILED = "failed"
    TWICE = "twice"
    AGAIN = "again"
    STILL = "still"
    LATE = "late"
    SLOW = "slow"


@dataclass(frozen=True)
class Mishap:
    """``row``: the row that matters (FAIL, COPY, SPEED); ``reason``: of the loss or slowness; ``since_fault_ns``: of a
    task that ran twice, how long after the fault it started again; ``less``: what is wanted if nothing brings about
    ``wanted``."""

    trouble: Trouble
    row: int
    reason: Reason
    wanted: Wanted
    since_fault_ns: int = 0
    less: Wanted | None = None


def _away(ground: Ground, tasks: Sequence[int], task: int, row: int) -> Mishap | None:
    """It runs on beyond the end of the run, and was away for a while, as its node was lost: that may be shorter."""
    start = int(ground.past.outcome.start_ns[task])
    since = (fault_behind(ground, row) or ground.past.log.row(row)).t_ns
    gone, those = start - since, [one for one in tasks if failures(ground, one)]
    if gone <= 0:
        return None
    half, tenth = (
        start_anew(those, start - part, since_ns=since, now_ns=start) for part in ((gone + 1) // 2, (gone + 9) // 10)
    )
    return Mishap(Trouble.LATE, row, Reason.NODE, half, less=tenth)


_OF_ITS_USE = (Reason.EXIT, Reason.MEMORY, Reason.NODE_MEMORY, Reason.EVICTED, Reason.DISK, Reason.STORE)
"""Why an attempt fails once it has come so far: the next one may do so too."""


def _longest_run(ground: Ground, task: int, row: int) -> int:
    """How long the longest failed attempt of the task of a loss ran, and 1 ns more."""
    stays, lost = ground.past.attempts, int(ground.past.log.subject[row])
    mine = (stays.closed_by == Kind.FAIL) & (stays.start_ns < NEVER) & np.isin(stays.task, (task, lost))
    return int((stays.close_ns - stays.start_ns)[mine].max(initial=-1)) + 1


def first_loss(ground: Ground, row: int) -> int:
    """Of a task that only went with its gang the row of the one that was lost first, else the row itself."""
    log = ground.past.log
    cause = int(log.cause[row])
    return cause if log.reason[row] == Reason.PEER and cause >= 0 and log.kind[cause] == Kind.FAIL else row


def mishap(ground: Ground, tasks: Sequence[int], task: int) -> Mishap | None:
    """What went wrong for a task that stands for ``tasks``; None if nothing did, or nothing can be wanted."""
    log, what, until = ground.past.log, ground.past.outcome, ground.scenario.limits.until_ns
    state, lost = State(int(what.state[task])), [first_loss(ground, row) for row in failures(ground, task)]
    reason = Reason(int(log.reason[lost[-1]])) if lost else Reason.NONE
    if state is State.FAILED and lost:
        return Mishap(Trouble.FAILED, lost[-1], reason, run_to_its_end(tasks, until))
    if twice := duplicates(ground, task):
        position, begin, _ = twice[0]
        row = int(ground.past.copies.open_row[position])
        fault = fault_behind(ground, row)
        since = 0 if fault is None else begin - fault.t_ns
        once = run_once(tasks, until, endless=bool((what.state[list(tasks)] != State.DONE).any()))
        return Mishap(Trouble.TWICE, row, Reason(int(log.reason[int(log.cause[row])])), once, since)
    if lost and state in (State.WAITING, State.HELD, State.DELAYED):
        proven = _longest_run(ground, task, lost[-1]) if reason in _OF_ITS_USE else 0
        return Mishap(Trouble.AGAIN, lost[-1], reason, run_again(tasks, until, proven_ns=proven))
    if (stop := stopped_by(ground, task)) >= 0:
        return Mishap(Trouble.STILL, stop, Reason.NODE, run_to_its_end(tasks, until))
    late, less = delay_ns(ground, task), None
    if state is State.RUNNING and (lost or slowest(ground, task)[0] >= 0):
        undisturbed = int(what.first_start_ns[task]) + min(planned_ns(ground, task), NEVER)
        if undisturbed > min(until, ground.horizon_ns):
            return _away(ground, tasks, task, lost[-1]) if reason is Reason.NODE else None
        wanted = done_by(tasks, min(until, ground.horizon_ns))
    elif late:
        end = int(what.end_ns[task])
        wanted = done_by(tasks, end - (late + 1) // 2, now_ns=end)
        less = done_by(tasks, end - (late + 9) // 10, now_ns=end)
    else:
        return None
    row, cost = slowest(ground, task)
    undone = rows_of(log, (task,), Kind.UNDO)
    if len(undone) and not lost and not cost:
        return Mishap(Trouble.LATE, int(undone[-1]), Reason(int(log.reason[undone[-1]])), wanted, less=less)
    if lost and int(log.value[lost].sum()) >= cost:
        largest = max(lost, key=lambda one: int(log.value[one]))
        return Mishap(Trouble.LATE, largest, Reason(int(log.reason[largest])), wanted, less=less)
    return Mishap(Trouble.SLOW, row, Reason(int(log.reason[row])), wanted, less=less) if row >= 0 else None
