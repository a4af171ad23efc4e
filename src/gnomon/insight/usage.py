"""What changes over time: how much of a resource is allocated, and how many tasks wait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Kind, Reason
from gnomon.insight.history import FloatArray, History
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray


@dataclass(frozen=True, slots=True)
class Steps:
    """A quantity that changes in steps: ``value[i]`` holds from ``t_ns[i]`` up to ``t_ns[i + 1]``; 0 before the first.

    >>> steps = Steps(np.array([0, 10, 20]), np.array([2.0, 4.0, 0.0]))
    >>> steps.mean(0, 20), steps.peak(0, 20), steps.binned(np.array([0, 5, 15, 40])).tolist()
    (3.0, 4.0, [2.0, 3.0, 0.8])
    """

    t_ns: IntArray
    value: FloatArray

    def binned(self, edges_ns: IntArray) -> FloatArray:
        """The mean in each bin; ``edges_ns`` (increasing) are one more than the bins."""
        area = np.concatenate(([0.0], np.cumsum(self.value[:-1] * np.diff(self.t_ns))))
        last = np.searchsorted(self.t_ns, edges_ns, side="right") - 1
        here = np.maximum(last, 0)
        until = np.where(last < 0, 0.0, area[here] + self.value[here] * (edges_ns - self.t_ns[here]))
        return np.diff(until) / np.diff(edges_ns)

    def mean(self, begin_ns: int, end_ns: int) -> float:
        """The mean over a time that is not empty."""
        return float(self.binned(np.array([begin_ns, end_ns], np.int64))[0])

    def peak(self, begin_ns: int, end_ns: int) -> float:
        """The largest value that holds for some time between the two."""
        first = max(int(np.searchsorted(self.t_ns, begin_ns, side="right")) - 1, 0)
        held = self.value[first : int(np.searchsorted(self.t_ns, end_ns))]
        return max(0.0, float(held.max())) if len(held) else 0.0


def steps(t_ns: IntArray, change: npt.NDArray[np.generic], unit: int = 1) -> Steps:
    """The running sum of changes in order of time, one step an instant, divided by ``unit``."""
    if not len(t_ns):
        return Steps(np.zeros(1, np.int64), np.zeros(1))
    last = np.flatnonzero(np.append(t_ns[1:] != t_ns[:-1], True))
    level = np.cumsum(change, dtype=object if change.dtype == object else np.int64)[last]
    moved = np.append(True, level[1:] != level[:-1])
    return Steps(t_ns[last][moved], (level[moved] / unit).astype(np.float64))


def allocated(past: History, resource: str) -> Steps:
    """The part of the cluster's total of one resource that is held, running or not."""
    stays, unit = past.places, past.capacity[resource]
    amount = past.demand[resource][past.scenario.work.shape[stays.task]]
    # A sum beyond 64 bits is rare and slow, but never wrong.
    change = np.zeros(len(past.log), np.int64 if unit < NEVER else object)
    change[stays.open_row] = amount
    closed = stays.close_row >= 0
    change[stays.close_row[closed]] -= amount[closed]
    return steps(past.log.t_ns, change, unit)


_WAITS_AFTER = (Kind.ARRIVE, Kind.WAIT, Kind.HOLD, Kind.PREEMPT, Kind.RETRY, Kind.QUEUE, Kind.UNDO)
"""The events after which a task waits."""


def queue_length(past: History) -> Steps:
    """How many accepted tasks wait: have arrived, do not run and are not over (a task that only holds waits too).

    A task that reads results that are not there yet does not wait: no more processors would let it start.
    """
    log, stays = past.log, past.attempts
    if past.scenario.work.needs or np.isin(log.kind, (Kind.FAIL, Kind.RETRY, Kind.QUEUE, Kind.UNDO)).any():
        return steps(log.t_ns, _waits_from_then_on(past))
    by_kind = np.zeros(max(Kind) + 1, np.int8)
    by_kind[Kind.ARRIVE] = 1
    by_kind[[Kind.START, Kind.CANCEL, Kind.KILL]] = -1
    change = by_kind[log.kind]
    ran = (stays.close_row >= 0) & (stays.start_ns < NEVER)
    change[stays.close_row[ran]] = np.where(stays.closed_by[ran] == Kind.PREEMPT, 1, 0)
    refused = ~past.accepted
    if refused.any():
        change[(log.subject >= 0) & refused[log.subject]] = 0
    return steps(log.t_ns, change)


def _waits_from_then_on(past: History) -> IntArray:
    """For each row, how many tasks more wait after it: by whether its task waits after it, and did before it."""
    log = past.log
    about = np.zeros(max(Kind) + 1, np.bool_)
    about[[*_WAITS_AFTER, Kind.START, Kind.END, Kind.KILL, Kind.CANCEL, Kind.FAIL, Kind.REJECT]] = True
    rows = np.flatnonzero(about[log.kind] & (log.subject >= 0))
    rows = rows[past.accepted[log.subject[rows]]]
    rows = rows[np.argsort(log.subject[rows], kind="stable")]
    needs = (log.kind[rows] == Kind.WAIT) & (log.reason[rows] == Reason.NEEDS)
    waits = (np.isin(log.kind[rows], _WAITS_AFTER) & ~needs).astype(np.int64)
    change = np.zeros(len(log), np.int64)
    change[rows] = np.diff(waits, prepend=0)
    first = np.flatnonzero(np.diff(log.subject[rows], prepend=-1))
    change[rows[first]] = waits[first]
    return change
