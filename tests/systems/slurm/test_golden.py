"""Recordings of Slurm 22.05.8, whole: commands and configuration in, who started when, where and how it ended.

A choice of the recorded cases is here, and random workloads (``random_cases.py``) that were recorded by the same
means; all recorded cases where the reference data is at hand.
"""

import copy
import json
from pathlib import Path
from typing import Any, Final

import pytest

from gnomon.systems.slurm.golden import judge
from tests.shared import ROOT, SHARED, needs_shared
from tests.systems.slurm.otherwise import WORKLOADS
from tests.systems.slurm.random_cases import case as random_case

pytestmark = pytest.mark.golden

HERE: Final = sorted((ROOT / "tests" / "golden" / "slurm").glob("*.json"))
RANDOM: Final = sorted((ROOT / "tests" / "data" / "slurm" / "recorded").glob("*.json"))
ALL: Final = sorted((SHARED / "golden" / "slurm").glob("*.json")) if SHARED else []


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


def of(path: Path) -> Any:
    known = WORKLOADS.get(path.stem)
    marks = [pytest.mark.xfail(reason=known, strict=True)] if known and path in RANDOM else []
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", [of(path) for path in (*HERE, *RANDOM)])
def test_agrees_with_the_recording(path: Path) -> None:
    agrees, differences, _ = judge(read(path))
    assert agrees, differences


@needs_shared
def test_agrees_with_every_recording() -> None:
    wrong = {path.stem: found[1] for path in ALL if not (found := judge(read(path)))[0]}
    assert not wrong


@pytest.mark.parametrize("path", RANDOM, ids=lambda path: path.stem)
def test_the_recorded_workload_is_the_random_one(path: Path) -> None:
    recorded = read(path)
    theme, _, seed = path.stem.rpartition("-")
    made = random_case(int(seed), theme)
    assert [step["args"] for step in made["steps"]] == [step["args"] for step in recorded["steps"]]
    assert all(line in recorded["slurm_conf"] for line in (*made["nodes"], *made["parts"]))


def test_whatever_is_changed_in_a_recording_is_found() -> None:
    recorded = read(next(path for path in RANDOM if path.stem == "backfill-28"))
    for number, key, value in ((0, "nodes", ["n9"]), (1, "state", "FAILED"), (2, "start_s", 99.0)):
        changed = copy.deepcopy(recorded)
        changed["outcome"]["jobs"][number][key] = value
        assert not judge(changed)[0]
