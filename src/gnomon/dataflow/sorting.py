"""What a task does with the records that it gives to a sorted shuffle: buffer, spill, combine, merge.

Records are real, and so are the numbers: which records a spill holds, how often a combiner runs over each, how many are
rewritten by merges. Source: ``MapTask`` of Hadoop 3.5.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from gnomon.dataflow.merging import Pair, grouped, in_order, merge_passes
from gnomon.dataflow.operators import Group
from gnomon.dataflow.serialise import SEGMENT_END_BYTES, Size, segment_record, together, writable
from gnomon.dataflow.spill_buffer import META_BYTES, Buffer, Room, Sorting

Combine = Callable[[list[Group]], list[Group]]
"""Fewer values of keys, of some of their values."""

Place = Callable[[Any], int]
"""The partition of a key."""

_CHUNK: Final = 4_096
_PLAIN: Final = frozenset((str, int))
"""Kinds of keys that are equal where neither comes before the other."""


@dataclass(slots=True)
class Counts:
    """What is counted of a task's output. ``spilled``: records written to disk, once for each time."""

    records: int = 0
    bytes: int = 0
    combine_input: int = 0
    combine_output: int = 0
    spilled: int = 0
    materialised: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """What one reader gets of one task: keys in order, each with its values, how many records these are, and its bytes
    as written."""

    groups: list[Group]
    records: int
    bytes: int

    @property
    def pairs(self) -> list[Pair]:
        """Its records."""
        return [(key, value) for key, values in self.groups for value in values]


EMPTY: Final = Segment([], 0, SEGMENT_END_BYTES)


def segment_of(groups: Iterable[Group], size: Size = writable) -> Segment:
    """Keys in order with their values as a segment.

    >>> segment_of([("word00", [1])]).bytes
    19
    """
    held = list(groups)
    keys = [size(key) for key, _ in held]
    values = list(chain.from_iterable(values for _, values in held))
    length = together(values, size)
    if length is not None and max(keys, default=0) < 128:  # each length is a byte
        length += sum(key * len(mine) for key, (_, mine) in zip(keys, held, strict=True)) + 2 * len(values)
    else:
        pairs = ((key, value) for key, (_, mine) in zip(keys, held, strict=True) for value in mine)
        length = sum(segment_record(key, size(value)) for key, value in pairs)
    return Segment(held, len(values), length + SEGMENT_END_BYTES)


def joined(segments: Sequence[Segment]) -> Segment:
    """Segments merged into one, whose end and checksum are there once. Raises InputError for keys that cannot be
    compared.

    >>> joined([Segment([("b", [1])], 1, 14), Segment([("a", [1])], 1, 14)])
    Segment(groups=[('a', [1]), ('b', [1])], records=2, bytes=22)
    """
    if len(segments) == 1:
        return segments[0]
    whole = sum(segment.bytes - SEGMENT_END_BYTES for segment in segments) + SEGMENT_END_BYTES
    return Segment(merge_groups([one.groups for one in segments]), sum(one.records for one in segments), whole)


def merge_groups(runs: Sequence[list[Group]]) -> list[Group]:
    """Keys in order with all their values, of runs of such. Raises InputError for keys that cannot be compared.

    >>> merge_groups([[("a", [1]), ("c", [1])], [("a", [2])]])
    [('a', [1, 2]), ('c', [1])]
    """
    kinds = {type(key) for run in runs for key, _ in run}
    if len(kinds) == 1 and kinds <= _PLAIN:
        held: dict[Any, list[list[Any]]] = {}
        for key, values in chain.from_iterable(runs):
            if key in held:
                held[key].append(values)
            else:
                held[key] = [values]
        return [(key, _chained(held[key])) for key in sorted(held)]
    return [(key, _chained(parts)) for key, parts in grouped(in_order(chain.from_iterable(runs)))]


def _chained(parts: list[list[Any]]) -> list[Any]:
    return parts[0] if len(parts) == 1 else list(chain.from_iterable(parts))


@dataclass(frozen=True, slots=True)
class Spill:
    """A run on disk: its records as they came, as they were written, and its bytes."""

    records: int
    written: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MapOutput:
    """What is left of a task: a segment for each partition, how it came to it, and what was counted. ``passes``: the
    records that each pass of the merges rewrote, the last pass last; none for a single spill, which is renamed."""

    segments: tuple[Segment, ...]
    spills: tuple[Spill, ...]
    passes: tuple[int, ...]
    counts: Counts


