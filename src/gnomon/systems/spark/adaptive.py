"""Adaptive execution: how partitions are joined and split when the true sizes are known.

Pure rules of Spark 4.3.0 (CoalesceShufflePartitions, ShufflePartitionsUtil, OptimizeSkewedJoin). Sizes are bytes.
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


def _median(sizes: Sequence[int]) -> int:
    """As Spark's ``Utils.median``: of an even number the mean of the two in the middle, rounded down, at least 1."""
    return max(int(median(sizes)), 1) if sizes else 1
