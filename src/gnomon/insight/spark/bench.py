"""What an application would take with something changed: its event log run again by Spark's rules.

A change is another cluster, or other tasks in some stages: their number, and how long each has its slot. All else, the
driver's part between jobs among it, stays as it was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gnomon.control.batch.plan import BatchPlan, StagePlan
from gnomon.control.batch.play import play
from gnomon.control.batch.rules import Rules
from gnomon.engine.log import Kind
from gnomon.insight.spark.profile import slots_of
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import Resources
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.delays import MS, task_cpus
from gnomon.systems.spark.profile import pools_of
from gnomon.systems.spark.replay import Recorded, Replay, replay
from gnomon.systems.spark.scenario import scenario_of, work_of

Lengths = Mapping[int, Sequence[int]]
"""By stage, how long each of its tasks has its slot, in ms."""


@dataclass(frozen=True)
class Bench:
    """An application on its bench. ``again``: its log as a plan; ``executors``: how many tasks each takes at a time, as
    when most of them were there; ``rules``: Spark's, as it was configured."""

    application: Application
    again: Replay
    executors: tuple[int, ...]
    rules: Rules

    @property
    def lengths(self) -> Lengths:
        """As recorded."""
        return self.again.execution.length_ms

    def span_ms(self, *, lengths: Lengths | None = None, executors: Sequence[int] | None = None) -> int:
        """From the first job's submission to the end of the last one, by simulation; 0 where nothing ran.

        ``lengths``: of the stages that change; ``executors``: in place of those that were there.
        """
        plan, execution = self._changed(lengths or {})
        if not plan.jobs:
            return 0
        nodes = tuple(
            Node(f"executor {place}", Resources(cpu_milli=1000 * slots * task_cpus(self.application)))
            for place, slots in enumerate(executors or self.executors)
        )
        work = work_of(plan, task_cpus=task_cpus(self.application))
        log = play(scenario_of(plan, self.rules, execution, Cluster(nodes), work=work))
        rows = [row for row, facts in log.details.items() if facts.get("reason") in ("JobSubmitted", "JobEnded")]
        times = [int(log.t_ns[row]) for row in rows if log.kind[row] == Kind.EVENT]
        return (max(times) - min(times)) // MS if times else 0

    def _changed(self, lengths: Lengths) -> tuple[BatchPlan, Recorded]:
        merged = {number: tuple(lengths.get(number, one)) for number, one in self.lengths.items()}
        stages: dict[int, StagePlan] = {}
        first = 0
        for number, stage in self.again.plan.stages.items():
            stages[number] = replace(stage, first=first, tasks=len(merged[number]))
            first += len(merged[number])
        return replace(self.again.plan, stages=stages), Recorded(merged)


def bench_of(application: Application) -> Bench:
    """The bench of an application. It may hold nothing, where no task succeeded."""
    again = replay(application)
    mode = application.properties.get("spark.scheduler.mode", "FIFO").upper()
    rules = Rules(
        mode=mode if mode in ("FIFO", "FAIR") else "FIFO",
        pools=pools_of(None, application.version),
        result_ns=again.delays.result * MS,
        stage_ns=again.delays.stage * MS,
    )
    return Bench(application, again, executors_of(application), rules)


def executors_of(application: Application) -> tuple[int, ...]:
    """How many tasks each executor took at a time, the largest first, as many as were there together."""
    most, cpus = slots_of(application), task_cpus(application)
    each = sorted((max(1, one.cores // cpus) for one in application.executors.values() if one.cores), reverse=True)
    found: list[int] = []
    for slots in each:
        if sum(found) + slots <= most:
            found.append(slots)
    return tuple(found) or (most,)
