"""Disruption budgets: the strictest that names the job decides."""

import pytest

from gnomon.model.operation import Budget
from gnomon.recovery.budgets import allows


@pytest.mark.parametrize("away", [0, 1, 1_000])
def test_without_a_budget_everything_may_go(away: int) -> None:
    assert allows([], "web", away)
    assert allows([Budget("other", 0)], "web", away)


def test_a_budget_of_none_lets_nothing_go() -> None:
    assert not allows([Budget("web", 0)], "web", 0)


def test_the_strictest_budget_decides() -> None:
    budgets = [Budget("web", 3), Budget("*", 1)]
    assert [allows(budgets, "web", away) for away in (0, 1, 2)] == [True, False, False]
    assert [allows(budgets[::-1], "batch", away) for away in (0, 1)] == [True, False]


def test_what_is_away_beyond_the_budget_lets_nothing_more_go() -> None:
    assert not allows([Budget("web", 2)], "web", 7), "losses count, though the budget did not stop them"
