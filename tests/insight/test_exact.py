"""Sums beyond 64 bits are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.insight import exact

pytestmark = pytest.mark.property

BIG = st.integers(-(2**62), 2**62)


@given(st.lists(BIG))
def test_total_is_pythons_sum(values: list[int]) -> None:
    assert exact.total(np.array(values, np.int64)) == sum(values)


@given(st.lists(st.tuples(BIG, st.integers(0, 4))))
def test_each_group_is_summed_exactly(rows: list[tuple[int, int]]) -> None:
    values, group = (
        (np.array(column, np.int64) for column in zip(*rows, strict=True)) if rows else [np.zeros(0, int)] * 2
    )
    expected = [sum(value for value, of in rows if of == group) for group in range(5)]
    assert exact.total_by(values, group, 5) == expected
