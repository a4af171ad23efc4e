"""Adaptive execution by the worked examples of its rules."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.spark.adaptive import (
    MB,
    coalesced,
    skewed,
    split_target,
    target_bytes,
)

SIZES = [10, 50, 40, 70, 5, 5, 60]


def test_small_neighbours_are_joined_up_to_the_target() -> None:
    assert coalesced(SIZES, 64) == [(0, 2), (2, 3), (3, 4), (4, 6), (6, 7)]


def test_a_smaller_target_joins_less() -> None:
    assert coalesced(SIZES, 30) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6), (6, 7)]


def test_with_parallelism_first_the_advisory_size_is_not_reached() -> None:
    assert target_bytes(640 * MB, least_partitions=20) == 32 * MB
    assert target_bytes(640 * MB, least_partitions=1) == 64 * MB
    assert target_bytes(2 * MB, least_partitions=200) == MB


def test_only_partitions_far_above_the_median_are_skewed() -> None:
    sizes = [size * MB for size in (10, 20, 30, 40, 2000)]
    assert skewed(sizes) == [4]
    assert split_target(sizes) == 64 * MB
    assert skewed([size * MB for size in (100, 100, 100, 400)]) == []


def test_five_times_the_median_counts_above_256_mb() -> None:
    assert skewed([size * MB for size in (60, 60, 60, 301)]) == [3]
    assert skewed([size * MB for size in (60, 60, 60, 256)]) == []


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(1, 100))
def test_joined_partitions_hold_all_that_there_was_once(sizes: list[int], target: int) -> None:
    groups = coalesced(sizes, target)
    covered = [number for start, end in groups for number in range(start, end)]
    assert covered == sorted(set(covered))
    assert sum(sizes[number] for number in covered) == sum(sizes)
    assert all(end - start == 1 or sum(sizes[start:end]) <= target for start, end in groups)