class Output:
    """The output of a task in the making: pairs are added, and written out as a run when the buffer is full.

    Records are gathered by key as they come: most keys come more than once, and only keys are sorted.

    >>> output = Output(str.isupper, 2, Sorting())
    >>> output.add([("b", 1), ("C", 1), ("a", 1)])
    >>> whole = output.close()
    >>> [segment.pairs for segment in whole.segments], whole.counts.materialised
    ([[('a', 1), ('b', 1)], [('C', 1)]], 36)
    """

    def __init__(
        self,
        place: Place,
        partitions: int,
        sorting: Sorting,
        *,
        size: Size = writable,
        combine: Combine | None = None,
    ) -> None:
        self.place, self.partitions, self.sorting, self.size, self.combine = place, partitions, sorting, size, combine
        self.counts = Counts()
        self.runs: list[list[Segment]] = []
        self.spills: list[Spill] = []
        self._buffer = Buffer(sorting)
        self._held = 0  # records in the buffer
        self._kind: type | None = None  # that of all keys in the table
        self._table: dict[Any, list[Any]] = {}
        self._others: list[list[Pair]] = [[] for _ in range(partitions)]  # records whose keys are of another kind

    def add(self, pairs: Sequence[Pair]) -> None:
        """Some more pairs. Raises InputError for keys that cannot be compared."""
        keys, values = [key for key, _ in pairs], [value for _, value in pairs]
        key_bytes, value_bytes = together(keys, self.size), together(values, self.size)
        total = sum(map(self.size, keys)) if key_bytes is None else key_bytes
        total += sum(map(self.size, values)) if value_bytes is None else value_bytes
        if total + META_BYTES * len(pairs) <= self._buffer.spare:
            self._buffer.add(len(pairs), total)
            self._count(len(pairs), total)
            self._keep(keys, values)
            return
        for key, value in zip(keys, values, strict=True):
            length = self.size(key) + self.size(value)
            room = self._buffer.put(length)
            if room is not Room.FITS and self._held:
                self._spill()
            self._count(1, length)
            self._keep((key,), (value,))
            if room is Room.ALONE:
                self._spill(combined=False)

    def _count(self, records: int, size: int) -> None:
        self.counts.records += records
        self.counts.bytes += size
        self._held += records

    def _keep(self, keys: Sequence[Any], values: Sequence[Any]) -> None:
        kinds = set(map(type, keys))
        if self._kind is None and len(kinds) == 1:
            self._kind = next((kind for kind in _PLAIN if kind in kinds), None)
        if kinds != {self._kind}:
            for pair in zip(keys, values, strict=True):
                self._others[self.place(pair[0])].append(pair)
            return
        table, get = self._table, self._table.get
        for key, value in zip(keys, values, strict=True):
            held = get(key)
            if held is None:
                table[key] = [value]
            else:
                held.append(value)

    def _spill(self, *, combined: bool = True) -> None:
        """Write what is there as a run, sorted by partition and key."""
        buckets: list[list[Group]] = [[] for _ in range(self.partitions)]
        for key in sorted(self._table):
            buckets[self.place(key)].append((key, self._table[key]))
        for bucket, others in zip(buckets, self._others, strict=True):
            if others:
                bucket[:] = merge_groups([bucket, [(key, [value]) for key, value in others]])
        run = [segment_of(self._combined(bucket) if combined else bucket, self.size) for bucket in buckets]
        written = sum(segment.records for segment in run)
        self.counts.spilled += written
        self.runs.append(run)
        self.spills.append(Spill(self._held, written, sum(segment.bytes for segment in run)))
        self._table, self._others, self._held = {}, [[] for _ in range(self.partitions)], 0

    def _combined(self, groups: list[Group]) -> list[Group]:
        """What the combiner leaves of groups."""
        if self.combine is None:
            return groups
        self.counts.combine_input += sum(len(values) for _, values in groups)
        made = self.combine(groups)
        self.counts.combine_output += sum(len(values) for _, values in made)
        return made

    def close(self) -> MapOutput:
        """All there is: one segment a partition, none written, the only run renamed, or all merged. Raises InputError
        as :meth:`add`."""
        if self._held:
            self._spill()
        rewritten: list[int] = []
        if not self.runs:
            segments = [EMPTY] * self.partitions
        elif len(self.runs) == 1:
            segments = self.runs[0]
        else:
            segments = []
            for parts in zip(*self.runs, strict=True):
                _count_passes([one.records for one in parts], [one.bytes for one in parts], self.sorting, rewritten)
                segments.append(self._merge(parts))
            rewritten.append(sum(segment.records for segment in segments))
            self.counts.spilled += sum(rewritten)
        self.counts.materialised = sum(segment.bytes for segment in segments)
        return MapOutput(tuple(segments), tuple(self.spills), tuple(rewritten), self.counts)

    def _merge(self, parts: Sequence[Segment]) -> Segment:
        """Runs as one; combined again if there are enough of them."""
        whole = joined(parts)
        if self.combine is None or len(parts) < self.sorting.combine_spills:
            return whole
        return segment_of(self._combined(whole.groups), self.size)


def chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Pairs some thousands at a time: few enough to be still at hand when they are looked at again.

    >>> [len(chunk) for chunk in chunks([("a", 1)] * 5_000)]
    [4096, 904]
    """
    left = iter(pairs)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk


def _count_passes(records: list[int], lengths: list[int], sorting: Sorting, rewritten: list[int]) -> None:
    """Add what the passes before the last rewrite of one partition."""
    sizes = [length if count else 0 for count, length in zip(records, lengths, strict=True)]
    passes = merge_passes(sizes, sorting.factor, by_length=len(records) > sorting.factor)
    counted = list(records)
    for number, runs in enumerate(passes[:-1]):
        counted.append(sum(counted[run] for run in runs))
        if number == len(rewritten):
            rewritten.append(0)
        rewritten[number] += counted[-1]
