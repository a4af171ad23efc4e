"""The search for the smallest change: bisection, its bound, the order of what it finds."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from gnomon.engine.log import Kind, Log
from gnomon.insight.explain.changes import CONSTRAINT, OWN, Lever, Trials, search
from gnomon.insight.explain.wanted import start_by
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from tests.insight.stories import S, Story, task

pytestmark = pytest.mark.unit

STORY = Story(Cluster.of_processors(1), [task("a")])
NONSENSE = 500


class Runs:
    """In place of the simulator: the value that is tried stands in the scenario's seed, and what works is given. It
    starts after as many seconds as the value says."""

    def __init__(self, works: Callable[[int], bool]) -> None:
        self.works = works
        self.tried: list[int] = []

    def __call__(self, scenario: Scenario) -> Log:
        self.tried.append(scenario.seed)
        assert scenario.limits.until_ns == 1000 * S
        if scenario.seed == NONSENSE:
            raise InputError("this makes no sense")
        story = Story(STORY.cluster, STORY.tasks).arrive(0)
        return story.tell(scenario.seed, Kind.START, 0).log if self.works(scenario.seed) else story.log


def trials(runs: Runs, most: int = 100) -> Trials:
    return Trials(start_by((0,), 1000 * S), runs, most)


def lever(values: Sequence[int], *, kind: int = OWN, guess: int | None = None, fallback: bool = False) -> Lever:
    """Ask for less than 100."""
    return Lever(
        kind=kind,
        object="task/a",
        field="cpu",
        before=100,
        values=values,
        scenario=lambda value: replace(STORY.scenario, seed=value),
        size=lambda value: (100 - value) / 100,
        phrase=lambda value: f"ask for {value}",
        guess=guess,
        fallback=fallback,
    )


@pytest.mark.parametrize("most", range(1, 100))
def test_the_largest_amount_that_does_is_found(most: int) -> None:
    runs = Runs(lambda value: value <= most)
    changes, complete = search([lever(range(99, 0, -1))], trials(runs))
    assert [change.after for change in changes] == [most]
    assert complete
    assert len(runs.tried) <= 1 + 7  # the end of the scale, and a bisection of 98 values


def test_what_is_told_is_what_was_simulated() -> None:
    (change,), _ = search([lever(range(99, 0, -1))], trials(Runs(lambda value: value <= 60)))
    assert change.as_dict() == {
        "what": "ask for 60: it starts at 1m",
        "object": "task/a",
        "field": "cpu",
        "from": 100,
        "to": 60,
        "cost": round(1 + 0.4 / 1.4, 4),
        "confirmed": True,
    }


def test_a_good_guess_saves_the_bisection() -> None:
    runs = Runs(lambda value: value <= 60)
    changes, _ = search([lever(range(99, 0, -1), guess=39)], trials(runs))
    assert changes[0].after == 60
    assert runs.tried == [1, 60, 61]


def test_a_guess_helps_where_the_largest_change_does_not() -> None:
    changes, _ = search([lever(range(99, 0, -1), guess=39)], trials(Runs(lambda value: 50 <= value <= 60)))
    assert changes[0].after == 60


def test_what_does_not_help_is_not_told() -> None:
    assert search([lever(range(99, 0, -1))], trials(Runs(lambda value: False))) == ([], True)


def test_a_scenario_that_makes_no_sense_does_not_help() -> None:
    assert search([lever([NONSENSE])], trials(Runs(lambda value: True))) == ([], True)


def test_the_cheapest_comes_first_whatever_is_tried_first() -> None:
    levers = [lever([20], kind=CONSTRAINT), lever([10]), lever([90])]
    changes, _ = search(levers, trials(Runs(lambda value: True)))
    assert [change.after for change in changes] == [90, 10, 20]


def test_a_fallback_is_tried_only_if_nothing_of_its_kind_is_of_use() -> None:
    runs = Runs(lambda value: value != 30)
    search([lever([30]), lever([20], fallback=True), lever([10], fallback=True)], trials(runs))
    assert runs.tried == [30, 20]


def test_the_number_of_runs_is_bounded_and_the_rest_is_said() -> None:
    runs = Runs(lambda value: value <= 60)
    (change,), complete = search([lever(range(99, 0, -1))], trials(runs, most=3))
    assert len(runs.tried) == 3
    assert not complete
    assert change.what.startswith("ask for 51 (or less of that): ")
    assert search([lever([1]), lever([2])], trials(Runs(lambda value: False), most=1)) == ([], False)
