"""Probes and deadlines in time: sheet §9 (every 10 s, 1 s each, three failures; back-off)."""

from __future__ import annotations

from typing import Any, ClassVar

from gnomon.engine.log import Kind, Reason
from gnomon.model.fault import Failure, Fault
from tests.systems.kubernetes.play import (
    Object,
    S,
    deletions,
    events,
    job,
    node,
    play,
    pod,
    rows,
    spec,
    starts,
    workload,
)

HANGS = {"gnomon.dev/hangs-after": "1m", "gnomon.dev/stops-after": "5s"}
DEADLINE = ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


def probed(annotations: Object, **more: Any) -> Object:
    """A pod whose container has a liveness probe with the API's defaults, except for what is said."""
    found = pod("app", annotations, restartPolicy=more.pop("restartPolicy", "Always"))
    found["spec"]["containers"][0].update(more or {"livenessProbe": {}})
    return found


def kills(run: Any) -> list[tuple[float, str]]:
    return [(when, message) for when, reason, message in events(run) if reason == "Killing"]


def failures(run: Any) -> list[float]:
    return [when for when, *_ in rows(run, Kind.FAIL)]


class TestLiveness:
    def test_three_probes_in_a_row_that_are_not_answered_within_a_second(self) -> None:
        run = play([node("n1"), probed(HANGS)], until_s=85)
        assert events(run) == [
            (81, "Unhealthy", "Liveness probe failed"),  # those of 60, 70 and 80 s
            (81, "Killing", "Container c failed liveness probe, will be restarted"),
        ]

    def test_the_container_has_its_grace_period_and_is_restarted_with_back_off(self) -> None:
        run = play([node("n1"), probed(HANGS)], until_s=500)
        assert failures(run) == [86, 172, 268, 374, 500]
        assert [when for when, _ in starts(run)] == [0, 86, 182, 288, 414]  # after 0, 10, 20 and 40 s
        waits = [(when, message) for when, reason, message in events(run) if reason == "CrashLoopBackOff"]
        assert waits[-1] == (500, "back-off 1m20s restarting failed container=c pod=app_default")

    def test_without_a_word_it_takes_the_whole_grace_period_of_30_s(self) -> None:
        run = play([node("n1"), probed({"gnomon.dev/hangs-after": "1m"})], until_s=112)
        assert failures(run) == [111]

    def test_a_probe_may_have_a_grace_period_of_its_own(self) -> None:
        probe = {"livenessProbe": {"terminationGracePeriodSeconds": 3, "periodSeconds": 5, "failureThreshold": 2}}
        run = play([node("n1"), probed({"gnomon.dev/hangs-after": "1m"}, **probe)], until_s=100)
        assert failures(run) == [60 + 5 + 1 + 3]

    def test_one_that_never_hangs_is_left_alone(self) -> None:
        run = play([node("n1"), probed({})], until_s=7200)
        assert (failures(run), events(run)) == ([], [])

    def test_a_slow_start_is_a_crash_loop_when_the_delay_is_too_short(self) -> None:
        slow = {"gnomon.dev/live-after": "60s", "gnomon.dev/stops-after": "0s"}
        run = play([node("n1"), probed(slow)], until_s=100)
        assert failures(run) == [20, 40, 70]  # refused at 0, 10 and 20 s, at once
        late = play([node("n1"), probed(slow, livenessProbe={"initialDelaySeconds": 40})], until_s=1000)
        assert failures(late) == []  # refused at 40 and 50 s alone

    def test_restart_policy_never_ends_the_pod(self) -> None:
        run = play([node("n1"), probed(HANGS, restartPolicy="Never")], until_s=500)
        assert kills(run) == [(81, "Container c failed liveness probe")]
        assert [one for one in run.log.details.values() if "final" in one] == [
            {"message": "Container c failed liveness probe", "attempt": 1, "retries": 0, "final": 1}
        ]
        assert len(starts(run)) == 1

    def test_a_node_that_crashed_does_nothing(self) -> None:
        crash = Failure(Fault.CRASH, 30 * S, 3600 * S, ("node/n1",))
        run = play([node("n1"), probed(HANGS)], until_s=300, faults=[crash])
        assert kills(run) == []


class TestStartup:
    PROBES: ClassVar[Object] = {"startupProbe": {"failureThreshold": 6, "periodSeconds": 10}, "livenessProbe": {}}

    def test_it_gates_the_liveness_probe(self) -> None:
        run = play([node("n1"), probed({"gnomon.dev/live-after": "45s"}, **self.PROBES)], until_s=1000)
        assert failures(run) == []

    def test_one_that_takes_too_long_to_start_is_killed(self) -> None:
        slow = {"gnomon.dev/ready-after": "61s", "gnomon.dev/stops-after": "0s"}
        run = play([node("n1"), probed(slow, **self.PROBES)], until_s=55)
        assert kills(run) == [(50, "Container c failed startup probe, will be restarted")]


