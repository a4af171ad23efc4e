"""What a task does with the records that it gives to a sorted shuffle: buffer, spill, combine, merge.

Records are real, and so are the numbers: which records a spill holds, how often a combiner runs over each, how many are
rewritten by merges. Source: ``MapTask`` of Hadoop 3.5.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from gnomon.dataflow.merging import Pair, in_order, merge_passes
from gnomon.dataflow.serialise import SEGMENT_END_BYTES, Size, segment_record, writable
from gnomon.dataflow.spill_buffer import META_BYTES, Buffer, Room, Sorting

Combine = Callable[[list[Pair]], list[Pair]]
"""Fewer pairs of the same kind, of pairs in any order. (The engine combines sorted ones; what comes of each key is the
same, and there are fewer to sort here.)"""


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


def joined(segments: Sequence[Segment]) -> Segment:
    """Segments merged into one, whose end and checksum are there once.

    >>> joined([Segment([("b", 1)], 14), Segment([("a", 1)], 14)])
    Segment(pairs=[('a', 1), ('b', 1)], bytes=22)
    """
    if len(segments) == 1:
        return segments[0]
    pairs = in_order(chain.from_iterable(segment.pairs for segment in segments))
    whole = sum(segment.bytes - SEGMENT_END_BYTES for segment in segments)
    return Segment(pairs, whole + SEGMENT_END_BYTES)


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

    def spill(self, buckets: list[list[Pair]], held: list[int], *, combined: bool = True) -> None:
        """Write what is there, of so many bytes, as a run, sorted by partition and key."""
        records = sum(map(len, buckets))
        if combined and self.combine:
            run = [self.segment(bucket) for bucket in buckets]
        else:
            parts = zip(buckets, held, strict=True)
            run = [Segment(in_order(bucket), size + SEGMENT_END_BYTES) for bucket, size in parts]
        held[:] = [0] * len(held)
        written = sum(len(segment.pairs) for segment in run)
        self.counts.spilled += written
        self.runs.append(run)
        self.spills.append(Spill(records, written, sum(segment.bytes for segment in run)))
        for bucket in buckets:
            bucket.clear()

    def segment(self, pairs: list[Pair]) -> Segment:
        """Pairs as they are written, combined before that."""
        return segment_of(in_order(self.combined(pairs)), self.size)

    def merge(self, parts: Sequence[Segment], combined: bool) -> Segment:
        """Runs as one."""
        if combined and self.combine:
            return self.segment([pair for part in parts for pair in part.pairs])
        return joined(parts)

    def combined(self, pairs: list[Pair]) -> list[Pair]:
        """What the combiner leaves of pairs."""
        if self.combine is None or not pairs:
            return pairs
        self.counts.combine_input += len(pairs)
        pairs = self.combine(pairs)
        self.counts.combine_output += len(pairs)
        return pairs


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
    held = [0] * partitions  # the bytes of each bucket as a segment
    spare, count, total = buffer.spare, 0, 0
    for partition, key, value in records:
        key_bytes, value_bytes = size(key), size(value)
        length = key_bytes + value_bytes
        short = key_bytes < 128 and value_bytes < 128  # as segment_record, without a call
        spare -= length + META_BYTES
        if spare >= 0:
            count += 1
            total += length
            buckets[partition].append((key, value))
            held[partition] += length + 2 if short else segment_record(key_bytes, value_bytes)
            continue
        made.count(count, total)
        buffer.add(count, total)
        made.count(1, length)
        room = buffer.put(length)
        if room is not Room.FITS and any(buckets):
            made.spill(buckets, held)
        buckets[partition].append((key, value))
        held[partition] += segment_record(key_bytes, value_bytes)
        if room is Room.ALONE:
            made.spill(buckets, held, combined=False)
        spare, count, total = buffer.spare, 0, 0
    made.count(count, total)
    if any(buckets):
        made.spill(buckets, held)
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
            segments.append(made.merge(parts, count >= sorting.combine_spills))
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
