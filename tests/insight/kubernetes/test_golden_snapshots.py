"""Recordings of kube-scheduler 1.34.1, explained as snapshots: each pod's event, word for word.

In a snapshot all pods wait at once, so the queue takes the most important first. In a recording pods mostly come one
after the other: where a more important pod comes later, or after somebody was sent away (who vanishes at once there),
it is another history, and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gnomon.insight.kubernetes.moment import snapshot_moment
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.apiserver.admission import as_created
from gnomon.systems.kubernetes.read.files import objects_of
from tests.shared import ROOT

pytestmark = pytest.mark.golden

CASES = sorted((ROOT / "tests" / "golden" / "kubernetes").glob("*.json"))


def comparable(case: dict[str, Any], objects: Objects) -> Iterator[tuple[Pod, str | None]]:
    """The pods whose first attempt in a snapshot is as in the recording, and what was said of it."""
    pods = {pod.key: pod for pod in objects.pods}
    batch, outcome = case["arrival"] == "batch", case["outcome"]
    for number, one in enumerate(outcome):
        pod = pods[one["pod"]]
        later = max((pods[other["pod"]].priority for other in outcome[number:]), default=pod.priority)
        if one["attempt"] != 1 or (not batch and later > pod.priority):
            return
        yield pod, one["message"]
        if one["victims"]:
            return


def read(path: Any) -> tuple[dict[str, Any], Objects]:
    case = json.loads(path.read_text())
    objects = as_created(objects_of(case["objects"]))
    live = tuple(pod for pod in objects.pods if not pod.is_terminal)
    return case, replace(objects, pods=live, configuration=case["config"])


def test_the_same_words_in_a_snapshot() -> None:
    compared, wrong = 0, []
    for path in CASES:
        case, objects = read(path)
        if any(one["kind"] == "ResourceClaim" for one in case["objects"]):
            continue
        for pod, message in comparable(case, objects):
            compared += 1
            said = snapshot_moment(objects, objects.pods, pod).attempt.message
            if (said or None) != message:
                wrong.append((path.stem, pod.key, message, said))
    assert wrong == []
    assert compared > 80


def pending(name: str, *, created: str, version: str = "", priority: int = 0) -> dict[str, Any]:
    metadata = {"name": name, "uid": name, "creationTimestamp": created, "resourceVersion": version}
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": {"containers": [container], "priority": priority},
    }


def first(*pods: dict[str, Any]) -> str:
    """Which of some pods gets the only place."""
    amounts = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"capacity": amounts}}
    objects = as_created(objects_of([node, *pods]))
    placed = [pod.name for pod in objects.pods if snapshot_moment(objects, objects.pods, pod).attempt.chosen >= 0]
    assert len(placed) == 1
    return placed[0]


class TestTheOrderOfTheQueue:
    def test_priority_then_creation(self) -> None:
        early, late = "2025-01-01T00:00:00Z", "2025-01-01T00:00:01Z"
        assert first(pending("a", created=late), pending("b", created=early)) == "b"
        assert first(pending("a", created=late, priority=1), pending("b", created=early)) == "a"

    def test_of_one_second_the_resource_version_tells(self) -> None:
        now = "2025-01-01T00:00:00Z"
        assert first(pending("a", created=now, version="12"), pending("b", created=now, version="9")) == "b"

    def test_without_one_the_order_of_the_list(self) -> None:
        now = "2025-01-01T00:00:00Z"
        assert first(pending("b", created=now), pending("a", created=now)) == "b"
