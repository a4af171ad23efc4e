"""Shares: the textbook's examples, the sheets' formulas and what max-min fairness promises."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.operation import Pauses
from gnomon.resources.sharing import cpu_weight, paused_e4, quota, weighted_shares

takers = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=8)


def filled(demands: list[int], weights: list[int], capacity: int) -> list[Fraction]:
    """Water filling as it is defined: raise the level of all who want more, until nothing is left."""
    got = [Fraction(0)] * len(demands)
    left = Fraction(capacity)
    while left > 0 and (open_ := [k for k in range(len(demands)) if got[k] < demands[k]]):
        rise = min(left / sum(weights[k] for k in open_), *((demands[k] - got[k]) / weights[k] for k in open_))
        for k in open_:
            got[k] += rise * weights[k]
            left -= rise * weights[k]
    return got


@pytest.mark.property
@given(takers, st.integers(0, 200))
def test_shares_are_those_of_water_filling(takers: list[tuple[int, int]], capacity: int) -> None:
    demands, weights = [demand for demand, _ in takers], [weight for _, weight in takers]
    shares = weighted_shares(demands, weights, capacity)
    assert all(0 <= want - got < 1 for got, want in zip(shares, filled(demands, weights, capacity), strict=True))


@pytest.mark.property
@given(takers, st.integers(0, 200))
def test_nothing_is_left_that_somebody_wants(takers: list[tuple[int, int]], capacity: int) -> None:
    demands = [demand for demand, _ in takers]
    shares = weighted_shares(demands, [weight for _, weight in takers], capacity)
    assert all(got <= want for got, want in zip(shares, demands, strict=True))
    assert min(capacity, sum(demands)) - len(takers) <= sum(shares) <= capacity


@pytest.mark.property
@given(st.lists(st.tuples(st.integers(1, 4000), st.integers(0, 9000)), min_size=1, max_size=8))
def test_who_wants_his_request_of_a_full_node_gets_it(tasks: list[tuple[int, int]]) -> None:
    requests = [request for request, _ in tasks]
    demands = [request if more < 3000 else more for request, more in tasks]
    shares = weighted_shares(demands, [cpu_weight(request) for request in requests], sum(requests))
    for request, demand, share in zip(requests, demands, shares, strict=True):
        # Of a request of one millicore the kernel makes a weight of two; that is all the others can miss.
        assert share >= min(request, demand) - len(tasks) * (min(requests) < 2)


@pytest.mark.unit
def test_requests_are_weights_and_what_is_unused_is_free_to_all() -> None:
    """Corrections K4: 1 and 3 processors are asked for, of 4; a third who wants nothing leaves them all."""
    weights = [cpu_weight(milli) for milli in (1_000, 3_000, 0)]
    assert weighted_shares([4_000, 4_000, 0], weights, 4_000) == [1_000, 3_000, 0]
    assert weighted_shares([4_000, 500, 0], weights, 4_000) == [3_500, 500, 0]


@pytest.mark.unit
@pytest.mark.parametrize(("milli", "kernel"), [(0, 2), (1, 2), (100, 102), (1_000, 1_024), (2**40, 262_144)])
def test_weights_are_the_kernels(milli: int, kernel: int) -> None:
    assert cpu_weight(milli) // 1000 == kernel


@pytest.mark.unit
def test_a_quota_is_all_that_there_is_above_it() -> None:
    assert [quota(want, 1_500) for want in (1_000, 1_500, 9_000)] == [1_000, 1_500, 1_500]


@pytest.mark.unit
def test_pauses_grow_in_proportion() -> None:
    pauses = Pauses(above_e4=6_000, at_full_e4=4_000)
    assert [paused_e4(fill, pauses) for fill in (0, 6_000, 8_000, 10_000, 20_000)] == [0, 0, 2_000, 4_000, 4_000]
    assert [paused_e4(fill, Pauses(10_000, 3_000)) for fill in (9_999, 10_000)] == [0, 3_000]
