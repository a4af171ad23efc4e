"""When a pod is explained by a run, and when by the cluster as it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gnomon.insight.kubernetes.moment import happens
from gnomon.model.scenario import Limits
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import S, node, pod


@pytest.mark.parametrize(
    ("annotations", "more", "expected"),
    [
        ({}, {}, False),
        ({"gnomon.dev/duration": "1m"}, {}, True),
        ({}, {"activeDeadlineSeconds": 60}, True),
        ({"gnomon.dev/hangs-after": "1m"}, {}, False),  # nobody notices
        ({"gnomon.dev/hangs-after": "1m"}, {"livenessProbe": {}}, True),
    ],
)
def test_what_kubelets_do_happens_by_itself(
    annotations: dict[str, str], more: dict[str, Any], *, expected: bool
) -> None:
    one = pod("app", annotations, **{key: value for key, value in more.items() if key != "livenessProbe"})
    one["spec"]["containers"][0] |= {key: value for key, value in more.items() if key == "livenessProbe"}
    scenario = scenario_of(objects_of([node("n1"), one]))
    assert happens(replace(scenario, limits=Limits(until_ns=3600 * S))) is expected
