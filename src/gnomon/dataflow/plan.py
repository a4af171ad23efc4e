"""Cutting: from a graph to the stages that run, one for each shuffle and one for each result.

As Spark's ``DAGScheduler`` cuts and numbers: from the result backwards, what is narrow stays in one stage, each shuffle
is a stage of its own, parents have smaller numbers; a parent whose output goes into two shuffles is two stages. Each
sink is a job; a job whose parents' shuffles an earlier one has written has stages for them all the same, which are
skipped. A sort by range has a job before it that samples the keys.

Parents of one stage are numbered in the order in which the job names them; the engine keeps them in a set that has no
order (``getOrCreateParentStages``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gnomon.dataflow.layout import Exchange, Layout, Rules, Splits, layout_of
from gnomon.dataflow.stage import Graph, Operator, Stage


@dataclass(frozen=True)
class PlanStage:
    """A stage that runs: tasks ``0 … tasks - 1`` make the partitions of stage ``root`` of the graph.

    - ``chain``: the stages of the graph in it, inputs first; ``reads``: exchanges; ``writes``: one, or None where it
      gives a result or a sample (``samples`` is then the exchange whose bounds that decides).
    - ``parents``: the numbers of the stages that write what it reads.
    - ``skipped``: its output is there from an earlier job; it runs again only for what is lost of it.
    """

    number: int
    name: str
    job: int
    tasks: int
    root: int
    chain: tuple[int, ...]
    parents: tuple[int, ...]
    reads: tuple[Exchange, ...]
    writes: Exchange | None
    samples: Exchange | None = None
    sink: int | None = None
    skipped: bool = False
    layout: Layout = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    def needs(self, index: int) -> list[tuple[Exchange, int]]:
        """Which partition of which exchange a task reads."""
        return self.layout.needs(self.root, index)

    def splits(self, index: int) -> list[tuple[int, int]]:
        """Which splits of which source a task reads."""
        inside = self.layout.inside(self.root, index)
        return [(number, part) for number, part in inside if not self.layout.stages[number].inputs]


@dataclass(frozen=True)
class PlanJob:
    """What one action runs: its stages by number, the last of which gives the result."""

    number: int
    name: str
    stages: tuple[int, ...]

    @property
    def result(self) -> int:
        """The number of its last stage."""
        return self.stages[-1]


@dataclass(frozen=True)
class Plan:
    """All jobs of a graph, run one after another, and their stages by number."""

    name: str
    jobs: tuple[PlanJob, ...]
    stages: tuple[PlanStage, ...]
    layout: Layout = field(repr=False, compare=False)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The shuffles, by number."""
        return self.layout.exchanges

    @property
    def run(self) -> tuple[PlanStage, ...]:
        """The stages that run where nothing is lost."""
        return tuple(stage for stage in self.stages if not stage.skipped)

    @property
    def tasks(self) -> int:
        """How many tasks there are in all stages, the skipped ones included: no more than one run of each."""
        return sum(stage.tasks for stage in self.stages)


def cut(graph: Graph, rules: Rules | None = None, splits: Splits | None = None) -> Plan:
    """The stages that run. ``splits`` are the partitions of text sources. Raises InputError for a source without."""
    rules = rules or Rules()
    return _Cutting(layout_of(graph, rules, splits or {}), cuts=rules.cuts).plan()


