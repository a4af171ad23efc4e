"""Makespans on more slots, and orders under pools, are foretold from one event log of Spark 4.3.0."""

from pathlib import Path
from statistics import median

import pytest

from gnomon.api.verify import read_case, verify_file
from gnomon.systems.spark.golden_facts import log_of
from gnomon.systems.spark.golden_predictions import predict, scenario_for
from gnomon.systems.spark.read import read_event_log

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "spark"
PREDICT = sorted(GOLDEN.glob("spark-predict-*.json"))
POOLS = sorted(GOLDEN.glob("spark-pools-*.json"))


@pytest.mark.parametrize("path", [*PREDICT, *POOLS], ids=lambda path: path.stem)
def test_a_recorded_case_is_foretold(path: Path) -> None:
    verdict = verify_file(path)
    assert verdict.agrees, verdict.differences


def test_the_median_error_at_more_slots_is_below_five_percent() -> None:
    errors = []
    for path in PREDICT:
        case = read_case(path)
        application = read_event_log(log_of(case, path))
        for count in ("2", "4"):
            recorded = case["outcome"]["by_slots"][count]["makespan_s"]
            errors.append(abs(predict(case, application, int(count))["makespan_s"] / recorded - 1))
    assert len(errors) == 18
    assert median(errors) < 0.05
    assert max(errors) < 0.10


@pytest.mark.parametrize("path", PREDICT, ids=lambda path: path.stem)
def test_the_run_of_the_log_itself_is_given_back(path: Path) -> None:
    case = read_case(path)
    told = predict(case, read_event_log(log_of(case, path)), 1)
    recorded = case["outcome"]["by_slots"]["1"]
    assert told["makespan_s"] == pytest.approx(recorded["makespan_s"], rel=0.002)
    assert [(one["stage"], one["index"]) for one in told["tasks"]] == [
        (one["stage"], one["index"]) for one in recorded["tasks"]
    ]


@pytest.mark.parametrize("path", [*PREDICT, *POOLS], ids=lambda path: path.stem)
def test_a_prediction_does_not_hang_on_the_outcome(path: Path) -> None:
    case = read_case(path)
    application = read_event_log(log_of(case, path))
    blind = {key: value for key, value in case.items() if key != "outcome"}
    assert predict(blind, application, 4) == predict(case, application, 4)


def test_a_stage_that_was_skipped_is_not_computed_again() -> None:
    path = GOLDEN / "spark-predict-jobs-reuse.json"
    case = read_case(path)
    scenario = scenario_for(case, read_event_log(log_of(case, path)), 2)
    plan = scenario.native.plan  # type: ignore[attr-defined]
    assert 4 not in plan.stages
    assert plan.stages[5].parents == (0,)
