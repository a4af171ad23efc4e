"""The timelines of the Kubernetes examples, against the constants of the sheet (sections 5, 8, 9, 11)."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from gnomon.api import Kind, Reason, Run, simulate
from gnomon.api.load import load_scenario
from tests.systems.kubernetes.play import deletions, events, refusals, rows, starts

EXAMPLES = Path(__file__).parents[2] / "examples" / "kubernetes"
CRASH = 600
"""When a node is lost: right after its lease was renewed, which it is every 10 s."""


@cache
def run_of(name: str) -> Run:
    return simulate(load_scenario(EXAMPLES / f"{name}.yaml")[0], invariants=True)


def when(run: Run, kind: Kind, task: str) -> list[float]:
    return [row[0] for row in rows(run, kind) if row[2] == task]


class TestNodeLoss:
    run = property(lambda self: run_of("node-loss"))

    def test_is_noticed_50_to_60_seconds_after_the_last_renewal(self) -> None:
        ((noticed, *_),) = rows(self.run, Kind.NOTICE)
        assert 50 < noticed - CRASH <= 60

    def test_pods_are_deleted_when_their_toleration_is_over(self) -> None:
        ((noticed, *_),) = rows(self.run, Kind.NOTICE)
        assert when(self.run, Kind.FAIL, "web-0") == [noticed + 300]
        assert 350 < noticed + 300 - CRASH <= 360
        assert when(self.run, Kind.FAIL, "hasty-0") == [noticed + 30]

    def test_the_deployment_is_replaced_at_the_mark(self) -> None:
        assert when(self.run, Kind.START, "web-0") == [0, 955]

    def test_the_job_is_after_its_back_off(self) -> None:
        assert when(self.run, Kind.START, "sum-0") == [0, 955 + 10]

    def test_the_stateful_set_waits_for_the_node(self) -> None:
        assert when(self.run, Kind.START, "db-0") == [0, CRASH + 7200]
        assert (955, "TaintManagerEviction", "Marking for deletion Pod default/db-0") in events(self.run)

    def test_the_daemon_stays_and_starts_again_with_the_node(self) -> None:
        assert [row for row in rows(self.run, Kind.START) if row[2] == "log-n1"][1][::3] == (CRASH + 7200, "n1")
        assert when(self.run, Kind.QUEUE, "log-n1") == []

    def test_the_bare_pod_is_lost_for_ever(self) -> None:
        assert when(self.run, Kind.FAIL, "bare") == [955]
        assert when(self.run, Kind.START, "bare") == [0]


def test_a_zone_that_is_lost_is_emptied_at_one_node_each_ten_seconds() -> None:
    lost = rows(run_of("zone-loss"), Kind.FAIL)
    assert [row[0] for row in lost] == [955, 965]
    assert {row[3] for row in lost} == {"n1", "n2"}


def test_when_every_zone_is_lost_nothing_is_evicted() -> None:
    run = run_of("all-lost")
    assert {row[0] for row in rows(run, Kind.FAIL)} == {CRASH + 3600}  # the reboot itself
    assert rows(run, Kind.QUEUE) == []
    assert len(starts(run)) == 8  # all in their old places


class TestPartitionedControlPlane:
    run = property(lambda self: run_of("leaderless"))

    def test_the_old_leader_steps_down_after_10_s_and_a_new_one_has_the_lease_after_15(self) -> None:
        led = [(row[0], row[4]) for row in rows(self.run, Kind.LEAD)]
        assert led == [(610, "NO_MAJORITY"), (615, "ELECTED"), (2410, "NO_MAJORITY"), (3600, "ELECTED")]

    def test_what_is_replaced_runs_twice_until_the_node_is_heard_of(self) -> None:
        assert when(self.run, Kind.COPY, "web-0") == [965]
        assert when(self.run, Kind.COPY_END, "web-0") == [1500]
        assert when(self.run, Kind.COPY, "db-0") == []  # a StatefulSet's never does

    def test_without_a_leader_nothing_is_noticed(self) -> None:
        assert [row[0] for row in rows(self.run, Kind.NOTICE) if row[3] == "n2"] == [3600 + 55]


class TestOvercommit:
    run = property(lambda self: run_of("overcommit"))

    def test_over_its_limit_a_container_is_killed_and_restarts_where_it_is(self) -> None:
        failed, began = rows(self.run, Kind.FAIL), rows(self.run, Kind.START)
        assert {row[4] for row in failed} == {"MEMORY"}
        assert len({row[3] for row in began}) == 1
        assert failed[0][0] == pytest.approx(100 * 412 / 500)  # from 100 to 600 MiB in 100 s, to 512

    def test_restarts_come_at_once_and_then_after_10_to_300_s(self) -> None:
        failed, began = rows(self.run, Kind.FAIL), rows(self.run, Kind.START)[1:]
        delays = [round(start[0] - fail[0], 6) for fail, start in zip(failed, began, strict=False)]
        assert delays[:8] == [0, 10, 20, 40, 80, 160, 300, 300]


class TestEvictionDoesNotGoByClass:
    run = property(lambda self: run_of("not-by-class"))

    def test_who_is_furthest_above_its_request_goes_at_the_next_look(self) -> None:
        assert [row[:3] for row in rows(self.run, Kind.FAIL)] == [(60, "FAIL", "b")]
        (row,) = (i for i in range(len(self.run.log)) if self.run.log.kind[i] == Kind.FAIL)
        assert self.run.log.reason[row] == Reason.EVICTED
        assert self.run.log.details[row]["available"] == (32 * 1024 - 12 * 1024 - 12200 - 8 * 1024) * 2**20

    def test_the_condition_stays_for_five_minutes(self) -> None:
        assert [row[0] for row in rows(self.run, Kind.CALM)] == [70 + 300]


def test_a_rollout_keeps_to_surge_and_unavailable() -> None:
    run = run_of("rollout")
    assert [at for at, _ in starts(run)] == [0, 0, 0, 0, 600, 600, 620, 620]
    assert [at for at, _ in deletions(run)] == [600, 620, 620, 640]


def test_a_controller_comes_back_later_than_the_quota_is_free() -> None:
    run = run_of("quota")
    assert refusals(run)[0][0] == 600
    stopped = when(run, Kind.COPY_END, "full-1")
    assert stopped == [690]
    assert starts(run)[2][0] - 600 == pytest.approx(0.005 * (2**15 - 1))


class TestDescheduler:
    """User problem U16: over the target wherever it is."""

    run = property(lambda self: run_of("descheduler"))

    def test_the_large_pod_is_evicted_every_five_minutes(self) -> None:
        assert when(self.run, Kind.FAIL, "big-0") == [300 * k for k in range(1, 13)]
        assert {row[2] for row in rows(self.run, Kind.FAIL)} == {"big-0"}

    def test_it_comes_back_to_the_node_that_it_left(self) -> None:
        places = [row[3] for row in rows(self.run, Kind.START) if row[2] == "big-0"]
        assert all(here != there for here, there in pairwise(places))
        assert len({*places[::2]}) == 1  # every second time it is on the node on which nothing else is

    def test_it_holds_its_old_place_until_it_has_stopped(self) -> None:
        assert when(self.run, Kind.COPY_END, "big-0")[0] == 310

    def test_every_eviction_is_an_event(self) -> None:
        said = {(reason, text.split(" node by ")[1]) for _, reason, text in events(self.run) if "eviction" in text}
        assert said == {("LowNodeUtilization", "sigs.k8s.io/descheduler")}


def test_a_slow_start_is_a_crash_loop_unless_a_startup_probe_allows_for_it() -> None:
    """Refused at 0, 10 and 20 s: killed; then back-off 0, 10, 20, 40, 80, 160 s (sheet §9)."""
    run = run_of("slow-start")
    assert when(run, Kind.START, "hasty") == [0, 20, 50, 90, 150, 250, 430]
    assert when(run, Kind.START, "patient") == [0]
    assert {row[4] for row in rows(run, Kind.FAIL)} == {"KILLED"}
