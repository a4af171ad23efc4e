"""A job in Python as Spark runs it: real functions on real records, with times from a model of costs.

An attempt computes its records when it starts, from the outputs that are there; they count when it is done, and the
outputs of map tasks are gone when their executor is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gnomon.control.batch.plan import BatchPlan, Course, Execution, JobPlan, StagePlan, Where
from gnomon.dataflow.cost import Amounts, Cost
from gnomon.dataflow.execute import Produced, run_task
from gnomon.dataflow.failing import UserError
from gnomon.dataflow.plan import Plan, PlanStage
from gnomon.dataflow.sampling import bounds_of
from gnomon.dataflow.serialise import estimated
from gnomon.model.resources import NEVER
from gnomon.systems.spark.adaptive import Adaptive
from gnomon.systems.spark.blocks import Blocks, View

_Place = tuple[int, int]


def plan_of(plan: Plan) -> BatchPlan:
    """Jobs and stages as the placer takes them. A stage that is skipped is the one that wrote the same shuffle."""
    same = _same(plan)
    read = {same[parent] for stage in plan.run for parent in stage.parents}
    stages: dict[int, StagePlan] = {}
    first = 0
    for stage in plan.run:
        parents = tuple(sorted({same[parent] for parent in stage.parents}))
        stages[stage.number] = StagePlan(stage.number, stage.name, first, stage.tasks, parents, stage.number in read)
        first += stage.tasks
    jobs = {
        job.number: JobPlan(job.number, job.name, result=job.result, after=job.number - 1 if job.number else None)
        for job in plan.jobs
    }
    return BatchPlan(jobs, stages)


def _same(plan: Plan) -> dict[int, int]:
    """Each stage, or who made its output before where it is skipped."""
    writer: dict[int, int] = {}
    for stage in plan.run:
        if stage.writes is not None:
            writer.setdefault(stage.writes.number, stage.number)
    return {
        stage.number: writer[stage.writes.number] if stage.skipped and stage.writes is not None else stage.number
        for stage in plan.stages
        if not stage.skipped or (stage.writes is not None and stage.writes.number in writer)
    }


@dataclass
class _Made:
    """What an attempt made, and how many bytes each bucket is."""

    produced: Produced
    amounts: Amounts
    sizes: tuple[int, ...]
    blocks: View | None = None


@dataclass
class Tasks(Execution):
    """One run. ``outputs``: by exchange and map task, what was written and on which node; ``results``: the records of
    each partition, by the name of the sink; ``bounds``: of sorts, as far as their samples are there."""

    plan: Plan
    cost: Cost = field(default_factory=Cost)
    adaptive: Adaptive | None = None
    room: int = NEVER
    outputs: dict[int, dict[int, tuple[_Made, int]]] = field(default_factory=dict)
    results: dict[str, dict[int, list[Any]]] = field(default_factory=dict)
    bounds: dict[int, list[Any]] = field(default_factory=dict)
    _sketches: dict[int, dict[int, Any]] = field(default_factory=dict)
    _trying: dict[tuple[int, int, int, int], _Made] = field(default_factory=dict)
    _with: dict[_Place, list[int]] = field(default_factory=dict)

    def start(self, now: Callable[[], int]) -> Execution:
        """A run begins, with a state of its own."""
        return Tasks(self.plan, self.cost, self.adaptive, self.room)

    def __post_init__(self) -> None:
        self.blocks = Blocks(self.plan.layout, self.room)

    def reach(self, node: int, up: bool) -> None:
        """What an executor kept in memory is gone with it."""
        if not up:
            self.blocks.lose(node)

    def joined(self, stage: StagePlan) -> Mapping[int, int]:
        """Small neighbours are one task, where adaptive execution is on and all that is read is the same partition of
        shuffles."""
        planned, rule = self.plan.stages[stage.number], self.adaptive
        if (
            rule is None
            or not planned.reads
            or planned.samples is not None
            or any(planned.splits(index) for index in range(stage.tasks))
        ):
            return {}
        reads = [planned.needs(partition) for partition in range(stage.tasks)]
        if not all(reads) or any(part != partition for partition, needs in enumerate(reads) for _, part in needs):
            return {}
        sizes = [sum(self._size(exchange.number, part) for exchange, part in needs) for needs in reads]
        groups = rule.groups(sizes)
        found = {other: start for start, end in groups for other in range(start + 1, end)}
        for other, start in found.items():
            self._with.setdefault((stage.number, start), []).append(other)
        return found

    def _size(self, exchange: int, partition: int) -> int:
        """The bytes of a partition of a shuffle."""
        return sum(made.sizes[partition] for made, _ in self.outputs.get(exchange, {}).values())

    def prefers(self, stage: StagePlan, partition: int) -> Sequence[tuple[int, int]]:
        """The executors that have a block of it in memory, else those that have at least a fifth of what a task fetches
        (DAGScheduler, with up to 1,000 tasks on either side: ``spark.shuffle.reduceLocality.enabled``)."""
        planned = self.plan.stages[stage.number]
        if blocks := self.blocks.nodes(planned.chain, partition):
            return [(node, 0) for node in blocks]
        held: dict[int, int] = {}
        for exchange, part in planned.needs(partition):
            made = self.outputs.get(exchange.number, {})
            if len(made) >= 1000 or exchange.partitions >= 1000:
                return ()
            for one, node in made.values():
                held[node] = held.get(node, 0) + one.sizes[part]
        total = sum(held.values())
        return [(node, 1) for node, size in sorted(held.items()) if total and size * 5 >= total]

    def begin(self, where: Where) -> Course:
        """An attempt computes."""
        stage = self.plan.stages[where.stage.number]
        parts = [where.partition, *self._with.get((stage.number, where.partition), ())]
        view, wanted = View(self.blocks, where.node), set[_Place]()

        def fetch(exchange: int, part: int) -> list[Any]:
            wanted.add((exchange, part))
            return self._records(exchange, part)

        try:
            all_made = [run_task(stage, part, fetch, bounds=self.bounds, kept=view) for part in parts]
        except UserError as error:
            return Course(self.cost.start_ns, fails=str(error))
        produced = all_made[0] if len(all_made) == 1 else together(all_made)
        sizes = tuple(map(estimated, produced.buckets or ()))
        calls = sum(produced.calls.values())
        written = sum(sizes) if produced.buckets is not None else estimated(produced.records or ())
        local, remote = self._fetched(wanted, where.node)
        read = view.read + sum(self._input(stage, part, produced.calls) for part in parts)
        amounts = Amounts(calls, read, local, remote + view.remote, written)
        self._trying[where.key] = _Made(produced, amounts, sizes, view)
        phases = self.cost.phases(amounts)
        facts: dict[str, int | str] = {f"{name}_ns": length for name, length in phases.items() if length}
        reads = phases["start"] + phases["fetch"] if local or remote else 0
        kept = written if stage.writes is not None else 0
        return Course(
            sum(phases.values()),
            reads_ns=reads,
            records=produced.read,
            writes=kept,
            writes_ns=phases["write"],
            keeps=kept,
            details=facts,
        )

    def resume(self, where: Where, ran_ns: int) -> Course:
        """All that is read is there when an attempt starts."""
        raise AssertionError("no task of Spark starts before its parents are done")

    def done(self, where: Where) -> Mapping[str, int | str]:
        """Its output counts."""
        stage, made = self.plan.stages[where.stage.number], self._trying.pop(where.key)
        if stage.writes is not None:
            self.outputs.setdefault(stage.writes.number, {})[where.partition] = made, where.node
        elif stage.samples is not None:
            sketches = self._sketches.setdefault(stage.number, {})
            sketches[where.partition] = (made.produced.records or [None])[0]
            if len(sketches) == stage.tasks:
                kept = [sketches[index] for index in range(stage.tasks) if sketches[index] is not None]
                self.bounds[stage.samples.number] = bounds_of(stage.samples, kept)
        else:
            self.results.setdefault(stage.name, {})[where.partition] = made.produced.records or []
        evicted = self.blocks.keep(made.blocks.made, where.node) if made.blocks is not None else 0
        amounts = made.amounts
        facts = {
            "blocks_evicted": evicted,
            "records_read": made.produced.read,
            "records_written": made.produced.written,
            "input_bytes": amounts.input,
            "local_bytes": amounts.local,
            "remote_bytes": amounts.remote,
            "shuffle_write_bytes" if stage.writes is not None else "output_bytes": amounts.written,
        }
        return {name: amount for name, amount in facts.items() if amount}

    def lost(self, stage: StagePlan, partition: int) -> None:
        """Its output is gone with its executor."""
        planned = self.plan.stages[stage.number]
        if planned.writes is not None:
            self.outputs.get(planned.writes.number, {}).pop(partition, None)

    def records(self, sink: str | None = None) -> list[Any]:
        """The records of a result, of the first where no name is given, in the order of its partitions."""
        parts = self.results[next(iter(self.results)) if sink is None else sink]
        return [record for partition in sorted(parts) for record in parts[partition]]

    # ------------------------------------------------------------------ what is read

    def _records(self, exchange: int, partition: int) -> list[Any]:
        """What map tasks left for a partition, in their order."""
        found: list[Any] = []
        for _, (made, _) in sorted(self.outputs.get(exchange, {}).items()):
            found += (made.produced.buckets or ())[partition]
        return found

    def _fetched(self, wanted: Iterable[_Place], here: int) -> tuple[int, int]:
        """The bytes of partitions of exchanges that a task fetches, from its own node and from others."""
        local = remote = 0
        for exchange, part in wanted:
            for made, node in self.outputs.get(exchange, {}).values():
                if node == here:
                    local += made.sizes[part]
                else:
                    remote += made.sizes[part]
        return local, remote

    def _input(self, stage: PlanStage, partition: int, calls: Mapping[int, int]) -> int:
        """The bytes that a task reads from files that it looked into; what stands in the program comes with it."""
        total = 0
        for source, index in stage.splits(partition):
            if source in stage.layout.splits and source in calls:
                split = getattr(stage.layout.splits[source][index], "split", None)
                total += split.length if split is not None else 0
        return total


def together(made: Sequence[Produced]) -> Produced:
    """What the tasks of neighbouring partitions made, as one task would have."""
    first = made[0]
    calls: dict[int, int] = {}
    for one in made:
        for number, count in one.calls.items():
            calls[number] = calls.get(number, 0) + count
    buckets = None
    if first.buckets is not None:
        parts = zip(*(one.buckets or () for one in made), strict=True)
        buckets = tuple([record for bucket in found for record in bucket] for found in parts)
    records = None if first.records is None else [record for one in made for record in one.records or ()]
    return replace(first, buckets=buckets, records=records, read=sum(one.read for one in made), calls=calls)
