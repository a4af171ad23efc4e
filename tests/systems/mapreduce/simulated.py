"""Jobs of MapReduce run in the shared world, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnomon.api import Run, simulate
from gnomon.control.batch.driver import Driver
from gnomon.dataflow import Dataflow
from gnomon.dataflow.cost import Cost
from gnomon.engine.log import Kind
from gnomon.model.cluster import Cluster
from gnomon.model.fault import Failure
from gnomon.systems.mapreduce.costs import Costs
from gnomon.systems.mapreduce.execution import Tasks
from gnomon.systems.mapreduce.read import Configuration
from gnomon.systems.mapreduce.scenario import scenario_of, workers
from gnomon.systems.mapreduce.settings import Settings

S = 10**9
SLOW = Costs(Cost(start_ns=S, record_ns=S))
"""A second for each record: long enough for something to happen."""


@dataclass
class Simulated:
    """A run and what is in its log."""

    run: Run

    @property
    def tasks(self) -> Tasks:
        driver = self.run.native_state
        assert isinstance(driver, Driver)
        assert isinstance(driver.execution, Tasks)
        return driver.execution

    @property
    def output(self) -> dict[str, Any]:
        """The files of the last job."""
        outputs = self.tasks.outputs
        return outputs[max(outputs)].visible

    def rows(self, kind: Kind) -> list[tuple[int, str]]:
        """When something happened [ns], and to which task."""
        log = self.run.log
        return [
            (int(log.t_ns[row]), self.run.scenario.work.id(int(log.subject[row])))
            for row in np.flatnonzero((log.kind == kind) & (log.subject >= 0)).tolist()
        ]

    def rows_of_maps(self) -> list[tuple[int, str]]:
        """When each map ended."""
        return [(t, task) for t, task in self.rows(Kind.END) if "_m_" in task]

    def of(self, kind: Kind) -> list[str]:
        """The tasks to which something happened, in order."""
        return [task for _, task in self.rows(kind)]

    def said(self, reason: str) -> list[dict[str, Any]]:
        log = self.run.log
        return [
            {**facts, "t": int(log.t_ns[row])}
            for row, facts in sorted(log.details.items())
            if facts.get("reason") == reason
        ]

    def facts(self, task: str, kind: Kind = Kind.END) -> dict[str, Any]:
        """What the log tells of the last such row of a task."""
        log, work = self.run.log, self.run.scenario.work
        rows = np.flatnonzero((log.kind == kind) & (log.subject >= 0)).tolist()
        row = max(row for row in rows if work.id(int(log.subject[row])) == task)
        return dict(log.details.get(row, {}))

    def node(self, task: str) -> str:
        """The node on which a task started first."""
        log, work = self.run.log, self.run.scenario.work
        rows = np.flatnonzero((log.kind == Kind.START) & (log.subject >= 0)).tolist()
        row = next(row for row in rows if work.id(int(log.subject[row])) == task)
        return self.run.scenario.cluster.nodes[int(log.node[row])].name


def simulated(
    flow: Dataflow,
    *,
    cluster: Cluster | int = 4,
    settings: Settings | None = None,
    faults: Sequence[Failure] = (),
    costs: Costs = SLOW,
    combining: bool = True,
    seed: int = 0,
) -> Simulated:
    """Run a job, the invariants on."""
    nodes = workers(cluster) if isinstance(cluster, int) else cluster
    known = Configuration(settings or Settings())
    scenario = scenario_of(flow.graph(), nodes, known, costs=costs, combining=combining, seed=seed)
    return Simulated(simulate(replace(scenario, faults=tuple(faults)), invariants=True))
