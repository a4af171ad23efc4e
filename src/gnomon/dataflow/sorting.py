"""What a task does with the records that it gives to a sorted shuffle: buffer, spill, combine, merge.

Records are real, and so are the numbers: which records a spill holds, how often a combiner runs over each, how many are
rewritten by merges. Source: ``MapTask.MapOutputBuffer`` and ``Merger`` of Hadoop 3.5.0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

from gnomon.dataflow.serialise import SEGMENT_END_BYTES, Size, segment_record, writable
from gnomon.model.errors import InputError
from gnomon.model.resources import E4

Pair = tuple[Any, Any]
Combine = Callable[[list[Pair]], list[Pair]]
"""Fewer pairs of the same kind, of pairs in the order of their keys."""

_META: Final = 16
"""What the buffer holds for each record beside its bytes: where value and key begin, partition, length of the value."""


@dataclass(frozen=True, slots=True)
class Sorting:
    """The buffer [bytes], at which part of it (1/10,000) a spill begins, how many runs are merged at once, and from how
    many spills on the combiner runs again when they are merged.

    >>> Sorting(buffer_bytes=2**20).soft_limit
    838860
    """

    buffer_bytes: int = 100 * 2**20
    spill_share_e4: int = 8_000
    factor: int = 10
    combine_spills: int = 3

    @property
    def soft_limit(self) -> int:
        """A spill begins when so many bytes are used."""
        return self.buffer_bytes * self.spill_share_e4 // E4


class Room(Enum):
    """What a record finds in the buffer."""

    FITS = 0
    SPILL = 1
    """It fits after those before it are spilled."""
    ALONE = 2
    """It is larger than the whole buffer: those before it are spilled, then it, by itself."""


class Buffer:
    """A ring of bytes: records grow one way from the equator, 16 bytes for each the other way.

    A spill takes what is there, and the equator moves into the free part. It is assumed to be over when its room is
    needed: how long the writer waits for it is a matter of time, not of records. (The few bytes that stay void where a
    key would be cut by the end of the array are left out.)

    >>> buffer = Buffer(Sorting(buffer_bytes=1000))
    >>> [buffer.put(100).name for _ in range(8)]
    ['FITS', 'FITS', 'FITS', 'FITS', 'FITS', 'FITS', 'FITS', 'SPILL']
    """

    def __init__(self, sorting: Sorting) -> None:
        self._length = sorting.buffer_bytes - sorting.buffer_bytes % _META
        self._soft = sorting.soft_limit
        self._records = self._bytes = 0
        self._end = 0  # of the bytes of the last spill
        self._at = 0  # where the next byte goes
        self._spilled = False  # a spill has been, and its room is not counted as free yet
        self._equator, self._meta = 0, self._length - _META
        self._meta_end = self._meta
        self._left = self._soft

    @property
    def spare(self) -> int:
        """So many bytes more, 16 for each record with them, can be added without a look at the limits."""
        return self._left - 1

    def add(self, records: int, size: int) -> None:
        """Add records of ``size`` bytes together, which the spare bytes hold."""
        self._left -= records * _META + size
        self._at = (self._at + size) % self._length
        self._meta = (self._meta - records * _META) % self._length
        self._records += records
        self._bytes += size

    def put(self, size: int) -> Room:
        """Add a record of ``size`` bytes; says what has to be spilled before."""
        self._left -= _META
        room = Room.FITS
        if self._left <= 0 and self._look():
            room = Room.SPILL
        self._left -= size
        if self._left <= 0 and self._is_blocked(size):
            room = self._make_room(size, room)
            if room == Room.ALONE:
                return room
        self._at = (self._at + size) % self._length
        self._meta = (self._meta - _META) % self._length
        self._records += 1
        self._bytes += size
        return room

    def _look(self) -> bool:
        """At the soft limit: count the room of the last spill as free, or spill."""
        used = self._distance(self._meta, self._at)
        if self._spilled:
            self._reclaim()
            self._left = min(self._distance(self._at, self._meta) - 2 * _META, self._soft - used) - _META
            return False
        if used < self._soft or self._meta == self._meta_end:
            return False
        free = self._distance(self._at, self._meta)
        self._start_spill()
        mean = self._bytes // self._records
        self._turn((self._at + max(2 * _META - 1, min(free // 2, free // (_META + mean) * _META))) % self._length)
        self._at = self._equator
        room = min(self._distance(self._end, self._at), self._distance(self._at, self._meta_end), self._soft)
        self._left = room - 2 * _META
        return True

    def _is_blocked(self, size: int) -> bool:
        """Whether too little is left for a record, what is held for it, and what will be for the next one."""
        to_meta, to_spilled = self._distance(self._at, self._meta), self._distance(self._at, self._meta_end)
        if to_meta <= to_spilled:
            return to_meta <= size + 2 * _META
        return to_spilled <= size or self._distance(self._end, self._meta) < 2 * _META

    def _make_room(self, size: int, room: Room) -> Room:
        if self._spilled:
            self._reclaim()
        if self._is_blocked(size):
            if self._meta != self._meta_end:
                self._start_spill()
                self._turn(self._at)
                self._reclaim()
                room = Room.SPILL
            if self._is_blocked(size):
                self._at = 0
                self._turn(0)
                self._reclaim()
                self._left = self._soft
                return Room.ALONE
        free, used = self._distance(self._at, self._meta), self._distance(self._meta, self._at)
        self._left = min(free - 2 * _META, self._soft - used) - size
        return room

    def _start_spill(self) -> None:
        self._meta_end = (self._meta + _META) % self._length
        self._end = self._at
        self._spilled = True

    def _turn(self, equator: int) -> None:
        self._equator = equator
        self._meta = (equator - equator % _META - _META) % self._length

    def _reclaim(self) -> None:
        self._end = self._equator
        self._meta_end = (self._equator - self._equator % _META - _META) % self._length
        self._spilled = False

    def _distance(self, start: int, end: int) -> int:
        return (end - start) % self._length


# ------------------------------------------------------------------ merging


def pass_width(factor: int, number: int, runs: int) -> int:
    """How many runs the pass ``number`` (from 1) merges: the first so many that all later ones are full.

    >>> pass_width(10, 1, 12), pass_width(10, 2, 11), pass_width(10, 1, 19), pass_width(10, 1, 9)
    (3, 10, 10, 10)
    """
    if number > 1 or runs <= factor or factor == 1:
        return factor
    return (runs - 1) % (factor - 1) + 1 if (runs - 1) % (factor - 1) else factor


def merge_passes(
    lengths: Sequence[int], factor: int, *, in_memory: int = 0, by_length: bool = True
) -> list[tuple[int, ...]]:
    """Which runs each pass of a merge takes, the last pass last. The result of pass ``i`` but the last is the run
    ``len(lengths) + i``. Runs of length 0 are left out.

    The smallest runs go first; the first ``in_memory`` runs do not count against the factor.

    >>> merge_passes([31_069, 31_068, 31_068, 6_795], 2)
    [(3, 1), (2, 0), (4, 5)]
    >>> merge_passes([5, 5, 5], 10)
    [(0, 1, 2)]
    """
    sizes, order = list(lengths), list(range(len(lengths)))
    if by_length:
        order.sort(key=sizes.__getitem__)
    runs, passes = len(order), list[tuple[int, ...]]()
    while True:
        width = pass_width(factor, len(passes) + 1, runs - in_memory) + (0 if passes else in_memory)
        taken: list[int] = []
        while order and len(taken) < width:
            run = order.pop(0)
            if sizes[run]:
                taken.append(run)
            else:
                runs -= 1
        passes.append(tuple(taken))
        if runs <= width:
            return passes
        sizes.append(sum(sizes[run] for run in taken))
        order.insert(bisect_left(order, sizes[-1], key=sizes.__getitem__), len(sizes) - 1)
        runs = len(order)


def in_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs in the order of their keys; values of a key stay as they come, which no engine promises.

    Raises InputError for keys that cannot be compared.
    """
    try:
        return sorted(pairs, key=itemgetter(0))
    except TypeError as error:
        raise InputError("keys have no order among them", found=str(error), allowed="keys of one type") from error


