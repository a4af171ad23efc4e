"""A run over time, as arrays: in what state each task was and when, and levels and means made of that.

Everything is a function of the log; demands and capacities come from the scenario. Floats are fine here: these are
pictures, the ledger stays exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Kind, Log, Outcome, State
from gnomon.model.scenario import Scenario

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_STATE = {
    Kind.ARRIVE: State.WAITING,
    Kind.WAIT: State.WAITING,
    Kind.PREEMPT: State.WAITING,
    Kind.HOLD: State.HELD,
    Kind.START: State.RUNNING,
}


class Recorded(Protocol):
    """What a report needs of a run; :class:`gnomon.api.Run` is one."""

    @property
    def scenario(self) -> Scenario:
        """What was run."""

    @property
    def log(self) -> Log:
        """What happened."""

    @property
    def outcome(self) -> Outcome:
        """What became of every task."""


@dataclass(frozen=True)
class Spans:
    """One row for each stretch of time that a task spent in one state: waiting, held (its place is) or running.

    ``row`` is the log row that began it. A span that the run did not end lasts to the log's last instant.
    """

    task: Ints
    state: npt.NDArray[np.int8]
    node: Ints
    start_ns: Ints
    end_ns: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.task)

    def where(self, chosen: Flags) -> Spans:
        """The rows of a mask."""
        return Spans(
            self.task[chosen],
            self.state[chosen],
            self.node[chosen],
            self.start_ns[chosen],
            self.end_ns[chosen],
            self.row[chosen],
        )

    @property
    def waiting(self) -> Spans:
        """Where a task waits and holds nothing."""
        return self.where(self.state == State.WAITING)

    @property
    def holding(self) -> Spans:
        """Where a task has its resources, whether it runs or still waits for its peers."""
        return self.where(self.state != State.WAITING)

    @property
    def running(self) -> Spans:
        """Where a task runs."""
        return self.where(self.state == State.RUNNING)


def spans(log: Log) -> Spans:
    """The spans of every task, by task and then by time."""
    rows = np.flatnonzero(log.subject >= 0)
    rows = rows[np.argsort(log.subject[rows], kind="stable")]
    subject, t_ns = log.subject[rows].astype(np.int64), log.t_ns[rows]
    state_after = np.zeros(max(Kind) + 1, np.int8)
    for kind, then in _STATE.items():
        state_after[kind] = then
    state = state_after[log.kind[rows]]
    end_ns = np.full(len(rows), log.t_ns[-1] if len(log) else 0, np.int64)
    same = subject[1:] == subject[:-1]
    end_ns[:-1][same] = t_ns[1:][same]
    every = Spans(subject, state, log.node[rows].astype(np.int64), t_ns, end_ns, rows.astype(np.int64))
    return every.where(state > State.UNBORN)


def demand(scenario: Scenario, resource: str) -> Floats:
    """How much of a resource each task asks for, in ledger units."""
    amounts = np.array([shape.request.amount(resource) for shape in scenario.work.shapes], np.float64)
    return amounts[scenario.work.shape] if len(amounts) else np.zeros(0)


def capacity(scenario: Scenario, resource: str) -> Floats:
    """How much of a resource each node has, in ledger units."""
    return np.array([node.capacity.amount(resource) for node in scenario.cluster.nodes], np.float64)


def level(chosen: Spans, weight: Floats) -> tuple[Ints, Floats]:
    """The sum of the weights (one a span) of the spans that are open, as a step function.

    Gives the instants of change and the level from each of them on.

    >>> one = Spans(*(np.array(c) for c in ([0, 1], [3, 3], [0, 0], [0, 5], [10, 10], [0, 1])))
    >>> level(one, np.array([2.0, 1.0]))
    (array([ 0,  5, 10]), array([2., 3., 0.]))
    """
    if not len(chosen):
        return np.zeros(0, np.int64), np.zeros(0)
    t_ns = np.concatenate([chosen.start_ns, chosen.end_ns])
    change = np.concatenate([weight, -weight])
    order = np.argsort(t_ns, kind="stable")
    instants, first = np.unique(t_ns[order], return_index=True)
    return instants, np.cumsum(np.add.reduceat(change[order], first))


def means(chosen: Spans, weight: Floats, edges_ns: Floats, *, group: Ints | None = None, groups: int = 1) -> Floats:
    """The mean level between consecutive edges, a row for each group (by default one for all spans).

    Exact: the integral of a span up to x is ``w (x - start)`` from its start on, less ``w (x - end)`` from its end on;
    sums of ``w`` and ``w t`` below each edge give it for all spans at once.

    >>> one = Spans(*(np.array(c) for c in ([0], [3], [0], [5], [10], [0])))
    >>> means(one, np.array([2.0]), np.array([0.0, 10.0, 20.0]))
    array([[1., 0.]])
    """
    which = np.zeros(len(chosen), np.int64) if group is None else group
    size = len(edges_ns)
    integral = np.zeros((groups, size))
    for t_ns, sign in ((chosen.start_ns, 1.0), (chosen.end_ns, -1.0)):
        after = np.searchsorted(edges_ns, t_ns, side="left")
        inside = after < size
        cell = which[inside] * size + after[inside]
        begun, moment = (
            np.bincount(cell, weights=w, minlength=groups * size).reshape(groups, size).cumsum(axis=1)
            for w in (weight[inside], weight[inside] * (t_ns[inside] - edges_ns[0]))
        )
        integral += sign * (begun * (edges_ns - edges_ns[0]) - moment)
    mean: Floats = np.diff(integral, axis=1) / np.diff(edges_ns)
    return np.where(np.abs(mean) < 1e-9, 0.0, mean)


def edges(last_ns: int, *, first_ns: int = 0, count: int = 600) -> Floats:
    """``count`` intervals of equal length that cover a run (at least a nanosecond long in all)."""
    return np.linspace(first_ns, max(last_ns, first_ns + 1), count + 1)
