"""A run's history as columns: the one fold of the log that every insight starts from.

An *attempt* is one stay of a task in a place: it opens with HOLD or START, runs from START, and closes with END, KILL,
CANCEL, PREEMPT or FAIL (or with WAIT, when a place that was only held is given back). A *copy* of a task that runs
besides the attempt that counts opens with COPY and closes with COPY_END. What is still open when the log ends is
counted up to the end of the time observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.engine.outcome import Outcome, outcome
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import BoolArray, IntArray

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Attempts:
    """One row an attempt, by task and then time. Rows point into the log; times in ns, NEVER where it did not happen.

    - ``task``, ``node`` (-1: the pool): indices; ``devices``: mask of the node's devices it sits on.
    - ``open_row``, ``close_row`` (-1: still open); ``open_ns``, ``start_ns`` (NEVER: it only held), ``close_ns``.
    - ``closed_by``: the :class:`~gnomon.engine.log.Kind` of the closing row, 0 while open.
    """

    task: IntArray
    node: IntArray
    devices: IntArray
    open_row: IntArray
    close_row: IntArray
    open_ns: IntArray
    start_ns: IntArray
    close_ns: IntArray
    closed_by: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.task)


def attempts(log: Log) -> Attempts:
    """The attempts in a log."""
    rows = _placement_rows(log)
    kind, task = log.kind[rows], log.subject[rows]
    follows = np.zeros(len(rows) + 1, np.bool_)  # does row i continue the task of row i - 1?
    follows[1:-1] = task[1:] == task[:-1]

    after_hold = np.zeros(len(rows), np.bool_)
    after_hold[1:] = follows[1:-1] & (kind[:-1] == Kind.HOLD)
    opens = np.flatnonzero((kind == Kind.HOLD) | ((kind == Kind.START) & ~after_hold))
    started_late = follows[opens + 1] & (_at(kind, opens + 1) == Kind.START)
    starts = np.where(kind[opens] == Kind.START, opens, np.where(started_late, opens + 1, -1))
    closes = opens + 1 + started_late
    closes = np.where(follows[np.minimum(closes, len(rows))], closes, -1)

    placed = rows[np.where(starts >= 0, starts, opens)]
    close_row = np.where(closes >= 0, _at(rows, closes), -1)
    return Attempts(
        task=task[opens].astype(np.int64),
        node=log.node[placed].astype(np.int64),
        devices=log.value[placed],
        open_row=rows[opens],
        close_row=close_row,
        open_ns=log.t_ns[rows[opens]],
        start_ns=np.where(starts >= 0, log.t_ns[_at(rows, starts)], NEVER),
        close_ns=np.where(close_row >= 0, _at(log.t_ns, close_row), NEVER),
        closed_by=np.where(close_row >= 0, _at(log.kind, close_row), 0).astype(np.int8),
    )


def _placement_rows(log: Log) -> IntArray:
    """The rows that give or take a place, ordered by task and within it by time."""
    wanted = np.zeros(max(Kind) + 1, np.bool_)
    wanted[[Kind.HOLD, Kind.START, Kind.END, Kind.KILL, Kind.PREEMPT, Kind.CANCEL, Kind.FAIL]] = True
    chosen = wanted[log.kind] & (log.subject >= 0)
    if (log.kind == Kind.HOLD).any():  # only then can a WAIT give a place back
        chosen |= (log.kind == Kind.WAIT) & (log.reason != Reason.PEERS)
    rows = np.flatnonzero(chosen)
    key = log.subject[rows] * np.int64(len(log)) + rows  # one sort of whole numbers is faster than a stable argsort
    key.sort()
    return key % max(len(log), 1)


@dataclass(frozen=True)
class Copies:
    """One row a copy of a task, by task, node and time; the columns are as those of :class:`Attempts`.

    ``opened_why``, ``closed_why``: the :class:`~gnomon.engine.log.Reason` of its first and its last row (0 while open).
    """

    task: IntArray
    node: IntArray
    devices: IntArray
    open_row: IntArray
    close_row: IntArray
    open_ns: IntArray
    close_ns: IntArray
    opened_why: npt.NDArray[np.int8]
    closed_why: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.task)


def copies(log: Log) -> Copies:
    """The copies in a log. At one time a node runs at most one copy of a task."""
    rows = np.flatnonzero((log.kind == Kind.COPY) | (log.kind == Kind.COPY_END))
    rows = rows[np.lexsort((rows, log.node[rows], log.subject[rows]))]
    opens = np.flatnonzero(log.kind[rows] == Kind.COPY)
    same = (_at(log.subject[rows], opens + 1) == log.subject[rows[opens]]) & (opens + 1 < len(rows))
    same &= _at(log.node[rows], opens + 1) == log.node[rows[opens]]
    same &= _at(log.kind[rows], opens + 1) == Kind.COPY_END
    open_row, close_row = rows[opens], np.where(same, _at(rows, opens + 1), -1)
    return Copies(
        task=log.subject[open_row].astype(np.int64),
        node=log.node[open_row].astype(np.int64),
        devices=log.value[open_row],
        open_row=open_row,
        close_row=close_row,
        open_ns=log.t_ns[open_row],
        close_ns=np.where(same, _at(log.t_ns, close_row), NEVER),
        opened_why=log.reason[open_row],
        closed_why=np.where(same, _at(log.reason, close_row), 0).astype(np.int8),
    )


def _at(values: npt.NDArray[np.generic], index: IntArray) -> npt.NDArray[np.generic]:
    """``values[index]``, something arbitrary where the index is beyond either end (also of an empty column)."""
    if not len(values):
        return np.zeros(len(index), values.dtype)
    return values[np.clip(index, 0, len(values) - 1)]


@dataclass(frozen=True)
class History:
    """The log of a run, folded. ``begin_ns`` to ``end_ns`` is the time observed.

    It begins with the first submission of a task that was not rejected, and ends with the last end or, where tasks
    still wait or run, with the last row of the log.
    """

    scenario: Scenario
    log: Log
    outcome: Outcome
    attempts: Attempts
    begin_ns: int
    end_ns: int

    @property
    def span_ns(self) -> int:
        """The length of the time observed."""
        return self.end_ns - self.begin_ns

    @cached_property
    def copies(self) -> Copies:
        """The copies of tasks that ran besides the attempts."""
        return copies(self.log)

    @cached_property
    def places(self) -> Attempts:
        """All that took a place: the attempts, and after them the copies (closed by COPY_END)."""
        one, two = self.attempts, self.copies
        if not len(two):
            return one
        by = np.where(two.close_row >= 0, Kind.COPY_END, 0).astype(np.int8)
        more = {name: getattr(two, name) for name in ("task", "node", "devices", "open_row", "close_row")}
        more |= {"open_ns": two.open_ns, "start_ns": two.open_ns, "close_ns": two.close_ns, "closed_by": by}
        return Attempts(**{name: np.concatenate((getattr(one, name), column)) for name, column in more.items()})

    @cached_property
    def held_ns(self) -> IntArray:
        """For how long each attempt had its place, running or not."""
        return np.minimum(self.attempts.close_ns, self.end_ns) - self.attempts.open_ns

    @cached_property
    def run_ns(self) -> IntArray:
        """For how long each attempt ran."""
        until = np.minimum(self.attempts.close_ns, self.end_ns)
        return until - np.minimum(self.attempts.start_ns, until)

    @cached_property
    def accepted(self) -> BoolArray:
        """Which tasks arrived and were not rejected."""
        return _accepted(self.outcome)

    @cached_property
    def capacity(self) -> dict[str, int]:
        """The cluster's total of each of its resources, in ledger units."""
        cluster = self.scenario.cluster
        return {name: cluster.total(name) for name in cluster.resource_names()}

    @cached_property
    def demand(self) -> dict[str, IntArray]:
        """What one task of each shape asks for, of each of the cluster's resources (NEVER stands for all above it)."""
        requests = [shape.request for shape in self.scenario.work.shapes]
        return {name: np.array([min(r.amount(name), NEVER) for r in requests], np.int64) for name in self.capacity}

    @cached_property
    def submit_ns(self) -> IntArray:
        """When each task was submitted, NEVER for one that was not."""
        return _submitted(self.scenario, self.outcome)

    @cached_property
    def waited_ns(self) -> IntArray:
        """The longest wait of each task (:mod:`gnomon.insight.waiting`)."""
        from gnomon.insight.waiting import longest_waits

        return longest_waits(self).ns

    @cached_property
    def dominant(self) -> FloatArray:
        """The dominant share of one task of each shape: the largest part of the cluster that it asks for."""
        shares = [self.demand[name] / float(total) for name, total in self.capacity.items()]
        return np.max(shares, axis=0) if shares else np.zeros(len(self.scenario.work.shapes))


def history(scenario: Scenario, log: Log) -> History:
    """Fold the log once."""
    what = outcome(log, len(scenario.work))
    stays = attempts(log)
    accepted = _accepted(what)
    if not accepted.any():
        return History(scenario, log, what, stays, 0, 0)
    begin = int(_submitted(scenario, what)[accepted].min())
    over = np.isin(what.state[accepted], (State.DONE, State.FAILED, State.KILLED)).all()
    end = int(what.end_ns[accepted].max()) if over else int(log.t_ns[-1])
    return History(scenario, log, what, stays, begin, max(begin, end))


def _submitted(scenario: Scenario, what: Outcome) -> IntArray:
    """When each task was submitted: when the scenario says or, where its system decides that, when it arrived."""
    submit = scenario.work.submit_ns
    later = submit >= NEVER
    return np.where(later, what.arrive_ns, submit) if later.any() else submit


def _accepted(what: Outcome) -> BoolArray:
    accepted: BoolArray = (what.state != State.UNBORN) & (what.state != State.REJECTED)
    return accepted
