"""Gangs: all tasks of a job at once or none; and what happens when that is switched off."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from gnomon.api import Kind, Reason, Scenario, Task, simulate
from tests.builders import S, by_id, ends, nodes, reasons, run, scenarios, starts, task

pytestmark = pytest.mark.unit


def gang(name: str, count: int, cpu: float = 1, run: float = 5, **facts: object) -> list[Task]:
    return [task(f"{name}{i}", cpu, run, job=name, **facts) for i in range(count)]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "drf", "best-fit", "random"])
def test_it_starts_whole(policy: str) -> None:
    tasks = [task("busy", 2, 10), *gang("g", 4, at=1)]
    assert starts(run(tasks, nodes(2, 2, 1), policy)) == {"busy": 0} | {f"g{i}": 10 for i in range(4)}


def test_it_has_arrived_when_its_last_task_has() -> None:
    tasks = [task("g0", job="g"), task("g1", job="g", at=7)]
    assert starts(run(tasks, 4)) == {"g0": 7, "g1": 7}


def test_its_tasks_end_one_by_one() -> None:
    tasks = [task("g0", run=2, job="g"), task("g1", run=9, job="g"), task("next", 1, 1)]
    assert starts(run(tasks, 2))["next"] == 2


def test_its_tasks_may_stand_on_one_node_or_on_several() -> None:
    done = run(gang("g", 3), nodes(2, 1))
    assert by_id(done, "node") == {"g0": 0, "g1": 0, "g2": 1}


def test_one_that_fits_no_empty_cluster_is_refused_whole() -> None:
    done = run(gang("g", 5), nodes(2, 2))
    assert set(reasons(done).values()) == {Reason.GANG_TOO_LARGE}


def test_one_with_a_task_that_fits_no_node_is_refused_whole() -> None:
    done = run([*gang("g", 2), task("wide", 3, job="g")], nodes(2, 2))
    assert set(reasons(done).values()) == {Reason.TOO_LARGE}


class TestEasy:
    def test_the_reservation_counts_all_its_places(self) -> None:
        """g needs both nodes whole: from 20 on. A candidate of 18 s ends in time on either, one of 19 s does not."""
        tasks = [task("a", 2, 10), task("b", 1, 20), *gang("g", 2, 2, at=1)]
        in_time, too_long = task("c", 1, 18, at=2), task("d", 1, 19, at=2)
        assert starts(run([*tasks, in_time], nodes(2, 2), "easy"))["c"] == 2
        assert starts(run([*tasks, too_long], nodes(2, 2), "easy"))["d"] == 25

    def test_a_gang_is_a_candidate_too(self) -> None:
        tasks = [task("a", 2, 10), task("h", 4, 1, at=1), *gang("g", 2, run=9, at=1)]
        assert starts(run(tasks, 4, "easy")) == {"a": 0, "h": 10, "g0": 1, "g1": 1}


class TestSwitchedOff:
    def test_tasks_hold_their_places_and_start_together(self) -> None:
        tasks = [task("busy", 1, 10), *gang("g", 3)]
        done = run(tasks, 3, gang=False)
        assert starts(done) == {"busy": 0, "g0": 10, "g1": 10, "g2": 10}
        holds = [
            (int(t) // S, int(s))
            for t, s, k in zip(done.log.t_ns, done.log.subject, done.log.kind, strict=True)
            if k == Kind.HOLD
        ]
        assert holds == [(0, 1), (0, 2)]

    def test_what_is_held_is_not_free(self) -> None:
        tasks = [task("busy", 1, 10), *gang("g", 3), task("small", 1, 1)]
        assert starts(run(tasks, 3, gang=False))["small"] == 15

    def test_waiting_for_a_peer_that_was_refused_is_a_deadlock(self) -> None:
        done = run([task("ok", job="g"), task("wide", 9, job="g")], 4, gang=False)
        assert reasons(done) == {"ok": Reason.PEERS, "wide": Reason.TOO_LARGE}
        assert done.stopped is Reason.DEADLOCK

    def test_a_task_of_a_job_that_runs_is_restarted_alone(self) -> None:
        """Once the job has begun, a preempted task does not wait for its peers again."""
        pair = [task("g0", run=10, job="g", priority=1), task("g1", run=10, job="g")]
        tasks = [*pair, task("urgent", 1, 3, at=2, priority=9)]
        done = run(tasks, 2, gang=False, preempt=True)
        assert starts(done) == {"g0": 0, "g1": 5, "urgent": 2}
        assert ends(done) == {"g0": 10, "g1": 15, "urgent": 5}


def test_conservatively_a_place_that_is_held_for_peers_voids_promises() -> None:
    """Nothing is promised on a processor that g1 holds until nobody knows when."""
    tasks = [task("busy", 1, 10, estimate=12), *gang("g", 2, 1, run=3), task("next", 2, 1)]
    done = run(tasks, 2, "conservative", gang=False)
    assert starts(done) == {"busy": 0, "g0": 10, "g1": 10, "next": 13}


@pytest.mark.property
@settings(max_examples=150)
@given(scenario=scenarios())
def test_a_gang_starts_at_one_time_or_never(scenario: Scenario) -> None:
    done = simulate(scenario, compiled=False)
    if scenario.gang:
        for job in range(int(scenario.work.job.max(initial=-1)) + 1):
            assert len(set(done.outcome.start_ns[scenario.work.job == job].tolist())) <= 1
