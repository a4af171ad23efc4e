"""Orders: who comes first, and what decides a tie."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from gnomon.api import NEVER, Scenario, Task, simulate
from tests.builders import run, scenarios, starts, task

pytestmark = pytest.mark.unit


def order_of(policy: str, tasks: list[Task]) -> list[str]:
    """The order in which tasks start of which no two fit into the pool of ten together."""
    done = run([task("first", 10, 100), *tasks], 10, policy)
    started = starts(done)
    return sorted((t.id for t in tasks), key=lambda name: started[name] or 0)


def wide(name: str, cpu: float = 6, **facts: Any) -> Task:
    return task(name, cpu, **facts)


HOUR = 3600

CASES: dict[str, tuple[str, list[Task], list[str]]] = {
    "by submission, then position": (
        "fcfs",
        [wide("late", at=2), wide("x", at=1), wide("a", at=1)],
        ["x", "a", "late"],
    ),
    "shortest by estimate, not by what it really takes": (
        "sjf",
        [wide("a", run=1, estimate=9), wide("b", run=5), wide("c", run=2)],
        ["c", "b", "a"],
    ),
    "longest by estimate": ("ljf", [wide("a", run=1), wide("b", run=5), wide("c", run=2)], ["b", "c", "a"]),
    "smallest by processors": ("smallest", [wide("a", 7), wide("b", 6), wide("c", 10)], ["b", "a", "c"]),
    "largest, ties by submission and position": (
        "largest",
        [wide("a", 6, at=3), wide("b", 9, at=2), wide("c", 6, at=2), wide("d", 6, at=2)],
        ["b", "c", "d", "a"],
    ),
    "largest by a resource that nobody asks for": ("largest:by=gpu", [wide("a", 6), wide("b", 9)], ["a", "b"]),
    "most urgent": ("priority", [wide("a", priority=1), wide("b", priority=7), wide("c", priority=7)], ["b", "c", "a"]),
    "earliest deadline, none last": (
        "edf",
        [wide("a"), wide("b", deadline=900), wide("c", deadline=500)],
        ["c", "b", "a"],
    ),
}


@pytest.mark.parametrize(("policy", "tasks", "expected"), CASES.values(), ids=CASES)
def test_order(policy: str, tasks: list[Task], expected: list[str]) -> None:
    assert order_of(policy, tasks) == expected


@pytest.mark.parametrize(
    ("aging", "first"),
    [("", "urgent"), (":aging=0.5", "urgent"), (":aging=2", "patient")],
    ids=["none", "0·2h + 0.5·2 = 1 against 1 + 0.5 = 1.5 points", "0 + 2·2 = 4 against 1 + 2·1 = 3 points"],
)
def test_priority_ages(aging: str, first: str) -> None:
    """Two tasks are compared when the processor falls free at 2 h: one has waited for 2 h, the other for 1 h."""
    tasks = [task("busy", 1, 2 * HOUR), task("patient", at=0), task("urgent", at=HOUR, priority=1)]
    started = starts(run(tasks, 1, f"priority{aging}"))
    assert min(("patient", "urgent"), key=lambda name: started[name] or 0) == first


def test_a_gang_counts_as_its_longest_largest_and_most_urgent() -> None:
    gang = [wide("g1", 4, run=9, priority=1, job="g"), wide("g2", 4, run=1, priority=5, job="g")]
    other = wide("o", 7, run=5, priority=3)
    assert order_of("sjf", [*gang, other])[0] == "o"  # 5 s against 9 s
    assert order_of("largest", [other, *gang])[0] == "g1"  # 7 against 4 + 4
    assert order_of("priority", [other, *gang])[0] == "g1"  # 3 against 5


@pytest.mark.parametrize("policy", ["sjf", "fcfs"])
def test_the_head_stops_all_behind_it(policy: str) -> None:
    tasks = [task("A", 3, 10), task("H", 2, 1, at=1), task("C", 1, 2, at=1)]
    assert starts(run(tasks, 4, policy)) == {"A": 0, "H": 10, "C": 10}


def test_a_committed_head_stays_first() -> None:
    """Without it the shorter latecomer passes; with it the scheduler waits for the one that it chose."""
    tasks = [task("A", 2, 10), task("B", 2, 5, at=1), task("C", 2, 1, at=2)]
    assert starts(run(tasks, 2, "sjf")) == {"A": 0, "C": 10, "B": 11}
    assert starts(run(tasks, 2, "sjf:head=committed")) == {"A": 0, "B": 10, "C": 15}


def test_single_events_give_a_pass_each() -> None:
    """A enters alone and starts before the shorter B of the same time is there."""
    tasks = [task("A", 1, 5), task("B", 1, 1)]
    assert starts(run(tasks, 1, "sjf")) == {"B": 0, "A": 1}
    assert starts(run(tasks, 1, "sjf:instants=single")) == {"A": 0, "B": 5}


def test_a_single_submission_comes_before_an_end_of_the_same_time() -> None:
    tasks = [task("A", 1, 5), task("B", 1, 1, at=5)]
    assert starts(run(tasks, 1, "fcfs:full=drop")) == {"A": 0, "B": 5}
    assert starts(run(tasks, 1, "fcfs:full=drop,instants=single")) == {"A": 0, "B": None}


def test_the_rules_of_rlscheduler() -> None:
    """B is chosen at 1 and promised 10, when A is expected to end. C would end at 10: not before it. D ends in time.
    At 4 the promise could move to 6, when A2 ends; but it is kept, so that E starts and B has to wait until 9. F is
    shorter than B and does not take its turn."""
    tasks = [
        task("A", 1, 3, estimate=10),
        task("A2", 2, 6),
        task("B", 4, 1, at=1),
        task("C", 1, 9, at=1),
        task("D", 1, 2, at=2),
        task("E", 2, 5, at=3),
        task("F", 4, 0.5, at=3),
    ]
    rules = "sjf:head=committed,instants=single+easy:reservation=keep,extra=no,boundary=strict,scan=submit"
    assert starts(run(tasks, 4, rules)) == {"A": 0, "A2": 0, "D": 2, "E": 4, "B": 9, "F": 10, "C": 10.5}
    moving = rules.replace("reservation=keep,", "")
    assert starts(run(tasks, 4, moving))["B"] == 6


@pytest.mark.property
@settings(max_examples=60)
@given(scenario=scenarios())
def test_no_task_starts_before_it_is_there(scenario: Scenario) -> None:
    outcome = simulate(scenario, compiled=False).outcome
    started = outcome.first_start_ns < NEVER
    assert (outcome.first_start_ns[started] >= scenario.work.submit_ns[started]).all()
