"""Nodes that come and go with the work."""

import numpy as np

from gnomon.control.batch.plan import BatchPlan, JobPlan
from gnomon.control.batch.rules import AllocationRule, Rules
from gnomon.engine.log import Kind, Reason

from .scripted import Ran, one_job, ran, stages

S = 1_000_000_000


def came(found: Ran) -> list[int]:
    """When nodes came, in seconds."""
    rows = np.flatnonzero((found.log.kind == Kind.OPEN) & (found.log.reason == Reason.REMOVED))
    return [int(found.log.t_ns[row]) // S for row in rows]


def went(found: Ran) -> list[int]:
    """When nodes went, in seconds; the beginning does not count."""
    rows = np.flatnonzero((found.log.kind == Kind.CLOSE) & (found.log.reason == Reason.REMOVED))
    return [int(found.log.t_ns[row]) // S for row in rows if found.log.t_ns[row] > 0]


def test_nodes_are_asked_for_one_two_four_eight_and_as_many_as_are_left() -> None:
    """20 tasks, nodes of one slot: the sheet's example."""
    found = ran(one_job({"tasks": 20}), 100 * S, nodes=[1] * 30, rules=Rules(allocation=AllocationRule()))
    assert came(found) == [1] + 2 * [2] + 4 * [3] + 8 * [4] + 5 * [5]
    assert [(one["nodes"], one["more"]) for one in found.said("NodesWanted")] == [
        (1, 1),
        (3, 2),
        (7, 4),
        (15, 8),
        (20, 5),
    ]


def test_those_that_are_there_first_need_no_asking() -> None:
    rules = Rules(allocation=AllocationRule(least=2, initial=3))
    found = ran(one_job({"tasks": 3}), 10 * S, nodes=[1] * 8, rules=rules)
    assert came(found) == [0, 0, 0]
    assert found.ended == {0: 10 * S}


def test_a_node_that_was_idle_for_a_minute_goes() -> None:
    known = stages({"tasks": 2}, {"tasks": 1})
    jobs = {0: JobPlan(0, "a", result=0), 1: JobPlan(1, "b", result=1, after=0, at_ns=200 * S)}
    rules = Rules(allocation=AllocationRule(initial=2, idle_ns=60 * S))
    found = ran(BatchPlan(jobs, known), 10 * S, nodes=[1, 1], rules=rules)
    assert went(found) == [70, 70]
    assert found.ended == {0: 10 * S, 1: 210 * S + S + 10 * S}


def test_one_that_holds_output_for_a_stage_at_work_stays() -> None:
    plan = one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)})
    rules = Rules(allocation=AllocationRule(initial=2, idle_ns=60 * S))
    found = ran(plan, {0: [10 * S, 10 * S], 1: [300 * S]}, nodes=[1, 1], rules=rules)
    assert [time for time in went(found) if time < 310] == []
    assert found.ended == {0: 310 * S}


def kept(rule: AllocationRule) -> list[int]:
    """When four of six nodes, which have made map output, and two that have not, go after the job."""
    known = stages({"tasks": 4}, {"tasks": 6, "parents": (0,)}, {"tasks": 1})
    jobs = {0: JobPlan(0, "query", result=1), 1: JobPlan(1, "next day", result=2, after=0, at_ns=9_000 * S)}
    lengths = {0: [10 * S] * 4, 1: [10 * S] * 6, 2: [S]}
    return went(ran(BatchPlan(jobs, known), lengths, nodes=[1] * 6, rules=Rules(allocation=rule)))


def test_nodes_with_output_of_a_query_that_is_over_stay_until_a_timeout_that_is_never() -> None:
    """As executors do whose shuffle files the driver has not collected yet (U57)."""
    assert kept(AllocationRule(least=1, initial=6)) == [80, 80]
    assert kept(AllocationRule(least=1, initial=6, outputs_ns=600 * S)) == [80, 80, 620, 620, 620]


def test_with_outputs_that_somebody_else_serves_all_but_the_least_go() -> None:
    assert kept(AllocationRule(least=1, initial=6, keeps_outputs=False)) == [80] * 5


def test_never_more_than_the_most() -> None:
    rules = Rules(allocation=AllocationRule(most=3))
    found = ran(one_job({"tasks": 20}), 10 * S, nodes=[1] * 8, rules=rules)
    assert len(came(found)) == 3
