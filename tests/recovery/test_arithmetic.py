"""Arithmetic of outages and retries: the worked checks of the sheet, and formulas against counting."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.recovery.arithmetic import (
    amplification,
    backlog,
    catch_up,
    drain,
    expected_attempts,
    headroom_for,
    job_survival,
    retry_survival,
)

MINUTE = 60
HOUR = 3_600

# ------------------------------------------------------------------ the sheet


def test_an_hour_without_service_takes_two_hours_to_make_up_for() -> None:
    assert backlog(1_000, HOUR) == 3_600_000
    assert catch_up(1_000, 1_500, HOUR) == 2 * HOUR


def test_ten_minutes_at_four_fifths_load_take_forty() -> None:
    assert catch_up(0.8, 1, 10) == pytest.approx(40)


def test_half_an_hour_within_an_hour_takes_half_as_much_again() -> None:
    assert headroom_for(30, 60) == 1.5
    assert catch_up(1, headroom_for(30, 60), 30) == 60


def test_replay_from_a_checkpoint_adds_its_age() -> None:
    assert catch_up(0.7, 1, 30, replayed=30) == pytest.approx(140)
    assert catch_up(0.7, 1, 30, replayed=60) == pytest.approx(210)


def test_a_lag_of_twelve_million() -> None:
    lag = backlog(25_000, 12_000_000 / 25_000)
    assert catch_up(25_000, 40_000, 12_000_000 / 25_000) == pytest.approx(lag / 15_000) == pytest.approx(800)


def test_two_engines_in_series_catch_up_at_the_pace_of_the_slower() -> None:
    assert catch_up(1, min(1.2, 1.1), 10) == pytest.approx(100)


def test_capacity_for_being_five_minutes_behind_half_an_hour_after_twenty() -> None:
    capacity = 1.5
    assert backlog(1, 20) - 30 * (capacity - 1) == 5


def test_no_headroom_no_end() -> None:
    assert catch_up(1, 1, 10) is None
    assert catch_up(2, 1, 10) is None
    assert catch_up(2, 1, 0) == 0


def test_retries_of_one_operation() -> None:
    assert retry_survival(0.9, 3) == pytest.approx(0.9999)
    assert retry_survival(0.5, 3) == 0.9375
    assert retry_survival(0, 100) == 0, "a bug fails every time"
    assert amplification(3, 2) == 16


@pytest.mark.parametrize(("q", "attempts", "chance"), [(0.05, 4, 0.99377), (0.01, 4, 0.99999), (0.01, 1, 4.3e-5)])
def test_a_job_of_a_thousand_tasks(q: float, attempts: int, chance: float) -> None:
    assert job_survival(q, attempts, 1_000) == pytest.approx(chance, rel=5e-3)


# ------------------------------------------------------------------ against counting


@given(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.integers(1, 6))
def test_retries_and_attempts_are_what_enumeration_finds(q: float, attempts: int) -> None:
    survived, mean = 0.0, 0.0
    for fails in product([True, False], repeat=attempts):
        chance = 1.0
        for failed in fails:
            chance *= q if failed else 1 - q
        survived += chance * (not all(fails))
        mean += chance * (fails.index(False) + 1 if not all(fails) else attempts)
    assert retry_survival(1 - q, attempts - 1) == pytest.approx(survived)
    assert job_survival(q, attempts, 3) == pytest.approx(survived**3)
    assert expected_attempts(q, attempts) == pytest.approx(mean)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 40))
def test_the_formula_is_what_the_simulation_counts(rate: int, capacity: int, outage: int) -> None:
    peak, seconds = drain(rate, capacity, outage)
    expected = catch_up(rate, capacity, outage)
    assert peak == backlog(rate, outage)
    assert (seconds is None) == (expected is None)
    if seconds is not None and expected is not None and expected > 0:
        # while less than one whole item waits the formula still counts it, and a service ends only every 1 / c
        assert expected - 1 / (capacity - rate) - 1e-9 <= seconds <= expected + 1 / capacity + 1e-9
