"""Which levers are tried for a case: those that can have to do with why it waits, was killed or gave way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.case import Case, Goal
from gnomon.insight.explain.changes import CONSTRAINT, OTHERS, OWN, Lever
from gnomon.insight.explain.levers import nodes, operation, others, own, policy, recovery
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.explain.troubles import Mishap, Trouble

_BY_SIZE = ("smallest", "largest")


def levers(case: Case) -> Iterator[Lever]:
    """The levers, the cheapest kind first."""
    if case.goal is Goal.END:
        yield from own.longer_estimate(case)
        yield from policy.no_kill(case)
    elif case.goal is Goal.WELL:
        yield from (_of_another(case, lever) if case.about_another else lever for lever in _to_be_well(case))
    elif case.goal is Goal.PLACE:
        yield from _to_keep_its_place(case)
    elif "unusable" not in case.rules:
        yield from _to_start(case)


def _of_another(case: Case, lever: Lever) -> Lever:
    """What is another's own business, seen by those that need its result."""
    if lever.kind not in (OWN, CONSTRAINT):
        return lever
    name, phrase = case.label.partition("/")[2], lever.phrase
    return replace(lever, kind=OTHERS, phrase=lambda value: f"for {name}, {phrase(value)}")


def _to_be_well(case: Case) -> Iterator[Lever]:
    """Against what went wrong after it had started."""
    found = case.mishap
    assert found is not None
    if found.trouble is Trouble.TWICE:
        yield from operation.fence(case, found.since_fault_ns)
        yield from operation.orphans(case)
    elif found.trouble is Trouble.STILL:
        yield from operation.detection(case)
        yield from operation.eviction(case)
        yield from operation.replaced(case)
    elif found.trouble is Trouble.SLOW:
        yield from _against_slowness(case, found.reason)
    else:
        yield from _against_loss(case, found)


def _against_slowness(case: Case, reason: Reason) -> Iterator[Lever]:
    if reason is Reason.QUOTA:
        yield from recovery.own_limit(case, "cpu")
        yield from operation.unenforced(case, "quota")
    elif reason is Reason.CPU:
        yield from recovery.own_request(case, "cpu")
    elif reason is Reason.PAUSES:
        yield from recovery.own_limit(case, "memory")
    if reason in (Reason.CPU, Reason.DISK_RATE, Reason.SPILLING):
        yield from policy.spread(case)
    yield from operation.speculation(case)
    yield from nodes.nodes(case)


_BY_MEMORY = (Reason.NODE_MEMORY, Reason.EVICTED)


def _against_loss(case: Case, found: Mishap) -> Iterator[Lever]:
    reason, node = found.reason, int(case.ground.past.log.node[found.row])
    if reason is Reason.MEMORY:
        yield from recovery.own_limit(case, "memory")
        yield from operation.unenforced(case, "memory")
        return
    if reason in _BY_MEMORY:
        yield from recovery.own_request(case, "memory")
        yield from recovery.priority(case)
    yield from recovery.retries(case, reason)
    yield from recovery.backoff(case, reason)
    yield from recovery.checkpoints(case)
    yield from recovery.exclude(case)
    if reason is Reason.NODE:
        yield from operation.detection(case)
        yield from operation.eviction(case)
    if reason in (*_BY_MEMORY, Reason.STORE, Reason.DISK):
        yield from policy.spread(case)
    if reason in _BY_MEMORY and node >= 0:
        yield from operation.neighbours(case, node)
        yield from operation.node_memory(case, node)
    yield from nodes.nodes(case)


def _to_keep_its_place(case: Case) -> Iterator[Lever]:
    log = case.ground.past.log
    by = dict.fromkeys(int(log.value[row]) for row in rows_of(log, (case.task,), Kind.PREEMPT))
    yield from own.requests(case)
    yield from own.priorities(case)
    yield from policy.no_preemption(case)
    for preemptor in by:
        yield from others.preemptor(case, preemptor)
    yield from nodes.nodes(case)


def _to_start(case: Case) -> Iterator[Lever]:
    scenario, said = case.ground.scenario, case.ground.scenario.policy
    room = bool(case.kinds & {"infeasible", "event"} or case.rules & {"backfill", "turn"})
    behind = "behind" in case.kinds
    if room or "limit" in case.kinds or said.backfill or said.order in _BY_SIZE:
        yield from own.requests(case)
    if said.backfill or said.order == "sjf" or scenario.cluster.reservations:
        yield from own.estimates(case)
    if said.order == "priority" or scenario.preempt:
        yield from own.priorities(case)
    if room:
        yield from own.node_wishes(case)
        yield from own.gangs(case)
    if case.rules & {"backoff", "no-leader"}:
        yield from operation.leaders(case)
    yield from others.limits(case)
    yield from others.shares(case)
    if behind:
        yield from policy.backfill(case)
    if "dropped" in case.rules:
        yield from policy.waiting(case)
    yield from others.reservations(case)
    if case.kinds & {"event", "limit"} or "dropped" in case.rules:
        yield from others.running_tasks(case)
    if behind:
        yield from others.those_in_front(case)
    if (room or behind) and "over-limit" not in case.rules:
        yield from nodes.nodes(case)
