"""What is pushed comes out in order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.heap import pop, push


@pytest.mark.property
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=60))
def test_the_earliest_first_and_of_one_time_the_lowest_number(steps: list[tuple[int, bool]]) -> None:
    times, numbers, items = np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64, np.int32)
    there: list[tuple[int, int]] = []
    for number, (time, takes) in enumerate(steps):
        push(times, numbers, items, len(there), time, number, number + 100)
        there.append((time, number))
        if takes:
            first = min(there)
            assert pop(times, numbers, items, len(there)) == first[1] + 100
            there.remove(first)
    while there:
        first = min(there)
        assert pop(times, numbers, items, len(there)) == first[1] + 100
        there.remove(first)
