"""A simulated run as an application, and the views of it."""

from pathlib import Path

import pytest

from gnomon.api import simulate
from gnomon.api.load import load_scenario
from gnomon.engine.log import Kind
from gnomon.insight.spark.rerun import application_of_run
from gnomon.model.errors import InputError
from gnomon.systems.spark.read import read_event_log
from tests.shared import ROOT

pytestmark = pytest.mark.unit

LOG = ROOT / "tests" / "golden" / "spark" / "spark-log-executor-loss-1.jsonl.gz"


def scenario(folder: Path, more: str = "") -> Path:
    path = folder / "scenario.yaml"
    path.write_text(f"system: spark\nwork: {LOG}\n{more}")
    return path


def test_a_run_has_the_stages_jobs_and_metrics_of_its_log(tmp_path: Path) -> None:
    recorded = read_event_log(LOG)
    run = simulate(load_scenario(scenario(tmp_path))[0])
    found = application_of_run(recorded, run.scenario, run.log)
    assert [job.result for job in found.jobs.values()] == ["JobSucceeded"] * 2
    assert {one.stage.id: len(one.tasks) for one in found.attempts} == {0: 9, 1: 6, 3: 6}  # stage 2 is stage 0 again
    written = [int(one.tasks.column("write_bytes").sum()) for one in found.attempts_of(0)]
    assert written == [int(one.tasks.column("write_bytes").sum()) for one in recorded.attempts_of(0)]
    last = max(int(one.tasks.column("finish_ms").max()) for one in found.attempts)
    assert last - found.started_ms == int(run.log.t_ns[run.log.kind == Kind.END].max()) // 1_000_000


def test_lost_executors_are_told(tmp_path: Path) -> None:
    run = simulate(load_scenario(scenario(tmp_path, 'faults:\n- {at: 10s, crash: "1"}\n'))[0])
    found = application_of_run(read_event_log(LOG), run.scenario, run.log)
    assert found.executors["1"].removed_ms is not None
    assert found.executors["2"].removed_ms is None
    failed = [one for attempt in found.attempts for one in attempt.tasks.failed]
    assert failed


def test_views_of_a_run_and_of_its_log(tmp_path: Path) -> None:
    run = simulate(load_scenario(scenario(tmp_path))[0])
    assert run.view("stages").splitlines()[0].split()[:4] == ["STAGE", "DESCRIPTION", "SUBMITTED", "DURATION"]
    assert [line.split()[0] for line in run.view("stages").splitlines()] == ["STAGE", "0", "1", "3"]
    assert len(run.view("stages --recorded").splitlines()) == 1 + 5  # with the attempts of that day
    assert [line.split()[0] for line in run.view("jobs").splitlines()] == ["JOB", "0", "1"]
    assert len(run.view("executors").splitlines()) == 1 + 3
    for wrong in ("tasks", "stages jobs", "", "'"):
        with pytest.raises(InputError, match="view"):
            run.view(wrong)
