"""Profiles of use against a scan of every ns with fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.resources import NEVER
from gnomon.model.usage import Profile
from gnomon.resources.usage import curve, search, total

pytestmark = pytest.mark.property


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    times = sorted(draw(st.lists(st.integers(0, 12), max_size=4)))
    points = tuple((t, draw(st.integers(0, 9))) for t in (0, *times))
    every = draw(st.sampled_from([0, 0, 1, 3])) and max(1, points[-1][0] + draw(st.integers(0, 3)))
    return Profile(points, every)


def first_above(profile: Profile, bound: int, begin: int, end: int) -> int:
    return search([(curve(profile), 0)], bound, begin, end)[0]


def exact(profile: Profile, t: int) -> Fraction:
    """The definition, point by point."""
    t = t % profile.every_ns if profile.every_ns else t
    before = [k for k, (time, _) in enumerate(profile.points) if time <= t][-1]
    time, value = profile.points[before]
    if before + 1 == len(profile.points):
        return Fraction(value)
    later, then = profile.points[before + 1]
    return value + Fraction(then - value) * (t - time) / (later - time)


@given(profiles(), st.integers(0, 60))
def test_amount_is_the_definition_rounded_down(profile: Profile, t: int) -> None:
    assert curve(profile).amount(t) == floor(exact(profile, t))


@given(profiles())
def test_a_peak_is_what_is_come_to_and_never_more(profile: Profile) -> None:
    amounts = [exact(profile, t) for t in range(60)]
    assert max(amounts) <= curve(profile).peak <= max(amount for _, amount in profile.points)


@given(profiles(), st.integers(0, 10), st.integers(0, 30), st.integers(0, 40))
def test_first_above_is_what_a_scan_finds(profile: Profile, bound: int, begin: int, length: int) -> None:
    hits = (t for t in range(begin, begin + length) if floor(exact(profile, t)) > bound)
    assert first_above(profile, bound, begin, begin + length) == next(hits, NEVER)


@given(profiles(), st.integers(0, 10), st.integers(0, 30))
def test_without_an_end_the_search_ends_too(profile: Profile, bound: int, begin: int) -> None:
    hits = (t for t in range(begin, begin + 100) if floor(exact(profile, t)) > bound)
    assert first_above(profile, bound, begin, NEVER) == next(hits, NEVER)


@given(
    st.lists(st.tuples(profiles(), st.integers(0, 9)), max_size=3),
    st.integers(0, 5),
    st.integers(0, 25),
    st.integers(10, 20),
    st.booleans(),
)
def test_a_sum_crosses_where_a_scan_says(
    parts: list[tuple[Profile, int]], base: int, bound: int, begin: int, above: bool
) -> None:
    def over(t: int) -> bool:
        return floor(base + sum(exact(profile, t - start) for profile, start in parts)) > bound

    hits = (t for t in range(begin, begin + 150) if over(t) == above)
    curves = [(curve(profile), start) for profile, start in parts]
    found, _ = search(curves, bound - base, begin, begin + 150, above=above)
    assert found == next(hits, NEVER)


@given(st.lists(st.tuples(profiles(), st.integers(0, 9)), min_size=1, max_size=3), st.integers(0, 25))
def test_a_search_in_portions_finds_the_same(parts: list[tuple[Profile, int]], bound: int) -> None:
    curves = [(curve(profile), start) for profile, start in parts]
    whole, _ = search(curves, bound, 10, NEVER)
    found, seen = search(curves, bound, 10, NEVER, most=1)
    for _ in range(400):
        if found < NEVER or seen == NEVER:
            break
        found, seen = search(curves, bound, seen, NEVER, most=1)
    # A search that begins anew does not know what repeats, so it may go on for ever where there is nothing.
    assert found == whole


@given(profiles(), st.integers(0, 40))
def test_between_breakpoints_the_amount_changes_evenly(profile: Profile, t: int) -> None:
    end = curve(profile).next_break(t)
    assert end > t
    values = [exact(profile, x) for x in range(t, min(end, t + 40))]
    steps = [b - a for a, b in pairwise(values)]
    assert len(set(steps)) <= 1
    if end < NEVER and len(values) > 1:
        after = [exact(profile, x) for x in (end - 1, end, end + 1)]
        assert after[1] - after[0] != steps[-1] or after[2] - after[1] != steps[-1]


@given(st.lists(st.tuples(profiles(), st.integers(0, 9)), max_size=4), st.integers(10, 30))
def test_a_sum_is_rounded_once(parts: list[tuple[Profile, int]], t: int) -> None:
    curves = [(curve(profile), start) for profile, start in parts]
    assert total(curves, t) == floor(sum(exact(profile, t - start) for profile, start in parts))


@pytest.mark.parametrize(
    ("bound", "when"),
    [
        pytest.param(0, 1, id="one byte more than nothing"),
        pytest.param(2**30, 2**30 + 1, id="a gigabyte at a byte a ns"),
        pytest.param(2**40, NEVER, id="it never comes to that"),
    ],
)
def test_a_leak_reaches_a_bound_at_an_exact_time(bound: int, when: int) -> None:
    assert first_above(Profile(((0, 0), (2**40, 2**40))), bound, 0, NEVER) == when


@pytest.mark.unit
def test_a_period_that_joins_smoothly_has_no_breakpoint_there() -> None:
    """5 from 6 to 8 and, in the next period, from 8 to 10."""
    profile = Profile(((0, 5), (2, 5), (4, 9), (6, 5)), every_ns=8)
    assert [curve(profile).next_break(t) for t in (0, 2, 4, 6, 8, 10)] == [2, 4, 6, 10, 10, 12]
