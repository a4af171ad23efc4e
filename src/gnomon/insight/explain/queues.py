"""Who stood in front: the queue at one row of a log, by the scenario's order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Reason, Waiting
from gnomon.insight.explain.situation import Situation
from gnomon.insight.history import History
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray
from gnomon.scheduling.codes import BY_RANK
from gnomon.scheduling.ordering import ORDERS, Units, ranks

OVERTAKEN_LARGE = 10
"""From how many later arrivals that started earlier an explanation speaks of it."""

_HELD_UP = (Reason.RESOURCES, Reason.RESERVED)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task stands: its position (from 1; None where the order is a Python function) among those that wait,
    how many tasks are in front, and the first of them that holds it up (None: nobody)."""

    position: int | None
    ahead: int
    first: int | None


def is_fair(order: object) -> bool:
    """Whether an order serves each tenant's queue by itself."""
    return isinstance(order, str) and order in ORDERS and ORDERS[order].tenants != BY_RANK


def place_in_queue(here: Situation, task: int) -> Place:
    """Where a waiting task stands.

    The queue is that of its tenant where an order chooses among tenants, else that of all. Whom it waits behind is the
    first of its tenant in front if a limit holds that one, else the first in its queue that has no room and may not be
    overtaken, else the first of another queue whose turn it is.
    """
    scenario, tenant = here.ground.scenario, here.ground.tenant
    order = scenario.policy.order
    waiting = here.waiting
    own = waiting[tenant[waiting] == tenant[task]]
    if order not in ORDERS:  # written in Python
        return Place(None, 0, _held_up(here, waiting[waiting != task]))
    front = _in_front(here, waiting, task)
    mine = np.intersect1d(front, own, assume_unique=True) if is_fair(order) else front
    limited = [int(t) for t in front[np.isin(front, own)] if here.reason(int(t)).waiting is Waiting.LIMIT]
    first = limited[0] if limited else _held_up(here, mine)
    if first is None:
        first = int(mine[0]) if len(mine) else _held_up(here, waiting[waiting != task])
    units = {here.ground.unit(int(one))[0] for one in mine}
    return Place(len(units) + 1, len(mine), first)


def overtaken_by(past: History, task: int) -> int:
    """How many tasks that came later started earlier, for as long as this one waited."""
    work, what = past.scenario.work, past.outcome
    later = work.submit_ns > work.submit_ns[task]
    later |= (work.submit_ns == work.submit_ns[task]) & (np.arange(len(work)) > task)
    return int((later & (what.first_start_ns < min(what.first_start_ns[task], what.end_ns[task]))).sum())


def _in_front(here: Situation, waiting: IntArray, task: int) -> IntArray:
    """Those of the waiting tasks that rank before a task, in order."""
    ground = here.ground
    work, policy = ground.work, ground.scenario.policy
    whole = ground.scenario.gang and work.jobs is not None
    _, unit = np.unique(work.job[waiting] if whole else waiting, return_inverse=True)
    count = int(unit.max(initial=-1)) + 1
    needs = np.zeros((count, len(ground.names)), np.int64)
    np.add.at(needs, unit, ground.need[work.shape[waiting]])
    units = Units(
        submit_ns=_most(work.submit_ns[waiting], unit, count),
        estimate_ns=_most(work.estimate_ns[waiting], unit, count),
        priority=_most(work.priority[waiting], unit, count),
        deadline_ns=-_most(-work.deadline_ns[waiting], unit, count),
        amounts={name: needs[:, i] for i, name in enumerate(ground.names)},
    )
    rank = ranks(ORDERS[str(policy.order)].keys(units, policy), units.submit_ns, np.arange(count))[unit]
    own = rank[waiting == task]
    before = np.flatnonzero(rank < own[0]) if len(own) else np.arange(0)
    return waiting[before[np.argsort(rank[before], kind="stable")]]


def _most(values: IntArray, unit: IntArray, count: int) -> IntArray:
    found = np.full(count, -NEVER, np.int64)
    np.maximum.at(found, unit, values)
    return found


def _held_up(here: Situation, front: IntArray) -> int | None:
    """The first of them that waits for room."""
    return next((int(task) for task in front if here.reason(int(task)) in _HELD_UP), None)
