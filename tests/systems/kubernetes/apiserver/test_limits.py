"""LimitRanges: their defaults, and their refusals letter for letter (sheet on Kubernetes, section 5)."""

from __future__ import annotations

import pytest

from gnomon.systems.kubernetes.api.objects import Container, Pod, PodSpec
from gnomon.systems.kubernetes.api.policies import LimitRange, LimitRangeItem
from gnomon.systems.kubernetes.apiserver.limits import (
    item_defaults,
    limit_rejection,
    with_limit_defaults,
)

GI = 2**30


def ranges(*items: LimitRangeItem) -> list[LimitRange]:
    return [LimitRange("r", items=items)]


def pod(requests: dict[str, int], limits: dict[str, int], *, containers: int = 1) -> Pod:
    return Pod(
        "p", spec=PodSpec(tuple(Container(f"c{i}", requests=requests, limits=limits) for i in range(containers)))
    )


@pytest.mark.parametrize(
    ("item", "limits", "requests"),
    [
        (LimitRangeItem("Container", max={"cpu": 4}), {"cpu": 4}, {"cpu": 4}),
        (LimitRangeItem("Container", max={"cpu": 4}, default={"cpu": 2}), {"cpu": 2}, {"cpu": 2}),
        (LimitRangeItem("Container", default={"cpu": 2}, default_request={"cpu": 1}), {"cpu": 2}, {"cpu": 1}),
        (LimitRangeItem("Container", min={"cpu": 1}), {}, {"cpu": 1}),
        (LimitRangeItem("Container", min={"cpu": 1}, max={"cpu": 4}), {"cpu": 4}, {"cpu": 4}),
    ],
)
def test_defaults_of_an_item(item: LimitRangeItem, limits: dict[str, int], requests: dict[str, int]) -> None:
    assert item_defaults(item) == (limits, requests)


def test_what_a_container_says_itself_stays() -> None:
    spec = PodSpec((Container("c", requests={"cpu": 5}),), (Container("i"),))
    made = with_limit_defaults(spec, ranges(LimitRangeItem("Container", default={"cpu": 2}), LimitRangeItem("Pod")))
    assert (made.containers[0].requests, made.containers[0].limits) == ({"cpu": 5}, {"cpu": 2})
    assert made.init_containers[0].requests == {"cpu": 2}
    assert with_limit_defaults(spec, []) is spec


@pytest.mark.parametrize(
    ("item", "given", "text"),
    [
        (
            LimitRangeItem("Container", min={"cpu": 200}),
            pod({"cpu": 100}, {}),
            "minimum cpu usage per Container is 200m, but request is 100m",
        ),
        (
            LimitRangeItem("Container", max={"memory": GI}),
            pod({"memory": GI}, {"memory": 2 * GI}),
            "maximum memory usage per Container is 1Gi, but limit is 2Gi",
        ),
        (
            LimitRangeItem("Container", max={"memory": GI}),
            pod({"memory": GI}, {}),
            "maximum memory usage per Container is 1Gi.  No limit is specified",
        ),
        (
            LimitRangeItem("Container", min={"cpu": 200}),
            pod({}, {}),
            "minimum cpu usage per Container is 200m.  No request is specified",
        ),
        (
            LimitRangeItem("Container", max_ratio_milli={"cpu": 2000}),
            pod({"cpu": 100}, {"cpu": 300}),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            LimitRangeItem("Container", max_ratio_milli={"cpu": 2500}),
            pod({}, {"cpu": 300}),
            "cpu max limit to request ratio per Container is 2500m, but no request is specified or request is 0",
        ),
        (
            LimitRangeItem("Pod", max={"cpu": 1000}),
            pod({"cpu": 600}, {"cpu": 600}, containers=2),
            "maximum cpu usage per Pod is 1, but limit is 1200m",
        ),
    ],
)
def test_refusals(item: LimitRangeItem, given: Pod, text: str) -> None:
    assert limit_rejection(given, ranges(item)) == f'pods "p" is forbidden: {text}'


def test_several_problems_are_listed_once_each() -> None:
    item = LimitRangeItem("Container", min={"cpu": 200, "memory": GI})
    assert limit_rejection(pod({"cpu": 100}, {}, containers=2), ranges(item)) == (
        'pods "p" is forbidden: [minimum cpu usage per Container is 200m, but request is 100m, '
        "minimum memory usage per Container is 1Gi.  No request is specified]"
    )


def test_what_is_within_its_limits() -> None:
    item = LimitRangeItem("Container", min={"cpu": 100}, max={"cpu": 300}, max_ratio_milli={"cpu": 3000})
    assert limit_rejection(pod({"cpu": 100}, {"cpu": 300}), ranges(item)) is None
