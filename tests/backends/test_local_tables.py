"""Grouping and sorting with any limit on memory give what they give without one."""

from collections.abc import Iterable
from functools import reduce
from itertools import count
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.backends.local_tables import Combine, KeyTooLargeError, Scratch, grouped, in_order
from gnomon.backends.local_weight import Pace, table_weight, weight
from gnomon.dataflow.stage import Operator, Stage

pytestmark = pytest.mark.unit

KEYS = st.one_of(st.integers(0, 40), st.text("ab", max_size=3), st.none(), st.tuples(st.integers(0, 3), st.none()))
PAIRS = st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=200)
STAGE = Stage(0, "sums", Operator.AGGREGATE)
SUMS = Combine(None, add, add)
LISTS = Combine(lambda value: [value], lambda values, value: [*values, value], add)


def by_hand(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


@pytest.mark.property
@settings(deadline=None, max_examples=60)
@given(PAIRS, st.sampled_from([1_500, 4_000, 1 << 30]))
def test_sums_come_in_the_order_of_the_keys(pairs: list[tuple[Any, int]], limit: int) -> None:
    with TemporaryDirectory() as folder:
        found = list(grouped(STAGE, pairs, SUMS, Scratch(Path(folder), limit)))
        assert found == [(key, reduce(add, values)) for key, values in by_hand(pairs).items()]
        assert not list(Path(folder).iterdir()), "scratch files are removed"


def test_values_of_a_group_stay_in_order_when_it_is_spilled(tmp_path: Path) -> None:
    pairs = [(number % 7, number) for number in range(700)]
    scratch = Scratch(tmp_path, 9_000)
    assert dict(grouped(STAGE, pairs, LISTS, scratch)) == by_hand(pairs)
    assert scratch.spilled_bytes > 0


def test_more_groups_than_one_file_of_the_fan_holds(tmp_path: Path) -> None:
    """20,000 keys in 20 kB: parted by 64 they still do not fit, so they are parted again."""
    pairs = [(f"key {number % 20_000}", 1) for number in range(40_000)]
    assert list(grouped(STAGE, pairs, SUMS, Scratch(tmp_path, 20_000))) == [(f"key {n}", 2) for n in range(20_000)]


def test_a_group_that_does_not_fit_is_named(tmp_path: Path) -> None:
    pairs = [("hot", number) for number in range(2_000)]
    with pytest.raises(KeyTooLargeError, match="the key 'hot' alone"):
        list(grouped(STAGE, pairs, LISTS, Scratch(tmp_path, 10_000)))


@pytest.mark.property
@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 20), max_size=300), st.booleans(), st.sampled_from([300, 3_000, 1 << 30]))
def test_sorting_is_stable(keys: list[int], descending: bool, limit: int) -> None:
    records = list(zip(keys, count()))
    with TemporaryDirectory() as folder:
        found = list(in_order(records, lambda record: record[0], Scratch(Path(folder), limit), descending=descending))
        assert found == sorted(records, key=lambda record: record[0], reverse=descending)
        assert not list(Path(folder).iterdir())


def test_more_runs_than_are_merged_at_once(tmp_path: Path) -> None:
    records = [(number * 7919 % 1000, number) for number in range(5_000)]
    assert list(in_order(iter(records), lambda record: record[0], Scratch(tmp_path, 10_000))) == sorted(records)


def test_weights_are_near_the_sizes_of_all_parts() -> None:
    strings = [("x" * (number % 50), [1000 + number]) for number in range(1000)]
    exact = sum(56 + 49 + number % 50 + 64 + 28 for number in range(1000))
    assert abs(weight(strings) - exact) < exact // 10
    assert table_weight({"a": [b"x" * 10_000] * 100}) > 1_000_000


def test_one_heavy_thing_among_many_light_ones_is_seen() -> None:
    assert weight([["x" * 100] * 10_000, *([1] for _ in range(10_000))]) > 1_000_000


def test_a_pace_comes_near_its_limit_and_not_over() -> None:
    """Of records of 100 bytes 1,000 fit; seven eighths of them are held when it is full, after few looks."""
    pace, held, looks = Pace(100_000), 0, 0
    while True:
        held += 100 * pace.records
        looks += 1
        if pace.full(held):
            break
    assert 87_500 <= held <= 100_000
    assert looks <= 12
