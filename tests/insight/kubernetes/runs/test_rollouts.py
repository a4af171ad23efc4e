"""A rollout whose new pods never become ready, and one that comes to its end."""

from __future__ import annotations

from gnomon.api import explain
from tests.systems.kubernetes.play import Object, node, play, spec, workload


def shop(version: int, ready: str) -> Object:
    template = spec(image=f"shop:{version}")
    template["containers"][0]["readinessProbe"] = {}
    found = workload("Deployment", "shop", 2, template, progressDeadlineSeconds=60)
    found["spec"]["template"]["metadata"]["annotations"] = {"gnomon.dev/ready-after": ready}
    return found


def test_a_pod_that_is_not_ready_in_time_holds_it_up() -> None:
    run = play([node("n1"), shop(1, "0s")], until_s=3600, changes=[(300, [shop(2, "2h")])])
    found = explain("deployment/shop", run)
    assert "Its rollout is stuck: it has timed out at 6m (ProgressDeadlineExceeded)" in found.summary
    assert ", which runs since 5m, is not ready: that takes 2h." in found.summary
    assert found.native.startswith('ProgressDeadlineExceeded: ReplicaSet "shop-')


def test_one_that_comes_to_its_end_is_not_stuck() -> None:
    run = play([node("n1"), shop(1, "0s")], until_s=3600, changes=[(300, [shop(2, "50s")])])
    assert "stuck" not in explain("deployment/shop", run).summary
