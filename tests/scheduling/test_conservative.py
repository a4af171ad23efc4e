"""Conservative backfilling: everybody who waits has a promise, and no promise is ever broken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import NEVER, InputError, Reason, Scenario, State, Work, parse_policy
from gnomon.engine.run import Ports
from gnomon.engine.run import run as drive
from gnomon.engine.world import NOW, World
from gnomon.scheduling.compose import compose
from tests.builders import S, nodes, run, scenario, scenarios, starts, task, waits

pytestmark = pytest.mark.unit


def promises(made: Scenario) -> dict[int, list[int]]:
    """For every unit the starts that it was promised after each instant in which it waited, and then its start."""
    parts = compose(made)
    told: dict[int, list[int]] = {}

    def note(world: World) -> None:
        for unit, first in enumerate(world.member[world.first].tolist()):
            if world.state[first] == State.WAITING and world.slot[unit] < NEVER:
                told.setdefault(unit, []).append(int(world.slot[unit]))
            elif world.start[first] == world.at[NOW] and unit in told:
                told[unit].append(int(world.at[NOW]))

    drive(parts.world, parts.advance, made.limits, Ports(next_time=parts.next_time, check=note))
    return told


@pytest.mark.property
@settings(max_examples=250)
@given(made=scenarios(policy=st.just(parse_policy("conservative"))))
def test_no_promise_is_ever_broken(made: Scenario) -> None:
    """Where nobody runs longer than estimated, and all are expected to take some time: a promise only gets earlier,
    and who has one starts then or before. (Limits of tenants void promises: they hang on what others do.)"""
    made = replace(made, work=longer(made.work), kill_at_limit=True, gang=True, tenants=())
    for unit, told in promises(made).items():
        assert told == sorted(told, reverse=True), f"unit {unit} was told {told}"


def longer(work: Work) -> Work:
    return replace(work, estimate_ns=np.maximum(work.estimate_ns, S))


def test_nobody_delays_the_second_in_line() -> None:
    """Where it differs from EASY. X (3 processors) waits for A until 10, Y (4) for X until 15. C (1) would end at 21.
    EASY looks at X alone, which leaves one processor over, and starts C at 1: Y waits for it. Conservatively Y has a
    promise too, and C comes behind it."""
    tasks = [task("A", 2, 10), task("X", 3, 5, at=1), task("Y", 4, 5, at=1), task("C", 1, 20, at=1)]
    assert starts(run(tasks, 4, "easy")) == {"A": 0, "X": 10, "Y": 21, "C": 1}
    assert starts(run(tasks, 4, "conservative")) == {"A": 0, "X": 10, "Y": 15, "C": 20}


def test_everybody_is_told_a_start() -> None:
    tasks = [task("A", 2, 10), task("X", 3, 5, at=1), task("Y", 4, 5, at=1), task("C", 1, 20, at=1)]
    assert waits(run(tasks, 4, "conservative")) == [
        (1, "X", Reason.RESOURCES, 10 * S),
        (1, "Y", Reason.RESOURCES, 15 * S),
        (1, "C", Reason.RESOURCES, 20 * S),
    ]


def test_an_early_end_moves_promises_forward_in_the_order_of_the_queue() -> None:
    """A was expected to end at 20 and ends at 4: X, Y and Z all start earlier, none passes another."""
    tasks = [task("A", 4, 4, estimate=20), *(task(name, 3, 5, at=1) for name in "XYZ")]
    told = promises(scenario(tasks, 4, "conservative"))
    assert [[t // S for t in told[unit]] for unit in (1, 2, 3)] == [[20, 4], [25, 9, 9], [30, 14, 14, 14]]


def test_who_moves_may_let_one_in_front_move_too() -> None:
    """Y is promised 20, when A2 is expected to end, and Z 10 to 20. At 5 A2 is over. Y looks first, and Z is in its way
    from 10 on; then Z moves and starts. So Y has to look again: at 10 it moves to 15, when Z will be over."""
    tasks = [task("A1", 2, 10), task("A2", 1, 5, estimate=20), task("B", 1, 30), task("Y", 3, 5, at=1)]
    started = starts(run([*tasks, task("Z", 1, 10, at=1)], 4, "conservative"))
    assert (started["Z"], started["Y"]) == (5, 15)


def test_a_hole_is_used_by_who_fits_it() -> None:
    """Between 0 and 10 one processor is idle: B fits into it, C (11 s) does not."""
    tasks = [task("A", 3, 10), task("X", 4, 5, at=1), task("C", 1, 11, at=2), task("B", 1, 8, at=2)]
    assert starts(run(tasks, 4, "conservative")) == {"A": 0, "X": 10, "C": 15, "B": 2}


def test_the_places_of_a_gang_are_booked_until_its_longest_task_ends() -> None:
    """g1 is expected to end at 6 and ends at 5, as g0 does: x and y are promised 6, and both start at 5."""
    gang = [task("g0", 2, 5, job="g"), task("g1", 2, 5, estimate=6, job="g")]
    assert starts(run([*gang, task("x", 2, 5), task("y", 2, 5)], 4, "conservative")) == {
        "g0": 0,
        "g1": 0,
        "x": 5,
        "y": 5,
    }


def test_a_place_on_each_node() -> None:
    """X wants a node whole and is promised n1, which is free first; long tasks go to n0."""
    tasks = [task("a", 3, 20), task("b", 3, 10), task("X", 4, 5, at=1), task("c", 1, 19, at=2), task("d", 1, 7, at=3)]
    done = run(tasks, nodes(4, 4), "conservative")
    assert starts(done) == {"a": 0, "b": 0, "X": 10, "c": 2, "d": 3}
    assert done.outcome.node.tolist() == [0, 1, 1, 0, 1]


def test_the_order_is_that_of_the_queue() -> None:
    tasks = [task("A", 1, 10), task("long", 1, 9, at=1), task("short", 1, 1, at=1)]
    assert starts(run(tasks, 1, "sjf+conservative")) == {"A": 0, "short": 10, "long": 11}


def test_who_came_later_takes_no_promise_away() -> None:
    """Even if the order would have it first: what is promised is promised."""
    tasks = [task("A", 1, 10), task("long", 1, 9, at=1), task("short", 1, 1, at=2)]
    assert starts(run(tasks, 1, "sjf+conservative")) == {"A": 0, "long": 10, "short": 19}


def test_a_task_that_runs_on_voids_promises() -> None:
    """A was expected to end at 5; X was promised 5, and starts when A really ends."""
    tasks = [task("A", 1, 12, estimate=5), task("X", 1, 5, at=1)]
    assert starts(run(tasks, 1, "conservative", kill_at_limit=False)) == {"A": 0, "X": 12}


def test_no_length_needs_a_place_all_the_same() -> None:
    tasks = [task("z", 4, 0), task("a", 4, 10), task("y", 4, 0, at=2)]
    assert starts(run(tasks, 4, "conservative")) == {"z": 0, "a": 0, "y": 10}


@pytest.mark.parametrize(
    ("policy", "facts"),
    [
        ("conservative+best-fit", {}),
        ("fcfs:head=committed+conservative", {}),
        ("fcfs:full=drop+conservative", {}),
        ("conservative", {"preempt": True}),
    ],
)
def test_what_has_no_common_meaning_is_refused(policy: str, facts: dict[str, bool]) -> None:
    with pytest.raises(InputError, match="not modelled together"):
        run([task("a")], 1, policy, **facts)
