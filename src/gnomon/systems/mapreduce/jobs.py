"""A graph as jobs of MapReduce: maps, a sorted shuffle, reduces; what one job gives the next reads from storage.

Each shuffle of the graph is one job. What follows a shuffle runs in its reduces; where it is shuffled again, they write
it to storage, and the maps of the next job read it there, one a file. A broadcast is read from storage too, as by the
distributed cache. Jobs run one after another, as a driver that waits for each runs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gnomon.control.batch.plan import BatchPlan, JobPlan, StagePlan
from gnomon.dataflow.layout import Exchange, Rules, Splits
from gnomon.dataflow.plan import Plan, PlanStage, cut
from gnomon.dataflow.stage import Graph, Rule
from gnomon.systems.mapreduce.settings import Settings

HASH = "writable"
"""HashPartitioner over the hash codes of Writables."""


class Role(StrEnum):
    """What the tasks of a stage are."""

    MAP = "map"
    REDUCE = "reduce"


@dataclass(frozen=True)
class Part:
    """One stage as it runs.

    - ``source``: the stage of the plan whose chain it runs; ``identity``: it only reads what its reduces have stored.
    - ``shuffles``: the exchange that it writes, None where it writes to storage; ``reads``: (exchange, part that writes
      it) of sorted ones; ``loads``: of those that are read whole from storage.
    """

    number: int
    name: str
    role: Role
    job: int
    source: PlanStage
    identity: bool = False
    shuffles: Exchange | None = None
    reads: tuple[tuple[Exchange, int], ...] = ()
    loads: tuple[tuple[Exchange, int], ...] = ()
    stored: int | None = None
    """The part whose stored output an identity reads."""

    @property
    def tasks(self) -> int:
        """How many there are."""
        return self.source.tasks


@dataclass(frozen=True)
class Jobs:
    """All parts, by number, and the batch plan of the same numbers. ``unmodelled`` marks of the graph are named."""

    plan: Plan
    parts: Sequence[Part]
    batch: BatchPlan
    unmodelled: tuple[str, ...] = ()

    def maps_of(self, job: int) -> int:
        """The maps of a job."""
        return sum(part.tasks for part in self.parts if part.job == job and part.role is Role.MAP)

    def reduces_of(self, job: int) -> int:
        """The reduces of a job."""
        return sum(part.tasks for part in self.parts if part.job == job and part.role is Role.REDUCE)


def jobs_of(graph: Graph, settings: Settings, splits: Splits | None = None) -> Jobs:
    """The jobs of a graph. Raises InputError as :func:`gnomon.dataflow.plan.cut` does."""
    plan = cut(graph, _rules_of_cutting(settings), splits)
    making = _Making(plan, settings)
    for stage in plan.stages:
        making.add(stage)
    marks = {f"{what} {stage.name}" for stage in graph.stages for what in _marks(stage.cached, stage.checkpointed)}
    return Jobs(plan, tuple(making.parts), making.batch(), tuple(sorted(marks)))


def _rules_of_cutting(settings: Settings) -> Rules:
    """What MapReduce decides where a job leaves it open: no combiner that was not asked for, keys in order."""
    return Rules(partitions=settings.reduces or 1, hash=HASH, combine=False, ordered=True)


def _marks(cached: bool, checkpointed: bool) -> list[str]:
    return ["cache of"] * cached + ["checkpoint of"] * checkpointed


class _Making:
    """Parts so far, each after those whose output it reads."""

    def __init__(self, plan: Plan, settings: Settings) -> None:
        self.plan, self.settings = plan, settings
        self.parts: list[Part] = []
        self.writer: dict[tuple[int, int], int] = {}  # (stage of the plan, exchange) -> the part that writes it
        self.stored: dict[int, int] = {}  # stage of the plan -> the part that stores what it makes
        self.maps: dict[int, list[int]] = {}  # part that reduces -> its maps
        self.jobs = 0

    def add(self, stage: PlanStage) -> None:
        """The parts of a stage of the plan: itself, and where its reduces' output is shuffled again the next maps."""
        reads, loads = self._inputs(stage)
        shuffled_on = stage.writes is not None and stage.writes.rule is not Rule.BROADCAST
        role = Role.REDUCE if reads else Role.MAP
        if role is Role.MAP and shuffled_on:
            part = self._part(f"map ({stage.name})", role, stage, shuffles=stage.writes, loads=loads)
            self._writes(stage, part)
            return
        name = f"reduce ({stage.name})" if reads else f"map ({stage.name})"
        part = self._part(name, role, stage, reads=reads, loads=loads)
        self.stored[stage.number] = part.number
        self._close_job(part)
        if shuffled_on:
            name = f"map again ({stage.name})"
            again = self._part(name, Role.MAP, stage, identity=True, shuffles=stage.writes, stored=part.number)
            self._writes(stage, again)

    def _writes(self, stage: PlanStage, part: Part) -> None:
        assert stage.writes is not None
        self.writer[stage.number, stage.writes.number] = part.number

    def _inputs(self, stage: PlanStage) -> tuple[tuple[tuple[Exchange, int], ...], tuple[tuple[Exchange, int], ...]]:
        """The parts that write what a stage reads: sorted, and whole."""
        reads, loads = [], []
        for exchange in stage.reads:
            parent = next(one for one in stage.parents if self.plan.stages[one].writes == exchange)
            if exchange.rule is Rule.BROADCAST:
                loads.append((exchange, self.stored[parent]))
            else:
                reads.append((exchange, self.writer[parent, exchange.number]))
        return tuple(reads), tuple(loads)

    def _part(self, name: str, role: Role, stage: PlanStage, **more: object) -> Part:
        part = Part(len(self.parts), name, role, -1, stage, **more)  # type: ignore[arg-type]
        self.parts.append(part)
        return part

    def _close_job(self, result: Part) -> None:
        """A part that stores its output ends a job: it, and the maps that it reads."""
        for number in [result.number, *(writer for _, writer in result.reads)]:
            self.parts[number] = replace(self.parts[number], job=self.jobs)
        self.jobs += 1

    def batch(self) -> BatchPlan:
        """The same as the placer takes it."""
        stages, first = {}, 0
        for part in self.parts:
            known, reduce = self.settings, part.role is Role.REDUCE
            stages[part.number] = StagePlan(
                part.number,
                part.name,
                first,
                part.tasks,
                tuple(dict.fromkeys(writer for _, writer in part.reads)),
                writes=part.shuffles is not None,
                copies=known.reduce_speculative if reduce else known.map_speculative,
                attempts=known.reduce_attempts if reduce else known.map_attempts,
                overlaps_e4=known.slowstart_e4 if reduce else 10_000,
            )
            first += part.tasks
        results = {part.job: part.number for part in self.parts if part.shuffles is None}
        jobs: Mapping[int, JobPlan] = {
            job: JobPlan(job, self._job_name(job), results[job], after=job - 1 if job else None)
            for job in range(self.jobs)
        }
        return BatchPlan(jobs, stages)

    def _job_name(self, job: int) -> str:
        return self.plan.name if self.jobs == 1 else f"{self.plan.name} {job + 1} of {self.jobs}"
