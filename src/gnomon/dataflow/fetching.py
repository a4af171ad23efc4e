"""What a task does that reads a sorted shuffle: copy segments, keep them in memory or on disk, merge, give up.

Source: ``MergeManagerImpl``, ``ShuffleSchedulerImpl`` and, for what the job makes of reports, ``JobImpl`` of Hadoop
3.5.0. Pure: who fetches what, and when, is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from gnomon.dataflow.merging import merge_passes
from gnomon.dataflow.serialise import Size, writable
from gnomon.dataflow.sorting import EMPTY, Combine, Segment, joined, segment_of
from gnomon.model.resources import E4

_MS: Final = 10**6
_S: Final = 10**9


@dataclass(frozen=True, slots=True)
class Fetching:
    """The memory [bytes] of the task that copies, and which parts of it (1/10,000) hold what.

    - ``buffer_share_e4`` of the memory is for copied segments; one larger than ``single_share_e4`` of that goes to disk
      at once; ``merge_share_e4`` of it full, all in memory are merged to disk.
    - ``factor`` runs on disk are merged as soon as there are ``2 * factor - 1``.
    - ``kept_share_e4`` of the memory may still hold segments when the reduce function is called.
    - ``threads`` copy at once, ``batch`` segments of one host at most in one connection.

    >>> Fetching(memory_bytes=1000).buffer_bytes, Fetching(memory_bytes=1000).merge_bytes
    (700, 462)
    """

    memory_bytes: int = 2**30
    buffer_share_e4: int = 7_000
    single_share_e4: int = 2_500
    merge_share_e4: int = 6_600
    kept_share_e4: int = 0
    factor: int = 10
    threads: int = 5
    batch: int = 20

    @property
    def buffer_bytes(self) -> int:
        """What copied segments may take of the memory."""
        return self.memory_bytes * self.buffer_share_e4 // E4

    @property
    def single_bytes(self) -> int:
        """A segment above this goes to disk at once."""
        return self.buffer_bytes * self.single_share_e4 // E4

    @property
    def merge_bytes(self) -> int:
        """From so many on the segments in memory are merged to disk."""
        return self.buffer_bytes * self.merge_share_e4 // E4


@dataclass(slots=True)
class FetchCounts:
    """What is counted on the side that copies; ``merges``: (from, runs, records) of each merge to disk."""

    segments: int = 0
    bytes: int = 0
    to_disk: int = 0
    combine_input: int = 0
    combine_output: int = 0
    spilled: int = 0
    merges: list[tuple[str, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Copied:
    """The segments that a task has copied so far. Copying one waits while the memory is full; what is waited for is
    always a merge, so the order in which they come says all."""

    fetching: Fetching
    combine: Combine | None = None
    size: Size = writable
    counts: FetchCounts = field(default_factory=FetchCounts)
    _memory: list[Segment] = field(default_factory=list)
    _disk: list[Segment] = field(default_factory=list)

    def add(self, segment: Segment) -> bool:
        """A segment has been copied; whether it stays in memory for now."""
        self.counts.segments += 1
        self.counts.bytes += segment.bytes
        if segment.bytes > self.fetching.single_bytes:
            self.counts.to_disk += 1
            self._on_disk(segment)
            return False
        self._memory.append(segment)
        if sum(part.bytes for part in self._memory) >= self.fetching.merge_bytes:
            self._flush(combined=True)
        return True

    def merged(self) -> Segment:
        """All keys in order with their values, as they are given to the reduce function."""
        kept = self._settle()
        runs = [*kept, *self._disk]
        sizes = [segment.bytes if segment.records else 0 for segment in runs]
        passes = merge_passes(sizes, self.fetching.factor, in_memory=len(kept), by_length=False)
        counted = [segment.records for segment in runs]
        for taken in passes[:-1]:
            counted.append(sum(counted[run] for run in taken))
            self.counts.spilled += counted[-1]
            self.counts.merges.append(("final", len(taken), counted[-1]))
        return joined(runs) if runs else EMPTY

    def _settle(self) -> list[Segment]:
        """Before the last merge: what may not stay in memory goes to disk, if that makes no pass more."""
        limit = self.fetching.memory_bytes * self.fetching.kept_share_e4 // E4
        leaving: list[Segment] = []
        held = sum(segment.bytes for segment in self._memory)
        while self._memory and held > limit:
            leaving.append(self._memory.pop(0))
            held -= leaving[-1].bytes
        kept = self._memory
        if leaving and self.fetching.factor > len(self._disk):
            self._memory = leaving
            self._flush(combined=False)
            leaving = []
        self._disk.sort(key=lambda segment: segment.bytes)
        return [*leaving, *kept]

    def _flush(self, *, combined: bool) -> None:
        """Merge what is in memory to one run on disk."""
        whole = joined(self._memory)
        if combined and self.combine is not None and whole.records:
            self.counts.combine_input += whole.records
            whole = segment_of(self.combine(whole.groups), self.size)
            self.counts.combine_output += whole.records
        self.counts.spilled += whole.records
        self.counts.merges.append(("memory", len(self._memory), whole.records))
        self._memory = []
        self._on_disk(whole)

    def _on_disk(self, segment: Segment) -> None:
        self._disk.append(segment)
        factor = self.fetching.factor
        if len(self._disk) < 2 * factor - 1:
            return
        self._disk.sort(key=lambda run: run.bytes)
        taken, self._disk = self._disk[:factor], self._disk[factor:]
        whole = joined(taken)
        self.counts.merges.append(("disk", len(taken), whole.records))
        self._disk.append(whole)


# ------------------------------------------------------------------ failures


@dataclass(frozen=True, slots=True)
class Penalties:
    """How long a host is left alone after failures: ``first_ns * growth ** failures``, at most ``most_ns``.

    >>> [Penalties().wait_ns(failures) // 10**6 for failures in (1, 2, 3, 6, 7)]
    [13000, 16900, 21970, 48268, 60000]
    """

    first_ns: int = 10 * _S
    growth: tuple[int, int] = (13, 10)
    most_ns: int = 60 * _S

    def wait_ns(self, failures: int) -> int:
        """After so many failures of the host, this one too; whole milliseconds."""
        above, below = self.growth
        if failures > 64:
            return self.most_ns
        waits = int(self.first_ns // _MS * above**failures // below**failures)
        return min(waits * _MS, self.most_ns)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """When a failed copy is told, and when too many are enough."""

    reported_every: int = 10
    read_errors_reported: bool = True
    host_failures: int = 5
    least_failures: int = 30
    distinct_maps: int = 5
    reports: int = 3
    share_e4: int = 5_000
    """Of reports by those that copy; and of failures, progress and standstill of one that gives up."""


def is_reported(
    failures: int, host_failures: int, *, connecting: bool, reading: bool = False, limits: FetchLimits = FetchLimits()
) -> bool:
    """Whether the copier tells the job that a segment failed: ``failures`` of it, ``host_failures`` of its host, this
    one too; ``connecting``: there was no connection, ``reading``: it broke.

    >>> is_reported(1, 1, connecting=True), is_reported(1, 1, connecting=False), is_reported(10, 1, connecting=False)
    (True, False, True)
    """
    if connecting or (reading and limits.read_errors_reported):
        return True
    return failures % limits.reported_every == 0 or host_failures > limits.host_failures


@dataclass(frozen=True, slots=True)
class CopyState:
    """How far a task has come that copies; times [ns]. ``distinct``: maps of which a copy failed and is not made up
    for; ``failures``: failed copies in all; ``longest_map_ns``: the longest run of a map."""

    maps: int
    done: int
    distinct: int
    failures: int
    start_ns: int
    last_progress_ns: int
    now_ns: int
    longest_map_ns: int = 0


def gives_up(state: CopyState, failures_of_map: int, limits: FetchLimits = FetchLimits()) -> bool:
    """Whether a task that copies ends itself as failed.

    After ``max(30, maps / 10)`` failures of one map; or when copies of enough maps failed, at least half of all copies
    did, and it either has less than half of the maps or has stood still for half as long as it had gone on (or as the
    longest map ran).

    >>> gives_up(CopyState(maps=10, done=4, distinct=5, failures=4, start_ns=0, last_progress_ns=10, now_ns=11), 1)
    True
    """
    if failures_of_map >= max(limits.least_failures, state.maps // 10):
        return True
    enough = state.distinct >= min(limits.distinct_maps, state.maps) or state.distinct == state.maps - state.done
    share = limits.share_e4
    unhealthy = state.failures * E4 >= (state.failures + state.done) * share and state.failures > 0
    progressed = state.done * E4 >= state.maps * share
    ran = max(state.last_progress_ns - state.start_ns, state.longest_map_ns)
    stalled = (state.now_ns - state.last_progress_ns) * E4 >= ran * share
    return enough and unhealthy and (not progressed or stalled)


def map_is_failed(reports: int, copying: int, limits: FetchLimits = FetchLimits()) -> bool:
    """Whether the job takes a map for failed, so that it runs again: of ``copying`` tasks that copy just now there have
    been ``reports`` about it, three at least and one for two of them.

    >>> map_is_failed(2, 2), map_is_failed(3, 6), map_is_failed(3, 7), map_is_failed(3, 0)
    (False, True, False, True)
    """
    return reports >= limits.reports and reports * E4 >= copying * limits.share_e4
