"""``kubectl drain`` in a run: who stays, who goes within which time, and whom a budget keeps."""

from __future__ import annotations

from gnomon.engine.log import Kind
from gnomon.model.fault import Failure, Fault
from tests.systems.kubernetes.descheduler.test_cycle import budget
from tests.systems.kubernetes.play import Object, S, events, node, play, pod, rows, spec, starts, workload

DRAIN = Failure(Fault.DRAIN, 60 * S, 600 * S, ("node/n1",))
STOPS = {"gnomon.dev/stops-after": "20s"}


def daemons(annotations: Object | None = None, **probe: object) -> Object:
    template = spec(requests={"cpu": "1"})
    template["containers"][0].update(probe)
    found = workload("DaemonSet", "log", 1, template, annotations)
    del found["spec"]["replicas"]
    return found


def bound(name: str, annotations: Object | None = None) -> Object:
    found = pod(name, annotations)
    found["spec"]["nodeName"] = "n1"
    return found


def test_pods_of_daemon_sets_and_mirror_pods_stay() -> None:
    """kubectl's filters pass them by (--ignore-daemonsets); a bare pod goes, and nobody makes it anew (--force)."""
    mirror = bound("static", {"kubernetes.io/config.mirror": "0123"})
    run = play([node("n1"), node("n2"), daemons(), mirror, bound("bare")], until_s=1000, faults=[DRAIN])
    assert rows(run, Kind.FAIL) == [(60, "FAIL", "bare", "n1", "DRAINED")]
    assert starts(run).count((0, "log-n1")) == 1


def test_a_daemon_whose_container_starts_again_on_a_drained_node_stays_there() -> None:
    """Its startup probe kills it over and over: with the kubelet's back-off, and never for the drain."""
    hasty = daemons(
        {"gnomon.dev/live-after": "1h", "gnomon.dev/stops-after": "0s"},
        startupProbe={"failureThreshold": 1, "initialDelaySeconds": 5},
    )
    run = play([node("n1"), hasty], until_s=400, faults=[DRAIN])
    assert {reason for *_, reason in rows(run, Kind.FAIL)} == {"KILLED"}
    # each run fails its probe after 5 s; the first restart comes at once, then after 10, 20, 40, 80 and 160 s
    begun = [0, 5, 20, 45, 90, 175, 340]
    assert [when for when, _ in starts(run)] == begun


def test_who_goes_has_the_time_that_it_takes_to_stop() -> None:
    web = workload("Deployment", "web", 1, spec(requests={"cpu": "5"}), STOPS)
    run = play([node("n1"), web], until_s=1000, faults=[DRAIN])
    assert rows(run, Kind.FAIL, Kind.COPY_END) == [
        (60, "FAIL", "web-0", "n1", "DRAINED"),
        (80, "COPY_END", "web-0", "n1", "STOPPING"),
    ]
    assert starts(run)[1:] == [(660, "web-0")]  # when the node is opened again


def test_a_budget_lets_one_go_when_the_one_before_is_ready_elsewhere() -> None:
    """Three replicas of which two have to be ready: ready 30 s after their start."""
    web = workload("Deployment", "web", 3, spec(requests={"cpu": "1"}), {"gnomon.dev/ready-after": "30s", **STOPS})
    closed = Failure(Fault.CORDON, 0, 30 * S, ("node/n2",))
    run = play(
        [node("n1"), node("n2"), web, budget("kept", "web", minAvailable=2)], until_s=500, faults=[closed, DRAIN]
    )
    assert [when for when, *_ in rows(run, Kind.FAIL)] == [60, 90, 120]
    text = "Cannot evict pod as it would violate the pod's disruption budget."
    said = [message for _, reason, message in events(run) if reason == "EvictionFailed"]
    assert said[0] == f'error when evicting pods/"web-1" -n "default" (will retry after 5s): {text}'


def test_what_was_refused_is_tried_again_every_five_seconds() -> None:
    """Ready 32 s after their start: at 92 s and, one later, at 127 s; kubectl tries at 65, 70, 75 s ..."""
    web = workload("Deployment", "web", 3, spec(requests={"cpu": "1"}), {"gnomon.dev/ready-after": "32s", **STOPS})
    closed = Failure(Fault.CORDON, 0, 30 * S, ("node/n2",))
    run = play(
        [node("n1"), node("n2"), web, budget("kept", "web", minAvailable=2)], until_s=500, faults=[closed, DRAIN]
    )
    assert [when for when, *_ in rows(run, Kind.FAIL)] == [60, 95, 130]


def test_a_budget_that_never_allows_it_keeps_a_pod_as_long_as_the_drain_lasts() -> None:
    """One replica of which one has to be available; a run without an end stops all the same."""
    web = workload("Deployment", "web", 1, spec(requests={"cpu": "1"}), STOPS)
    run = play([node("n1"), node("n2"), web, budget("kept", "web", minAvailable=1)], until_s=None, faults=[DRAIN])
    assert rows(run, Kind.FAIL) == []
    assert len(starts(run)) == 1
