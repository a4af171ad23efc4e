"""Levers for a drain that a disruption budget holds up: let more tasks of the job be away at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gnomon.engine.log import Kind, Log
from gnomon.insight.explain.changes import LIMIT, Lever
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.node_story import emptied_ns
from gnomon.insight.explain.phrases import counted, span
from gnomon.insight.explain.wanted import Wanted
from gnomon.insight.history import attempts
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

BUDGET_MAX = 64
"""How many tasks of a job a budget is let disrupt at most."""


def drain_levers(ground: Ground, node: int) -> tuple[list[Lever], Wanted] | None:
    """What is tried for a node whose drain a budget held up, and what is wanted: that it is empty in half the time."""
    log = ground.past.log
    kept = np.flatnonzero((log.kind == Kind.REFUSE) & (log.node == node))
    if not len(kept):
        return None
    begin, end = int(log.t_ns[kept[0]]), emptied_ns(ground, int(kept[0]))
    now = end if end >= 0 else NEVER
    until = begin + (end - begin) // 2 if end >= 0 else ground.horizon_ns
    jobs = dict.fromkeys(ground.work.job_name(int(log.subject[row])) for row in kept.tolist())
    found = [lever for job in jobs for lever in _budgets(ground, job)]
    return found, _emptied(node, begin, until, now_ns=now)


def _emptied(node: int, begin_ns: int, until_ns: int, *, now_ns: int) -> Wanted:
    """That nobody who began before a drain is on the node after a time."""

    def reached(log: Log) -> int | None:
        stays = attempts(log)
        mine = (stays.node == node) & (stays.open_ns < begin_ns) & (stays.close_ns >= begin_ns)
        last = int(stays.close_ns[mine].max(initial=begin_ns))
        return last if last <= until_ns else None

    instead = "" if now_ns >= NEVER else f" instead of {span(now_ns)}"
    return Wanted(f"is empty by {span(until_ns)}", until_ns, reached, lambda t_ns: f"is empty at {span(t_ns)}{instead}")


def _budgets(ground: Ground, job: str) -> Iterator[Lever]:
    scenario = ground.scenario
    rules = scenario.operation.budgets
    position = next((i for i, rule in enumerate(rules) if rule.job in (job, "*")), None)
    if position is None:
        return
    rule = rules[position]
    has = rule.unavailable
    most = min(BUDGET_MAX, sum(ground.work.job_name(task) == job for task in range(len(ground.work))))

    def allowing(value: int) -> Scenario:
        changed = (*rules[:position], replace(rule, unavailable=value), *rules[position + 1 :])
        return replace(scenario, operation=replace(scenario.operation, budgets=changed))

    yield Lever(
        kind=LIMIT,
        object="scenario",
        field=f"operation.budgets.{rule.job}",
        before=has,
        values=range(has + 1, max(most, has + 1) + 1),
        scenario=allowing,
        size=lambda value: (value - has) / max(has, 1),
        phrase=lambda value: f"let {counted(value, 'task')} of {job} be away at a time instead of {has}",
    )
