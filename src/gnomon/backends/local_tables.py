"""Grouping and sorting more records than fit into memory.

Everything is kept in memory until that weighs too much, then written to a scratch file, and so on. Results do not
depend on how often that happened: groups come in the order in which their keys first came, sorting is stable.

Groups that do not fit are parted by a hash of the key into files that do (the Grace hash join's way: Kitsuregawa,
Tanaka, Moto-oka: Application of Hash to Data Base Machine and Its Architecture, 1983), one level deeper where even one
of those does not. Each entry carries the number of its key's first appearance; finished files are merged by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import merge as merged
from itertools import chain, count, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from gnomon.backends.local_blocks import Writer, read
from gnomon.backends.local_weight import Pace, table_weight, weight
from gnomon.dataflow.stage import Stage
from gnomon.model.errors import GnomonError

BATCH: Final = 256
"""So many records are taken from a stream at once: few enough to stay in the processor's cache."""

_FAN_BITS: Final = 6
_FAN: Final = 1 << _FAN_BITS
_DEEPEST: Final = 8

Entry = tuple[int, Any, Any]
"""The number of a key's first appearance, the key, and what was combined for it."""


@dataclass(frozen=True)
class Combine:
    """How values of a key become one.

    ``create(value)`` (None: the value itself) is what the first becomes, ``add(combined, value)`` takes in another,
    ``merge(combined, combined)`` joins what was combined apart.
    """

    create: Callable[[Any], Any] | None
    add: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]


@dataclass
class Scratch:
    """Where a task puts what it cannot hold: its own folder, and how many bytes it may hold."""

    folder: Path
    limit: int
    spilled_bytes: int = 0
    _numbers: Iterator[int] = field(default_factory=count)

    def path(self) -> Path:
        """The name of a new file."""
        return self.folder / f"spill-{next(self._numbers)}"


class KeyTooLargeError(GnomonError):
    """What was gathered for one key does not fit into memory."""

    def __init__(self, key: object, limit: int) -> None:
        self.key, self.limit = key, limit
        super().__init__(f"what is gathered for the key {key!r} alone takes more than {limit >> 20} MiB")


def fill(
    records: Iterable[Any],
    keep: Callable[[list[Any]], None],
    held: Callable[[], int],
    spill: Callable[[], None],
    limit: int,
) -> int:
    """Give ``records`` to ``keep``, in batches, and ``spill`` whenever ``held()`` bytes reach the limit.

    Returns how many records there were.
    """
    stream, pace = iter(records), Pace(limit)
    total = since = 0
    while batch := list(islice(stream, min(BATCH, pace.records - since))):
        keep(batch)
        total += len(batch)
        since += len(batch)
        if since >= pace.records:
            since = 0
            if pace.full(held()):
                spill()
    return total


def fold(stage: Stage, table: dict[Any, Any], combine: Combine, records: list[Any]) -> None:
    """Combine pairs of a key and a value into a table. In ``stage`` and ``record`` ``failing`` looks for them."""
    create, add = combine.create, combine.add
    if create is None:
        for record in records:
            key, value = record
            table[key] = add(table[key], value) if key in table else value
    else:
        for record in records:
            key, value = record
            table[key] = add(table[key], value) if key in table else create(value)


def grouped(
    stage: Stage, pairs: Iterable[tuple[Any, Any]], combine: Combine, scratch: Scratch
) -> Iterator[tuple[Any, Any]]:
    """Each key with its combined value, in the order in which the keys first came. Raises KeyTooLargeError.

    >>> from tempfile import mkdtemp
    >>> from gnomon.dataflow.stage import Operator
    >>> stage = Stage(0, "group", Operator.GROUP)
    >>> lists = Combine(lambda value: [value], lambda list, value: [*list, value], lambda one, other: one + other)
    >>> pairs = [("b", 1), ("a", 2), ("b", 3), ("c", 4)]
    >>> for limit in (10**6, 1500):
    ...     list(grouped(stage, pairs, lists, Scratch(Path(mkdtemp()), limit)))
    [('b', [1, 3]), ('a', [2]), ('c', [4])]
    [('b', [1, 3]), ('a', [2]), ('c', [4])]
    """
    table: dict[Any, Any] = {}
    fan = _Fan(scratch)

    def spill() -> None:
        fan.write(zip(count(fan.entries), table.keys(), table.values()))
        table.clear()

    fill(pairs, partial(fold, stage, table, combine), partial(table_weight, table), spill, scratch.limit)
    if not fan.entries:
        yield from table.items()
        return
    spill()
    for _, key, combined in fan.finished(combine.merge):
        yield key, combined


