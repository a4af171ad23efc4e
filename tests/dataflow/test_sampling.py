"""Sorting by range: bounds from a sample."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import Results, run_plan
from gnomon.dataflow.layout import Exchange, Known
from gnomon.dataflow.plan import cut
from gnomon.dataflow.sampling import Sketch, bounds_of
from gnomon.dataflow.stage import Rule


def ordered(data: Sequence[Sequence[int]], partitions: int, *, ascending: bool = True) -> Results:
    flow = Dataflow()
    flow.source(data).sort_by(int, partitions=partitions, ascending=ascending).sink("out")
    return run_plan(cut(flow.graph()))


def test_ten_numbers_into_three() -> None:
    # the engine's own: range(0..9), 3 -> {0..3}, {4..6}, {7..9}
    results = ordered([range(5), range(5, 10)], 3)
    assert results.partitions["out"] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_a_hundred_numbers_into_four_are_25_each() -> None:
    results = ordered([range(50), range(50, 100)], 4)
    assert [len(part) for part in results.partitions["out"]] == [25, 25, 25, 25]


def test_few_keys_leave_partitions_empty() -> None:
    results = ordered([[1, 1, 2, 2, 2, 3]], 6)
    assert [part for part in results.partitions["out"] if part] == [[1, 1], [2, 2, 2], [3]]
    assert len(results.partitions["out"]) == 6


def test_large_inputs_are_sampled_and_come_out_nearly_even() -> None:
    data = [[(number * 7919 + part) % 100_003 for number in range(5_000)] for part in range(4)]
    results = ordered(data, 5)
    sizes = [len(part) for part in results.partitions["out"]]
    assert sum(sizes) == 20_000
    assert max(sizes) < 1.5 * 4_000
    assert results.records() == sorted(number for part in data for number in part)


def test_a_reservoir_weighs_what_its_partition_has() -> None:
    # 30 records of a and 10 of b, two keys sampled of each: the bound of two partitions lies among those of a
    exchange = Exchange(0, 0, 1, 0, Known(Rule.RANGE, 2))
    assert bounds_of(exchange, [Sketch(30, (1, 2)), Sketch(10, (3, 4))]) == [2]


@pytest.mark.property
@given(
    st.lists(st.lists(st.integers(-50, 50), max_size=30), min_size=1, max_size=4),
    st.integers(1, 6),
    st.booleans(),
)
def test_records_come_out_in_order_over_all_partitions(data: list[list[int]], partitions: int, up: bool) -> None:
    found = ordered(data, partitions, ascending=up).records()
    assert found == sorted((number for part in data for number in part), reverse=not up)
