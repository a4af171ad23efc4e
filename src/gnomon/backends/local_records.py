"""The records of one task, as a stream: narrow operators as everywhere, wide ones in bounded memory.

What an operator means is said in :mod:`gnomon.dataflow.operators`, and what comes in which order is the same: that of
keys is the order in which they first come, from map tasks in the order of their numbers.

A quick attempt lets Python's own iterators call the functions of the user, which takes two thirds of the time. They do
not tell which record a function failed on, and take a StopIteration that it raises for the end: then somebody has not
read all that it was given, and the attempt counts for nothing. A careful one tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from gnomon.backends.local_tables import Combine, Scratch, grouped, in_order
from gnomon.dataflow import operators
from gnomon.dataflow.layout import Exchange, Layout
from gnomon.dataflow.stage import Aggregate, Function, Operator, Rule, Stage, key_of

Fetch = Callable[[int, int], Iterator[Any]]
"""The records of a partition of an exchange, of all map tasks in their order."""


Quick = Callable[[Function, Iterable[Any]], Iterator[Any]]

QUICK: Final[Mapping[Operator, Quick]] = {
    Operator.MAP: map,
    Operator.FILTER: filter,
    Operator.FLAT_MAP: lambda function, records: chain.from_iterable(map(function, records)),
}


class Records:
    """What makes partitions of a graph's stages in one attempt at a task.

    ``calls`` are the records that stages took in (of a quick attempt some are missing); ``taken`` those from sources
    and exchanges, ``unfinished`` how many of these were not read to their ends.
    """

    def __init__(self, layout: Layout, fetch: Fetch, scratch: Scratch, *, quick: bool) -> None:
        self.layout, self.fetch, self.scratch = layout, fetch, scratch
        self.quick: Mapping[Operator, Quick] = QUICK if quick else {}
        self.calls: operators.Calls = Counter()
        self.taken = self.unfinished = 0

    def of(self, number: int, index: int) -> Iterable[Any]:
        """The records of a partition of a stage."""
        stage = self.layout.stages[number]
        if stage.operator in self.quick and stage.function is not None:
            return self.quick[stage.operator](stage.function, self._given(stage, index))
        if stage.operator in operators.NARROW:
            return operators.NARROW[stage.operator](stage, index, self._given(stage, index), self.calls)
        return self._wide(stage, [self._side(stage, position, index) for position in range(len(stage.inputs))])

    def _given(self, stage: Stage, index: int) -> Iterable[Any]:
        if stage.operator == Operator.SOURCE:
            return self._counted(stage.data[index])
        if stage.operator == Operator.TEXT:
            return self._counted(self.layout.splits[stage.number][index])
        places = self.layout.narrow(stage.number, index)
        return self.of(*places[0]) if len(places) == 1 else chain.from_iterable(self.of(*place) for place in places)

    def _side(self, stage: Stage, position: int, index: int) -> Iterable[Any]:
        exchange = self.layout.crossing.get((stage.number, position))
        if exchange is None:
            return self.of(stage.inputs[position], index)
        return self._counted(self.fetch(exchange.number, 0 if exchange.rule == Rule.BROADCAST else index))

    def _counted(self, records: Iterable[Any]) -> Iterator[Any]:
        self.unfinished += 1
        count = 0
        for count, record in enumerate(records, 1):  # noqa: B007
            yield record
        self.taken += count
        self.unfinished -= 1

    def _wide(self, stage: Stage, sides: list[Iterable[Any]]) -> Iterable[Any]:
        if stage.operator == Operator.JOIN and stage.partition.rule == Rule.BROADCAST:
            return operators.looked_up(stage, sides[0], sides[1], self.calls)
        given = [operators.passed(stage, 0, side, self.calls) for side in sides]
        if stage.operator == Operator.REPARTITION:
            return given[0]
        if stage.operator == Operator.SORT:
            return in_order(given[0], operators.function_of(stage), self.scratch, descending=not stage.ascending)
        if stage.operator in (Operator.COGROUP, Operator.JOIN):
            groups = self._groups(stage, _tagged(stage, given), LISTS)
            parted = ((key, _untagged(tagged, len(sides))) for key, tagged in groups)
            return operators.joined(stage.how, parted) if stage.operator == Operator.JOIN else parted
        groups = self._groups(stage, given[0], self._combine(stage))
        return (key for key, _ in groups) if stage.operator == Operator.DISTINCT else groups

    def _combine(self, stage: Stage) -> Combine:
        if stage.aggregate is None:
            return LISTS
        exchange = self.layout.crossing.get((stage.number, 0))
        if exchange is not None and exchange.combine is True:
            return Combine(None, stage.aggregate.merge, stage.aggregate.merge)
        return combine_of(stage.aggregate)

    def _groups(self, stage: Stage, pairs: Iterable[Any], combine: Combine) -> Iterator[tuple[Any, Any]]:
        groups = grouped(stage, pairs, combine, self.scratch)
        if not any(one.ordered for one in self.layout.exchanges if one.target == stage.number):
            return groups
        return in_order(groups, key_of, self.scratch)


def combine_of(aggregate: Aggregate) -> Combine:
    """How values, as they come, are combined by an aggregate."""
    return Combine(aggregate.create, aggregate.add, aggregate.merge)


def source_of(exchange: Exchange, layout: Layout, records: Iterable[Any]) -> Iterable[Any]:
    """The records of an exchange's source as they are written: pairs, except where a sort or a dealing out reads."""
    distinct = layout.stages[exchange.target].operator == Operator.DISTINCT
    return ((record, None) for record in records) if distinct else records


def _append(values: list[Any], value: Any) -> list[Any]:
    values.append(value)
    return values


def _extend(values: list[Any], others: list[Any]) -> list[Any]:
    values.extend(others)
    return values


LISTS: Final = Combine(lambda value: [value], _append, _extend)
"""All values of a key, in the order in which they come."""


def _tagged(stage: Stage, sides: list[Iterator[Any]]) -> Iterator[tuple[Any, tuple[int, Any]]]:
    """The pairs of all sides, each value with the number of its side: one list a key is what its weight is seen of."""
    for side, records in enumerate(sides):
        for record in records:
            key, value = record
            yield key, (side, value)


def _untagged(tagged: list[tuple[int, Any]], sides: int) -> tuple[list[Any], ...]:
    lists: tuple[list[Any], ...] = tuple([] for _ in range(sides))
    for side, value in tagged:
        lists[side].append(value)
    return lists
