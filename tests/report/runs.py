"""Small runs to report on, made by hand so that these tests need no scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, Log, Reason
from gnomon.engine.outcome import Outcome, outcome
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import Resources
from gnomon.model.scenario import Policy, Scenario
from gnomon.model.work import Shape, Task, Work

Row = tuple[int, Kind, int] | tuple[int, Kind, int, int] | tuple[int, Kind, int, int, int]


def log_of(*rows: Row) -> Log:
    """A log from (t_ns, kind, subject[, node[, cause]])."""
    full = [(*row, *(-1, -1)[len(row) - 3 :]) for row in rows]
    t, kind, subject, node, cause = (list(column) for column in zip(*full, strict=True)) if full else ([],) * 5
    return Log(
        t_ns=np.array(t, np.int64),
        instant=np.searchsorted(np.unique(t), t).astype(np.int32),
        kind=np.array(kind, np.int8),
        subject=np.array(subject, np.int32),
        node=np.array(node, np.int32),
        cause=np.array(cause, np.int32),
        reason=np.zeros(len(t), np.int8),
        value=np.zeros(len(t), np.int64),
    )


@dataclass(frozen=True)
class Recording:
    """The least that a report needs of a run."""

    scenario: Scenario
    log: Log
    stopped: Reason = Reason.NONE

    @property
    def outcome(self) -> Outcome:
        return outcome(self.log, len(self.scenario.work))


def one_after_another(tasks: int = 12, *, pool: bool = False, policy: str = "fcfs", name: str = "t") -> Recording:
    """Tasks of 2 CPUs that arrive at 0 and run for 1, 2, 3… s: two at a time on two nodes (or a pool) of 2 CPUs."""
    shape = Shape(Resources(cpu_milli=2000))
    work = Work.from_tasks(
        Task(f"{name}{i}", shape, duration_ns=(i + 1) * 10**9, user=f"u{i % 3}") for i in range(tasks)
    )
    nodes = tuple(Node(f"n{i}", Resources(cpu_milli=2000)) for i in range(2))
    cluster = Cluster.of_processors(4) if pool else Cluster(nodes, source="nodes.yaml")
    free_at = [0, 0]
    rows: list[tuple[int, Any]] = [(0, (Kind.ARRIVE, i, -1)) for i in range(tasks)]
    for i in range(tasks):
        place = free_at.index(min(free_at))
        start, free_at[place] = free_at[place], free_at[place] + (i + 1) * 10**9
        node = -1 if pool else place
        rows += [(start, (Kind.START, i, node)), (free_at[place], (Kind.END, i, node))]
    rows.sort(key=lambda row: (row[0], row[1][0] == Kind.START))
    return Recording(
        Scenario(cluster, work, Policy(text=policy), name="one after another"),
        log_of(*((t, *rest, cause) for cause, (t, rest) in enumerate(rows, start=-1))),
    )
