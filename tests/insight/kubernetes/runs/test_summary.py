"""A run summed up as kubectl would list it: what is ready, Jobs, what happened to pods, and which wait.

Numbers come from the API's definitions and the constants in the comments, worked out by hand.
"""

from __future__ import annotations

from typing import Any

from gnomon.api import Run
from gnomon.insight.kubernetes.runs.readiness import at, counted_over, ready_spans
from gnomon.model.fault import Failure, Fault
from tests.systems.kubernetes.play import Object, S, job, node, play, pod, spec, workload


def told(run: Run) -> dict[str, Any]:
    assert run.summary is not None
    return dict(run.summary.data)


def course(run: Run, name: str) -> dict[str, Any]:
    return next(one for one in told(run)["workloads"] if one["workload"] == name)


def web(version: int, strategy: Object | None = None, *, replicas: int = 3, ready: str = "20s") -> Object:
    found = workload("Deployment", "web", replicas, spec(image=f"web:{version}"), strategy=strategy or {})
    found["spec"]["template"]["metadata"]["annotations"] = {"gnomon.dev/ready-after": ready}
    return found


SURGE = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def test_a_flawless_rollout_is_told_as_one() -> None:
    """One pod more at a time, ready after 20 s each: the third is so 60 s after the change, and none is missed."""
    run = play([node("n"), web(1, SURGE)], until_s=3600, changes=[(600, [web(2, SURGE)])])
    found = course(run, "deployment/web")
    assert (found["ready"], found["desired"], found["restarts"]) == (3, 3, 0)
    assert (found["whole_s"], found["least_ready"], found["short_s"]) == (20, 3, 0)
    assert found["rollouts"] == [
        {"from_s": 0, "done_s": 20, "timed_out_s": None},
        {"from_s": 600, "done_s": 660, "timed_out_s": None},
    ]
    assert [(one["reason"], one["then"], one["times"]) for one in told(run)["happened"]] == [("Deleted", "gone", 3)]


def test_recreate_leaves_nobody_ready() -> None:
    """Old pods go at once and take their grace period of 30 s, new ones are ready 20 s after that."""
    strategy = {"type": "Recreate"}
    run = play([node("n"), web(1, strategy)], until_s=3600, changes=[(600, [web(2, strategy)])])
    found = course(run, "deployment/web")
    assert (found["least_ready"], found["least_s"], found["short_s"]) == (0, 600, 50)
    assert found["rollouts"][-1]["done_s"] == 650


