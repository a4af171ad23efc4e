"""Each checker finds the damage that it is there for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gnomon.api import (
    Cluster,
    InvariantError,
    Limits,
    Node,
    Resources,
    Scenario,
    Shape,
    State,
    Task,
    Tenant,
    Work,
    parse_policy,
)
from gnomon.engine import invariants
from gnomon.engine.run import Ports, run
from gnomon.engine.world import HELD, NOW, ROWS, World
from gnomon.scheduling.compose import compose

pytestmark = pytest.mark.unit

GPU = Shape(Resources(cpu_milli=1000, gpus=1))


def world() -> World:
    """At 5 s: two tasks run on a node of two devices, a gang of two waits."""
    tasks = [Task(str(i), GPU, duration_ns=10**10, user="u") for i in range(2)]
    tasks += [Task(f"g{i}", GPU, submit_ns=10**9, duration_ns=10**10, job="gang", user="u") for i in range(2)]
    scenario = Scenario(
        Cluster((Node("n", Resources(cpu_milli=4000, gpus=2)),)),
        Work.from_tasks(tasks),
        parse_policy("easy"),
        limits=Limits(until_ns=5 * 10**9),
        tenants=(Tenant("u", limit=Resources(cpu_milli=4000)),),
    )
    parts = compose(scenario)
    found, _ = run(parts.world, parts.advance, scenario.limits, Ports(parts.next_time))
    return found


def test_a_world_as_it_should_be_passes() -> None:
    invariants.check(world(), seed=0)


def lose_a_processor(w: World) -> None:
    w.free[0, 0] -= 1


def overdraw(w: World) -> None:
    w.free[0, 0] = -1


def use_a_device_too_many(w: World) -> None:
    w.devices[0] |= 0b10


def misbook_a_tenant(w: World) -> None:
    w.used[0, 0] += 1


def lower_a_limit(w: World) -> None:
    w.limit[0, 0] = 1


def drop_from_the_queue(w: World) -> None:
    w.head[0] = -1


def queue_a_running_task(w: World) -> None:
    w.state[2:] = State.RUNNING


def tear_a_gang(w: World) -> None:
    w.state[2] = State.DONE


def hold_without_need(w: World) -> None:
    w.at[HELD] += 1


def forget_an_end(w: World) -> None:
    w.ticket[0] = 99


def oversleep(w: World) -> None:
    w.at[NOW] = 2 * 10**10


def go_back_in_time(w: World) -> None:
    w.log_t[w.at[ROWS] - 1] = -5


def cause_before_effect(w: World) -> None:
    w.log_cause[w.at[ROWS] - 1] = w.at[ROWS] + 7


@pytest.mark.parametrize(
    ("damage", "finder"),
    [
        (lose_a_processor, invariants.resources_are_conserved),
        (overdraw, invariants.resources_are_conserved),
        (use_a_device_too_many, invariants.devices_are_whole),
        (misbook_a_tenant, invariants.limits_hold),
        (lower_a_limit, invariants.limits_hold),
        (drop_from_the_queue, invariants.queues_are_whole),
        (queue_a_running_task, invariants.queues_are_whole),
        (tear_a_gang, invariants.gangs_are_whole),
        (hold_without_need, invariants.gangs_are_whole),
        (forget_an_end, invariants.running_tasks_will_end),
        (oversleep, invariants.running_tasks_will_end),
        (go_back_in_time, invariants.log_is_causal),
        (cause_before_effect, invariants.log_is_causal),
    ],
)
def test_damage_is_found(damage: Callable[[World], None], finder: Callable[[World], invariants.Broken]) -> None:
    w = world()
    assert not list(finder(w))
    damage(w)
    assert list(finder(w))
    with pytest.raises(InvariantError, match=r"seed 7"):
        invariants.check(w, seed=7)


def test_the_story_is_told_with_the_error() -> None:
    w = world()
    use_a_device_too_many(w)
    with pytest.raises(InvariantError) as error:
        invariants.check(w, seed=7)
    assert any("START task 0" in line for line in error.value.story) or "devices" in str(error.value)
