"""Jobs whose tasks take what a test says, and what came of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.control.batch.plan import Batch, BatchPlan, Course, Execution, JobPlan, StagePlan, Where
from gnomon.control.batch.play import play
from gnomon.control.batch.rules import Rules
from gnomon.engine.log import Kind, Log
from gnomon.model.cluster import Cluster, Machine, Node
from gnomon.model.fault import Failure
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape, Task, Work


@dataclass
class Script(Execution):
    """An execution by a function of the attempt; ``begun``: all that were asked for."""

    course: Callable[[Where], Course]
    begun: list[Where] = field(default_factory=list)
    forgotten: list[tuple[int, int]] = field(default_factory=list)
    near: Mapping[tuple[int, int], Sequence[tuple[int, int]]] = field(default_factory=dict)
    rest: int = 0

    def prefers(self, stage: StagePlan, partition: int) -> Sequence[tuple[int, int]]:
        return self.near.get((stage.number, partition), ())

    def begin(self, where: Where) -> Course:
        self.begun.append(where)
        return self.course(where)

    def resume(self, where: Where, ran_ns: int) -> Course:
        return Course(self.rest)

    def done(self, where: Where) -> Mapping[str, int | str]:
        return {}

    def lost(self, stage: StagePlan, partition: int) -> None:
        self.forgotten.append((stage.number, partition))


def stages(*specs: dict[str, Any]) -> dict[int, StagePlan]:
    """Stages numbered as they come, each said as keywords of StagePlan (``tasks`` at least)."""
    found, first = {}, 0
    read = {parent for spec in specs for parent in spec.get("parents", ())}
    for number, spec in enumerate(specs):
        known = {"name": f"stage {number}", "writes": number in read, **spec}
        found[number] = StagePlan(number, first=first, **known)
        first += spec["tasks"]
    return found


def one_job(*specs: dict[str, Any]) -> BatchPlan:
    """One job that wants the last of these stages."""
    known = stages(*specs)
    return BatchPlan({0: JobPlan(0, "job", result=max(known))}, known)


@dataclass
class Ran:
    """A run. ``starts``, ``ends``: (time, stage, partition, node) in the order of the log."""

    log: Log
    script: Script
    plan: BatchPlan

    def _rows(self, kind: Kind) -> list[tuple[int, int, int, int]]:
        at = {row: (stage.number, partition) for row, stage, partition in self.plan.rows()}
        rows = np.flatnonzero((self.log.kind == kind) & (self.log.subject >= 0)).tolist()
        return [(int(self.log.t_ns[row]), *at[int(self.log.subject[row])], int(self.log.node[row])) for row in rows]

    @property
    def starts(self) -> list[tuple[int, int, int, int]]:
        return self._rows(Kind.START)

    @property
    def ends(self) -> list[tuple[int, int, int, int]]:
        return self._rows(Kind.END)

    @property
    def launched(self) -> list[tuple[int, int]]:
        """Stage and partition of each start."""
        return [(stage, partition) for _, stage, partition, _ in self.starts]

    def said(self, reason: str) -> list[dict[str, Any]]:
        """The facts of the rows that say something, with their time."""
        return [
            {**facts, "t": int(self.log.t_ns[row])}
            for row, facts in sorted(self.log.details.items())
            if facts.get("reason") == reason
        ]

    @property
    def ended(self) -> dict[int, int]:
        """When each job ended."""
        return {facts["job"]: facts["t"] for facts in self.said("JobEnded")}


def _course(given: Callable[[Where], Course] | int | Mapping[int, Sequence[int]]) -> Callable[[Where], Course]:
    if isinstance(given, int):
        return lambda where: Course(given)
    if callable(given):
        return given
    return lambda where: Course(given[where.stage.number][where.partition])


def ran(
    plan: BatchPlan,
    course: Callable[[Where], Course] | int | Mapping[int, Sequence[int]],
    *,
    nodes: Sequence[int] = (1,),
    rules: Rules | None = None,
    faults: Sequence[Failure] = (),
    labels: Sequence[tuple[tuple[str, str], ...]] = (),
    rest: int = 0,
    script: Script | None = None,
    disk_bytes: int = 0,
    **more: Any,
) -> Ran:
    """Run a plan on nodes of so many slots each. ``course``: of each attempt, or the length of all, or lengths by
    stage."""
    script = script or Script(_course(course), rest=rest)
    shape = Shape(Resources(cpu_milli=1000))
    rows = [
        Task(f"{stage.number}.{partition}", shape, submit_ns=NEVER, duration_ns=NEVER, job="job")
        for _, stage, partition in plan.rows()
    ]
    cluster = Cluster(
        tuple(
            Node(
                f"n{number}",
                Resources(cpu_milli=1000 * slots),
                labels=labels[number] if labels else (),
                machine=Machine(disk_bytes=disk_bytes),
            )
            for number, slots in enumerate(nodes)
        )
    )
    scenario = Scenario(
        cluster=cluster,
        work=Work.from_tasks(rows),
        gang=False,
        kill_at_limit=False,
        faults=tuple(faults),
        native=Batch(plan, rules or Rules(), script),
        **more,
    )
    return Ran(play(scenario), script, plan)