def grouped(pairs: Iterable[Pair]) -> Iterator[tuple[Any, list[Any]]]:
    """Each key with its values, of pairs in order.

    >>> list(grouped([("a", 1), ("a", 2), ("b", 3)]))
    [('a', [1, 2]), ('b', [3])]
    """
    for key, group in groupby(pairs, key=itemgetter(0)):
        yield key, [value for _, value in group]


# ------------------------------------------------------------------ the output of a task


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
    """What one reader gets of one task: pairs in order of their keys, and its bytes as written."""

    pairs: list[Pair]
    bytes: int


def segment_of(pairs: list[Pair], size: Size = writable) -> Segment:
    """Pairs in order as a segment.

    >>> segment_of([("word00", 1)]).bytes
    19
    """
    total = SEGMENT_END_BYTES
    for key, value in pairs:
        key_bytes, value_bytes = size(key), size(value)
        if key_bytes < 128 and value_bytes < 128:  # as segment_record, without a call
            total += key_bytes + value_bytes + 2
        else:
            total += segment_record(key_bytes, value_bytes)
    return Segment(pairs, total)


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


@dataclass(slots=True)
class _Runs:
    """The spills of a task in the making."""

    partitions: int
    size: Size
    combine: Combine | None
    counts: Counts = field(default_factory=Counts)
    runs: list[list[Segment]] = field(default_factory=list)
    spills: list[Spill] = field(default_factory=list)

    def count(self, records: int, size: int) -> None:
        """So many records of so many bytes were given."""
        self.counts.records += records
        self.counts.bytes += size

    def spill(self, buckets: list[list[Pair]], *, combined: bool = True) -> None:
        """Write what is there as a run, sorted by partition and key."""
        records = sum(map(len, buckets))
        run = [self.segment(in_order(bucket), combined) for bucket in buckets]
        written = sum(len(segment.pairs) for segment in run)
        self.counts.spilled += written
        self.runs.append(run)
        self.spills.append(Spill(records, written, sum(segment.bytes for segment in run)))
        for bucket in buckets:
            bucket.clear()

    def segment(self, pairs: list[Pair], combined: bool) -> Segment:
        """Pairs as they are written, combined before that."""
        if self.combine is not None and combined and pairs:
            self.counts.combine_input += len(pairs)
            pairs = self.combine(pairs)
            self.counts.combine_output += len(pairs)
        return segment_of(pairs, self.size)


