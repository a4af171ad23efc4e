"""Passes of a merge: how wide each is, and that every run ends in the last one."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.merging import merge_passes, pass_width


@pytest.mark.parametrize(
    ("runs", "factor", "widths"),
    [
        (4, 10, [4]),
        (10, 10, [10]),
        (11, 10, [2, 10]),  # (11 - 1) % 9 = 1: two first, so that ten are left
        (19, 10, [10, 10]),
        (20, 10, [2, 10, 10]),
        (28, 10, [10, 10, 10]),
        (4, 2, [2, 2, 2]),
        (1, 10, [1]),
        (0, 10, [0]),
    ],
)
def test_widths_of_passes(runs: int, factor: int, widths: list[int]) -> None:
    assert [len(taken) for taken in merge_passes([10] * runs, factor)] == widths
    assert pass_width(factor, 1, runs) == (widths[0] if len(widths) > 1 else factor)


def test_the_smallest_runs_are_merged_first_and_empty_ones_not_at_all() -> None:
    assert merge_passes([50, 10, 40, 20], 3) == [(1, 3), (4, 2, 0)]
    assert merge_passes([0, 10, 0, 20], 2) == [(1, 3)]


def test_runs_in_memory_do_not_count_against_the_factor() -> None:
    assert merge_passes([1, 1, 1, 9, 9], 3, in_memory=3, by_length=False) == [(0, 1, 2, 3, 4)]


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(2, 12))
def test_every_run_is_merged_into_the_last_pass_and_no_pass_is_too_wide(lengths: list[int], factor: int) -> None:
    passes = merge_passes(lengths, factor)
    merged = Counter(run for taken in passes for run in taken)
    made = range(len(lengths), len(lengths) + len(passes) - 1)
    assert set(merged) == {run for run, length in enumerate(lengths) if length} | set(made)
    assert set(merged.values()) <= {1}
    assert all(len(taken) <= factor for taken in passes)
