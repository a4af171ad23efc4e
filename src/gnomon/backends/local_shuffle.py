"""The map side of a shuffle on disk: records, combined where that may be, in a file parted by where they go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from gnomon.backends.local_blocks import Writer
from gnomon.backends.local_records import LISTS, combine_of, source_of
from gnomon.backends.local_tables import fill, fold
from gnomon.backends.local_weight import table_weight, weight
from gnomon.dataflow.hashing import portable
from gnomon.dataflow.layout import Exchange, Layout
from gnomon.dataflow.operators import function_of
from gnomon.dataflow.partition import Bounds, first_turn, placing
from gnomon.dataflow.stage import Function, Operator, Rule, Stage


class MapSide:
    """Writes what one task sends into an exchange, holding ``limit`` bytes of it at most.

    ``records_in`` came, ``records_out`` were written: fewer where values were combined.
    """

    def __init__(self, exchange: Exchange, layout: Layout, bounds: Bounds, writer: Writer) -> None:
        self.exchange, self.layout, self.writer = exchange, layout, writer
        self.target: Stage = layout.stages[exchange.target]
        self.bounds = bounds
        self.records_in = self.records_out = 0

    def write(self, index: int, records: Iterable[Any], limit: int) -> None:
        """Write all records of task ``index``."""
        given = source_of(self.exchange, self.layout, records)
        if self.exchange.combine:
            self._combined(given, limit)
        else:
            held: list[Any] = []
            parted = self._dealing(index) if self._is_dealt else self._placing()
            spill = partial(self._spill, held, parted)
            self.records_in = fill(given, held.extend, partial(weight, held), spill, limit)
            spill()

    def _combined(self, given: Iterable[Any], limit: int) -> None:
        """In a table by key; what the table holds is combined, also where it has to be emptied before the end."""
        own = self.exchange.combine if callable(self.exchange.combine) else None
        aggregate = None if own else self.exchange.aggregate
        combine = LISTS if aggregate is None else combine_of(aggregate)
        table: dict[Any, Any] = {}
        parted = self._placing()

        def spill() -> None:
            made = combined(self.target, own, table) if own else list(table.items())
            table.clear()
            self._spill(made, parted)

        keep = partial(fold, self.target, table, combine)
        self.records_in = fill(given, keep, partial(table_weight, table), spill, limit)
        spill()

    @property
    def _is_dealt(self) -> bool:
        return self.exchange.is_dealt

    def _placing(self) -> Callable[[list[Any]], list[list[Any]]]:
        """What parts a list of records by their keys."""
        stage, count = self.target, self.exchange.partitions
        place = place_of(self.exchange, self.bounds, ascending=stage.ascending)
        key = function_of(stage) if stage.operator == Operator.SORT else None

        def parted(records: list[Any], stage: Stage = stage) -> list[list[Any]]:  # where ``failing`` looks for it
            parts: list[list[Any]] = [[] for _ in range(count)]
            if key is None:
                for record in records:
                    parts[place(record[0])].append(record)
            else:
                for record in records:
                    parts[place(key(record))].append(record)
            return parts

        return parted

    def _dealing(self, index: int) -> Callable[[list[Any]], list[list[Any]]]:
        """What deals a list of records out, going on where the last list ended."""
        count = self.exchange.partitions
        turn = first_turn(index, count) if count > 1 else 0

        def parted(records: list[Any]) -> list[list[Any]]:
            nonlocal turn
            parts: list[list[Any]] = [[] for _ in range(count)]
            for number, record in enumerate(records, turn + 1):
                parts[number % count].append(record)
            turn = (turn + len(records)) % count
            return parts

        return parted

    def _spill(self, held: list[Any], parted: Callable[[list[Any]], list[list[Any]]]) -> None:
        self.records_out += len(held)
        for number, part in enumerate(parted(held)):
            self.writer.append(number, part)
        held.clear()


def combined(stage: Stage, function: Function, table: Mapping[Any, list[Any]]) -> list[Any]:
    """What a combiner of the user, ``(key, values) -> values``, makes of a table of lists."""
    made: list[Any] = []
    for record in table.items():
        key, values = record
        made += [(key, value) for value in function(key, values)]
    return made


def place_of(exchange: Exchange, bounds: Bounds, *, ascending: bool) -> Callable[[Any], int]:
    """As :func:`gnomon.dataflow.partition.placing`, quicker where Python's own hash is the one that is asked for."""
    count = exchange.partitions
    if exchange.rule == Rule.HASH and exchange.known.function == "portable" and count > 1 and has_portable_hash():
        return lambda key: quick_portable(key) % count
    return placing(exchange, bounds, ascending=ascending)


def has_portable_hash() -> bool:
    """Whether this process has the hash seed that ``portable`` is defined by, and the function."""
    return not sys.flags.hash_randomization and hash("portable") == portable("portable")


def quick_portable(key: Any) -> int:
    """``portable``, by Python's own hash; only where :func:`has_portable_hash`."""
    kind = type(key)
    if kind is str or kind is int or kind is bytes:
        return hash(key)
    if kind is tuple:
        value = 0x345678
        for part in key:
            value = ((value ^ quick_portable(part)) * 1000003) & 0x7FFFFFFFFFFFFFFF
        return value ^ len(key)
    return portable(key)