class _Cutting:
    """Numbers given so far, and what the jobs so far have left behind."""

    def __init__(self, layout: Layout, *, cuts: bool) -> None:
        self.layout, self.cuts = layout, cuts
        self.stages: list[PlanStage] = []
        self.jobs: list[PlanJob] = []
        self.written: set[int] = set()  # exchanges
        self.kept: set[int] = set()  # stages of the graph that are cached or checkpointed, and made
        self.here: dict[int, int] = {}  # the stage that writes an exchange, in the present job

    def plan(self) -> Plan:
        for stage in self.layout.graph.stages:
            if stage.operator == Operator.SORT and self.layout.counts[stage.number] > 1:
                exchange = self.layout.crossing[stage.number, 0]
                self._job(f"sample for {stage.name}", exchange.source, samples=exchange)
            elif stage.operator == Operator.SINK:
                self._job(stage.name, stage.number, sink=stage.number)
        return Plan(self.layout.graph.name, tuple(self.jobs), tuple(self.stages), self.layout)

    def _job(self, name: str, root: int, **result: Any) -> None:
        """All stages of one job, the result last."""
        first = len(self.stages)
        self.here = {}
        needed = self._needed(root)
        self._stage(root, None, needed, **result)
        made = range(first, len(self.stages))
        self.jobs.append(PlanJob(len(self.jobs), name, tuple(made)))
        for stage in self.stages[first:]:
            if stage.writes is not None:
                self.written.add(stage.writes.number)
            if not stage.skipped:
                self.kept.update(number for number in stage.chain if _lasts(self.layout.stages[number]))

    def _stage(self, root: int, writes: Exchange | None, needed: set[int], **result: Any) -> int:
        """The number of the stage that makes a stage of the graph, its ancestors before it."""
        chain, reads = self._chain(root)
        parents = [self._writer(exchange, needed) for exchange in reads]
        number = len(self.stages)
        stage = PlanStage(
            number=number,
            name=self.layout.stages[root].name,
            job=len(self.jobs),
            tasks=self.layout.counts[root],
            root=root,
            chain=tuple(chain),
            parents=tuple(dict.fromkeys(parents)),
            reads=tuple(reads),
            writes=writes,
            skipped=writes is not None and writes.number not in needed,
            layout=self.layout,
            **result,
        )
        self.stages.append(stage)
        return number

    def _writer(self, exchange: Exchange, needed: set[int]) -> int:
        """The stage that writes an exchange, made with all its ancestors where the job has none yet."""
        if exchange.number not in self.here:
            for before in (*self._ancestors(exchange), exchange):
                if before.number not in self.here:
                    self.here[before.number] = self._stage(before.source, before, needed)
        return self.here[exchange.number]

    def _ancestors(self, exchange: Exchange) -> list[Exchange]:
        """The exchanges before one that have no stage yet, in the order of ``getMissingAncestorShuffleDependencies``:
        each found is put in front, and what it reads is looked at next."""
        found: list[Exchange] = []
        left, seen = [exchange.source], set()
        while left:
            number = left.pop()
            if number in seen:
                continue
            seen.add(number)
            for before in reversed(self._chain(number)[1]):
                if before.number not in self.here:
                    found.insert(0, before)
                    left.append(before.source)
        return found

    def _chain(self, root: int) -> tuple[list[int], list[Exchange]]:
        """What is in a stage, inputs first, and the exchanges that it reads, in the order of their mention."""
        chain: set[int] = set()
        reads: dict[int, Exchange] = {}
        left = [root]
        while left:
            number = left.pop()
            if number in chain:
                continue
            chain.add(number)
            if self.cuts and number in self.kept and self.layout.stages[number].checkpointed:
                continue  # its lineage ends here
            for position, one in reversed(list(enumerate(self.layout.stages[number].inputs))):
                if (number, position) not in self.layout.crossing:
                    left.append(one)
            for position in range(len(self.layout.stages[number].inputs)):
                exchange = self.layout.crossing.get((number, position))
                if exchange is not None:
                    reads[exchange.number] = exchange
        return sorted(chain), list(reads.values())

    def _needed(self, root: int) -> set[int]:
        """The exchanges that have to be written for a result: not those that are, nor what is kept."""
        needed: set[int] = set()
        left, seen = [root], set()
        while left:
            number = left.pop()
            if number in seen or number in self.kept:
                continue
            seen.add(number)
            for position, one in enumerate(self.layout.stages[number].inputs):
                exchange = self.layout.crossing.get((number, position))
                if exchange is None:
                    left.append(one)
                elif exchange.number not in self.written and exchange.number not in needed:
                    needed.add(exchange.number)
                    left.append(one)
        return needed


def _lasts(stage: Stage) -> bool:
    return stage.cached or stage.checkpointed
