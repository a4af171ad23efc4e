"""Speculation: the quantile, the median and the threshold, by the sheet and by the textbook."""

from fractions import Fraction
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.operation import Speculation
from gnomon.recovery.speculation import Runner, SpeculationCap, candidates, estimated_end_ns, most_gained

THREE_TIMES = Speculation(check_ns=100, multiplier_e4=30_000, quantile_e4=9_000, least_ns=100)
"""Spark 4: three times the median, when nine tenths are done, and 100 ms at least (in ms)."""


@pytest.mark.parametrize(("done", "enough"), [(8, False), (9, True)])
def test_nine_of_ten_must_be_done(done: int, enough: bool) -> None:
    assert (candidates(10_000, [(9, 0)], [1_000] * done, 10, THREE_TIMES) == [9]) is enough


def test_part_of_a_task_need_not_be_done_but_one_must() -> None:
    assert candidates(10_000, [(1, 0)], [1_000], 2, THREE_TIMES) == [1], "floor(0.9 * 2) = 1"
    assert candidates(10_000, [(0, 0)], [], 1, THREE_TIMES) == []


def test_it_has_run_for_more_than_the_threshold() -> None:
    done = [100, 200, 300, 400]  # a median of 250
    assert candidates(1_000, [(4, 250)], done, 5, Speculation(1, 30_000)) == []
    assert candidates(1_000, [(4, 249)], done, 5, Speculation(1, 30_000)) == [4]


def test_short_tasks_get_no_copy_before_the_least_time() -> None:
    assert candidates(99, [(9, 0)], [1] * 9, 10, THREE_TIMES) == []
    assert candidates(100, [(9, 0)], [1] * 9, 10, THREE_TIMES) == [9]
    assert candidates(199, [(9, 100)], [1] * 9, 10, THREE_TIMES) == [], "not before it has run so long"


def test_the_longest_running_comes_first() -> None:
    assert candidates(900, [(1, 20), (2, 10), (3, 10), (0, 880)], [50] * 12, 16, Speculation(1)) == [2, 3, 1]


@given(
    st.lists(st.integers(0, 1_000), min_size=1, max_size=20),
    st.lists(st.integers(0, 3_000), max_size=10),
    st.integers(0, 40_000),
    st.integers(0, 10_000),
)
def test_agrees_with_the_definition(done: list[int], starts: list[int], multiplier: int, quantile: int) -> None:
    rule, total, now = Speculation(1, multiplier, quantile), len(done) + len(starts), 3_000
    threshold = Fraction(median(map(Fraction, done))) * multiplier / 10_000
    enough = len(done) >= int(Fraction(quantile, 10_000) * total)
    expected = {task for task, start in enumerate(starts) if enough and now - start > threshold}
    assert set(candidates(now, list(enumerate(starts)), done, total, rule)) == expected


# ------------------------------------------------------------------ by what a copy would gain


def test_ten_maps_the_last_at_a_quarter_after_half_as_long_again() -> None:
    late = Runner(9, start_ns=0, progress_e4=2_500)
    assert estimated_end_ns(late, 150) == 600
    assert most_gained(150, [late], [100] * 9) == (9, Fraction(600 - (150 + 100)))


def test_further_on_it_would_end_before_its_copy() -> None:
    late = Runner(9, start_ns=0, progress_e4=6_500)
    assert round(float(estimated_end_ns(late, 150)), 1) == 230.8
    assert most_gained(150, [late], [100] * 9) is None


def test_the_copy_that_gains_most_is_taken_and_of_equals_the_first() -> None:
    running = [Runner(3, 0, 5_000), Runner(1, 0, 1_000), Runner(2, 0, 1_000)]
    assert most_gained(100, running, [50]) == (1, Fraction(1_000 - 150))


def test_no_progress_counts_as_a_ten_thousandth() -> None:
    assert estimated_end_ns(Runner(0, 10, 0), 30) == 10 + 20 * 10_000


def test_without_a_finished_task_there_is_no_estimate() -> None:
    assert most_gained(100, [Runner(0, 0, 1)], []) is None


@pytest.mark.parametrize(("done", "total", "may"), [(0, 1, False), (1, 20, True), (1, 21, False), (2, 21, True)])
def test_one_in_twenty_must_be_done(done: int, total: int, may: bool) -> None:
    assert SpeculationCap().may_begin(done, total) is may


def test_ten_copies_or_a_hundredth_of_all_or_a_tenth_of_the_running() -> None:
    assert SpeculationCap().copies(total=40, running=40) == 10
    assert SpeculationCap().copies(total=3_000, running=0) == 30
    assert SpeculationCap().copies(total=3_000, running=2_000) == 200