def sort_output(
    records: Iterable[tuple[int, Any, Any]],
    partitions: int,
    sorting: Sorting,
    *,
    size: Size = writable,
    combine: Combine | None = None,
) -> MapOutput:
    """The output of a task from its ``records`` (partition, key, value).

    The combiner runs over each spill, but not over a record that is larger than the buffer, and again when spills are
    merged, if there are enough of them. Raises InputError for keys that cannot be compared.

    >>> output = sort_output([(0, "b", 1), (1, "c", 1), (0, "a", 1)], 2, Sorting())
    >>> [segment.pairs for segment in output.segments], output.counts.materialised
    ([[('a', 1), ('b', 1)], [('c', 1)]], 36)
    """
    made, buffer = _Runs(partitions, size, combine), Buffer(sorting)
    buckets: list[list[Pair]] = [[] for _ in range(partitions)]
    spare, count, total = buffer.spare, 0, 0
    for partition, key, value in records:
        length = size(key) + size(value)
        spare -= length + _META
        if spare >= 0:
            count += 1
            total += length
            buckets[partition].append((key, value))
            continue
        made.count(count, total)
        buffer.add(count, total)
        made.count(1, length)
        room = buffer.put(length)
        if room is not Room.FITS and any(buckets):
            made.spill(buckets)
        buckets[partition].append((key, value))
        if room is Room.ALONE:
            made.spill(buckets, combined=False)
        spare, count, total = buffer.spare, 0, 0
    made.count(count, total)
    if any(buckets):
        made.spill(buckets)
    return _merged(made, sorting)


def _merged(made: _Runs, sorting: Sorting) -> MapOutput:
    """One segment a partition: none written, the only run renamed, or all merged."""
    counts, count = made.counts, len(made.runs)
    rewritten: list[int] = []
    if count == 0:
        segments = [Segment([], SEGMENT_END_BYTES) for _ in range(made.partitions)]
    elif count == 1:
        segments = made.runs[0]
    else:
        segments = []
        for parts in zip(*made.runs, strict=True):
            _count_passes([len(part.pairs) for part in parts], [part.bytes for part in parts], sorting, rewritten)
            pairs = in_order(chain.from_iterable(part.pairs for part in parts))
            segments.append(made.segment(pairs, count >= sorting.combine_spills))
        rewritten.append(sum(len(segment.pairs) for segment in segments))
        counts.spilled += sum(rewritten)
    counts.materialised = sum(segment.bytes for segment in segments)
    return MapOutput(tuple(segments), tuple(made.spills), tuple(rewritten), counts)


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
