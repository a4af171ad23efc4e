"""Tenants: dominant shares, decayed use, turns, and limits that are never exceeded."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from gnomon.api import Kind, Reason, Run, Scenario, Task, Tenant, simulate
from gnomon.engine.world import NOW
from gnomon.scheduling.compose import compose
from gnomon.scheduling.queueing import dominant_share, settle, tenant_key
from tests.builders import S, amount, nodes, reasons, run, scenario, scenarios, starts, task, waits

pytestmark = pytest.mark.unit


def started_at(second: float, done: Run) -> dict[str, int]:
    """How many tasks of each user start at this second."""
    users = [done.scenario.work.task(i).user for i in range(len(done.scenario.work))]
    first = [user for user, start in zip(users, starts(done).values(), strict=True) if start == second]
    return {user: first.count(user) for user in sorted(set(users))}


def many(user: str, count: int, run: float = 100, **facts: object) -> list[Task]:
    return [task(f"{user}{i}", 1, run, user=user, **facts) for i in range(count)]


class TestDominantShares:
    def test_weights(self) -> None:
        """Six processors for weights 2 and 1: four and two."""
        tasks = [*many("ann", 9), *many("bob", 9)]
        done = run(tasks, 6, "drf", tenants=[Tenant("ann", weight=2)])
        assert started_at(0, done) == {"ann": 4, "bob": 2}

    def test_by_queue(self) -> None:
        tasks = [task(f"{queue}{i}", 1, 100, queue=queue, user="ann") for queue in "xy" for i in range(9)]
        started = starts(run(tasks, 6, "drf", tenants_by="queue", tenants=[Tenant("y", weight=5)]))
        assert [name for name, start in started.items() if start == 0] == ["x0", "y0", "y1", "y2", "y3", "y4"]

    def test_who_does_not_fit_stops_its_own_tenant_only(self) -> None:
        tasks = [task("busy", 2, 10, user="x"), task("large", 4, user="ann"), task("small", 2, user="bob")]
        assert starts(run(tasks, 4, "drf")) == {"busy": 0, "large": 10, "small": 0}
        done = run(tasks, 4, "drf:blocks=all")
        assert starts(done) == {"busy": 0, "large": 10, "small": 11}
        assert waits(done)[:2] == [(0, "large", Reason.RESOURCES, -1), (0, "small", Reason.TURN, 1)]

    def test_the_share_is_the_largest_of_all_resources(self) -> None:
        world = compose(scenario([task("a", memory=1)], nodes(amount(4, memory=8, gpus=2)), "drf")).world
        world.used[0] = (1000, 4 * 2**30, 10_000)
        assert dominant_share(world, 0) == 0.5


class TestFairShare:
    """The tenant with the least use, decayed with a half-life, goes first. From 0 to 12 ann has the processor, then bob
    until 20; at 20 both want it."""

    tasks = (
        task("ann1", run=12, user="ann"),
        task("bob1", run=8, user="bob", at=1),
        task("ann2", user="ann", at=15),
        task("bob2", user="bob", at=15),
    )

    def test_with_a_long_memory_bob_has_used_less(self) -> None:
        assert starts(run(self.tasks, 1, "fair-share:half-life=1000s"))["bob2"] == 20

    def test_with_a_short_one_ann_has(self) -> None:
        """Half-life 2 s: at 20 ann's use is (2/ln 2)(1 - 2^-6)·2^-4 = 0.18 CPU-s, bob's (2/ln 2)(1 - 2^-4) = 2.7."""
        assert starts(run(self.tasks, 1, "fair-share:half-life=2s"))["ann2"] == 20

    def test_a_larger_share_may_have_used_more(self) -> None:
        twice = [Tenant("ann", weight=2)]
        assert starts(run(self.tasks, 1, "fair-share:half-life=1000s", tenants=twice))["ann2"] == 20

    def test_use_at_a_constant_rate(self) -> None:
        """One processor since 10 s ago, half-life 10 s: (10/ln 2)/2 CPU-s; idle for 10 s more: half of it."""
        world = compose(scenario([task("a")], 1, "fair-share:half-life=10s", tenants=[Tenant("", weight=4)])).world
        world.used[0, 0] = 1000
        world.at[NOW] = 10 * S
        settle(world, 0)
        assert world.usage[0] / (1000 * S) == pytest.approx(10 / math.log(2) / 2)
        world.used[0, 0] = 0
        world.at[NOW] = 20 * S
        assert tenant_key(world, 0) / (1000 * S) == pytest.approx(10 / math.log(2) / 4 / 4)


def test_round_robin() -> None:
    tasks = [task(name, user=name[0]) for name in ("a0", "a1", "a2", "b0", "b1", "c0")]
    started = starts(run(tasks, 1, "round-robin"))
    assert sorted(started, key=lambda name: started[name] or 0) == ["a0", "b0", "c0", "a1", "b1", "a2"]


class TestLimits:
    def test_of_running_tasks(self) -> None:
        done = run([*many("ann", 3, 10), *many("bob", 1)], 4, "fcfs", tenants=[Tenant("ann", max_running=2)])
        assert starts(done) == {"ann0": 0, "ann1": 0, "ann2": 10, "bob0": 0}
        assert waits(done) == [(0, "ann2", Reason.TENANT_RUNNING, 0)]

    @pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "drf"])
    def test_of_resources(self, policy: str) -> None:
        done = run([*many("ann", 3, 10), *many("bob", 1)], 4, policy, tenants=[Tenant("ann", limit=amount(2))])
        assert starts(done) == {"ann0": 0, "ann1": 0, "ann2": 10, "bob0": 0}
        assert waits(done) == [(0, "ann2", Reason.TENANT_LIMIT, 0)]

    def test_of_a_resource_that_is_not_named_there_is_none(self) -> None:
        tasks = [task("a", memory=6, user="ann"), task("b", memory=2, user="ann")]
        assert starts(run(tasks, nodes(amount(4, memory=8)), tenants=[Tenant("ann", limit=amount(2))])) == {
            "a": 0,
            "b": 0,
        }

    def test_who_asks_for_more_than_the_limit_is_refused(self) -> None:
        done = run(many("ann", 1), 4, tenants=[Tenant("ann", limit=amount(0.5))])
        assert reasons(done) == {"ann0": Reason.OVER_LIMIT}

    def test_a_gang_of_more_tasks_than_may_run_is_refused(self) -> None:
        gang = [task(f"g{i}", user="ann", job="g") for i in range(3)]
        assert set(reasons(run(gang, 4, tenants=[Tenant("ann", max_running=2)])).values()) == {Reason.OVER_LIMIT}


@pytest.mark.property
@settings(max_examples=100)
@given(scenario=scenarios())
def test_no_tenant_ever_holds_more_than_it_may(scenario: Scenario) -> None:
    """From the log alone: what is placed and not yet given back, by tenant, never passes a limit. A gang is its first
    task's tenant's."""
    done = simulate(scenario, compiled=False)
    work, by_user = scenario.work, scenario.tenants_by == "user"
    first = [work.job.tolist().index(job) for job in work.job] if scenario.gang else range(len(work))
    names = [work.task(i).user if by_user else work.task(i).queue for i in first]
    placed: dict[int, str] = {}
    for kind, subject in zip(done.log.kind.tolist(), done.log.subject.tolist(), strict=True):
        if kind in (Kind.HOLD, Kind.START):
            placed[subject] = names[subject]
        elif kind in (Kind.END, Kind.KILL, Kind.PREEMPT):
            del placed[subject]
        for tenant in scenario.tenants:
            mine = [work.shapes[int(work.shape[i])].request for i, name in placed.items() if name == tenant.name]
            if tenant.max_running is not None:
                assert len(mine) <= tenant.max_running
            if tenant.limit is not None:
                for resource in tenant.limit.names():
                    assert sum(r.amount(resource) for r in mine) <= tenant.limit.amount(resource)
