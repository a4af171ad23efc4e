"""A sorted shuffle between two stages of a plan: what one side writes and the other reads, as real records.

Joins what a job means (:mod:`gnomon.dataflow.execute`) with how sorted segments come about
(:mod:`gnomon.dataflow.sorting`, :mod:`gnomon.dataflow.fetching`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from gnomon.dataflow import operators
from gnomon.dataflow.execute import Fetch, Produced, combiner, run_task
from gnomon.dataflow.failing import failed
from gnomon.dataflow.fetching import Copied, FetchCounts, Fetching
from gnomon.dataflow.layout import Exchange
from gnomon.dataflow.merging import Pair
from gnomon.dataflow.partition import Bounds, first_turn, placing
from gnomon.dataflow.plan import PlanStage
from gnomon.dataflow.serialise import Size, writable
from gnomon.dataflow.sorting import Combine, MapOutput, Segment, sort_output
from gnomon.dataflow.spill_buffer import Sorting
from gnomon.dataflow.stage import Operator, Rule, Stage

NO_KEY = ()
"""The key of records that are dealt out: of no bytes, and equal to itself."""


@dataclass(frozen=True)
class Mapped:
    """What a task of the writing side made: its chain's counts, and the sorted output."""

    produced: Produced
    output: MapOutput


@dataclass(frozen=True)
class Reduced:
    """What a task of the reading side made: its chain's counts and records, the groups of keys that it was given, and
    what was counted of copying, for each exchange that it read."""

    produced: Produced
    groups: int
    copied: Mapping[int, FetchCounts]


def map_task(
    stage: PlanStage,
    index: int,
    fetched: Fetch,
    sorting: Sorting,
    *,
    bounds: Bounds | None = None,
    combining: bool = True,
    size: Size = writable,
) -> Mapped:
    """Run a task that writes an exchange. Raises UserError where a function of the job does."""
    produced = run_task(replace(stage, writes=None, samples=None), index, fetched)
    return Mapped(produced, write(stage, index, produced, sorting, bounds=bounds, combining=combining, size=size))


def write(
    stage: PlanStage,
    index: int,
    produced: Produced,
    sorting: Sorting,
    *,
    bounds: Bounds | None = None,
    combining: bool = True,
    size: Size = writable,
) -> MapOutput:
    """The sorted output of a task that made records. Raises UserError where a function of the job does."""
    exchange = stage.writes
    assert exchange is not None
    reader = stage.layout.stages[exchange.target]
    combine = combine_of(exchange, reader) if combining else None
    try:
        records = _placed(exchange, reader, index, produced.records or (), bounds or {})
        return sort_output(records, exchange.partitions, sorting, size=size, combine=combine)
    except Exception as error:
        raise failed(error, reader, index) from None


def reduce_task(
    stage: PlanStage,
    index: int,
    copied: Mapping[int, Sequence[Segment]],
    fetching: Fetching,
    *,
    combining: bool = True,
    size: Size = writable,
) -> Reduced:
    """Run a task that reads exchanges, and makes records. ``copied``: the segments of its partition of each exchange,
    in the order in which they were copied. Raises UserError where a function of the job does."""
    counts: dict[int, FetchCounts] = {}
    keys: dict[int, int] = {}

    def fetched(number: int, partition: int) -> Iterator[Any]:
        exchange = next(one for one in stage.reads if one.number == number)
        reader = stage.layout.stages[exchange.target]
        combine = combine_of(exchange, reader) if combining else None
        held = Copied(fetching, combine, size)
        for segment in copied[number]:
            held.add(segment)
        pairs = held.merged()
        counts[number], keys[number] = held.counts, sum(1 for _ in groupby(pairs, key=itemgetter(0)))
        return (value for _, value in pairs) if _is_bare(exchange, reader) else iter(pairs)

    produced = run_task(replace(stage, writes=None, samples=None), index, fetched)
    return Reduced(produced, sum(keys.values()), counts)


def combine_of(exchange: Exchange, reader: Stage) -> Combine | None:
    """What combines pairs of an exchange, None: nothing does."""
    return combiner(exchange, reader)


def _is_bare(exchange: Exchange, reader: Stage) -> bool:
    """Whether the reading stage wants records as they were, without the key that they were sorted by."""
    return reader.operator == Operator.SORT or exchange.rule in (Rule.ROUND_ROBIN, Rule.BROADCAST)


def _placed(
    exchange: Exchange, reader: Stage, index: int, records: Iterable[Any], bounds: Bounds
) -> Iterator[tuple[int, Any, Any]]:
    """Records as (partition, key, value)."""
    if exchange.rule in (Rule.ROUND_ROBIN, Rule.BROADCAST):
        count = exchange.partitions
        first = first_turn(index, count) + 1 if count > 1 else 0
        for turn, record in enumerate(records, first):
            yield turn % count, NO_KEY, record
        return
    place = placing(exchange, bounds, ascending=reader.ascending or reader.operator != Operator.SORT)
    if reader.operator == Operator.SORT:
        function = reader.function or _itself
        for record in records:
            key = function(record)
            yield place(key), key, record
        return
    for key, value in _pairs(exchange, reader, records):
        yield place(key), key, value


def _pairs(exchange: Exchange, reader: Stage, records: Iterable[Any]) -> Iterable[Pair]:
    if reader.operator == Operator.DISTINCT:
        return ((record, None) for record in records)
    if exchange.combine is True and exchange.aggregate is not None and exchange.aggregate.create is not None:
        return operators.lifted(reader, exchange.aggregate, records)
    return records


def _itself(record: Any) -> Any:
    return record
