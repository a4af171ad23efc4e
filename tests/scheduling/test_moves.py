"""Causes: each row names the one that made it happen."""

from __future__ import annotations

import pytest

from gnomon.api import Kind, Node, Run, Tenant
from tests.builders import amount, nodes, run, task, window

pytestmark = pytest.mark.unit


def cause_of(name: str, done: Run, kind: Kind = Kind.START) -> tuple[Kind, str]:
    """What the last such row of a task names as its cause: kind, and the task that it is about ("" none)."""
    log, work = done.log, done.scenario.work
    ids = [work.id(i) for i in range(len(work))]
    row = next(r for r in reversed(range(len(log))) if log.kind[r] == kind and log.subject[r] == ids.index(name))
    cause = int(log.cause[row])
    return Kind(int(log.kind[cause])), ids[log.subject[cause]] if log.subject[cause] >= 0 else ""


def test_its_own_arrival_when_nothing_held_it() -> None:
    assert cause_of("a", run([task("a")], 1)) == (Kind.ARRIVE, "a")


def test_the_end_that_freed_its_node() -> None:
    """The end on the other node, at the same time but later in its order, is not what it waited for."""
    tasks = [task("x", 1, 5), task("y", 1, 4, at=1, kinds=["q"]), task("a", 2, at=2)]
    assert cause_of("a", run(tasks, nodes(2, Node("n1", amount(1), "q")))) == (Kind.END, "x")


def test_what_freed_the_one_in_front() -> None:
    """`a` could have had the other node all along: the order held it up, until `x` was over and `h` started."""
    tasks = [task("x", 2, 5), task("h", 2, at=1), task("a", 1, at=2)]
    assert cause_of("a", run(tasks, nodes(2, 1))) == (Kind.END, "x")


def test_the_end_that_freed_its_tenant() -> None:
    """It starts on a node where nothing has changed."""
    cluster = nodes(Node("n0", amount(1), "p"), Node("n1", amount(1), "q"))
    tasks = [task("x", 1, 5, kinds=["p"]), task("a", 1, kinds=["q"])]
    assert cause_of("a", run(tasks, cluster, tenants=[Tenant("", max_running=1)])) == (Kind.END, "x")


def test_the_end_of_a_window() -> None:
    assert cause_of("a", run([task("a")], nodes(1, reservations=(window(0, 9),)))) == (Kind.WAKE, "")


def test_its_removal_when_it_starts_anew_elsewhere() -> None:
    cluster = nodes(Node("n0", amount(1), "p"), Node("n1", amount(1), "q"))
    tasks = [task("low", 1, 20), task("high", 1, 5, at=1, priority=1, kinds=["p"])]
    done = run(tasks, cluster, "priority", preempt=True)
    assert cause_of("low", done, Kind.PREEMPT) == (Kind.ARRIVE, "high")
    assert cause_of("high", done) == (Kind.PREEMPT, "low")


def test_an_end_names_its_start_and_a_wait_what_brought_the_pass() -> None:
    tasks = [task("x", 1, 5), task("y", 1, 5), task("a", 1)]
    done = run(tasks, 1)
    assert cause_of("x", done, Kind.END) == (Kind.START, "x")
    assert cause_of("y", done, Kind.WAIT) == (Kind.ARRIVE, "y")
    assert cause_of("a", done, Kind.WAIT) == (Kind.END, "x")


def test_the_last_task_of_a_job_starts_its_peers() -> None:
    tasks = [task("busy", 1, 5), task("g0", job="g"), task("g1", job="g")]
    assert cause_of("g0", run(tasks, 2, gang=False)) == (Kind.START, "g1")
