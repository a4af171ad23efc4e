"""What became of every task: the log, folded into one row a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Kind, Log, State
from gnomon.model.resources import NEVER


@dataclass(frozen=True)
class Outcome:
    """What became of every task, from the log alone. Times in ns, NEVER where it did not happen.

    ``arrive_ns`` is the first arrival (one that was withdrawn may be submitted anew); ``first_start_ns`` the first
    attempt's start, ``start_ns`` the last one's; ``reason`` is that of waiting, rejection or death; ``node`` the last
    place (-1: none).
    """

    state: npt.NDArray[np.int8]
    arrive_ns: npt.NDArray[np.int64]
    first_start_ns: npt.NDArray[np.int64]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    attempts: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    reason: npt.NDArray[np.int8]


_STATE_AFTER: Final = {
    Kind.ARRIVE: State.WAITING,
    Kind.REJECT: State.REJECTED,
    Kind.WAIT: State.WAITING,
    Kind.HOLD: State.HELD,
    Kind.START: State.RUNNING,
    Kind.END: State.DONE,
    Kind.KILL: State.KILLED,
    Kind.PREEMPT: State.WAITING,
    Kind.CANCEL: State.KILLED,
    Kind.FAIL: State.FAILED,
    Kind.RETRY: State.WAITING,
    Kind.QUEUE: State.WAITING,
    Kind.UNDO: State.WAITING,
}


def outcome(log: Log, tasks: int) -> Outcome:
    """Fold the log into one row a task (``tasks``: how many there are)."""
    state = np.zeros(tasks, np.int8)
    reason = np.zeros(tasks, np.int8)
    node = np.full(tasks, -1, np.int32)
    attempts = np.zeros(tasks, np.int32)
    arrive, first, start, end = (np.full(tasks, NEVER, np.int64) for _ in range(4))

    after = np.zeros(max(Kind) + 1, np.int8)
    for event, then in _STATE_AFTER.items():
        after[event] = then
    about_task = (log.subject >= 0) & (after[log.kind] > 0)
    kind, subject = log.kind[about_task], log.subject[about_task]
    t, why, where = log.t_ns[about_task], log.reason[about_task], log.node[about_task]
    # With repeated indices NumPy assigns in order, so the last row of a task wins.
    state[subject] = after[kind]
    reason[subject] = why

    arrived = kind == Kind.ARRIVE
    arrive[subject[arrived][::-1]] = t[arrived][::-1]
    started = kind == Kind.START
    start[subject[started]] = t[started]
    first[subject[started][::-1]] = t[started][::-1]
    node[subject[started]] = where[started]
    np.add.at(attempts, subject[started], 1)
    open_again = np.isin(kind, (Kind.ARRIVE, Kind.RETRY, Kind.QUEUE, Kind.UNDO))
    ended = np.isin(kind, (Kind.END, Kind.KILL, Kind.CANCEL, Kind.FAIL)) | open_again
    end[subject[ended]] = np.where(open_again[ended], NEVER, t[ended])
    return Outcome(state, arrive, first, start, end, attempts, node, reason)
