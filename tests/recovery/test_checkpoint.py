"""Checkpoints: plans walked through second by second, and the intervals of the literature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.recovery import Checkpoint
from gnomon.recovery.checkpoint import daly_ns, expected_factor, plan_ns, saved_ns, young_ns

HOUR = 3_600


# ------------------------------------------------------------------ plans


def walk(work: int, checkpoint: Checkpoint, resumed: bool) -> tuple[list[int], list[int]]:
    """The work done, and saved, after 0, 1, 2, … units of the plan, unit by unit."""
    done, saved = [0], [0]
    taken: list[tuple[int, int]] = []  # (when complete, work in it)

    def unit(working: bool) -> None:
        done.append(done[-1] + working)
        saved.append(0)

    for _ in range(checkpoint.restart_ns if resumed else 0):
        unit(False)
    while done[-1] < work:
        unit(True)
        if done[-1] % checkpoint.every_ns == 0 and done[-1] < work:
            for _ in range(checkpoint.cost_ns):
                unit(False)
            taken.append((len(done) - 1, done[-1]))
    for now in range(len(saved)):
        saved[now] = max((part for at, part in taken if at + checkpoint.durable_ns <= now), default=0)
    saved[-1] = work
    return done, saved


checkpoints = st.builds(Checkpoint, st.integers(1, 9), st.integers(0, 4), st.integers(0, 5), st.integers(0, 12))


@given(st.integers(0, 40), checkpoints, st.booleans())
def test_plan_and_what_is_saved_are_what_a_walk_finds(work: int, checkpoint: Checkpoint, resumed: bool) -> None:
    if work == 0:
        checkpoint = Checkpoint(checkpoint.every_ns)
    done, saved = walk(work, checkpoint, resumed)
    assert plan_ns(work, checkpoint, resumed) == len(done) - 1
    assert [saved_ns(now, work, checkpoint, resumed) for now in range(len(saved))] == saved
    assert all(kept <= made for kept, made in zip(saved, done, strict=True))


def test_without_checkpoints_everything_is_lost() -> None:
    assert (plan_ns(100, None, False), plan_ns(100, None, True)) == (100, 100)
    assert [saved_ns(elapsed, 100, None, False) for elapsed in (0, 99, 100)] == [0, 0, 100]


def test_an_attempt_that_ends_within_its_restart_has_saved_nothing_more() -> None:
    assert saved_ns(9, 100, Checkpoint(5, 0, 10), resumed=True) == 0


@given(st.integers(1, 40), checkpoints, st.lists(st.integers(1, 60), max_size=8))
def test_attempts_that_go_on_from_what_was_saved_end_with_the_work_done(
    work: int, checkpoint: Checkpoint, ends: list[int]
) -> None:
    left, resumed = work, False
    for end in ends:
        saved = saved_ns(end, left, checkpoint, resumed)
        assert 0 <= saved <= left
        left, resumed = left - saved, resumed or saved > 0
    assert saved_ns(plan_ns(left, checkpoint, resumed), left, checkpoint, resumed) == left


# ------------------------------------------------------------------ intervals


@pytest.mark.parametrize(
    ("cost", "mtbf", "restart", "young", "daly", "efficiency"),
    [
        (60, 3 * HOUR, 300, 1_138, 1_099, 0.874),
        (300, 24 * HOUR, 600, 7_200, 7_001, 0.913),
        (30, HOUR, 120, 465, 445, 0.848),
    ],
)
def test_intervals_and_efficiencies_of_the_training_sheet(
    cost: int, mtbf: int, restart: int, young: int, daly: int, efficiency: float
) -> None:
    assert young_ns(cost, mtbf) == pytest.approx(young, abs=1)
    assert daly_ns(cost, mtbf) == daly
    assert 1 / expected_factor(daly, cost, restart, mtbf) == pytest.approx(efficiency, abs=5e-4)


def test_a_checkpoint_that_costs_more_than_twice_the_mean_time_to_failure() -> None:
    assert daly_ns(200, 100) == 100
    assert expected_factor(1e6, 1, 1, 1) == float("inf")


def test_a_day_of_work_on_a_system_that_fails_every_three_hours() -> None:
    without = 24 * expected_factor(24, 0, 0, 3)
    assert without == pytest.approx(8_940, rel=1e-3), "3 (e^8 - 1) hours"
    assert 24 * expected_factor(1_138, 60, 300, 3 * HOUR) == pytest.approx(27.5, abs=0.05)


def test_checkpoints_rarer_than_failures() -> None:
    """512 nodes, 72 hours each: one failure in 8.4 minutes (minutes here)."""
    mtbf = 72 * 60 / 512
    assert mtbf == pytest.approx(8.44, abs=0.01)

    def efficiency(every: float, cost: float) -> float:
        return 1 / expected_factor(every, cost, 5, mtbf)

    def best(cost: float) -> float:
        return max((tenths / 10 for tenths in range(1, 1_000)), key=lambda every: efficiency(every, cost))

    assert efficiency(15, 2) == pytest.approx(0.15, abs=0.005)
    assert best(2) == pytest.approx(4.6, abs=0.11)
    assert efficiency(4.6, 2) == pytest.approx(0.25, abs=0.005)
    assert young_ns(120_000, round(mtbf * 60_000)) / 60_000 == pytest.approx(5.8, abs=0.05)
    assert efficiency(5.8, 2) == pytest.approx(0.25, abs=0.01)
    assert best(1 / 6) == pytest.approx(1.6, abs=0.11)
    assert efficiency(1.6, 1 / 6) == pytest.approx(0.45, abs=0.01)


def test_the_expected_factor_is_the_mean_of_simulated_runs() -> None:
    rng, every, cost, restart, mtbf = np.random.default_rng(5), 50.0, 10.0, 20.0, 100.0
    runs, total = 20_000, 0.0
    for _ in range(runs):
        need = every + cost
        while (failure := rng.exponential(mtbf)) < need:
            total += failure
            need = restart + every + cost
        total += need
    assert total / (runs * every) == pytest.approx(expected_factor(every, cost, restart, mtbf), rel=0.02)
