"""The causal columnar log: the one truth of a run. Everything shown is a function of it.

One row an event. ``t_ns``; ``instant`` (rows of one simultaneous step share it); ``kind``; ``subject`` (index of the
task, -1 none); ``node`` (index, -1 none or pool-wide); ``cause`` (row that made it happen, -1 for what comes from
outside); ``reason``; ``value``, whose meaning hangs on the kind:

========  ==========================================================================================
kind      value
========  ==========================================================================================
ARRIVE    0
REJECT    -1 (what makes it infeasible is a function of the scenario alone)
WAIT      Kind EVENT: earliest start in ns as far as estimates tell (-1 unknown); BEHIND: the task in front
          (index, -1 unknown); LIMIT: tenant index
HOLD      device mask; the task holds its place and waits for its peers
START     device mask
END       0 (the task is done)
KILL      0 (ended by a limit: reason says which)
PREEMPT   the task (index) that takes its place
CANCEL    0
STOP      the run itself ended early: reason says which limit
WAKE      0 (a window that was set aside begins or ends)
========  ==========================================================================================
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from gnomon.model.resources import NEVER


class Kind(IntEnum):
    """What happened."""

    ARRIVE = 1
    REJECT = 2
    WAIT = 3
    HOLD = 4
    START = 5
    END = 6
    KILL = 7
    PREEMPT = 8
    CANCEL = 9
    STOP = 10
    WAKE = 11


class Waiting(IntEnum):
    """The four kinds of waiting (and none)."""

    NONE = 0
    INFEASIBLE = 1
    EVENT = 2
    LIMIT = 3
    BEHIND = 4


class Reason(IntEnum):
    """Why something waits, was refused or died, decided where the decision is made. Tens digit: its ``Waiting``."""

    NONE = 0
    TOO_LARGE = 10
    """More of a resource than any node has."""
    NO_NODE_KIND = 11
    """No node is of a kind that it accepts."""
    OVER_LIMIT = 12
    """More than its tenant may ever hold."""
    GANG_TOO_LARGE = 13
    """The job's tasks together fit no empty cluster."""
    UNUSABLE = 14
    """The row cannot run as it stands (unknown run time, no processors...)."""
    DROPPED = 15
    """There was no room on its arrival, and the scenario does not let tasks wait."""
    RESOURCES = 20
    """Not enough is free now; value: earliest start by the estimates."""
    RESERVED = 21
    """Capacity set aside in advance is in the way."""
    PEERS = 22
    """Its place is held; the other tasks of the job have none yet."""
    TENANT_LIMIT = 30
    """Its user or queue holds as much as it may."""
    TENANT_RUNNING = 31
    """Its user or queue runs as many tasks as it may."""
    ORDER = 40
    """Another stands in front and may not be overtaken."""
    BACKFILL = 41
    """It would delay a start that is promised to another."""
    TURN = 42
    """It is another tenant's turn."""
    AT_ESTIMATE = 50
    """Killed on reaching its estimate."""
    PREEMPTED = 51
    """Gave way to higher priority."""
    LIMIT_EVENTS = 60
    """The run reached its limit of events."""
    LIMIT_TIME = 61
    """The run reached its horizon."""
    LIMIT_REPEATS = 62
    """The run made no progress at one instant for too long."""
    DEADLOCK = 63
    """Nothing can happen any more, and tasks hold what the others wait for."""
    INTERRUPTED = 64
    """The user interrupted the run."""

    @property
    def waiting(self) -> Waiting:
        """The kind of waiting that this reason is of."""
        return Waiting(self.value // 10) if self.value < 50 else Waiting.NONE


class State(IntEnum):
    """Where a task is; ``label`` is the word in the tasks file."""

    UNBORN = 0
    WAITING = 1
    HELD = 2
    RUNNING = 3
    DONE = 4
    FAILED = 5
    KILLED = 6
    REJECTED = 7

    @property
    def label(self) -> str:
        """The word in the tasks file."""
        return "waiting" if self in (State.UNBORN, State.WAITING, State.HELD) else self.name.lower()


@dataclass(frozen=True)
class Log:
    """The columns, equally long. See the module's docstring for their meaning."""

    t_ns: npt.NDArray[np.int64]
    instant: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int8]
    subject: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    cause: npt.NDArray[np.int32]
    reason: npt.NDArray[np.int8]
    value: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.t_ns)

    def canonical_bytes(self) -> bytes:
        """The log as bytes that two equal runs share: every column, little-endian, in the order of the fields."""
        parts = []
        for field in fields(self):
            column = getattr(self, field.name)
            parts.append(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes())
        return b"".join(parts)

    def digest(self) -> str:
        """SHA-256 of the canonical bytes."""
        return hashlib.sha256(self.canonical_bytes()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What became of every task, from the log alone. Times in ns, NEVER where it did not happen.

    ``first_start_ns`` is the first attempt's start, ``start_ns`` the last one's; ``reason`` is that of waiting,
    rejection or death; ``node`` the last place (-1: none).
    """

    state: npt.NDArray[np.int8]
    arrive_ns: npt.NDArray[np.int64]
    first_start_ns: npt.NDArray[np.int64]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    attempts: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    reason: npt.NDArray[np.int8]


_STATE_AFTER = {
    Kind.ARRIVE: State.WAITING,
    Kind.REJECT: State.REJECTED,
    Kind.WAIT: State.WAITING,
    Kind.HOLD: State.HELD,
    Kind.START: State.RUNNING,
    Kind.END: State.DONE,
    Kind.KILL: State.KILLED,
    Kind.PREEMPT: State.WAITING,
    Kind.CANCEL: State.KILLED,
}


def outcome(log: Log, tasks: int) -> Outcome:
    """Fold the log into one row a task (``tasks``: how many there are)."""
    state = np.zeros(tasks, np.int8)
    reason = np.zeros(tasks, np.int8)
    node = np.full(tasks, -1, np.int32)
    attempts = np.zeros(tasks, np.int32)
    arrive, first, start, end = (np.full(tasks, NEVER, np.int64) for _ in range(4))

    about_task = log.subject >= 0
    kind, subject = log.kind[about_task], log.subject[about_task]
    t, why, where = log.t_ns[about_task], log.reason[about_task], log.node[about_task]
    # With repeated indices NumPy assigns in order, so the last row of a task wins.
    after = np.zeros(max(Kind) + 1, np.int8)
    for event, then in _STATE_AFTER.items():
        after[event] = then
    state[subject] = after[kind]
    reason[subject] = why

    arrived = kind == Kind.ARRIVE
    arrive[subject[arrived]] = t[arrived]
    started = kind == Kind.START
    start[subject[started]] = t[started]
    first[subject[started][::-1]] = t[started][::-1]
    node[subject[started]] = where[started]
    np.add.at(attempts, subject[started], 1)
    ended = np.isin(kind, (Kind.END, Kind.KILL, Kind.CANCEL))
    end[subject[ended]] = t[ended]
    return Outcome(state, arrive, first, start, end, attempts, node, reason)