def test_a_rollout_that_gets_no_room_is_not_done() -> None:
    """Two of 3 cpu fit on a node of 8; a third one is wanted for the new version."""
    big = [spec(image=f"big:{version}", requests={"cpu": "3"}) for version in (1, 2)]
    old, new = (workload("Deployment", "big", 2, template, strategy=SURGE) for template in big)
    run = play([node("n"), old], until_s=1800, changes=[(300, [new])])
    found = course(run, "deployment/big")
    assert (found["ready"], found["least_ready"]) == (2, 2)
    last = found["rollouts"][-1]
    assert (last["from_s"], last["done_s"]) == (300, None)
    assert last["timed_out_s"] >= 900  # 600 s of progressDeadlineSeconds
    (waiting,) = told(run)["waiting"]
    assert (waiting["status"], waiting["reason"], waiting["pods"]) == ("Pending", "FailedScheduling", 1)
    assert waiting["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_what_is_ready_follows_a_lost_node() -> None:
    """Of two pods on two nodes the one whose node crashes at 600 s counts until that is noticed (50 s of grace after
    the last lease, looked at every 5 s: within 40 to 55 s), and is made anew 300 s after that; ready 20 s later."""
    nodes = [node("a", cpu="1"), node("b", cpu="1"), node("c", cpu="1")]
    spread = workload("Deployment", "web", 2, spec(requests={"cpu": "600m"}))
    first = play([*nodes, spread], until_s=60)
    name = told(first)["pods"][0]["node"]
    crash = Failure(Fault.CRASH, 600 * S, for_ns=1200 * S, targets=(f"node/{name}",))
    found = course(play([*nodes, spread], until_s=3600, faults=[crash]), "deployment/web")
    assert 640 <= found["least_s"] <= 655
    assert (found["least_ready"], found["short_s"], found["ready"]) == (1, 300, 2)


def test_containers_that_are_killed_count_as_restarts() -> None:
    """512 Mi of growth in 300 s over a limit of half: killed when it uses more, in place, by its own doing."""
    template = spec(requests={"memory": "64Mi"}, limits={"memory": "256Mi"})
    leaky = workload("Deployment", "leaky", 1, template)
    leaky["spec"]["template"]["metadata"]["annotations"] = {"gnomon.dev/usage-memory": "0s 0, 5m 512Mi"}
    run = play([node("n"), leaky], until_s=310)
    # Killed at 150 s, restarted at once; at 300 s again, and then after 10 s: that is not over yet at 305 s.
    (killed,) = told(run)["happened"]
    assert (killed["reason"], killed["then"], killed["first_s"] // 1) == ("OOMKilled", "restarted", 150)
    assert course(run, "deployment/leaky")["restarts"] == killed["times"] == 2


def test_jobs_are_told_by_their_conditions() -> None:
    five = {"gnomon.dev/duration": "5m"}
    fails = job("bad", spec(requests={"cpu": "1"}), five, backoffLimit=0, activeDeadlineSeconds=60)
    run = play([node("n"), job("good", spec(), five, completions=2), fails], until_s=3600)
    found = {one["job"]: one for one in told(run)["jobs"]}
    assert (found["job/good"]["state"], found["job/good"]["succeeded"], found["job/good"]["ended_s"]) == (
        "Complete",
        2,
        600,  # one after the other: parallelism 1
    )
    assert found["job/bad"]["state"] == "Failed (DeadlineExceeded)"
    assert found["job/bad"]["ended_s"] == 60


def test_pods_are_listed_with_their_nodes() -> None:
    run = play([node("n"), pod("alone"), pod("huge", requests={"cpu": "99"})], until_s=60)
    assert [(one["pod"], one["status"], one["node"]) for one in told(run)["pods"]] == [
        ("default/alone", "Running", "n"),
        ("default/huge", "Pending", None),
    ]


def test_a_workload_that_comes_later_is_told_from_then_on() -> None:
    run = play([node("n"), pod("alone")], until_s=3600, changes=[(300, [web(1, replicas=2)])])
    found = course(run, "deployment/web")
    assert (found["whole_s"], found["least_ready"], found["ready"]) == (320, 2, 2)


def test_a_readiness_probe_that_is_not_answered_ends_readiness() -> None:
    """It hangs after 60 s: probes at 60, 70 and 80 s go unanswered for 1 s each."""
    template = spec()
    template["containers"][0]["readinessProbe"] = {}
    hung = workload("Deployment", "hung", 1, template)
    hung["spec"]["template"]["metadata"]["annotations"] = {"gnomon.dev/hangs-after": "60s"}
    run = play([node("n"), hung], until_s=300)
    spans = ready_spans(run.scenario, run.log)
    assert spans == {0: [(0, 81 * S)]}
    (waiting,) = told(run)["waiting"]
    assert (waiting["status"], waiting["reason"], waiting["message"]) == (
        "Running",
        "not ready",
        "Readiness probe failed",
    )


def test_steps_count_those_that_overlap() -> None:
    steps = counted_over({0: [(5, 9), (12, 20)], 1: [(5, 7)]}, (0, 1), after_ns=1)
    assert steps == [(0, 0), (6, 2), (7, 1), (9, 0), (13, 1), (20, 0)]
    assert [at(steps, t) for t in (0, 6, 8, 12, 19)] == [0, 2, 1, 0, 1]
