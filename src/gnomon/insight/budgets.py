"""Disruption budgets against what really happened: a budget holds back drains, not failures."""

from __future__ import annotations

import numpy as np

from gnomon.engine.log import Kind
from gnomon.insight.history import History

_LEAVES = (Kind.FAIL, Kind.PREEMPT)
_IS_BACK = (Kind.START, Kind.END, Kind.KILL, Kind.CANCEL)


def breaches(past: History) -> int:
    """How often a job came to have more tasks away than a budget of the scenario allows.

    A task is away from when an attempt of it failed or gave way until its next start, or until it is over (as one that
    failed for good is). A job that goes from within its budget to beyond it is one breach, however far it goes.
    """
    budgets, work, log = past.scenario.operation.budgets, past.scenario.work, past.log
    if not budgets:
        return 0
    allowed: dict[str, int] = {}
    for budget in budgets:
        allowed[budget.job] = min(budget.unavailable, allowed.get(budget.job, budget.unavailable))
    given_up = np.full(len(work), -1, np.int64)
    rows = np.flatnonzero(
        np.isin(log.kind, (*_LEAVES, *_IS_BACK, Kind.WAIT, Kind.RETRY, Kind.QUEUE)) & (log.subject >= 0)
    )
    given_up[log.subject[rows]] = rows  # the last row of each task: a FAIL there is final
    away: dict[str, set[int]] = {}
    found = 0
    for row in rows[np.isin(log.kind[rows], (*_LEAVES, *_IS_BACK))].tolist():
        task, kind = int(log.subject[row]), int(log.kind[row])
        job = work.job_name(task)
        limit = allowed.get(job, allowed.get("*"))
        if limit is None:
            continue
        gone = away.setdefault(job, set())
        before = len(gone)
        if kind in _LEAVES and not (kind == Kind.FAIL and given_up[task] == row):
            gone.add(task)
        else:
            gone.discard(task)
        found += before <= limit < len(gone)
    return found
