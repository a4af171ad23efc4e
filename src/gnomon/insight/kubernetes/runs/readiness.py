"""Which pods are ready when, as the API server has it.

A pod on a node that is down counts until that is noticed, and one that was told to stop counts no more. Sources:
``MarkPodsNotReady`` of ``pkg/controller/nodelifecycle``; endpoints and controllers leave terminating pods out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

import numpy as np

from gnomon.engine.log import Kind, Log, Reason
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.controllers.probes import ready_ns
from gnomon.systems.kubernetes.fleets.native import native_of
from gnomon.systems.kubernetes.scheduler.account import LEFT

Span = tuple[int, int]
Steps = list[tuple[int, int]]
"""Times, and how many there are from then on."""


@dataclass
class _Place:
    """A pod that runs: from when it is ready, and (``since``) from when it counts; NEVER while it does not."""

    node: int
    ready_ns: int
    since: int


@dataclass
class _Fold:
    spans: dict[int, list[Span]] = field(default_factory=dict)
    there: dict[int, _Place] = field(default_factory=dict)
    on: dict[int, set[int]] = field(default_factory=dict)

    def start(self, task: int, node: int, ready: int) -> None:
        self.leave(task, ready)
        self.there[task] = _Place(node, ready, ready)
        self.on.setdefault(node, set()).add(task)

    def stop(self, task: int, t_ns: int) -> None:
        """It is not ready any more."""
        place = self.there.get(task)
        if place is not None:
            if place.since < t_ns:
                self.spans.setdefault(task, []).append((place.since, t_ns))
            place.since = NEVER

    def leave(self, task: int, t_ns: int) -> None:
        self.stop(task, t_ns)
        place = self.there.pop(task, None)
        if place is not None:
            self.on[place.node].discard(task)

    def back(self, node: int, t_ns: int) -> None:
        for task in self.on.get(node, ()):
            place = self.there[task]
            place.since = max(place.ready_ns, t_ns)


def ready_spans(scenario: Scenario, log: Log) -> dict[int, list[Span]]:
    """For each task, from when to when its pods are ready; what is ready at the end, up to NEVER."""
    native = native_of(scenario)
    fold = _Fold()
    kinds = (Kind.START, *LEFT, Kind.CLOSE, Kind.OPEN, Kind.EVENT)
    delays: dict[int, int] = {}
    for row in np.flatnonzero(np.isin(log.kind, kinds)).tolist():
        kind, task, node, t_ns = int(log.kind[row]), int(log.subject[row]), int(log.node[row]), int(log.t_ns[row])
        if kind == Kind.START and task >= 0:
            if task not in delays:
                delays[task] = ready_ns(native.pods[task])
            fold.start(task, node, min(t_ns + delays[task], NEVER))
        elif kind in LEFT and task >= 0:
            fold.leave(task, t_ns)
        elif kind == Kind.EVENT and task >= 0 and _is_unready(log.details.get(row, {})):
            fold.stop(task, t_ns)
            fold.there[task].ready_ns = NEVER
        elif kind in (Kind.CLOSE, Kind.OPEN) and log.reason[row] == Reason.LOST:
            if kind == Kind.OPEN:
                fold.back(node, t_ns)
            for one in sorted(fold.on.get(node, ())) if kind == Kind.CLOSE else ():
                fold.stop(one, t_ns)
    for task in list(fold.there):
        fold.leave(task, NEVER)
    return fold.spans


def _is_unready(details: object) -> bool:
    """Whether an event says that a pod which was ready is so no more."""
    said = details if isinstance(details, dict) else {}
    return said.get("reason") == "Unhealthy" and str(said.get("message")).startswith("Readiness")


def end_of(scenario: Scenario, log: Log) -> int:
    """Up to when a run is known: where it was cut off, else where it was to end (NEVER: nothing happens any more)."""
    if len(log) and log.kind[-1] == Kind.STOP:
        return int(log.t_ns[-1])
    return scenario.limits.until_ns


def counted_over(spans: dict[int, list[Span]], tasks: Iterable[int], *, after_ns: int = 0) -> Steps:
    """How many of some tasks are ready over time, from 0 on; ``after_ns``: those that have been so for so long.

    >>> counted_over({0: [(5, 9)], 1: [(5, 7)]}, (0, 1))
    [(0, 0), (5, 2), (7, 1), (9, 0)]
    """
    moves: list[tuple[int, int]] = [(0, 0)]
    for task in tasks:
        for begin, end in spans.get(task, ()):
            if begin + after_ns < end:
                moves += [(begin + after_ns, 1), (end, -1)]
    steps: Steps = []
    count = 0
    for t_ns, together in groupby(sorted(moves), key=lambda move: move[0]):
        count += sum(one for _, one in together)
        if not steps or steps[-1][1] != count or t_ns == 0:
            steps.append((t_ns, count))
    return steps


def at(steps: Sequence[tuple[int, int]], t_ns: int) -> int:
    """How many there are at a time."""
    return steps[bisect_right(steps, t_ns, key=itemgetter(0)) - 1][1]


def events_by_object(log: Log) -> dict[str, list[tuple[int, str]]]:
    """What controllers said, by the object that it is about: times and reasons, in their order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for row, said in sorted(log.details.items()):
        if "about" in said:
            found.setdefault(str(said["about"]), []).append((int(log.t_ns[row]), str(said["reason"])))
    return found
