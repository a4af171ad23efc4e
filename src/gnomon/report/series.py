"""What reports are drawn from: a run's history and what changes over time in it.

:mod:`gnomon.insight.history` and :mod:`gnomon.insight.usage` have it. Reports import no insights; they say here what
they need of them, and get it handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Log
from gnomon.engine.outcome import Outcome
from gnomon.model.scenario import Scenario

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Steps(Protocol):
    """A quantity that changes in steps: ``value[i]`` holds from ``t_ns[i]`` on; 0 before the first."""

    @property
    def t_ns(self) -> Ints: ...
    @property
    def value(self) -> Floats: ...
    def binned(self, edges_ns: Ints, /) -> Floats:
        """The mean between each edge and the next."""


class Attempts(Protocol):
    """One row for each stay of a task in a place; times in ns, NEVER where it did not happen."""

    def __len__(self) -> int: ...
    @property
    def task(self) -> Ints: ...
    @property
    def node(self) -> Ints: ...
    @property
    def open_row(self) -> Ints: ...
    @property
    def close_row(self) -> Ints: ...
    @property
    def open_ns(self) -> Ints: ...
    @property
    def start_ns(self) -> Ints: ...
    @property
    def close_ns(self) -> Ints: ...
    @property
    def closed_by(self) -> npt.NDArray[np.int8]: ...


class Outage(Protocol):
    """A fault as it struck a node (index, -1: none of its own): its number, kind, and time (NEVER: to the end)."""

    @property
    def fault(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def node(self) -> int: ...
    @property
    def begin_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...


class History(Protocol):
    """A run, folded: what became of each task and of each attempt, and the time observed. ``places``: the attempts, and
    after them the copies of tasks that ran beside them."""

    @property
    def scenario(self) -> Scenario: ...
    @property
    def log(self) -> Log: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def attempts(self) -> Attempts: ...
    @property
    def places(self) -> Attempts: ...
    @property
    def waited_ns(self) -> Ints: ...
    @property
    def capacity(self) -> Mapping[str, int]: ...
    @property
    def demand(self) -> Mapping[str, Ints]: ...
    @property
    def begin_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...


@dataclass(frozen=True)
class Series:
    """What changes over time in a run: the allocated part of each resource, how many tasks wait, what went wrong."""

    past: History
    allocated: Mapping[str, Steps]
    queue: Steps
    faults: Sequence[Outage] = ()


def node_load(past: History, resource: str, edges_ns: Ints) -> Floats:
    """The mean amount of a resource that is held on each node between each edge and the next: shape (nodes, bins).

    The amount x time up to an edge e is the sum over the stays that began before it of a (e - begin), less that over
    those that ended before it of a (e - end); so two histograms, of a and of a t, give it for all nodes at once.
    """
    stays, edges = past.places, (edges_ns - edges_ns[0]).astype(np.float64)
    amount = past.demand[resource][past.scenario.work.shape[stays.task]].astype(np.float64)
    area = np.zeros((len(past.scenario.cluster.nodes), len(edges)))
    for t_ns, sign in ((stays.open_ns, 1.0), (np.minimum(stays.close_ns, past.end_ns), -1.0)):
        after = np.searchsorted(edges_ns, t_ns)
        seen = after < len(edges)
        cell, held = (np.maximum(stays.node, 0) * len(edges) + after)[seen], amount[seen]
        begun, moment = (
            np.bincount(cell, weights, minlength=area.size).reshape(area.shape).cumsum(axis=1)
            for weights in (held, held * (t_ns[seen] - edges_ns[0]))
        )
        area += sign * (begun * edges - moment)
    load: Floats = np.diff(area, axis=1) / np.diff(edges)
    return np.maximum(load, 0.0)
