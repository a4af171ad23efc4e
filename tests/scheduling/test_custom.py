"""Orders and placements written in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import InputError, Policy, Scenario, Tenant, View, dynamic, parse_policy, simulate
from gnomon.model.work import IntArray
from tests.builders import S, amount, by_id, nodes, run, scenarios, starts, task

pytestmark = pytest.mark.unit

Answer = Callable[..., Any]


def by_submission(view: View, tasks: IntArray) -> IntArray:
    return view.submit_ns[tasks]


@dynamic
def by_submission_at_each_pass(view: View, tasks: IntArray) -> IntArray:
    return view.submit_ns[tasks]


def first_fit(view: View, task: int, offered: IntArray) -> int:
    return int(offered[0])


def last_fit(view: View, task: int, offered: IntArray) -> int:
    return int(offered[-1])


def with_placement(policy: Policy, placement: Answer) -> Policy:
    return replace(policy, placement=placement)


@pytest.mark.property
@settings(max_examples=60)
@given(
    scenario=scenarios(policy=st.sampled_from([parse_policy(text) for text in ("fcfs", "easy", "easy:scan=submit")]))
)
def test_what_is_built_in_can_be_written_in_python(scenario: Scenario) -> None:
    """Plain and compiled; a placement is asked about each task in the middle of a pass and answers once."""
    built_in = simulate(scenario, compiled=False, invariants=True).log.digest()
    written = [scenario.policy.with_order(by_submission), with_placement(scenario.policy, first_fit)]
    if not any(tenant.limit or tenant.max_running is not None for tenant in scenario.tenants):
        written.append(scenario.policy.with_order(by_submission_at_each_pass))
    for policy in written:
        for compiled in (False, True):
            done = simulate(replace(scenario, policy=policy), compiled=compiled, invariants=True)
            assert done.log.digest() == built_in, policy.text


def test_an_order_is_asked_once_about_all() -> None:
    asked: list[list[int]] = []

    def widest_first(view: View, tasks: IntArray) -> IntArray:
        asked.append(tasks.tolist())
        return -view.cpu_milli[tasks]

    tasks = [task("a", 1), task("b", 3), task("c", 2)]
    assert starts(run(tasks, 3, Policy(order=widest_first))) == {"b": 0, "c": 1, "a": 1}
    assert asked == [[0, 1, 2]]


def test_a_dynamic_order_is_asked_at_each_pass_about_those_who_wait() -> None:
    """The longest wait in relation to the estimate goes first: it changes while they wait."""
    seen: list[tuple[int, list[int]]] = []

    @dynamic
    def expansion(view: View, tasks: IntArray) -> Any:
        seen.append((view.now_ns // S, tasks.tolist()))
        return -(view.now_ns - view.submit_ns[tasks]) / view.estimate_ns[tasks]

    tasks = [task("busy", 1, 10), task("long", 1, 10, at=0), task("short", 1, 2, at=5), task("new", 1, 100, at=6)]
    assert starts(run(tasks, 1, Policy(order=expansion))) == {"busy": 0, "short": 10, "long": 12, "new": 22}
    assert seen[-2:] == [(10, [1, 2, 3]), (12, [1, 3])]


def test_a_placement_chooses_among_the_nodes_that_will_do() -> None:
    offers: list[list[int]] = []

    def noting(view: View, task: int, offered: IntArray) -> int:
        offers.append(offered.tolist())
        return last_fit(view, task, offered)

    tasks = [task("a", 2, 9), task("b", 2, 9), task("c", 1, 9)]
    done = run(tasks, nodes(2, 1, 2), with_placement(Policy(), noting))
    assert by_id(done, "node") == {"a": 2, "b": 0, "c": 1}
    assert offers == [[0, 2], [0], [1]]


def test_a_placement_places_each_task_of_a_gang() -> None:
    gang = [task(f"g{i}", 1, 5, job="g") for i in range(3)]
    assert by_id(run(gang, nodes(1, 1, 2), with_placement(Policy(), last_fit)), "node") == {"g0": 2, "g1": 2, "g2": 1}


def test_a_placement_may_say_not_now() -> None:
    def from_five_seconds_on(view: View, task: int, offered: IntArray) -> int | None:
        return int(offered[0]) if view.now_ns >= 5 * S else None

    tasks = [task("a", 1, 1), task("b", 1, 1, at=5)]
    assert starts(run(tasks, 2, with_placement(Policy(), from_five_seconds_on))) == {"a": 5, "b": 5}


def test_who_was_not_wanted_where_there_was_room_sends_nobody_away() -> None:
    def never_the_first(view: View, task: int, offered: IntArray) -> int | None:
        return next((int(node) for node in offered if node > 0), None)

    tasks = [task("low", 1, 20), task("high", 1, 1, at=1, priority=5)]
    policy = with_placement(parse_policy("priority"), never_the_first)
    assert starts(run(tasks, nodes(1, 1), policy, preempt=True)) == {"low": 0, "high": 20}


def test_the_view_shows_what_there_is_and_lets_nobody_change_it() -> None:
    shown: dict[str, Any] = {}

    def looking(view: View, tasks: IntArray) -> IntArray:
        shown.update(
            cpu=view.cpu_milli.tolist(),
            memory=view.memory_bytes.tolist(),
            gpu=view.gpu_e4.tolist(),
            licence=view.requested("licence").tolist(),
            unknown=view.requested("unknown").tolist(),
            one=view.of("cpu", 1),
            free=view.free.tolist(),
        )
        for column in (view.submit_ns, view.estimate_ns, view.priority, view.free, view.capacity):
            with pytest.raises(ValueError, match="read-only"):
                column[0] = 0
        return tasks

    tasks = [task("a", 1, memory=2), task("b", 2, gpus=1, share=0.5, licence=1)]
    run(tasks, nodes(amount(4, memory=8, gpus=1, licence=3)), Policy(order=looking))
    assert shown == {
        "cpu": [1000, 2000],
        "memory": [2 * 2**30, 0],
        "gpu": [0, 5000],
        "licence": [0, 10_000],
        "unknown": [0, 0],
        "one": 2000,
        "free": [[4000, 8 * 2**30, 30_000, 10_000]],
    }


def raising(*arguments: Any) -> Any:
    raise KeyError("oops")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("when", [lambda order: order, dynamic], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda tasks: tasks[:1], "gave no keys"),
        (lambda tasks: np.zeros((len(tasks), 2)), "gave no keys"),
        (lambda tasks: np.full(len(tasks), np.nan), "gave no keys"),
        (lambda tasks: [np.inf] * len(tasks), "gave no keys"),
        (lambda tasks: ["a"] * len(tasks), "gave no keys"),
        (lambda tasks: None, "gave no keys"),
        (raising, "failed: KeyError"),
    ],
)
def test_a_bad_order_is_the_users_fault(compiled: bool, when: Any, answer: Answer, problem: str) -> None:
    def order(view: View, tasks: IntArray) -> Any:
        return answer(tasks)

    made = Scenario(nodes(1), run([task("a"), task("b")], 1).scenario.work, Policy(order=when(order)))
    with pytest.raises(InputError, match=f"the order order {problem}"):
        simulate(made, compiled=compiled)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda: 1, "chose a node it was not offered"),
        (lambda: 7, "chose a node it was not offered"),
        (lambda: -1, "chose a node it was not offered"),
        (lambda: 0.5, "chose a node it was not offered"),
        (lambda: "n0", "chose a node it was not offered"),
        (raising, "failed: KeyError"),
    ],
)
def test_a_bad_placement_is_the_users_fault(compiled: bool, answer: Answer, problem: str) -> None:
    def place(view: View, task: int, offered: IntArray) -> Any:
        return answer()

    made = Scenario(nodes(2, 1), run([task("a", 2)], 2).scenario.work, with_placement(Policy(), place))
    with pytest.raises(InputError, match=f"the placement place {problem}"):
        simulate(made, compiled=compiled)


def test_an_order_asked_at_each_pass_and_limits_are_refused() -> None:
    with pytest.raises(InputError, match="not modelled together"):
        run([task("a")], 1, Policy(order=by_submission_at_each_pass), tenants=[Tenant("", max_running=1)])
