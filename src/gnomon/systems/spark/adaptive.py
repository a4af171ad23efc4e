"""Adaptive execution: how partitions are joined, split and broadcast when the true sizes are known.

Pure rules of Spark 4.3.0 (CoalesceShufflePartitions, ShufflePartitionsUtil, OptimizeSkewedJoin, DynamicJoinSelection).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

MB: Final = 2**20
ADVISORY: Final = 64 * MB
LEAST: Final = MB
SKEWED: Final = 256 * MB
BROADCAST: Final = 10 * MB
MERGED_E4: Final = 12_000
"""Neighbouring pieces are one up to so much of the target ..."""
SMALL_E4: Final = 2_000
"""... and whenever one of them is less than this."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """What joins small partitions when a job runs. ``least_partitions``: where parallelism comes first, how many tasks
    run at a time; else 1."""

    advisory: int = ADVISORY
    least: int = LEAST
    least_partitions: int = 1

    def groups(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """The partitions that become one task each: from, to before; those without anything go with the ones before
        them.

        >>> Adaptive(advisory=64, least=1).groups([0, 10, 50, 40, 0, 70])
        [(0, 3), (3, 5), (5, 6)]
        """
        target = target_bytes(
            sum(sizes), least_partitions=self.least_partitions, advisory=self.advisory, least=self.least
        )
        starts = [start for start, _ in coalesced(sizes, target)]
        starts = [0, *starts[1:]]
        return list(zip(starts, [*starts[1:], len(sizes)], strict=True))


def target_bytes(total: int, *, least_partitions: int = 1, advisory: int = ADVISORY, least: int = LEAST) -> int:
    """The size that joined partitions are to have. ``least_partitions``: the default parallelism where parallelism
    comes first (``spark.sql.adaptive.coalescePartitions.parallelismFirst``), else 1.

    >>> target_bytes(1000 * MB) // MB, target_bytes(1000 * MB, least_partitions=50) // MB, target_bytes(10)
    (64, 20, 1048576)
    """
    share = max(-(-total // max(least_partitions, 1)), 16)
    return max(min(advisory, share), least)


def coalesced(sizes: Sequence[int], target: int) -> list[tuple[int, int]]:
    """Neighbouring partitions joined: from, to before. ``sizes``: of each partition over all shuffles that the stage
    reads. A new group begins where the next one would exceed the target; groups without anything are left out.

    >>> coalesced([10, 50, 40, 70, 5, 5, 60], 64)
    [(0, 2), (2, 3), (3, 4), (4, 6), (6, 7)]
    >>> coalesced([10, 50, 40, 70, 5, 5, 60], 30)
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6), (6, 7)]
    """
    found: list[tuple[int, int]] = []
    first, held = 0, 0
    for number, size in enumerate(sizes):
        if number > first and held + size > target:
            if held:
                found.append((first, number))
            first, held = number, 0
        held += size
    if held:
        found.append((first, len(sizes)))
    return found


def skewed(sizes: Sequence[int], *, factor: int = 5, threshold: int = SKEWED) -> list[int]:
    """The partitions that are skewed: larger than the threshold and than so many times the median.

    >>> skewed([size * MB for size in (10, 20, 30, 40, 2000)])
    [4]
    """
    middle = _median(sizes)
    return [number for number, size in enumerate(sizes) if size > max(threshold, factor * middle)]


def split_target(sizes: Sequence[int], *, advisory: int = ADVISORY, factor: int = 5, threshold: int = SKEWED) -> int:
    """How large the pieces of a skewed partition are to be: as those that are not skewed are on the average.

    >>> split_target([size * MB for size in (10, 20, 30, 40, 2000)]) // MB
    64
    """
    large = set(skewed(sizes, factor=factor, threshold=threshold))
    others = [size for number, size in enumerate(sizes) if number not in large]
    return max(advisory, sum(others) // len(others)) if others else advisory


def skew_pieces(maps: Sequence[int], target: int) -> list[tuple[int, int]]:
    """A skewed partition in pieces, each the output of neighbouring map tasks: from, to before. ``maps``: what each map
    task wrote into it (ShufflePartitionsUtil.splitSizeListByTargetSize).

    >>> skew_pieces([30, 30, 30, 30], 64), skew_pieces([60, 5, 60], 64), skew_pieces([64, 64, 10], 64)
    ([(0, 2), (2, 4)], [(0, 2), (2, 3)], [(0, 1), (1, 3)])
    """
    starts, held, before = [0], 0, -1
    for number, size in enumerate(maps):
        if number > 0 and held + size > target:
            before = _merge(starts, held, before, target)
            starts.append(number)
            held = size
        else:
            held += size
    _merge(starts, held, before, target)
    return list(zip(starts, [*starts[1:], len(maps)], strict=True))


def _merge(starts: list[int], held: int, before: int, target: int) -> int:
    """Join the piece that ends now with the one before it, where both are small; the size of the last piece."""
    together = before + held
    fits = together * 10_000 < target * MERGED_E4
    small = min(held, before) * 10_000 < target * SMALL_E4
    if before > -1 and (fits or small):
        starts.pop()
        return together
    return held


def broadcasts(size: int, partitions: Sequence[int], *, threshold: int = BROADCAST, non_empty_e4: int = 2_000) -> bool:
    """Whether a side of a join is sent whole to all: it is small enough, and not mostly empty partitions, of which the
    shuffle reads little anyway (``spark.sql.adaptive.nonEmptyPartitionRatioForBroadcastJoin``).

    >>> broadcasts(10 * MB, [1] * 5), broadcasts(10 * MB + 1, [1] * 5), broadcasts(5, [5] + [0] * 9)
    (True, False, False)
    """
    full = sum(part > 0 for part in partitions)
    return 0 <= size <= threshold and full * 10_000 >= len(partitions) * non_empty_e4


def _median(sizes: Sequence[int]) -> int:
    """As Spark's ``Utils.median``: of an even number the mean of the two in the middle, rounded down, at least 1."""
    return max(int(median(sizes)), 1) if sizes else 1
