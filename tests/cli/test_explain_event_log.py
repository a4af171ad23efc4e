"""``gnomon explain`` of an event log of Spark: what it records, without a cluster and without a scenario."""

import json
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Gnomon
from tests.shared import ROOT

pytestmark = pytest.mark.unit

GOLDEN = ROOT / "tests" / "golden" / "spark"
LOST = str(GOLDEN / "spark-log-executor-loss-1.jsonl.gz")
ROLLING = str(GOLDEN / "eventlog_v2_spark-log-task-retry-7")


def test_a_stage_of_a_log(gnomon: Gnomon) -> None:
    ended = gnomon("explain", "stage/3", "-f", LOST)
    assert ended.code == ANSWERED
    assert ended.out.startswith("stage/3   complete\nstage 3 (collect, 6 tasks) took 9.9s in 2 attempts;")
    assert "3 tasks could not fetch shuffle output of executor 1" in ended.out
    assert "run again by Spark's rules on 3 slots" in ended.err


def test_the_folder_of_a_rolling_log(gnomon: Gnomon) -> None:
    ended = gnomon("explain", "app", "-f", ROLLING)
    assert ended.code == ANSWERED
    assert "task 2 of stage 1 failed 4 times, which is spark.task.maxFailures (4)" in ended.out
    assert "ValueError: partition 2 attempt 3" in ended.out


def test_as_data(gnomon: Gnomon) -> None:
    found = json.loads(gnomon("explain", "app", "-f", LOST, "-o", "json").out)
    assert found["state"] == "succeeded"
    assert found["listings"][0]["title"] == "WHERE THE TIME WENT (the critical path)"
    assert all(change["confirmed"] for change in found["changes"])
    assert [one["event"] for one in found["chain"]][:2] == ["task-failed", "executor-lost"]


@pytest.mark.parametrize(
    ("subject", "problem"),
    [
        ("stage/99", "unknown stage, found '99'; allowed: 0, 1, 2, 3"),
        ("stage/0.7", "unknown attempt of stage 0, found '7'; allowed: 0"),
        ("executor/77", "unknown executor, found '77'"),
        ("stages/1", "unknown kind of subject (did you mean 'stage'?)"),
        ("task/0.999", "no such task ended in this log, found 'task/0.999'"),
        ("job/a", "not a subject, found 'job/a'"),
        ("app/other", "another application, found 'other'"),
    ],
)
def test_a_subject_that_is_not_in_the_log(subject: str, problem: str, gnomon: Gnomon) -> None:
    ended = gnomon("explain", subject, "-f", LOST)
    assert ended.code == USER_ERROR
    assert problem in ended.err


def test_a_damaged_log_is_named_with_its_line(gnomon: Gnomon, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}\nnonsense\n')
    ended = gnomon("explain", "app", "-f", path)
    assert ended.code == USER_ERROR
    assert f"{path}, line 2: not JSON" in ended.err
