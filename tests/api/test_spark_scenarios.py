"""Event logs and jobs of Spark as scenarios: from files, from the command line, from YAML."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from gnomon.api import simulate
from gnomon.api.load import load_scenario
from gnomon.cli.inputs import Arguments, scenario_of
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "spark"

JOB = """
from operator import add
from gnomon.dataflow import Dataflow

flow = Dataflow("count")
words = flow.source([["welcome everyone"], ["hello everyone"]]).flat_map(str.split)
words.map(lambda word: (word, 1)).reduce_by_key(add, partitions=2).collect()
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The event log of a diamond on one slot."""
    path = tmp_path / "diamond.jsonl"
    path.write_bytes(gzip.decompress((GOLDEN / "spark-predict-diamond.jsonl.gz").read_bytes()))
    return path


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "count_job.py"
    path.write_text(JOB)
    return path


def makespan_s(scenario: Scenario) -> float:
    return float(simulate(scenario, invariants=True).metrics()["makespan_s"])


def yaml(tmp_path: Path, text: str) -> Scenario:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    (found,) = load_scenario(path)
    return found


def test_a_log_runs_again_on_so_many_slots(log: Path) -> None:
    alone = makespan_s(scenario_of(Arguments([str(log)])))
    two = makespan_s(scenario_of(Arguments([str(log)], cluster="2")))
    assert alone == pytest.approx(12.494, abs=0.1)
    assert two == pytest.approx(6.548, rel=0.1)


def test_a_packed_log_is_the_same(log: Path) -> None:
    packed = GOLDEN / "spark-predict-diamond.jsonl.gz"
    assert makespan_s(scenario_of(Arguments([str(packed)], cluster="2"))) == makespan_s(
        scenario_of(Arguments([str(log)], cluster="2"))
    )


def test_a_job_runs_on_so_many_slots(job: Path) -> None:
    scenario = scenario_of(Arguments([str(job)], cluster="4", system="spark"))
    run = simulate(scenario, invariants=True)
    assert run.metrics()["tasks"]["done"] == 4 if "tasks" in run.metrics() else len(scenario.work) == 4


def test_a_scenario_has_executors_options_and_faults(tmp_path: Path, log: Path) -> None:
    scenario = yaml(
        tmp_path,
        f"system: spark\nwork: {log.name}\ncluster: {{nodes: [{{name: e1, cpu: 2}}, {{name: e2, cpu: 2}}]}}\n"
        "conf: {spark.speculation: true, spark.some.thing: 1}\nfaults: [{at: 2s, reboot: node/e1, for: 1s}]\n",
    )
    assert [note.field for note in scenario.work.notes] == ["spark.some.thing"]
    run = simulate(scenario, invariants=True)
    reasons = {facts.get("reason") for facts in run.log.details.values()}
    assert {"OutputsLost", "JobEnded"} <= reasons


def test_options_and_pools_may_be_files(tmp_path: Path, log: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.scheduler.mode FAIR\nspark.executor.instances 2\n")
    (tmp_path / "pools.xml").write_text("<allocations><pool name='default'><weight>2</weight></pool></allocations>")
    text = f"system: spark\nwork: {log.name}\nconf: spark-defaults.conf\npools: pools.xml\n"
    scenario = yaml(tmp_path, text)
    assert [node.name for node in scenario.cluster.nodes] == ["executor-1", "executor-2"]
    rules: Any = scenario.native.rules  # type: ignore[attr-defined]
    assert rules.mode == "FAIR"
    assert rules.pools["default"].weight == 2


def test_pools_of_a_file_that_a_log_only_names_are_said_to_be_unknown(tmp_path: Path) -> None:
    scenario = scenario_of(Arguments([str(GOLDEN / "spark-pools-fair-weight.jsonl.gz")]))
    assert "spark.scheduler.allocation.file" in [note.field for note in scenario.work.notes]
    (tmp_path / "pools.xml").write_text("<allocations><pool name='a'><weight>3</weight></pool></allocations>")
    log = GOLDEN / "spark-pools-fair-weight.jsonl.gz"
    said = yaml(tmp_path, f"system: spark\nwork: {log}\npools: pools.xml\n")
    assert not [note for note in said.work.notes if note.field.startswith("spark.scheduler")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("work: LOG\ncluster: 0\n", "not a number of slots"),
        ("work: LOG\nconf: {spark.task.cpus: 9}\n", "no executor has room for a task"),
        ("work: LOG\nconf: {speculation: true}\n", "not an option of Spark"),
        ("work: LOG\nconf: {spark.speculation: [1]}\n", "not a value"),
        ("work: [LOG, LOG]\n", "more than one event log"),
        ("cluster: 2\n", "work: this is missing"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, log: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        yaml(tmp_path, "system: spark\n" + text.replace("LOG", log.name))


def test_a_job_without_a_cluster_is_told_so(job: Path) -> None:
    with pytest.raises(InputError, match="the cluster is missing"):
        scenario_of(Arguments([str(job)], system="spark"))


def test_an_option_that_is_wrong_is_placed_in_the_scenario(tmp_path: Path, job: Path) -> None:
    """And not in the file of the job, which says nothing of it."""
    for said, place in (
        ("cluster: 4\nconf: {spark.speculation: maybe}", "line 4, conf.spark.speculation: neither true nor false"),
        ("conf: {spark.executor.instances: 2,\n spark.task.cpus: 3}", "line 4, conf.spark.task.cpus: no executor"),
        ("cluster: 0", "line 3, cluster: not a number of slots"),
    ):
        with pytest.raises(InputError) as error:
            yaml(tmp_path, f"system: spark\nwork: {job.name}\n{said}\n")
        assert str(error.value).startswith(f"{tmp_path / 'scenario.yaml'}, {place}")


def test_a_cluster_that_is_missing_is_an_option_on_the_command_line(job: Path) -> None:
    with pytest.raises(InputError, match=r"^--cluster: the cluster is missing"):
        scenario_of(Arguments([str(job)], system="spark"))


def test_the_slots_of_a_local_master(tmp_path: Path, log: Path) -> None:
    """What a change of ``explain`` names is what a scenario may say."""
    on_two = yaml(tmp_path, f"system: spark\nwork: {log.name}\nconf: {{spark.master: 'local[2]'}}\n")
    assert makespan_s(on_two) == makespan_s(scenario_of(Arguments([str(log)], cluster="2")))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("spark.sql.shuffle.partitions: 8", "explain stage/N tries more and fewer"),
        ("spark.sql.adaptive.skewJoin.enabled: true", "explain stage/N tries more and fewer"),
        ("spark.executor.cores: 4", "say spark.executor.instances"),
        ("spark.speculaton: true", "did you mean 'spark.speculation'?"),
        ("spark.dynamicAllocation.cachedExecutorIdleTimeout: 9s", r"changes nothing here$"),
    ],
)
def test_what_the_run_of_a_log_does_not_heed_is_told_with_what_would(
    tmp_path: Path, log: Path, said: str, told: str
) -> None:
    scenario = yaml(tmp_path, f"system: spark\nwork: {log.name}\nconf: {{{said}}}\n")
    (note,) = [note for note in scenario.work.notes if note.field == said.partition(":")[0]]
    assert re.search(told, note.text)


def test_the_makespan_is_that_of_the_jobs_with_what_the_driver_does_between_tasks(log: Path) -> None:
    """As ``compare`` and the table of jobs have it: from the first submission to the end of the last job."""
    run = simulate(scenario_of(Arguments([str(log)], cluster="2")))
    assert run.summary is not None
    (job,) = run.summary.data["jobs"]
    assert run.metrics()["makespan_s"] == pytest.approx(job["ended_s"] - job["submitted_s"], abs=1e-9)
    assert max(run.tasks()["end"].to_pylist()) < job["ended_s"], "a result takes its time to the driver"
