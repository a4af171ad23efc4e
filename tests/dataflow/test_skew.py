"""Skew: what it is of, and why."""

from __future__ import annotations

from collections import Counter

import pytest

from gnomon.dataflow.layout import Exchange, Known
from gnomon.dataflow.skew import Cause, Skew, skew_of
from gnomon.dataflow.stage import Operator, Rule, Stage

TARGET = Stage(1, "grouped", Operator.GROUP, (0,))


def skew(keys: dict[object, int], partitions: int) -> Skew:
    exchange = Exchange(0, 0, 1, 0, Known(Rule.HASH, partitions, "java"))
    return skew_of(exchange, TARGET, keys)


def test_a_key_with_40_percent_of_the_records_bounds_its_partition_whatever_their_number() -> None:
    keys: dict[object, int] = dict(Counter(7 if number % 5 < 2 else number for number in range(1_000)))
    for partitions in (8, 100, 1_000):
        found = skew(keys, partitions)
        assert found.cause == Cause.ONE_KEY
        assert (found.hottest, found.key, found.key_records) == (7, "7", 401)
        assert found.share >= 0.4
        assert "more partitions do not help" in str(found)


@pytest.mark.parametrize(
    ("keys", "partitions", "records", "cause"),
    [
        (dict.fromkeys(range(8), 10), 4, (20, 20, 20, 20), Cause.EVEN),
        ({"a": 10, "b": 10, "c": 10}, 10, (0, 0, 0, 0, 0, 0, 0, 10, 10, 10), Cause.FEW_KEYS),  # 97, 98, 99
        ({8 * key: 10 for key in range(20)}, 8, (200, 0, 0, 0, 0, 0, 0, 0), Cause.SHARED),
        ({}, 3, (0, 0, 0), Cause.EVEN),
    ],
    ids=["even", "three keys in ten partitions", "multiples of the number of partitions", "nothing"],
)
def test_causes(keys: dict[object, int], partitions: int, records: tuple[int, ...], cause: Cause) -> None:
    found = skew(keys, partitions)
    assert found.records == records
    assert found.cause == cause
