"""Rank correlations, against counting every pair."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.insight.agreement import inversions, kendall_tau_b, spearman_rho
from gnomon.model.work import IntArray

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(-(2**61), 2**61) | st.integers(0, 5)), max_size=40)


def columns(pairs: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


@pytest.mark.property
@given(st.lists(st.integers(-5, 5) | st.integers(-(2**62), 2**62)))
def test_inversions_are_pairs_in_the_wrong_order(values: list[int]) -> None:
    assert inversions(np.array(values, np.int64)) == sum(a > b for a, b in combinations(values, 2))


@pytest.mark.property
@given(PAIRS)
def test_tau_b_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    sign = [((a > c) - (a < c), (b > d) - (b < d)) for (a, b), (c, d) in combinations(pairs, 2)]
    untied_x, untied_y = sum(x != 0 for x, _ in sign), sum(y != 0 for _, y in sign)
    found = kendall_tau_b(*columns(pairs))
    if untied_x and untied_y:
        assert found == pytest.approx(sum(x * y for x, y in sign) / sqrt(untied_x * untied_y))
    else:
        assert found is None


@pytest.mark.unit
def test_orders_that_are_equal_reversed_and_mixed() -> None:
    music = np.array([5, 7, 3, 10, 1, 9, 2, 6, 4, 8])
    assert kendall_tau_b(np.arange(10), np.arange(10)) == 1
    assert kendall_tau_b(np.arange(10), np.arange(10)[::-1]) == -1
    # Without ties, rho = 1 - 6 sum d^2 / (n (n^2 - 1)).
    d = np.arange(1, 11) - music
    assert spearman_rho(np.arange(10), music) == pytest.approx(1 - 6 * int((d**2).sum()) / (10 * 99))


@pytest.mark.unit
def test_equal_values_share_their_mean_rank() -> None:
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5 / sqrt(4.5 * 5).
    assert spearman_rho(np.array([1, 2, 2, 3]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / sqrt(4.5 * 5))


@pytest.mark.unit
def test_what_is_constant_has_no_order() -> None:
    same, other = np.array([3, 3, 3]), np.array([1, 2, 3])
    assert kendall_tau_b(same, other) is None
    assert spearman_rho(other, same) is None
    assert kendall_tau_b(np.zeros(0, np.int64), np.zeros(0, np.int64)) is None
