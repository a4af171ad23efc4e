"""Facts of event logs, as they were recorded from the same logs by another program."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.model.errors import InputError
from gnomon.systems.spark.facts import nearest_rank, peak_running, quantiles, skew
from gnomon.systems.spark.golden import judge
from gnomon.systems.spark.tasks import COLUMNS, Tasks
from tests.shared import ROOT

CASES = sorted((ROOT / "tests" / "golden" / "spark").glob("spark-log-*.json"))


@pytest.mark.golden
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_facts_are_exactly_those_that_were_recorded(path: Path) -> None:
    agrees, differences, _ = judge(json.loads(path.read_text()), path)
    assert not differences
    assert agrees


@pytest.mark.golden
def test_all_kinds_of_logs_were_recorded() -> None:
    assert len(CASES) == 14


@pytest.mark.unit
def test_what_differs_is_named_with_its_place() -> None:
    path = next(path for path in CASES if path.stem == "spark-log-wordcount-1")
    case = copy.deepcopy(json.loads(path.read_text()))
    case["outcome"]["stages"][0]["duration_ms"]["p50"] += 1
    case["outcome"]["executors"]["7"] = {}
    agrees, differences, _ = judge(case, path)
    assert not agrees
    assert [text.partition(":")[0] for text in differences] == ["stages[0].duration_ms.p50", "executors.7"]


@pytest.mark.unit
@pytest.mark.parametrize("name", [None, 3, "", "../spark-log-wordcount-1.jsonl", "absent.jsonl"])
def test_a_case_without_its_log_is_refused(name: object) -> None:
    with pytest.raises(InputError, match=r"input\.event_log"):
        judge({"name": "spark-log-x", "input": {"event_log": name}, "outcome": {}}, CASES[0])


@pytest.mark.unit
def test_quantiles_are_by_nearest_rank() -> None:
    assert [nearest_rank(range(1, 11), q) for q in (0, 25, 50, 75, 95, 100)] == [1, 3, 5, 8, 10, 10]
    assert quantiles(np.array([5])) == {"min": 5, "p25": 5, "p50": 5, "p75": 5, "p95": 5, "max": 5}
    assert quantiles(np.array([], np.int64)) is None
    assert (skew(np.array([1, 1, 4])), skew(np.array([0, 0, 4]))) == (4.0, None)


@pytest.mark.unit
def test_who_ends_makes_room_for_who_starts_at_that_moment() -> None:
    rows = np.zeros((3, len(COLUMNS)), np.int64)
    rows[:, COLUMNS.index("launch_ms")] = 0, 10, 5
    rows[:, COLUMNS.index("finish_ms")] = 10, 20, 12
    assert peak_running([Tasks(rows)]) == 2