def in_order(
    records: Iterable[Any], key: Callable[[Any], Any], scratch: Scratch, *, descending: bool = False
) -> Iterator[Any]:
    """The records by their keys; equal ones in the order in which they came.

    >>> from tempfile import mkdtemp
    >>> for limit in (10**6, 100):
    ...     list(in_order("hello", str, Scratch(Path(mkdtemp()), limit), descending=True))
    ['o', 'l', 'l', 'h', 'e']
    ['o', 'l', 'l', 'h', 'e']
    """
    held: list[Any] = []
    runs: list[Path] = []

    def spill() -> None:
        held.sort(key=key, reverse=descending)
        runs.append(_written(iter(held), scratch))
        held.clear()

    fill(records, held.extend, partial(weight, held), spill, scratch.limit)
    if not runs:
        held.sort(key=key, reverse=descending)
        yield from held
        return
    spill()
    while len(runs) > _FAN:  # neighbours, so that equal records stay in order
        groups = [runs[start : start + _FAN] for start in range(0, len(runs), _FAN)]
        runs[:] = [_written(_joined(group, key, descending), scratch) for group in groups]
    yield from _joined(runs, key, descending)


def _joined(runs: list[Path], key: Callable[[Any], Any], descending: bool) -> Iterator[Any]:
    yield from merged(*(chain.from_iterable(read(path, 0)) for path in runs), key=key, reverse=descending)
    for path in runs:
        path.unlink()


def _written(records: Iterator[Any], scratch: Scratch) -> Path:
    path = scratch.path()
    writer = Writer(path, 1)
    while batch := list(islice(records, BATCH)):
        writer.append(0, batch)
    writer.close()
    scratch.spilled_bytes += writer.bytes
    return path


class _Fan:
    """Entries parted into files by a hash of their key, which need only agree with itself in this process: each depth
    takes other bits of it."""

    def __init__(self, scratch: Scratch, depth: int = 0) -> None:
        self.entries = 0
        self.path = scratch.path()
        self._scratch, self._depth = scratch, depth
        self._writer: Writer | None = None

    def write(self, entries: Iterable[Entry]) -> None:
        self._writer = self._writer or Writer(self.path, _FAN)
        parts: list[list[Entry]] = [[] for _ in range(_FAN)]
        for entry in entries:
            parts[hash((entry[1],)) >> _FAN_BITS * self._depth & _FAN - 1].append(entry)
            self.entries += 1
        for number, part in enumerate(parts):
            self._writer.append(number, part)

    def finished(self, merge: Callable[[Any, Any], Any]) -> Iterator[Entry]:
        """One entry a key, in the order of first appearances."""
        assert self._writer is not None
        self._close(self._writer)
        path = self._scratch.path()
        done = Writer(path, _FAN)
        for number in range(_FAN):
            entries = self._merged(chain.from_iterable(read(self.path, number)), merge)
            while batch := list(islice(entries, BATCH)):
                done.append(number, batch)
        self._close(done)
        self.path.unlink()
        parts = (chain.from_iterable(read(path, number)) for number in range(_FAN))
        yield from merged(*parts, key=itemgetter(0))
        path.unlink()

    def _merged(self, entries: Iterator[Entry], merge: Callable[[Any, Any], Any]) -> Iterator[Entry]:
        table: dict[Any, Any] = {}
        first: dict[Any, int] = {}
        deeper = _Fan(self._scratch, self._depth + 1)

        def keep(batch: list[Entry]) -> None:
            for number, key, combined in batch:
                if key in table:
                    table[key] = merge(table[key], combined)
                else:
                    table[key], first[key] = combined, number

        def part() -> None:
            deeper.write(zip(first.values(), table.keys(), table.values(), strict=True))
            table.clear()
            first.clear()

        def spill() -> None:
            if len(table) == 1 or self._depth == _DEEPEST:
                raise KeyTooLargeError(max(table, key=lambda key: weight([table[key]])), self._scratch.limit)
            part()

        fill(entries, keep, lambda: table_weight(table) + table_weight(first), spill, self._scratch.limit)
        if deeper.entries:
            part()
            return deeper.finished(merge)
        return zip(first.values(), table.keys(), table.values(), strict=True)

    def _close(self, writer: Writer) -> None:
        writer.close()
        self._scratch.spilled_bytes += writer.bytes
