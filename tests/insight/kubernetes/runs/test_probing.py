"""What is proposed for a container that its own probe kills: the least, by counting probes by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gnomon.api import explain, simulate
from gnomon.model.scenario import Limits
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import S, node, pod


def changes(annotations: dict[str, str], **probes: Any) -> list[str]:
    one = pod("app", {**annotations, "gnomon.dev/stops-after": "0s"})
    one["spec"]["containers"][0] |= probes
    scenario = replace(scenario_of(objects_of([node("n1"), one])), limits=Limits(until_ns=600 * S))
    found = explain("app", simulate(scenario))
    return [change.what for change in found.changes if "Probe" in change.what]


def test_a_slow_start() -> None:
    """It listens from 50 s on: of the probes from 0 s on five fail; from 29 s on three, from 30 s on two."""
    assert changes({"gnomon.dev/live-after": "50s"}, livenessProbe={}) == [
        "livenessProbe.failureThreshold 3 → 6: container c is not killed",
        "livenessProbe.initialDelaySeconds 0 → 30: container c is not killed",
    ]


def test_a_startup_probe_that_allows_for_too_little() -> None:
    found = changes({"gnomon.dev/live-after": "50s"}, startupProbe={"failureThreshold": 4})
    assert "startupProbe.failureThreshold 4 → 6: container c is not killed" in found


def test_of_one_that_hangs_nothing() -> None:
    assert changes({"gnomon.dev/hangs-after": "50s"}, livenessProbe={}) == []
