"""Fault schedules at random: what a scenario accepts, from a seed, no more than asked for, of kinds that apply."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.control.faults.checks import check
from gnomon.engine.streams import stream
from gnomon.insight.chaos.generate import ON_REQUEST, Space, applicable, kinds_of, ladder, mutate, schedule
from gnomon.insight.chaos.schedules import INSTANTS, Schedule, in_order
from gnomon.model.cluster import Cluster, Machine, Node
from gnomon.model.errors import InputError
from gnomon.model.fault import Fault
from gnomon.model.operation import ControlPlane, Heartbeat, Operation, Probe
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Scenario
from gnomon.model.work import Task, Work

pytestmark = pytest.mark.unit

S = 10**9


def rich(*, members: int = 3, nodes: int = 4) -> Scenario:
    """A scenario in which every kind of fault can do something."""
    made = tuple(
        Node(
            f"n{i}",
            Resources(cpu_milli=4000, memory_bytes=2**33, gpus=2),
            labels=(("rack", f"r{i % 2}"),),
            machine=Machine(disk_bytes=10**11),
        )
        for i in range(nodes)
    )
    operation = Operation(detection=Heartbeat(beat_ns=S, grace_ns=5 * S), control=ControlPlane(members=members))
    work = Work.from_tasks([Task(f"t{i}", duration_ns=60 * S) for i in range(4)])
    return Scenario(Cluster(made), work, operation=operation)


def space(scenario: Scenario, *, most: int = 5, kinds: tuple[Fault, ...] = (), busy_s: float = 600) -> Space:
    def accepts(tried: Schedule) -> bool:
        try:
            check(replace(scenario, faults=tried))
        except InputError:
            return False
        return True

    starts = tuple((task, 10 * task * S, (60 + 10 * task) * S) for task in range(4))
    return Space(scenario, kinds or applicable(scenario), most, int(busy_s * S), starts, accepts)


@given(seed=st.integers(0, 10**6), most=st.integers(1, 8), members=st.integers(1, 3), nodes=st.integers(1, 5))
def test_what_is_drawn_is_accepted_and_no_more_than_asked_for(seed: int, most: int, members: int, nodes: int) -> None:
    where = space(rich(members=members, nodes=nodes), most=most)
    found = schedule(where, stream(seed, "test"))
    assert len(found) <= most
    assert where.accepts(found)
    assert found == in_order(found)
    for fault in found:
        assert 0 <= fault.at_ns <= where.busy_ns
        assert fault.at_ns % where.grain_ns == 0
        assert fault.kind in INSTANTS or where.grain_ns <= fault.for_ns <= where.busy_ns


@given(seed=st.integers(0, 10**6))
def test_changes_are_accepted_too_and_change_something(seed: int) -> None:
    where, rng = space(rich()), stream(seed, "test")
    parent, other = schedule(where, rng), schedule(where, rng)
    child = mutate(where, parent, other, rng)
    assert where.accepts(child)
    assert len(child) <= where.most
    assert child != parent


@given(seed=st.integers(0, 10**6))
def test_a_seed_gives_one_schedule(seed: int) -> None:
    assert schedule(space(rich()), stream(seed, "a")) == schedule(space(rich()), stream(seed, "a"))


def test_every_kind_that_applies_is_drawn_and_no_other() -> None:
    drawn = {fault.kind for seed in range(300) for fault in schedule(space(rich()), stream(seed, "kinds"))}
    assert drawn == set(Fault)
    few = (Fault.CRASH, Fault.KILL)
    drawn = {fault.kind for seed in range(50) for fault in schedule(space(rich(), kinds=few), stream(seed, "kinds"))}
    assert drawn == set(few)


def test_partitions_part_nodes_members_or_both() -> None:
    where = space(rich(), kinds=(Fault.PARTITION,), most=1)
    sides = [schedule(where, stream(seed, "sides"))[0].targets for seed in range(100)]
    forms = {frozenset(name.partition("/")[0] for name in side) for side in sides}
    assert {frozenset({"node"}), frozenset({"control"}), frozenset({"node", "control"})} <= forms
    assert any("rack/r0" in side or "rack/r1" in side for side in sides)


def test_schedules_of_a_short_run_are_as_short() -> None:
    where = space(rich(), busy_s=0.05)
    times = [fault.at_ns for seed in range(20) for fault in schedule(replace(where, starts=()), stream(seed, "short"))]
    assert where.grain_ns == 10**5
    assert 0 <= min(times) <= max(times) <= 0.05 * S


def test_kinds_that_can_do_nothing_do_not_apply() -> None:
    plain = replace(rich(), cluster=Cluster((Node("a", Resources(cpu_milli=1000)),)), operation=Operation())
    lacking = {Fault.DISK_FULL, Fault.DEVICE, Fault.LEAK, Fault.DELAY, Fault.LOSS}
    assert set(applicable(plain)) == set(Fault) - lacking
    assert Fault.DELAY in applicable(replace(plain, operation=Operation(detection=Probe(S))))
    pool = replace(plain, cluster=Cluster.of_processors(8))
    assert set(applicable(pool)) == {Fault.KILL, Fault.FAIL, Fault.LEADER, Fault.CANCEL}


def test_what_operators_and_users_do_is_drawn_on_request_only() -> None:
    assert set(kinds_of([], rich())) == set(Fault) - set(ON_REQUEST)
    assert kinds_of(["drain", "crash"], rich()) == (Fault.CRASH, Fault.DRAIN)
    assert kinds_of(["cancel"], rich()) == (Fault.CANCEL,)


def test_kinds_that_are_unknown_or_do_not_apply_are_refused() -> None:
    with pytest.raises(InputError, match="unknown kind of fault") as unknown:
        kinds_of(["crush"], rich(), field="--kinds")
    assert (unknown.value.field, unknown.value.found) == ("--kinds", "crush")
    pool = replace(rich(), cluster=Cluster.of_processors(8))
    with pytest.raises(InputError, match="can do nothing in this scenario"):
        kinds_of(["crash"], pool)


def test_a_scenario_that_accepts_nothing_gets_nothing() -> None:
    assert schedule(replace(space(rich()), accepts=lambda tried: False), stream(1, "none")) == ()


def test_nothing_is_drawn_beyond_the_horizon() -> None:
    scenario = replace(rich(), limits=Limits(until_ns=100 * S))
    times = [fault.at_ns for seed in range(30) for fault in schedule(space(scenario), stream(seed, "horizon"))]
    assert max(times) <= 100 * S


@given(st.integers(1, 10**18), st.integers(1, 10**18))
def test_lengths_are_between_the_least_and_the_most(one: int, other: int) -> None:
    least, most = sorted((one, other))
    steps = ladder(least, most)
    assert steps == sorted(set(steps))
    assert steps == [least] or (least <= steps[0] and steps[-1] <= most < NEVER)
