"""The figures of a stage attempt by which causes are judged, and what a cause is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from gnomon.insight.explain.phrases import Numbers
from gnomon.systems.spark.application import Application, StageAttempt
from gnomon.systems.spark.conf import task_cpus
from gnomon.systems.spark.facts import nearest_rank, peak_running
from gnomon.systems.spark.tasks import IntArray, Tasks

STRAGGLER: Final = 2
"""A task is a straggler that takes more than so many times the median."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause. ``rule``: its name; ``object``: of which it is said, as ``task/17`` or ``executor/3``; ``text``: a
    sentence; ``cost_ms``: see the module; ``numbers``: what it rests on."""

    rule: str
    object: str
    text: str
    cost_ms: int
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """An attempt with the figures that causes are judged by. Times in ms; ``wall``: from the first launch to the last
    finish; ``slots``: how many tasks the executors took at a time; ``fresh``: the first tasks of each executor."""

    attempt: StageAttempt
    good: Tasks
    duration: IntArray
    data: IntArray
    records: IntArray
    median: int
    wall: int
    slots: int
    fresh: frozenset[int]

    @property
    def stragglers(self) -> IntArray:
        """Rows of tasks that take much longer than the median, the longest first."""
        found = np.flatnonzero(self.duration > STRAGGLER * max(self.median, 1))
        return found[np.argsort(-self.duration[found], kind="stable")]


def figures_of(application: Application, attempt: StageAttempt) -> Figures | None:
    """The figures of an attempt; None where none of its tasks succeeded."""
    good = attempt.tasks.succeeded
    if not len(good):
        return None
    duration = good.duration_ms
    data = good.shuffle_read_bytes + good.column("input_bytes")
    records = good.column("read_records") + good.column("input_records")
    wall = int(attempt.tasks.column("finish_ms").max() - attempt.tasks.column("launch_ms").min())
    fresh = first_tasks(application)
    return Figures(attempt, good, duration, data, records, median_of(duration), wall, slots_of(application), fresh)


@lru_cache(maxsize=1)
def first_tasks(application: Application) -> frozenset[int]:
    """The ids of the tasks that were the first on their slot, so that all had still to be started there."""
    found: dict[int, list[tuple[int, int]]] = {}
    for attempt in application.attempts:
        columns = (attempt.tasks.column(name).tolist() for name in ("executor", "launch_ms", "task_id"))
        for executor, launch, task in zip(*columns, strict=True):
            found.setdefault(executor, []).append((launch, task))
    fresh: set[int] = set()
    for name, tasks in found.items():
        executor = application.executors.get(application.attempts[0].tasks.names[name])
        fresh.update(task for _, task in sorted(tasks)[: max(1, executor.cores if executor else 1)])
    return frozenset(fresh)


@lru_cache(maxsize=1)
def slots_of(application: Application) -> int:
    """How many tasks the executors took at a time, when most of them were there; where the log does not say how many
    cores they have, how many tasks ran at a time at most."""
    each = task_cpus(application)
    changes = []
    for one in application.executors.values():
        if one.added_ms is not None and one.cores:
            changes.append((one.added_ms, one.cores // each))
            if one.removed_ms is not None:
                changes.append((one.removed_ms, -(one.cores // each)))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most or max(1, peak_running([one.tasks for one in application.attempts]))


def median_of(values: IntArray) -> int:
    """By nearest rank, as in the facts."""
    return nearest_rank(sorted(values.tolist()), 50)
