"""Advance reservations: what is set aside is free when its time comes, whatever the backfill."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import InputError, Kind, Reason, Reservation, Scenario, parse_policy, simulate
from tests.builders import S, amount, nodes, run, scenarios, starts, task, waits, window

pytestmark = pytest.mark.unit

BACKFILLS = ("fcfs", "easy", "conservative")


@pytest.mark.parametrize("policy", BACKFILLS)
class TestMaintenance:
    """The only node is down from 10 to 20."""

    cluster = nodes(4, reservations=(window(10, 20),))

    def test_what_ends_in_time_runs_before(self, policy: str) -> None:
        assert starts(run([task("a", 4, 10)], self.cluster, policy)) == {"a": 0}

    def test_what_would_overlap_waits_for_its_end(self, policy: str) -> None:
        assert starts(run([task("a", 1, 11)], self.cluster, policy)) == {"a": 20}

    def test_nothing_starts_inside(self, policy: str) -> None:
        assert starts(run([task("a", 1, 1, at=10), task("b", 1, 1, at=19)], self.cluster, policy)) == {"a": 20, "b": 20}

    def test_only_expectations_count(self, policy: str) -> None:
        """What was expected to end in time and does not is not driven out."""
        done = run([task("a", 4, 15, estimate=9)], self.cluster, policy, kill_at_limit=False)
        assert starts(done) == {"a": 0}

    def test_others_pass_the_one_that_waits_for_its_end(self, policy: str) -> None:
        """First come, first served has them wait behind it; backfilling lets in what ends before."""
        started = starts(run([task("long", 1, 11), task("short", 1, 5)], self.cluster, policy))
        assert started == {"long": 20, "short": 20 if policy == "fcfs" else 0}

    def test_another_node_is_not_concerned(self, policy: str) -> None:
        cluster = nodes(4, 1, reservations=(window(10, 20, node="n0"),))
        assert starts(run([task("a", 1, 11), task("b", 1, 11)], cluster, policy)) == {"a": 0, "b": 11}

    def test_a_part_is_set_aside_together_with_what_is_there(self, policy: str) -> None:
        """Two of four CPUs are set aside: of two long tasks of one CPU both may stay, of two of 1.5 only one."""
        cluster = nodes(4, reservations=(window(10, 20, amount=amount(2)),))
        assert starts(run([task("a", 1, 15), task("b", 1, 15)], cluster, policy)) == {"a": 0, "b": 0}
        assert starts(run([task("a", 1.5, 15), task("b", 1.5, 15)], cluster, policy))["b"] == 15

    def test_what_is_given_back_before_it_counts(self, policy: str) -> None:
        """A holds what is set aside from 10 on, but is expected to end at 8: B may have the rest for longer."""
        cluster = nodes(4, reservations=(window(10, 20, amount=amount(2)),))
        assert starts(run([task("A", 2, 8), task("B", 2, 15, at=1)], cluster, policy)) == {"A": 0, "B": 1}

    def test_a_gang_counts_as_a_whole(self, policy: str) -> None:
        """One task of the gang would leave enough, two do not."""
        cluster = nodes(2, reservations=(window(10, 20, amount=amount(1)),))
        pair = [task(f"g{i}", 1, 15, job="g") for i in range(2)]
        assert starts(run(pair, cluster, policy)) == {"g0": 20, "g1": 20}

    def test_devices_are_set_aside_from_the_last(self, policy: str) -> None:
        cluster = nodes(amount(8, gpus=2), reservations=(window(10, 20, amount=amount(gpus=1)),))
        tasks = [task("a", 1, 15, gpus=1), task("b", 1, 15, gpus=1), task("c", 1, 10, gpus=1)]
        assert starts(run(tasks, cluster, policy))["b"] == 15
        assert starts(run([tasks[0], tasks[2]], cluster, policy)) == {"a": 0, "c": 0}


@pytest.mark.parametrize("policy", BACKFILLS)
class TestForSomeUsers:
    """From 10 to 20 the node belongs to ann."""

    cluster = nodes(4, reservations=(window(10, 20, users=("ann",)),))

    def test_they_may_run_inside(self, policy: str) -> None:
        tasks = [task("hers", 4, 10, at=10, user="ann"), task("his", 1, 1, at=10, user="bob")]
        assert starts(run(tasks, self.cluster, policy)) == {"hers": 10, "his": 20}

    def test_and_into_it(self, policy: str) -> None:
        assert starts(run([task("hers", 1, 12, user="ann")], self.cluster, policy)) == {"hers": 0}

    def test_it_costs_the_others_what_they_could_have_had(self, policy: str) -> None:
        tasks = [task("his", 4, 12, user="bob"), task("hers", 4, 2, at=10, user="ann")]
        expected = {"his": 20, "hers": 10} if policy != "fcfs" else {"his": 20, "hers": 32}
        assert starts(run(tasks, self.cluster, policy)) == expected


def test_the_reason_is_the_reservation() -> None:
    done = run([task("a", 1, 11)], nodes(4, reservations=(window(10, 20),)), "fcfs")
    assert waits(done) == [(0, "a", Reason.RESERVED, -1)]
    cause = done.log.cause[done.log.kind == Kind.START][0]
    assert done.log.kind[cause] == Kind.WAKE


def test_easy_knows_when_it_is_over() -> None:
    done = run([task("a", 1, 11)], nodes(4, reservations=(window(10, 20),)), "easy")
    assert waits(done) == [(0, "a", Reason.RESERVED, 20 * S)]


def test_a_window_that_nobody_waits_for_does_not_prolong_the_run() -> None:
    done = run([task("a", 1, 2)], nodes(4, reservations=(window(100, 200),)))
    assert done.stopped is Reason.NONE
    assert done.log.t_ns[-1] == 2 * S


@pytest.mark.parametrize(
    ("reservation", "problem"),
    [
        (window(5, 5), "ends before it begins"),
        (window(1, 5, node="n9"), "unknown node"),
        (window(1, 5, amount=amount(9)), "more than node n0 has"),
    ],
)
def test_what_makes_no_sense_is_said(reservation: Reservation, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        run([task("a")], nodes(4, reservations=(reservation,)))


@pytest.mark.property
@settings(max_examples=200)
@given(scenario=scenarios(policy=st.sampled_from([parse_policy(name) for name in BACKFILLS]), windows=True))
def test_whoever_keeps_to_the_estimate_leaves_free_what_is_set_aside(scenario: Scenario) -> None:
    """From the log alone: when all has happened at a time inside a window, outsiders leave the node its amount."""
    scenario = replace(scenario, kill_at_limit=True, gang=True)
    log, work, cluster = simulate(scenario, compiled=False).log, scenario.work, scenario.cluster
    where: dict[int, int] = {}
    for row, (t, kind, subject) in enumerate(zip(log.t_ns, log.kind.tolist(), log.subject.tolist(), strict=True)):
        if kind == Kind.START:
            where[subject] = int(log.node[row])
        elif kind in (Kind.END, Kind.KILL, Kind.PREEMPT):
            del where[subject]
        if row + 1 < len(log) and log.t_ns[row + 1] == t:
            continue
        for aside in (each for each in cluster.reservations if each.start_ns <= t < each.end_ns):
            node = next(i for i, each in enumerate(cluster.nodes) if each.name == aside.node)
            having = cluster.nodes[node].capacity
            outside = [work.task(i) for i, n in where.items() if n == node and work.task(i).user not in aside.users]
            for resource in having.names():
                held = sum(task.shape.request.amount(resource) for task in outside)
                assert held + (aside.amount or having).amount(resource) <= having.amount(resource)
