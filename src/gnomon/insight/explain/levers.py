"""Which levers are tried for a case: those that can have to do with why it waits, was killed or gave way."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.engine.log import Kind
from gnomon.insight.explain import levers_nodes as more
from gnomon.insight.explain import levers_others as others
from gnomon.insight.explain import levers_own as own
from gnomon.insight.explain.case import Case, Goal
from gnomon.insight.explain.changes import Lever
from gnomon.insight.explain.situation import rows_of

_BY_SIZE = ("smallest", "largest")


def levers(case: Case) -> Iterator[Lever]:
    """The levers, the cheapest kind first."""
    if case.goal is Goal.END:
        yield from own.longer_estimate(case)
        yield from others.no_kill(case)
    elif case.goal is Goal.PLACE:
        yield from _to_keep_its_place(case)
    elif "unusable" not in case.rules:
        yield from _to_start(case)


def _to_keep_its_place(case: Case) -> Iterator[Lever]:
    log = case.ground.past.log
    by = dict.fromkeys(int(log.value[row]) for row in rows_of(log, (case.task,), Kind.PREEMPT))
    yield from own.requests(case)
    yield from own.priorities(case)
    yield from others.no_preemption(case)
    for preemptor in by:
        yield from others.preemptor(case, preemptor)
    yield from more.nodes(case)


def _to_start(case: Case) -> Iterator[Lever]:
    scenario, policy = case.ground.scenario, case.ground.scenario.policy
    room = bool(case.kinds & {"infeasible", "event"} or case.rules & {"backfill", "turn"})
    behind = "behind" in case.kinds
    if room or "limit" in case.kinds or policy.backfill or policy.order in _BY_SIZE:
        yield from own.requests(case)
    if policy.backfill or policy.order == "sjf" or scenario.cluster.reservations:
        yield from own.estimates(case)
    if policy.order == "priority" or scenario.preempt:
        yield from own.priorities(case)
    if room:
        yield from own.node_wishes(case)
        yield from own.gangs(case)
    yield from others.limits(case)
    yield from others.shares(case)
    if behind:
        yield from others.backfill(case)
    if "dropped" in case.rules:
        yield from others.waiting(case)
    yield from others.reservations(case)
    if case.kinds & {"event", "limit"} or "dropped" in case.rules:
        yield from others.running_tasks(case)
    if behind:
        yield from others.those_in_front(case)
    if (room or behind) and "over-limit" not in case.rules:
        yield from more.nodes(case)
