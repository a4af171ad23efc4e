"""``gnomon verify``: the list, the counts, the exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.api.systems import SYSTEMS, System
from gnomon.cli import ANSWERED, NO
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit


def always_three(case: dict[str, Any], path: object) -> tuple[bool, list[str], int]:
    return case["outcome"] == 3, [] if case["outcome"] == 3 else ["3, not 4"], 3


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two cases of a system that always gives 3, and one of a system that is not modelled."""
    for name, system, outcome in (("right", "abacus", 3), ("wrong", "abacus", 4), ("far", "quipu", 5)):
        case = {"name": name, "system": system, "outcome": outcome}
        (tmp_path / f"{name}.json").write_text(json.dumps(case))
    monkeypatch.setitem(SYSTEMS, "abacus", System("abacus", verifier=f"{__name__}:always_three"))
    return tmp_path


def test_one_that_disagrees_makes_the_answer_no(gnomon: Gnomon, cases: Path) -> None:
    ended = gnomon("verify", cases)
    assert ended.code == NO
    assert ended.out.splitlines() == [
        "CASE    SYSTEM   AGREES   DIFFERENCES",
        "far     quipu    -        system quipu is not modelled yet",
        "right   abacus   yes",
        "wrong   abacus   no       3, not 4",
    ]
    assert ended.err == "3 cases: 1 agrees, 1 disagrees, 1 not modelled\n"


@pytest.mark.parametrize("form", [["-o", "json"], ["--json"]])
def test_the_list_for_programs(gnomon: Gnomon, cases: Path, form: list[str]) -> None:
    ended = gnomon("verify", cases / "right.json", cases / "far.json", *form)
    assert ended.code == ANSWERED
    assert json.loads(ended.out) == [
        {"name": "right", "system": "abacus", "agrees": True, "differences": [], "outcome": 3},
        {
            "name": "far",
            "system": "quipu",
            "agrees": None,
            "differences": ["system quipu is not modelled yet"],
            "outcome": None,
        },
    ]
