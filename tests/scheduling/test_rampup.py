"""Slots for tasks that start early: the part that is done, at most a half, and what nobody else can use."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.scheduling.rampup import early_tasks


@pytest.mark.parametrize(
    ("slots", "done", "total", "expected"),
    [
        (10, 0, 40, 0),
        (10, 4, 40, 1),
        (10, 19, 40, 4),
        (10, 20, 40, 5),
        (10, 39, 40, 9),  # five by the limit, and four of the other five that the last map cannot use
        (10, 36, 40, 6),
        (8, 1, 4, 5),  # two by what is done, and three of six that three maps cannot use
    ],
)
def test_while_maps_wait(slots: int, done: int, total: int, expected: int) -> None:
    assert early_tasks(slots, done, total, total - done, waiting=True) == expected


def test_when_no_map_waits_all_slots_are_for_reduces() -> None:
    assert early_tasks(10, 35, 40, 5, waiting=False) == 10


@given(st.integers(0, 1_000), st.integers(0, 50), st.integers(1, 50), st.integers(0, 10_000))
def test_maps_keep_what_they_can_use_of_their_part(slots: int, done: int, more: int, limit_e4: int) -> None:
    total = done + more
    early = early_tasks(slots, done, total, more, limit_e4=limit_e4, waiting=True)
    part = min(Fraction(done, total), Fraction(limit_e4, 10_000))
    assert 0 <= early <= slots
    assert slots - early >= more or slots - early >= slots * (1 - part)
