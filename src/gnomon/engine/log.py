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
FAIL      an attempt ends before its time (reason: the cause): ns of work that are lost with it
RETRY     ns at which the task is queued again
QUEUE     attempts so far; the task stands in its queue again
UNDO      0; the result of a task that was done is lost, and has to be made again
FAULT     number of the fault among those of the run (details say which); subject or node: whom it strikes
HEAL      number of the fault, which is over
NOTICE    ns since the fault began; the control plane takes the node for lost
CLOSE     0; the node takes no new work (reason: why)
OPEN      0; the node takes new work again
COPY      device mask; a copy of the task runs besides the attempt that counts (reason: how that comes)
COPY_END  ns that the copy ran; it stops (reason: how it ended)
SPEED     speed of the attempt from now on, in 1/10,000 (reason: what slows it most)
PRESSURE  bytes left of a resource of the node (reason: which)
CALM      bytes left; the pressure is over
LEAD      the member of the control plane that decides from now on, -1 nobody
REFUSE    tasks of the job that are away; a budget forbids one more disruption
EVENT     0; a controller of the system says or decides something: details "reason" and "message" in its own words
========  ==========================================================================================

A task on a node that is gone, or cut off, fails (FAIL) when the control plane gives it up, not before; what still runs
on the other side then is a COPY. ``details`` hold more numbers and names of a row, where there are any.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt


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
    FAIL = 12
    RETRY = 13
    QUEUE = 14
    UNDO = 15
    FAULT = 16
    HEAL = 17
    NOTICE = 18
    CLOSE = 19
    OPEN = 20
    COPY = 21
    COPY_END = 22
    SPEED = 23
    PRESSURE = 24
    CALM = 25
    LEAD = 26
    REFUSE = 27
    EVENT = 28


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
    BACKOFF = 23
    """It is retried after a delay; value: when."""
    NO_LEADER = 24
    """Nobody decides: the control plane has no leader."""
    NEEDS = 25
    """It reads results that are not there (yet, or any more)."""
    GATED = 26
    """It is held back until somebody lets it go."""
    UNATTENDED = 27
    """Nobody looks at it: whoever should is not there, or does not care for it any more."""
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
    """The run made no progress for too long, at one instant or with attempts that fail again and again."""
    DEADLOCK = 63
    """Nothing can happen any more, and tasks hold what the others wait for."""
    INTERRUPTED = 64
    """The user interrupted the run."""
    EXIT = 70
    """The attempt failed by itself."""
    MEMORY = 71
    """It used more memory than its limit."""
    NODE_MEMORY = 72
    """Its node's memory was used up."""
    DISK = 73
    """Its node's disk was full, or too slow."""
    STORE = 74
    """The store of shared objects was full and could not spill."""
    DEVICE = 75
    """Its device was lost."""
    KILLED = 76
    """Its process was killed from outside."""
    NODE = 77
    """Its node was given up."""
    PEER = 78
    """A task of its gang was lost."""
    EVICTED = 79
    """It was sent away to relieve its node."""
    DRAINED = 80
    """It was sent away so that its node can be emptied."""
    DELETED = 81
    """Somebody deleted it."""
    CORDONED = 90
    """An operator closed the node."""
    LOST = 91
    """The node is taken for lost."""
    UNDER_PRESSURE = 92
    """The node has too little left of a resource."""
    REMOVED = 93
    """The node is not part of the cluster (any more)."""
    SPECULATIVE = 94
    """A second copy, because the first is slow."""
    ORPHANED = 95
    """A copy that the control plane has given up, and that runs on."""
    WON = 96
    """It was done before the attempt that counted."""
    BEATEN = 97
    """Another was done before it."""
    FENCED = 98
    """It was stopped: by its node, which was cut off too long, or by the control plane when it heard of it."""
    FINISHED = 99
    """It ran to its end though it did not count any more: its effects are there twice."""
    QUOTA = 100
    """Its limit of processors."""
    CPU = 101
    """Others want processors as well."""
    DISK_RATE = 102
    """The disk is too slow for all who use it."""
    PAUSES = 103
    """It pauses, as its memory is almost full."""
    SLOW = 104
    """The node is slow."""
    SPILLING = 105
    """It waits while the store of shared objects spills."""
    FULL_SPEED = 106
    """Nothing slows it any more."""
    ELECTED = 107
    """A majority chose it."""
    NO_MAJORITY = 108
    """No set of members that hear of each other is a majority."""
    STOPPING = 109
    """It was told to stop, and takes its time for that."""

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
    DELAYED = 8
    """It waits, but not in a queue: for a time, or for the results of others."""

    @property
    def label(self) -> str:
        """The word in the tasks file."""
        return "waiting" if self in (State.UNBORN, State.WAITING, State.HELD, State.DELAYED) else self.name.lower()


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a log as plain values; ``number``: which it is. ``details``: nothing where it has none."""

    number: int
    t_ns: int
    kind: Kind
    subject: int
    node: int
    cause: int
    reason: Reason
    value: int
    details: Mapping[str, int | str]


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
    details: Mapping[int, Mapping[str, int | str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t_ns)

    def renumbered(self, node_of: npt.NDArray[np.int64]) -> Log:
        """The same rows with other numbers of nodes: ``node_of`` has the new one of each."""
        if np.array_equal(node_of, np.arange(len(node_of))):
            return self
        return replace(self, node=np.where(self.node >= 0, node_of[self.node], -1).astype(np.int32))

    def row(self, number: int) -> Row:
        """One row, by its number from 0."""
        return Row(
            number,
            int(self.t_ns[number]),
            Kind(int(self.kind[number])),
            int(self.subject[number]),
            int(self.node[number]),
            int(self.cause[number]),
            Reason(int(self.reason[number])),
            int(self.value[number]),
            self.details.get(number, {}),
        )

    def back(self, number: int) -> Iterator[Row]:
        """A row, the one that caused it, and so on to what came from outside; nothing for -1."""
        while number >= 0:
            one = self.row(number)
            yield one
            number = one.cause

    def canonical_bytes(self) -> bytes:
        """The log as bytes that two equal runs share: every column, little-endian, in the order of the fields; then the
        details, if there are any, by row and name."""
        parts = []
        for name in COLUMNS:
            column = getattr(self, name)
            parts.append(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes())
        for row, facts in sorted(self.details.items()):
            parts.append(repr((row, sorted(facts.items()))).encode())
        return b"".join(parts)

    def digest(self) -> str:
        """SHA-256 of the canonical bytes."""
        return hashlib.sha256(self.canonical_bytes()).hexdigest()


COLUMNS: Final = tuple(one.name for one in fields(Log) if one.name != "details")
"""The names of the columns, in their order."""
