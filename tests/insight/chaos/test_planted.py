"""A planted violation: retries without fencing run a task twice under a partition. It is found from any seed, made
small, explained and replayed; with fencing there is nothing to find."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.api import Scenario, simulate
from gnomon.api.chaos import Chaos, Options, chaos
from gnomon.api.scenario_write import rewritten
from gnomon.engine.log import Kind, Reason
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.properties import parse_property
from gnomon.model.fault import Fault

pytestmark = pytest.mark.unit

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "chaos"
TWICE = "no task runs twice at once"


def explored(name: str, *, seed: int = 0, runs: int = 300) -> Chaos:
    scenario = replace(Scenario.load(EXAMPLES / name), seed=seed)
    return chaos(scenario, Options(runs=runs, workers=1))


@pytest.mark.parametrize("seed", range(5))
def test_a_task_that_runs_twice_is_found_and_made_small(seed: int, tmp_path: Path) -> None:
    found = explored("retries-without-fencing.yaml", seed=seed)
    broken = {one.property: one for one in found.violations}
    one = broken[TWICE]
    assert 1 <= len(one.schedule) <= 3
    assert one.minimal
    assert any(fault.kind is Fault.PARTITION for fault in one.schedule)

    kinds = [(link.event, Reason(int(one.log.reason[link.row]))) for link in one.chain()]
    assert ("fail", Reason.NODE) in kinds
    assert ("copy", Reason.ORPHANED) in kinds

    text = rewritten(EXAMPLES / "retries-without-fencing.yaml", faults=one.schedule, seed=seed, beside=tmp_path)
    (tmp_path / "minimal.yaml").write_text(text)
    again = Scenario.load(tmp_path / "minimal.yaml")
    run = simulate(again)
    assert run.log.digest() == one.log.digest()
    verdict = parse_property(TWICE).judge(Facts(run.past))
    assert not verdict.holds
    assert [Kind(int(run.log.kind[row])) for row in verdict.rows] == [Kind.COPY, Kind.START]


def test_with_fencing_nothing_runs_twice() -> None:
    found = explored("retries-with-fencing.yaml", runs=150)
    assert found.runs == 150
    assert found.holds
