"""Every reason: the smallest scenario in which it is the answer, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from gnomon.api import NEVER, Cluster, Limits, Node, Reason, Run, Task, Tenant, Waiting, simulate
from tests.builders import S, amount, nodes, reasons, run, scenario, task, waits, window

pytestmark = pytest.mark.unit


@dataclass(frozen=True)
class Case:
    """Who gets the reason, in which scenario."""

    subject: str
    tasks: list[Task]
    cluster: Cluster | int = 1
    policy: str = "fcfs"
    facts: dict[str, Any] = field(default_factory=dict)


BUSY = task("busy", 1, 10)
PAIR = [task("g0", job="g"), task("g1", job="g")]

AT_THE_END = {
    Reason.TOO_LARGE: Case("a", [task("a", 2)], nodes(1, 1)),
    Reason.NO_NODE_KIND: Case("a", [task("a", kinds=["b"])], Cluster((Node("n", amount(1), "a"),))),
    Reason.OVER_LIMIT: Case("a", [task("a", 2)], 4, facts={"tenants": [Tenant("", limit=amount(1))]}),
    Reason.GANG_TOO_LARGE: Case("g0", PAIR),
    Reason.DROPPED: Case("a", [BUSY, task("a")], 1, "fcfs:full=drop"),
    Reason.PEERS: Case("g0", PAIR, facts={"gang": False}),
    Reason.AT_ESTIMATE: Case("a", [task("a", run=9, estimate=5)]),
}
"""Of rejection or death."""

WHILE_WAITING = {
    Reason.RESOURCES: Case("a", [BUSY, task("a")]),
    Reason.RESERVED: Case("a", [task("a", run=5)], nodes(1, reservations=(window(1, 9),))),
    Reason.TENANT_LIMIT: Case("a", [BUSY, task("a")], 4, facts={"tenants": [Tenant("", limit=amount(1))]}),
    Reason.TENANT_RUNNING: Case("a", [BUSY, task("a")], 4, facts={"tenants": [Tenant("", max_running=1)]}),
    Reason.ORDER: Case("a", [BUSY, task("b", 2), task("a")], 2),
    Reason.BACKFILL: Case("a", [BUSY, task("b", 2), task("a", run=20)], 2, "easy"),
    Reason.TURN: Case("a", [BUSY, task("b", 2, user="x"), task("a", user="y")], 2, "drf:blocks=all"),
}
"""Of waiting: the first that the log gives."""

OF_THE_RUN: dict[Reason, dict[str, Any]] = {
    Reason.LIMIT_EVENTS: {"limits": Limits(events=2)},
    Reason.LIMIT_TIME: {"limits": Limits(until_ns=5 * S)},
    Reason.LIMIT_REPEATS: {"limits": Limits(repeats=0), "tasks": [task("z", run=0)]},
    Reason.DEADLOCK: {"gang": False, "tasks": PAIR},
    Reason.INTERRUPTED: {"progress": lambda *_: False},
}
"""For which a run stops early."""


def done(case: Case) -> Run:
    return run(case.tasks, case.cluster, case.policy, **case.facts)


@pytest.mark.parametrize("reason", AT_THE_END, ids=lambda reason: reason.name)
def test_of_the_end(reason: Reason) -> None:
    case = AT_THE_END[reason]
    assert reasons(done(case))[case.subject] is reason


@pytest.mark.parametrize("reason", WHILE_WAITING, ids=lambda reason: reason.name)
def test_of_waiting(reason: Reason) -> None:
    case = WHILE_WAITING[reason]
    assert next(why for _, name, why, _ in waits(done(case)) if name == case.subject) is reason


@pytest.mark.parametrize("reason", OF_THE_RUN, ids=lambda reason: reason.name)
def test_of_the_run(reason: Reason) -> None:
    facts = dict(OF_THE_RUN[reason])
    progress = facts.pop("progress", None)
    tasks = facts.pop("tasks", [task("a", run=10), task("b", run=10)])
    made = scenario(tasks, **facts)
    assert simulate(made, compiled=False, invariants=True, progress=progress).stopped is reason


def test_who_was_preempted_says_so_until_it_waits_for_something_else() -> None:
    """The last row about it before the run's end is that of its removal, or of waiting anew."""
    tasks = [task("low", 1, 20), task("high", 1, 5, at=1, priority=1)]
    log = run(tasks, 1, "priority", preempt=True).log
    assert Reason.PREEMPTED in log.reason.tolist()


def test_what_cannot_run_as_it_stands_is_rejected() -> None:
    made = scenario([task("a"), task("b")])
    made = replace(made, work=replace(made.work, usable=np.array([False, True])))
    assert reasons(simulate(made, compiled=False, invariants=True)) == {"a": Reason.UNUSABLE, "b": Reason.NONE}


def test_every_reason_is_shown_here() -> None:
    """Those of what happens after placement are shown in tests/control."""
    by_themselves = {Reason.NONE, Reason.PREEMPTED, Reason.UNUSABLE}
    beside_the_queue = {Reason.BACKOFF, Reason.NO_LEADER, Reason.NEEDS, Reason.GATED, Reason.UNATTENDED}
    after_placement = {*beside_the_queue, *(one for one in Reason if one >= Reason.EXIT)}
    shown = set(AT_THE_END) | set(WHILE_WAITING) | set(OF_THE_RUN) | by_themselves
    assert shown == set(Reason) - after_placement


def test_each_kind_of_waiting_has_a_reason() -> None:
    assert {reason.waiting for reason in WHILE_WAITING} == {Waiting.EVENT, Waiting.LIMIT, Waiting.BEHIND}


class TestValues:
    """What stands beside the reason of waiting."""

    def test_the_earliest_start_as_far_as_estimates_tell(self) -> None:
        case = Case("", [BUSY, task("a"), task("b")], policy="easy")
        assert waits(done(case))[0] == (0, "a", Reason.RESOURCES, 10 * S)
        assert waits(done(replace(case, policy="conservative")))[1] == (0, "b", Reason.RESOURCES, 11 * S)

    def test_the_task_in_front(self) -> None:
        for reason in (Reason.ORDER, Reason.BACKFILL, Reason.TURN):
            rows = waits(done(WHILE_WAITING[reason]))
            assert next(value for _, name, why, value in rows if why is reason and name == "a") == 1

    def test_the_tenant_whose_limit_it_is(self) -> None:
        tasks = [task("x", run=9, user="ann"), task("y", run=9, user="bob"), task("a", user="bob")]
        rows = waits(run(tasks, 9, tenants=[Tenant("bob", max_running=1)]))
        assert rows == [(0, "a", Reason.TENANT_RUNNING, 1)]


def test_an_unknown_length_never_ends_by_itself() -> None:
    tasks = [task("service", 1, NEVER), task("killed", 1, NEVER, estimate=5), task("a", 2, 1)]
    found = run(tasks, 2)
    assert found.stopped is Reason.NONE
    assert reasons(found) == {"service": Reason.NONE, "killed": Reason.AT_ESTIMATE, "a": Reason.RESOURCES}
    assert [row["state"] for row in found.tasks().to_pylist()] == ["running", "killed", "waiting"]