class TestReadiness:
    def test_a_pod_that_hangs_is_not_ready_and_holds_a_rollout_up(self) -> None:
        def shop(version: int) -> Object:
            template = spec(image=f"shop:{version}")
            template["containers"][0]["readinessProbe"] = {"periodSeconds": 5}
            said = {"gnomon.dev/hangs-after": "10s", "gnomon.dev/stops-after": "0s"} if version == 2 else {}
            rolling = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
            found = workload("Deployment", "shop", 2, template, minReadySeconds=30, strategy=rolling)
            found["spec"]["template"]["metadata"]["annotations"] = said
            return found

        run = play([node("n1"), shop(1)], until_s=600, changes=[(100, [shop(2)])])
        assert (121, "Unhealthy", "Readiness probe failed") in events(run)  # probes at 110, 115 and 120 s
        assert deletions(run) == []  # it was ready for 21 s, where 30 are wanted
        assert len(starts(run)) == 3


DAY = 24 * 3600


class TestARunWithoutAnEnd:
    """It is stopped when for a day containers were only restarted, and nothing else is known to come."""

    def loop(self, **more: Any) -> Object:
        found = probed(HANGS)
        found["spec"] |= more
        return found

    def test_a_crash_loop_is_not_played_for_ever(self) -> None:
        run = play([node("n1"), self.loop()], until_s=None)
        assert run.stopped is Reason.LIMIT_REPEATS
        assert DAY <= run.log.t_ns[-1] / S < DAY + 400  # one round of the back-off of 300 s more at most

    def test_what_is_still_to_come_is_waited_for(self) -> None:
        later = pod("later", {"gnomon.dev/duration": "10s"})
        run = play([node("n1"), self.loop()], until_s=None, changes=[(3 * DAY, [later])])
        assert (3 * DAY, "later") in starts(run)
        run = play([node("n1"), self.loop(activeDeadlineSeconds=2 * DAY)], until_s=None)
        assert 2 * DAY < failures(run)[-1] <= 2 * DAY + 300 + 5  # at the latest after a back-off; it stops within 5 s
        assert run.stopped is Reason.NONE

    def test_a_fault_is_waited_for(self) -> None:
        crash = Failure(Fault.CRASH, 2 * DAY * S, S, ("node/n1",))
        run = play([node("n1"), self.loop()], until_s=None, faults=[crash])
        assert 3 * DAY <= run.log.t_ns[-1] / S < 3 * DAY + 800


class TestDeadline:
    def test_a_bare_pod_is_ended(self) -> None:
        one = pod("batch", {"gnomon.dev/stops-after": "4s"}, activeDeadlineSeconds=90)
        run = play([node("n1"), one], until_s=600)
        assert events(run) == [(90, *DEADLINE)]
        assert failures(run) == [90]
        assert [when for when, *_ in rows(run, Kind.COPY_END)] == [94]
        assert len(starts(run)) == 1

    def test_it_counts_over_restarts(self) -> None:
        one = probed(HANGS)
        one["spec"]["activeDeadlineSeconds"] = 100
        run = play([node("n1"), one], until_s=600)
        assert failures(run) == [86, 100]
        assert len(starts(run)) == 2

    def test_the_pods_of_a_job_fail_and_count(self) -> None:
        asked = job("slow", spec(activeDeadlineSeconds=60), {"gnomon.dev/stops-after": "0s"}, backoffLimit=1)
        run = play([node("n1"), asked], until_s=600)
        assert failures(run) == [60, 130]  # the next one comes after 10 s
        assert events(run)[-1][1] == "BackoffLimitExceeded"


def test_under_pressure_a_container_starts_again_where_it_is() -> None:
    """The taint memory-pressure keeps new pods away (NoSchedule), and says nothing of those that are there."""
    hog = pod("hog", {"gnomon.dev/usage-memory": "0s 10Mi, 60s 32700Mi"})
    app = pod("app")
    for one in (hog, app):
        one["spec"]["nodeName"] = "n1"
    killed = Failure(Fault.KILL, 100 * S, targets=("task/default/app",))
    run = play([node("n1"), node("n2"), hog, app], until_s=300, faults=[killed])
    assert [line[:4] for line in rows(run, Kind.CLOSE, Kind.FAIL, Kind.START)][2:] == [
        (60, "CLOSE", "", "n1"),
        (60, "FAIL", "hog", "n1"),
        (100, "FAIL", "app", "n1"),
        (100, "START", "app", "n1"),
    ]
