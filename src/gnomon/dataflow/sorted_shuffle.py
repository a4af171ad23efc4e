"""A sorted shuffle between two stages of a plan: what one side writes and the other reads, as real records.

Joins what a job means (:mod:`gnomon.dataflow.execute`) with how sorted segments come about
(:mod:`gnomon.dataflow.sorting`, :mod:`gnomon.dataflow.fetching`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from gnomon.dataflow import operators
from gnomon.dataflow.execute import Fetch, Produced, group_combiner, run_task
from gnomon.dataflow.failing import failed
from gnomon.dataflow.fetching import Copied, FetchCounts, Fetching
from gnomon.dataflow.layout import Exchange
from gnomon.dataflow.merging import Pair
from gnomon.dataflow.operators import Group
from gnomon.dataflow.partition import Bounds, first_turn, placing
from gnomon.dataflow.plan import PlanStage
from gnomon.dataflow.serialise import Size, writable
from gnomon.dataflow.sorting import Combine, MapOutput, Output, Place, Segment, chunks, merge_groups
from gnomon.dataflow.spill_buffer import Sorting
from gnomon.dataflow.stage import Operator, Rule, Stage

NO_KEY = ()
"""The key of records that are dealt out: of no bytes, and equal to itself."""


def nothing(exchange: int, partition: int) -> Iterable[Any]:
    """What a task reads of exchanges that has none."""
    return ()


@dataclass(frozen=True)
class Mapped:
    """What a task of the writing side made: its chain's counts, and the sorted output."""

    produced: Produced
    output: MapOutput


@dataclass(frozen=True)
class Reduced:
    """What a task of the reading side made: its chain's counts and records, the groups of keys that it was given, and
    what was counted of copying, for each exchange and partition that it read."""

    produced: Produced
    groups: int
    copied: Mapping[tuple[int, int], FetchCounts]


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
    made: list[MapOutput] = []

    def into(records: Iterable[Any]) -> list[Any]:
        made.append(write(stage, index, records, sorting, bounds=bounds, combining=combining, size=size))
        return []

    produced = run_task(replace(stage, writes=None, samples=None), index, fetched, into=into)
    return Mapped(produced, made[0])


def write(
    stage: PlanStage,
    index: int,
    records: Iterable[Any],
    sorting: Sorting,
    *,
    bounds: Bounds | None = None,
    combining: bool = True,
    size: Size = writable,
) -> MapOutput:
    """The sorted output of a task that makes records. Raises UserError where a function of the job does that the
    exchange needs."""
    exchange = stage.writes
    assert exchange is not None
    reader = stage.layout.stages[exchange.target]
    combine = combine_of(exchange, reader) if combining else None
    place = _placing(exchange, reader, index, bounds or {})
    output = Output(place, exchange.partitions, sorting, size=size, combine=combine)
    for chunk in chunks(_pairs(exchange, reader, records)):
        try:
            output.add(chunk)
        except Exception as error:
            raise failed(_not_a_pair(reader, chunk) or error, reader, index) from None
    try:
        return output.close()
    except Exception as error:
        raise failed(error, reader, index) from None


def reduce_task(
    stage: PlanStage,
    index: int,
    copied: Mapping[tuple[int, int], Sequence[Segment]],
    fetching: Fetching,
    *,
    loads: Fetch = nothing,
    combining: bool = True,
    size: Size = writable,
) -> Reduced:
    """Run a task that reads exchanges, and makes records. ``copied``: the segments of each exchange and partition that
    it reads, in the order in which they were copied; ``loads``: what it reads unsorted, of broadcasts. Raises UserError
    where a function of the job does."""
    counts: dict[tuple[int, int], FetchCounts] = {}
    keyed: dict[tuple[int, int], list[Group]] = {}
    bare: dict[tuple[int, int], int] = {}

    def fetched(number: int, partition: int) -> Iterable[Any]:
        exchange = next(one for one in stage.reads if one.number == number)
        if exchange.rule is Rule.BROADCAST:
            return loads(number, partition)
        reader = stage.layout.stages[exchange.target]
        combine = combine_of(exchange, reader) if combining else None
        held = Copied(fetching, combine, size)
        for segment in copied.get((number, partition), ()):
            held.add(segment)
        whole = held.merged()
        counts[number, partition] = held.counts
        if _is_bare(exchange, reader):
            bare[number, partition] = len(whole.groups)
            return (value for _, values in whole.groups for value in values)
        keyed[number, partition] = whole.groups
        return operators.Gathered(whole.groups, whole.records)

    produced = run_task(replace(stage, writes=None), index, fetched)
    return Reduced(produced, _distinct(list(keyed.values())) + sum(bare.values()), counts)


def _distinct(sides: Sequence[list[Group]]) -> int:
    """How many keys there are on any side: one call of reduce has what all sides of a join have of its key."""
    if len(sides) == 1:
        return len(sides[0])
    return len(merge_groups([[(key, []) for key, _ in side] for side in sides]))


def combine_of(exchange: Exchange, reader: Stage) -> Combine | None:
    """What combines values of a key on their way through an exchange, None: nothing does."""
    return group_combiner(exchange, reader)


def _is_bare(exchange: Exchange, reader: Stage) -> bool:
    """Whether the reading stage wants records as they were, without the key that they were sorted by."""
    return reader.operator == Operator.SORT or exchange.is_dealt


def _placing(exchange: Exchange, reader: Stage, index: int, bounds: Bounds) -> Place:
    """The partition of a key; of records that are dealt out, in turn."""
    if exchange.is_dealt:
        partitions = exchange.partitions
        turns = count(first_turn(index, partitions) + 1 if partitions > 1 else 0)
        return lambda _: next(turns) % partitions
    return placing(exchange, bounds, ascending=reader.ascending)


def _pairs(exchange: Exchange, stage: Stage, records: Iterable[Any]) -> Iterable[Pair]:
    """Records as pairs of a key and what goes with it, for the stage that reads them."""
    if exchange.is_dealt:
        return ((NO_KEY, record) for record in records)
    if stage.operator == Operator.SORT:
        return _sort_pairs(stage, records)
    if stage.operator == Operator.DISTINCT:
        return ((record, None) for record in records)
    if exchange.combine is True and exchange.aggregate is not None and exchange.aggregate.create is not None:
        return operators.lifted(stage, exchange.aggregate, records)
    return records


def _not_a_pair(stage: Stage, records: Iterable[Any]) -> Exception | None:
    """The error of the first record that is no pair."""
    for record in records:
        try:
            _, _ = record
        except Exception as error:
            return error
    return None


def _sort_pairs(stage: Stage, records: Iterable[Any]) -> Iterator[Pair]:
    function = operators.function_of(stage)
    for record in records:
        yield function(record), record
