"""EASY's rules and named options, one small case each, in a pool of 4; ``H`` is the task that holds the reservation."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gnomon.api import Reason, Task, Tenant
from gnomon.scheduling.policy import BACKFILLS
from tests.builders import S, amount, ends, nodes, run, starts, task, waits

pytestmark = pytest.mark.unit

Starts = dict[str, float | None]


@dataclass(frozen=True)
class Case:
    """The same work under the default and under one option: when those in question start."""

    option: str
    tasks: list[Task]
    default: Starts
    with_option: Starts
    order: str = "fcfs"


CASES = {
    "a candidate that ends exactly at the reserved time": Case(
        "boundary=strict",
        [task("A", 2, 10), task("H", 4, 5, at=1), task("C", 2, 9, at=1)],
        default={"H": 10, "C": 1},
        with_option={"H": 10, "C": 15},
    ),
    "a narrow candidate that outlasts the reserved time": Case(
        "extra=no",
        [task("A", 2, 10), task("H", 3, 5, at=1), task("C", 1, 20, at=1)],
        default={"H": 10, "C": 1},
        with_option={"H": 10, "C": 10},
    ),
    "a running task that ends before its estimate": Case(
        "ends=actual",
        [task("A", 2, 4, estimate=10), task("H", 4, 5, at=1), task("C", 2, 5, at=1)],
        default={"H": 6, "C": 1},
        with_option={"H": 4, "C": 9},
    ),
    "a candidate that is shorter than its estimate": Case(
        "candidates=actual",
        [task("A", 2, 10), task("H", 4, 5, at=1), task("C", 2, 5, estimate=20, at=1)],
        default={"H": 10, "C": 15},
        with_option={"H": 10, "C": 1},
    ),
    "a reservation that could move forward": Case(
        "reservation=keep",  # at 3, when A ends early, H could start at 10; kept, it stays at 20
        [task("A", 1, 3, estimate=20), task("B", 2, 10), task("H", 4, 5, at=1), task("C", 2, 15, at=1)],
        default={"H": 10, "C": 15},
        with_option={"H": 18, "C": 3},
    ),
    "candidates that compete": Case(
        "scan=submit",  # H is the shortest and so the first; C is shorter than B but was submitted later
        [task("A", 2, 10), task("H", 4, 1, at=1), task("B", 2, 8, at=1), task("C", 2, 5, at=1)],
        order="sjf",
        default={"H": 10, "C": 1, "B": 11},
        with_option={"H": 10, "C": 11, "B": 1},
    ),
    "a pass that starts its first unit": Case(
        "after-start=fill",  # at 5 A is over and B starts; who comes next has no reservation in that pass
        [task("A", 4, 5), task("B", 2, 5, at=1), task("H", 4, 5, at=1), task("C", 2, 50, at=1)],
        default={"B": 5, "H": 10, "C": 15},
        with_option={"B": 5, "H": 55, "C": 5},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_options(case: Case) -> None:
    def when(policy: str, asked: Starts) -> Starts:
        started = starts(run(case.tasks, 4, f"{case.order}+{policy}"))
        return {name: started[name] for name in asked}

    assert when("easy", case.default) == case.default
    assert when(f"easy:{case.option}", case.with_option) == case.with_option


def test_every_option_changes_a_result() -> None:
    assert {case.option.partition("=")[0] for case in CASES.values()} == set(BACKFILLS["easy"])


def test_all_that_end_at_the_reserved_time_count_as_extra() -> None:
    """T4: A and B both end at 10, A alone would do for H; so two processors are left over, not one."""
    tasks = [task("A", 2, 10), task("B", 1, 10), task("H", 2, 5, at=1), task("C", 1, 30, at=1)]
    assert starts(run(tasks, 4, "easy")) == {"A": 0, "B": 0, "H": 10, "C": 1}


def test_who_ends_in_time_uses_no_extra() -> None:
    """T5: C ends before H starts, so that the one extra processor is left for D."""
    tasks = [task("A", 2, 10), task("H", 3, 5, at=1), task("C", 1, 5, at=1), task("D", 1, 50, at=1)]
    assert starts(run(tasks, 4, "easy")) == {"A": 0, "H": 10, "C": 1, "D": 1}


def test_extra_is_used_up() -> None:
    tasks = [task("A", 2, 10), task("H", 3, 5, at=1), task("C", 1, 50, at=1), task("D", 1, 50, at=1)]
    assert starts(run(tasks, 4, "easy")) == {"A": 0, "H": 10, "C": 1, "D": 15}


def test_an_end_and_a_submission_at_one_time_meet_in_one_pass() -> None:
    """T1: A ends, then B enters, then one pass: the shorter B goes first although C has waited."""
    tasks = [task("A", 4, 5), task("C", 4, 3, at=1), task("B", 4, 1, at=5)]
    assert starts(run(tasks, 4, "sjf")) == {"A": 0, "B": 5, "C": 6}


def test_tasks_without_length_take_their_turn_at_one_instant() -> None:
    """T7: each ends at the time of its start, and one more pass of the same time follows."""
    done = run([task(f"z{i}", 4, 0) for i in range(3)], 4)
    assert starts(done) == ends(done) == {"z0": 0, "z1": 0, "z2": 0}


def test_an_expected_end_that_has_passed_counts_as_now() -> None:
    """H is promised 5, when A is expected to be over; but A and B run on. At 8, though nothing has ended since, both
    count as over at 8 at the earliest, so that C may use the processor that H will not need."""
    tasks = [task("A", 2, 20, estimate=5), task("B", 1, 20, estimate=7), task("H", 3, 5, at=1), task("C", 1, 50, at=8)]
    assert starts(run(tasks, 4, "easy", kill_at_limit=False)) == {"A": 0, "B": 0, "H": 20, "C": 8}


def test_nobody_goes_beyond_a_limit_by_backfilling() -> None:
    tasks = [task("A", 2, 10), task("H", 4, 5, at=1), task("C", 1, 2, at=2)]
    for limit, start in ((None, 2), (1, 15)):
        done = run(tasks, 4, "easy", tenants=[Tenant("", max_running=limit)])
        assert starts(done)["C"] == start


class TestSeveralNodes:
    def test_the_reservation_is_a_place_too(self) -> None:
        """H waits for n0 alone; a long candidate may have n1 but not n0."""
        tasks = [task("A", 3, 10), task("H", 4, 5, at=1), task("C", 1, 50, at=2), task("D", 1, 50, at=2)]
        done = run(tasks, nodes(4, 1), "easy")
        assert starts(done) == {"A": 0, "H": 10, "C": 2, "D": 15}

    def test_on_the_place_of_the_reservation_only_what_ends_in_time(self) -> None:
        tasks = [task("A", 3, 10), task("H", 4, 5, at=1), task("C", 1, 8, at=2), task("D", 1, 9, at=2)]
        assert starts(run(tasks, nodes(4), "easy")) == {"A": 0, "H": 10, "C": 2, "D": 15}


def test_what_the_log_says() -> None:
    done = run([task("A", 3, 10), task("H", 4, 5, at=1), task("C", 1, 20, at=1)], 4, "easy")
    behind_h = 1  # the position of H in the input
    assert waits(done) == [
        (1, "H", Reason.RESOURCES, 10 * S),
        (1, "C", Reason.BACKFILL, behind_h),
        (10, "C", Reason.RESOURCES, 15 * S),
    ]


def test_what_is_left_over_is_left_over_on_its_devices() -> None:
    """H waits for processors, and is promised one of two idle devices. C, which outlasts the promise, gets the other;
    then D finds none that is left over, though one is idle."""
    tasks = [task("A", 5, 10), task("H", 4, 5, gpus=1, at=1)]
    tasks += [task(name, 1, 50, gpus=1, at=1) for name in "CD"]
    assert starts(run(tasks, nodes(amount(8, gpus=2)), "easy")) == {"A": 0, "H": 10, "C": 1, "D": 15}
