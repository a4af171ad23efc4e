"""DaemonSets: where they run, and how they are replaced, by the rules of ``pkg/controller/daemon/update.go``."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.engine.log import Kind
from tests.systems.kubernetes.play import Object, deletions, node, play, rows, spec, starts, workload

SLOW = {"gnomon.dev/ready-after": "20s", "gnomon.dev/stops-after": "10s"}
NODES = [node(name) for name in ("n1", "n2", "n3")]


def log(version: int, template: Object | None = None, **update: Any) -> Object:
    labels = {"app": "log"}
    pods = {"metadata": {"labels": labels}, "spec": {**spec(image=f"log:{version}"), **(template or {})}}
    strategy = {"type": update.pop("type", "RollingUpdate"), "rollingUpdate": update}
    found: Object = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "log", "annotations": SLOW}}
    found["spec"] = {"selector": {"matchLabels": labels}, "template": pods, "updateStrategy": strategy}
    return found


def test_one_a_node_that_its_selector_and_the_taints_allow() -> None:
    tainted, closed = node("n4", pool="a"), node("n5", pool="a")
    tainted["spec"] = {"taints": [{"key": "mine", "effect": "NoSchedule"}]}
    closed["spec"] = {
        "unschedulable": True,
        "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
    }
    run = play([*NODES, node("n0", pool="a"), tainted, closed, log(1, {"nodeSelector": {"pool": "a"}})], until_s=60)
    assert starts(run) == [(0, "log-n0"), (0, "log-n5")]


def test_one_at_a_time_each_when_the_one_before_is_there_again() -> None:
    run = play([*NODES, log(1)], until_s=1200, changes=[(600, [log(2)])])
    assert deletions(run) == [(600, "log-n1"), (630, "log-n2"), (660, "log-n3")]
    assert starts(run)[3:] == [(610, "log-n1@2"), (640, "log-n2@2"), (670, "log-n3@2")]


@pytest.mark.parametrize(
    ("most", "expected"), [(2, [600, 600, 630]), ("50%", [600, 600, 630]), ("10%", [600, 630, 660])]
)
def test_as_many_as_may_be_unavailable_rounded_up(most: int | str, expected: list[int]) -> None:
    run = play([*NODES, log(1)], until_s=1200, changes=[(600, [log(2, maxUnavailable=most)])])
    assert [when for when, _ in deletions(run)] == expected


def test_with_a_surge_the_new_one_comes_first() -> None:
    run = play([*NODES, log(1)], until_s=1200, changes=[(600, [log(2, maxSurge=1, maxUnavailable=0)])])
    assert starts(run)[3:] == [(600, "log-n1@2"), (620, "log-n2@2"), (640, "log-n3@2")]
    assert deletions(run) == [(620, "log-n1"), (640, "log-n2"), (660, "log-n3")]


def test_on_delete_nothing_is_done() -> None:
    assert deletions(play([*NODES, log(1)], until_s=1200, changes=[(600, [log(2, type="OnDelete")])])) == []


def test_a_new_selector_takes_pods_from_the_other_nodes() -> None:
    run = play(
        [*NODES, node("n4", pool="a"), log(1)], until_s=1200, changes=[(600, [log(2, {"nodeSelector": {"pool": "a"}})])]
    )
    assert deletions(run) == [(600, f"log-n{i}") for i in (1, 2, 3, 4)]
    assert starts(run)[4:] == [(610, "log-n4@2")]


def test_one_that_comes_later_and_back_to_the_version_before() -> None:
    run = play(NODES[:1], until_s=1200, changes=[(100, [log(1)]), (200, [log(2)]), (300, [log(1)])])
    assert starts(run) == [(100, "log-n1"), (210, "log-n1@2"), (310, "log-n1@3")]


def test_each_pod_is_for_a_node_by_its_name_whatever_labels_that_has() -> None:
    """The controller's affinity is to the field metadata.name; a node may lack kubernetes.io/hostname, or share it."""
    nodes = [node("n1"), node("n2")]
    nodes[0]["metadata"]["labels"] = {}
    nodes[1]["metadata"]["labels"] = {"kubernetes.io/hostname": "host"}
    zone = {"key": "pool", "operator": "DoesNotExist"}
    terms = [{"matchExpressions": [zone]}, {"matchExpressions": [{"key": "never", "operator": "Exists"}]}]
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    daemons = workload("DaemonSet", "log", 1, spec(affinity={"nodeAffinity": wanted}))
    del daemons["spec"]["replicas"]
    run = play([*nodes, daemons], until_s=10)
    assert [line[2:4] for line in rows(run, Kind.START)] == [("log-n1", "n1"), ("log-n2", "n2")]
