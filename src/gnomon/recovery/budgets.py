"""Disruption budgets: how many tasks of a job may be away at a time for a drain's sake."""

from __future__ import annotations

from collections.abc import Iterable

from gnomon.model.operation import Budget

ANY_JOB = "*"


def allows(budgets: Iterable[Budget], job: str, away: int) -> bool:
    """Whether one more task of a job may be sent away when ``away`` of its tasks are away already.

    Every budget that names the job, or any job, has to allow it; without one nothing is in the way. It binds those who
    ask before they send tasks away (a drain), not what is lost (Kubernetes: the eviction API, not node loss).

    >>> budgets = [Budget("web", 2), Budget("*", 5)]
    >>> [allows(budgets, "web", away) for away in (0, 1, 2)], allows(budgets, "batch", 4)
    ([True, True, False], True)
    """
    return all(away < budget.unavailable for budget in budgets if budget.job in (job, ANY_JOB))
