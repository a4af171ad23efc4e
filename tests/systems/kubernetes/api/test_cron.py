"""Schedules: against a naive look at every minute."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.kubernetes.api.cron import MINUTE_NS, parse


def naive(minutes: set[int], hours: set[int], weekdays: set[int], after: int) -> int:
    at = after // MINUTE_NS + 1
    while True:
        moment = datetime.fromtimestamp(at * 60, UTC)
        if moment.minute in minutes and moment.hour in hours and moment.isoweekday() % 7 in weekdays:
            return at * MINUTE_NS
        at += 1


@given(
    st.sets(st.integers(0, 59), min_size=1, max_size=4),
    st.sets(st.integers(0, 23), min_size=1, max_size=3),
    st.sets(st.integers(0, 6), min_size=1, max_size=6),
    st.integers(0, 10**18),
)
def test_the_next_time_is_the_first_minute_that_matches(
    minutes: set[int], hours: set[int], weekdays: set[int], after: int
) -> None:
    text = " ".join(
        [*(",".join(map(str, sorted(one))) for one in (minutes, hours)), "* *", ",".join(map(str, weekdays))]
    )
    assert parse(text).next_ns(after) == naive(minutes, hours, weekdays, after)


def day(number: int) -> int:
    return number * 24 * 60 * MINUTE_NS


def test_a_day_of_the_month_or_of_the_week() -> None:
    both = parse("0 0 13 * fri")  # 1970-01-02 is a Friday
    assert both.next_ns(0) == day(1)
    assert both.next_ns(day(8)) == day(12)


@pytest.mark.parametrize(
    ("text", "after", "next_day"),
    [("@daily", 0, 1), ("@weekly", 0, 3), ("@monthly", 0, 31), ("@yearly", 0, 365), ("0 0 29 feb *", 0, 789)],
)
def test_words_and_leap_days(text: str, after: int, next_day: int) -> None:
    assert parse(text).next_ns(after) == day(next_day)


@pytest.mark.parametrize("text", ["", "* * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "a * * * *", "* * 0 * *"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)
