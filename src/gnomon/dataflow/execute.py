"""Running tasks on real records: what an attempt reads, makes and leaves behind; no time passes here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from gnomon.dataflow import operators
from gnomon.dataflow.failing import UserError, failed
from gnomon.dataflow.graph import Dataflow
from gnomon.dataflow.layout import Exchange, Layout, Rules, Splits
from gnomon.dataflow.operators import Group
from gnomon.dataflow.partition import Bounds, first_turn, placing
from gnomon.dataflow.plan import Plan, PlanStage, cut
from gnomon.dataflow.sampling import Sketch, bounds_of, sketched
from gnomon.dataflow.stage import Aggregate, Graph, Operator, Rule, Stage

Fetch = Callable[[int, int], Iterable[Any]]
"""The records of a partition of an exchange, of all map tasks in their order."""

Size = Callable[[Any], int]
"""The bytes of a record."""

_NONE: Final[Bounds] = {}


class Kept(Protocol):
    """Partitions of stages that are marked to be kept."""

    def get(self, number: int, partition: int) -> list[Any] | None:
        """The records of one; None: they have to be computed."""
        ...

    def put(self, number: int, partition: int, records: list[Any]) -> None:
        """They have been computed."""
        ...


@dataclass(frozen=True)
class Produced:
    """What one attempt at a task made.

    - ``buckets``: the records for each partition of the exchange that it writes; ``records``: those of a result, or
      its sample. One of the two is None.
    - ``read``: records from splits and exchanges; ``calls``: records that each stage of the graph took in.
    - ``combine_in``, ``combine_out``: records that went into combining before the exchange, and that came out.
    - ``sizes``: bytes of each bucket, where a size was asked for.
    """

    stage: int
    index: int
    buckets: tuple[list[Any], ...] | None = None
    records: list[Any] | None = None
    read: int = 0
    combine_in: int = 0
    combine_out: int = 0
    sizes: tuple[int, ...] = ()
    calls: Mapping[int, int] = field(default_factory=dict)

    @property
    def written(self) -> int:
        """How many records it made."""
        return len(self.records or ()) if self.buckets is None else sum(map(len, self.buckets))


def run_task(
    stage: PlanStage,
    index: int,
    fetched: Fetch,
    *,
    bounds: Bounds = _NONE,
    combines: int = 1,
    size: Size | None = None,
    into: Callable[[Iterable[Any]], list[Any]] = list,
    kept: Kept | None = None,
) -> Produced:
    """Run one task. ``bounds`` are those of exchanges by range, as far as samples have given them; ``into`` takes the
    records of one that writes no exchange, and gives those that are to be kept; ``kept``: the partitions of stages with
    a mark that need not be computed.

    ``combines`` is how often records go through the combiner before they are written: 0, once, or so often that the
    first ones pass it ``combines`` times. Raises UserError where a function of the job does.
    """
    task = Chain(stage.layout, fetched, kept)
    try:
        records = task.records(stage.root, index)
        if stage.writes is not None:
            return task.written(stage, index, _Writing(stage.writes, stage.layout, bounds, combines), records, size)
        if stage.samples is not None:
            made: list[Any] = [sketched(stage.samples, stage.layout, index, records)]
        else:
            made = into(records)
    except UserError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        raise failed(error, stage.layout.stages[stage.root], index) from None
    return Produced(stage.number, index, records=made, read=task.read, calls=dict(task.calls))


class Chain:
    """One attempt: the chain of generators that make a partition, and what it counts."""

    def __init__(self, layout: Layout, fetched: Fetch, kept: Kept | None = None) -> None:
        self.layout, self.fetched, self.kept = layout, fetched, kept
        self.calls: operators.Calls = Counter()
        self.fetches = 0
        self.joined: dict[tuple[int, int], Exchange] = {}

    @property
    def read(self) -> int:
        """Records from splits and exchanges."""
        sources = (number for number in self.calls if not self.layout.stages[number].inputs)
        return self.fetches + sum(self.calls[number] for number in sources)

    def records(self, number: int, index: int) -> Iterable[Any]:
        """The records of a partition of a stage of the graph."""
        stage = self.layout.stages[number]
        if self.kept is None or not (stage.cached or stage.checkpointed):
            return self._computed(stage, index)
        held = self.kept.get(number, index)
        if held is None:
            held = list(self._computed(stage, index))
            self.kept.put(number, index, held)
        return held

    def _computed(self, stage: Stage, index: int) -> Iterable[Any]:
        if stage.operator in operators.NARROW:
            return operators.NARROW[stage.operator](stage, index, self._given(stage, index), self.calls)
        sides = [self._side(stage, position, index) for position in range(len(stage.inputs))]
        return _wide(stage, sides, self.layout, self.calls)

    def _given(self, stage: Stage, index: int) -> Iterable[Any]:
        """What a stage that is not wide reads."""
        if stage.operator == Operator.SOURCE:
            return stage.data[index]  # type: ignore[no-any-return]
        if stage.operator == Operator.TEXT:
            return self.layout.splits[stage.number][index]
        places = self.layout.narrow(stage.number, index)
        if len(places) == 1:
            return self.records(*places[0])
        return (record for place in places for record in self.records(*place))

    def _side(self, stage: Stage, position: int, index: int) -> Iterable[Any]:
        """One input of a wide stage, from over the network or from where it is."""
        exchange = self.layout.crossing.get((stage.number, position))
        if exchange is None:
            return self.records(stage.inputs[position], index)
        return self._counted(self.fetched(exchange.number, 0 if exchange.rule == Rule.BROADCAST else index))

    def _counted(self, records: Iterable[Any]) -> Iterable[Any]:
        if isinstance(records, Sized):
            self.fetches += len(records)
            return records
        return self._counting(records)

    def _counting(self, records: Iterable[Any]) -> Iterator[Any]:
        count = 0
        for count, record in enumerate(records, 1):  # noqa: B007
            yield record
        self.fetches += count

    def written(
        self, stage: PlanStage, index: int, writing: _Writing, records: Iterable[Any], size: Size | None
    ) -> Produced:
        """The buckets of an exchange."""
        buckets = writing.buckets(index, records)
        sizes = () if size is None else tuple(sum(map(size, bucket)) for bucket in buckets)
        counts = (self.read, writing.combine_in, writing.combine_out, sizes, dict(self.calls))
        return Produced(stage.number, index, tuple(buckets), None, *counts)


class _Writing:
    """How records are put into the buckets of an exchange."""

    def __init__(self, exchange: Exchange, layout: Layout, bounds: Bounds, combines: int) -> None:
        self.exchange, self.combines = exchange, combines
        self.stage = layout.stages[exchange.target]
        self.combine_in = self.combine_out = 0
        self.place = None if exchange.is_dealt else placing(exchange, bounds, ascending=self.stage.ascending)

    def buckets(self, index: int, records: Iterable[Any]) -> list[list[Any]]:
        """All records, each in the bucket of its partition."""
        buckets: list[list[Any]] = [[] for _ in range(self.exchange.partitions)]
        into = [bucket.append for bucket in buckets]
        place, stage = self.place, self.stage
        if place is None:
            self._deal(index, records, buckets)
        elif stage.operator == Operator.SORT:
            key = operators.function_of(stage)
            for record in records:
                into[place(key(record))](record)
        else:
            if stage.operator == Operator.DISTINCT:
                records = ((record, None) for record in records)
            for record in self._combined(records):
                key, _ = record
                into[place(key)](record)
        return buckets

    def _deal(self, index: int, records: Iterable[Any], buckets: list[list[Any]]) -> None:
        turn = first_turn(index, len(buckets)) if len(buckets) > 1 else 0
        for turn, record in enumerate(records, turn + 1):  # noqa: B020
            buckets[turn % len(buckets)].append(record)

    def _combined(self, records: Iterable[Any]) -> Iterable[Any]:
        """The records as they are to be written."""
        combine = self.exchange.combine
        if not combine:
            return records
        if self.combines == 0:
            return records if callable(combine) else operators.lifted(self.stage, _aggregate(self.exchange), records)
        made = self._once(records) if self.combines == 1 else self._often(list(records))
        self.combine_out = self.combine_out or len(made)
        return made

    def _once(self, records: Iterable[Any]) -> list[Any]:
        stage, combine, calls = self.stage, self.exchange.combine, operators.Calls()
        if callable(combine):
            held = list(records)
            self.combine_in += len(held)
            return operators.combined(stage, combine, held)
        made = operators.aggregated(stage, _aggregate(self.exchange), records, calls)
        self.combine_in += calls[stage.number]
        return list(made.items())

    def _often(self, records: list[Any]) -> list[Any]:
        """In ``combines`` parts, each combined, and then with all before it."""
        made: list[Any] = []
        again = combiner(self.exchange, self.stage)
        for part in range(self.combines):
            start, end = (len(records) * edge // self.combines for edge in (part, part + 1))
            new = self._once(records[start:end])
            self.combine_out += len(new)
            if part and again is not None:
                self.combine_in += len(made) + len(new)
                made = again([*made, *new])
                self.combine_out += len(made)
            else:
                made = new
        return made


def combiner(exchange: Exchange, stage: Stage) -> Callable[[list[Any]], list[Any]] | None:
    """What combines records that are to be written to an exchange, or were: pairs in, fewer pairs out. None: nothing
    does. ``stage`` is the one that reads it."""
    combine = exchange.combine
    if not combine:
        return None
    if callable(combine):
        function = combine
        return lambda records: operators.combined(stage, function, records)
    aggregate = _aggregate(exchange)
    return lambda records: list(operators.merged(stage, aggregate, records, Counter()).items())


def group_combiner(exchange: Exchange, stage: Stage) -> Callable[[list[Group]], list[Group]] | None:
    """As :func:`combiner`, of keys with their values: fewer values. None: nothing does."""
    combine = exchange.combine
    if not combine:
        return None
    if callable(combine):
        return partial(operators.groups_combined, stage, combine)
    return partial(operators.groups_merged, stage, _aggregate(exchange).merge)


def _aggregate(exchange: Exchange) -> Aggregate:
    assert exchange.aggregate is not None
    return exchange.aggregate


def _wide(stage: Stage, sides: list[Iterable[Any]], layout: Layout, calls: operators.Calls) -> Iterable[Any]:
    """What a wide stage makes of its inputs."""
    exchange = layout.crossing.get((stage.number, 0))
    ordered = exchange is not None and exchange.ordered
    if stage.operator == Operator.REPARTITION:
        return operators.passed(stage, 0, sides[0], calls)
    if stage.operator == Operator.SORT:
        return operators.in_order(stage, sides[0], calls)
    if stage.operator == Operator.JOIN and stage.partition.rule == Rule.BROADCAST:
        return operators.looked_up(stage, sides[0], sides[1], calls)
    if stage.operator in (Operator.COGROUP, Operator.JOIN):
        ordered = any(one.ordered for one in layout.exchanges if one.target == stage.number)
        groups = _items(stage, operators.cogrouped(stage, sides, calls), ordered)
        return operators.joined(stage.how, groups) if stage.operator == Operator.JOIN else groups
    if stage.operator == Operator.GROUP:
        return _items(stage, operators.grouped(stage, sides[0], calls), ordered)
    aggregate = stage.aggregate
    if aggregate is None:
        raise ValueError(f"stage {stage.name} has nothing to aggregate with")
    reduce = operators.merged if exchange is not None and exchange.combine is True else operators.aggregated
    found = _items(stage, reduce(stage, aggregate, sides[0], calls), ordered)
    return (key for key, _ in found) if stage.operator == Operator.DISTINCT else found


def _items(stage: Stage, found: Mapping[Any, Any], ordered: bool) -> Iterable[Any]:
    return operators.by_key_order(stage, found) if ordered else iter(found.items())


# ---------------------------------------------------------------------- all of it, here and now


@dataclass(frozen=True)
class Results:
    """What a whole run made: the records of each partition of each result, by the name of the sink; every attempt; the
    bounds of sorts; and the buckets that map tasks left in each exchange, one tuple a task."""

    partitions: Mapping[str, list[list[Any]]]
    attempts: tuple[Produced, ...]
    bounds: Bounds
    outputs: Mapping[int, list[tuple[list[Any], ...]]]

    def records(self, sink: str | None = None) -> list[Any]:
        """The records of a result, of the only one where no name is given, in the order of its partitions."""
        name = next(iter(self.partitions)) if sink is None else sink
        return [record for partition in self.partitions[name] for record in partition]

    def fetch(self, exchange: int, partition: int) -> list[Any]:
        """What a reader of an exchange gets."""
        return [record for buckets in self.outputs[exchange] for record in buckets[partition]]


def run_plan(
    plan: Plan, *, combines: int | Mapping[int, int] = 1, size: Size | None = None, backwards: bool = False
) -> Results:
    """Run all tasks of a plan one after another. Raises UserError where a function of the job does.

    ``combines``: how often the combiner runs, everywhere or by the number of the exchange (else once); ``backwards``:
    readers get the outputs of map tasks in the opposite order.
    """
    outputs: dict[int, list[tuple[list[Any], ...]]] = {}
    bounds: dict[int, list[Any]] = {}
    results: dict[str, list[list[Any]]] = {}
    attempts: list[Produced] = []

    def fetch(exchange: int, partition: int) -> list[Any]:
        maps = outputs[exchange]
        return [record for buckets in (reversed(maps) if backwards else maps) for record in buckets[partition]]

    for stage in plan.run:
        times = combines if isinstance(combines, int) else 1
        if stage.writes is not None and not isinstance(combines, int):
            times = combines.get(stage.writes.number, 1)
        tasks = range(stage.tasks)
        made = [run_task(stage, index, fetch, bounds=bounds, combines=times, size=size) for index in tasks]
        attempts += made
        if stage.writes is not None:
            outputs[stage.writes.number] = [one.buckets or () for one in made]
        elif stage.samples is not None:
            sketches: list[Sketch] = [one.records[0] for one in made if one.records]
            bounds[stage.samples.number] = bounds_of(stage.samples, sketches)
        else:
            results[stage.name] = [one.records or [] for one in made]
    return Results(results, tuple(attempts), bounds, outputs)


def collect(
    flow: Dataflow | Graph, *, rules: Rules | None = None, splits: Splits | None = None, combines: int = 1
) -> list[Any]:
    """The records of the only result of a job, all of it run here, one task after another.

    >>> from operator import add
    >>> flow = Dataflow()
    >>> lines = flow.source([["welcome everyone"], ["hello everyone"]])
    >>> lines.flat_map(str.split).map(lambda word: (word, 1)).reduce_by_key(add, partitions=2).collect()
    >>> sorted(collect(flow))
    [('everyone', 2), ('hello', 1), ('welcome', 1)]
    """
    graph = flow.graph() if isinstance(flow, Dataflow) else flow
    return run_plan(cut(graph, rules, splits), combines=combines).records()
