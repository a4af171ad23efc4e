"""Recordings of kube-scheduler 1.34.1: a choice of them here, all of them where the reference data is at hand."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.api.verify import verify
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.golden import compare, play
from tests.shared import ROOT, SHARED, needs_shared

pytestmark = pytest.mark.golden

HERE = sorted((ROOT / "tests" / "golden" / "kubernetes").glob("*.json"))
ALL = sorted((SHARED / "golden" / "kubernetes").glob("*.json")) if SHARED else []


def pod_of_class(name: str) -> dict[str, Any]:
    spec = {"priorityClassName": name, "containers": [{"name": "c"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


@pytest.mark.parametrize("path", HERE, ids=lambda path: path.stem)
def test_agrees_with_the_recording(path: Path) -> None:
    verdict = verify(read(path))
    assert verdict.agrees, verdict.differences


@needs_shared
def test_agrees_with_every_recording() -> None:
    wrong = {path.stem: verdict.differences for path in ALL if not (verdict := verify(read(path))).agrees}
    assert not wrong


@pytest.mark.parametrize("path", HERE[::6], ids=lambda path: path.stem)
def test_the_outcome_is_the_recorded_one_letter_for_letter(path: Path) -> None:
    case = read(path)
    assert play(case) == case["outcome"]


def changed(case: dict[str, Any], name: str, value: object) -> list[str]:
    outcome = copy.deepcopy(case["outcome"])
    outcome[0][name] = value
    return compare(outcome, play(case))


def test_a_difference_is_named_by_pod_attempt_and_field() -> None:
    case = read(next(path for path in HERE if path.stem == "fit-pods-limit-and-cpu"))
    pod = case["outcome"][0]["pod"]
    assert changed(case, "bound", "elsewhere")[0].startswith(f"{pod} attempt 1: bound: ")
    assert changed(case, "message", "else")
    assert changed(case, "rejected", {"n": {}})
    assert changed(case, "scores", {"n": {}})
    assert compare(case["outcome"], []) == [f"0 attempts, recorded {len(case['outcome'])}"]


def test_after_attempts_in_another_order_nothing_more_is_compared() -> None:
    case = read(next(path for path in HERE if path.stem == "queue-priority-order"))
    outcome = case["outcome"]
    swapped = [outcome[1], outcome[0], *outcome[2:]]
    differences = compare(swapped, outcome)
    assert differences == [f"{outcome[1]['pod']} attempt 1: {outcome[0]['pod']} attempt 1 comes here"]


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"objects": None}, "needs the lists"),
        ({"outcome": 3}, "needs the lists"),
        ({"objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {}}]}, "missing"),
        ({"objects": [pod_of_class("gold")]}, "no PriorityClass with name gold was found"),
        ({"config": {"profiles": 3}}, "a list is wanted"),
    ],
)
def test_a_case_that_cannot_be_played_says_why(part: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        verify({**read(HERE[0]), **part})
