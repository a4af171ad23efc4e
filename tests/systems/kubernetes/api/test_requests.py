"""What a pod asks for: the rule of the sheet (section 1), and what the recorded scheduler took from its nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.kubernetes.api.objects import Container, Pod, PodSpec
from gnomon.systems.kubernetes.api.requests import host_ports, pod_limits, pod_requests, qos_class
from gnomon.systems.kubernetes.apiserver.admission import as_created
from gnomon.systems.kubernetes.read.files import objects_of
from tests.shared import SHARED, needs_shared

CPU = st.integers(0, 1000)


def container(cpu: int | None, *, sidecar: bool = False) -> Container:
    return Container("c", requests={} if cpu is None else {"cpu": cpu}, restart_policy="Always" if sidecar else "")


@given(st.lists(CPU, min_size=1), st.lists(st.tuples(CPU, st.booleans())), CPU)
def test_the_rule(apps: list[int], initial: list[tuple[int, bool]], overhead: int) -> None:
    """max(apps + sidecars, each init container + the sidecars before it) + overhead."""
    spec = PodSpec(
        tuple(map(container, apps)),
        tuple(container(cpu, sidecar=stays) for cpu, stays in initial),
        overhead={"cpu": overhead},
    )
    sidecars = [cpu for cpu, stays in initial if stays]
    starting = [
        cpu + sum(other for other, stays in initial[:position] if stays)
        for position, (cpu, stays) in enumerate(initial)
        if not stays
    ]
    assert pod_requests(spec)["cpu"] == max([sum(apps) + sum(sidecars), *starting]) + overhead


def test_scores_count_something_for_containers_that_say_nothing() -> None:
    spec = PodSpec((container(None), container(0)), (container(None, sidecar=True),))
    assert pod_requests(spec, non_zero=True) == {"cpu": 200, "memory": 3 * 200 * 2**20}
    assert pod_requests(PodSpec((container(None),))) == {}


def test_the_pod_level_replaces_what_containers_ask_for_and_not_the_overhead() -> None:
    spec = PodSpec(
        (Container("c", requests={"cpu": 100, "memory": 5, "x.com/y": 1}),),
        requests={"cpu": 600, "hugepages-2Mi": 7},
        overhead={"cpu": 50},
    )
    assert pod_requests(spec) == {"cpu": 650, "memory": 5, "x.com/y": 1, "hugepages-2Mi": 7}
    assert pod_requests(spec, pod_level=False) == {"cpu": 150, "memory": 5, "x.com/y": 1}


def test_limits_are_added_up_where_there_are_some() -> None:
    spec = PodSpec(
        (Container("a", limits={"cpu": 1}), Container("b", limits={"cpu": 2, "memory": 3})), overhead={"cpu": 4}
    )
    assert pod_limits(spec) == {"cpu": 7, "memory": 3}


@pytest.mark.parametrize(
    ("requests", "limits", "quality"),
    [
        ([{}], [{}], "BestEffort"),
        ([{"cpu": 0}], [{}], "BestEffort"),
        ([{"x.com/gpu": 1}], [{"x.com/gpu": 1}], "BestEffort"),
        ([{"cpu": 1, "memory": 2}], [{"cpu": 1, "memory": 2}], "Guaranteed"),
        ([{"cpu": 1}], [{"cpu": 1}], "Burstable"),
        ([{"cpu": 1, "memory": 2}], [{"cpu": 2, "memory": 2}], "Burstable"),
        ([{"cpu": 1, "memory": 2}, {}], [{"cpu": 1, "memory": 2}, {}], "Burstable"),
    ],
)
def test_quality_of_service(requests: list[dict[str, int]], limits: list[dict[str, int]], quality: str) -> None:
    parts = [Container("c", requests=r, limits=m) for r, m in zip(requests, limits, strict=True)]
    assert qos_class(PodSpec(tuple(parts))) == quality
    assert qos_class(PodSpec(tuple(parts[:-1]), tuple(parts[-1:]))) == quality


def recorded(kind: str) -> list[Any]:
    if SHARED is None:
        return []
    return [json.loads(path.read_text()) for path in sorted((SHARED / "golden/kubernetes").glob(f"{kind}-*.json"))]


@needs_shared
@pytest.mark.parametrize("case", recorded("fit"), ids=lambda case: case["name"])
def test_the_recorded_scheduler_found_the_same_nodes_large_enough(case: dict[str, Any]) -> None:
    """The rule of NodeResourcesFit alone, over the recorded bindings."""
    objects = as_created(objects_of(case["objects"]))
    pods = {pod.key: pod for pod in objects.pods}
    left = {node.name: dict(node.allocatable) for node in objects.nodes}
    for pod in objects.pods:
        if pod.node_name and not pod.is_terminal:
            take(left[pod.node_name], pod)
    for outcome in case["outcome"]:
        pod = pods[outcome["pod"]]
        wanted = pod_requests(pod.spec)
        large = [
            name
            for name, free in left.items()
            if free["pods"] and all(amount <= free.get(key, 0) or not amount for key, amount in wanted.items())
        ]
        assert sorted(large) == sorted(outcome["feasible"]), outcome["pod"]
        if outcome["bound"]:
            take(left[outcome["bound"]], pod)


def take(free: dict[str, int], pod: Pod) -> None:
    for name, amount in {**pod_requests(pod.spec), "pods": 1}.items():
        free[name] = free.get(name, 0) - amount


def test_ports_of_the_node() -> None:
    objects = as_created(objects_of([json.loads(HOST_NETWORK)]))
    assert host_ports(objects.pods[0].spec) == (("0.0.0.0", "TCP", 80), ("10.0.0.1", "UDP", 53))


HOST_NETWORK = """{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"hostNetwork": true,
  "containers": [{"name": "c", "ports": [{"containerPort": 80}]}],
  "initContainers": [{"name": "i", "ports": [{"containerPort": 81}]}, {"name": "s", "restartPolicy": "Always",
    "ports": [{"containerPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}]}]}}"""
