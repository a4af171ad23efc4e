"""``gnomon calibrate``: the recorded waits against the simulated ones."""

import json
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED
from tests.cli.conftest import Gnomon
from tests.shared import ROOT

pytestmark = pytest.mark.unit

SWF = """\
; MaxProcs: 2
1 0 0 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1
2 0 16 10 2 -1 -1 2 20 -1 1 2 1 1 1 1 -1 -1
3 0 -1 10 2 -1 -1 2 20 -1 1 2 1 1 1 1 -1 -1
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.swf"
    path.write_text(SWF)
    return path


def test_the_errors_of_each_policy(gnomon: Gnomon, trace: Path) -> None:
    ended = gnomon("calibrate", trace, "--policy", "fcfs,easy", "-o", "json")
    assert ended.code == ANSWERED
    found = {one["policy"]: one for one in json.loads(ended.out)["variants"]}
    assert list(found) == ["fcfs", "easy"]
    assert found["fcfs"]["compared"] == 2
    assert found["fcfs"]["error_s"]["bias"] == -3.0  # 0 and 10 s for recorded 0 and 16 s
    assert "2 of 3 tasks compared" in ended.err


def test_the_table_is_of_the_scenarios_own_policy_by_default(gnomon: Gnomon, trace: Path) -> None:
    ended = gnomon("calibrate", trace)
    assert ended.out.splitlines() == [
        "VARIANT   COMPARED   RECORDED   SIMULATED   BIAS   MAE     RMSE   WITHIN-1M   TAU-B",
        "fcfs             2         8s          5s    -3s    3s   4.243s      100.0%       1",
    ]
    assert "PROCESSORS" in gnomon("calibrate", trace, "-o", "wide").out


def test_a_log_without_waits_is_told_what_compares_it(gnomon: Gnomon, trace: Path) -> None:
    ended = gnomon("calibrate", ROOT / "tests" / "golden" / "spark" / "spark-predict-uniform.jsonl.gz")
    assert "0 of" in ended.err
    assert '--view stages --view "stages --recorded"' in ended.err
    assert "--recorded" not in gnomon("calibrate", trace).err
