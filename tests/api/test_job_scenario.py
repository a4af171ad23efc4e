"""Job files on a cluster: by the command line and by scenario files, and what is said of bad ones."""

from pathlib import Path

import pytest

from gnomon.api import simulate
from gnomon.api.job_scenario import read_job_scenario
from gnomon.api.load import load_scenario
from gnomon.cli.inputs import Arguments, scenario_of
from gnomon.model.errors import InputError

JOB = """
from operator import add
from gnomon.dataflow import Dataflow

flow = Dataflow("wordcount")
lines = flow.text("input/*.txt")
lines.flat_map(str.split).map(lambda word: (word, 1)).reduce_by_key(add, partitions=2).sink("out")
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("welcome everyone\n")
    (tmp_path / "input" / "b.txt").write_text("hello everyone\n")
    path = tmp_path / "job.py"
    path.write_text(JOB)
    return path


def test_the_command_line(job: Path) -> None:
    run = simulate(scenario_of(Arguments([str(job)], cluster="4", system="mapreduce")), invariants=True)
    assert run.metrics()["done"] == 4
    assert len(run.scenario.cluster.nodes) == 4
    splits = [facts["split"] for _, facts in sorted(run.log.details.items()) if "split" in facts]
    assert sorted(splits) == ["input/a.txt:0+17", "input/b.txt:0+15"]


def test_a_scenario_file_with_options_faults_and_nodes(job: Path) -> None:
    site = job.with_name("mapred-site.xml")
    site.write_text(
        "<configuration><property><name>mapreduce.job.reduces</name><value>9</value></property></configuration>"
    )
    text = """
system: mapreduce
work: job.py
cluster: {nodes: [{name: a, cpu: 2, memory: 4Gi}, {name: b, cpu: 2, memory: 4Gi}]}
conf: mapred-site.xml
seed: 3
faults: [{at: 1.5s, crash: node/a, for: 20m}]
"""
    path = job.with_name("scenario.yaml")
    path.write_text(text)
    (scenario,) = load_scenario(path)
    assert scenario.seed == 3
    assert [node.name for node in scenario.cluster.nodes] == ["a", "b"]
    run = simulate(scenario, invariants=True)
    assert run.metrics()["done"] == 4, "the job says itself that there are two reduces"


def test_options_by_name(job: Path) -> None:
    path = job.with_name("scenario.yaml")
    path.write_text("{system: mapreduce, work: job.py, cluster: 2, conf: {mapreduce.task.io.sort.mb: 7, my.key: 1}}")
    (scenario,) = load_scenario(path)
    assert scenario.native.settings.sort_mb == 7  # type: ignore[attr-defined]
    assert [note.field for note in scenario.work.notes] == ["my.key"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{system: mapreduce, work: job.py}", "cluster: the cluster is missing"),
        ("{system: mapreduce, work: job.py, cluster: 0}", "not a number of slots, found 0"),
        ("{system: mapreduce, cluster: 1}", "work: this is missing"),
        ("{system: mapreduce, work: none.py, cluster: 1}", "none.py"),
        ("{system: mapreduce, work: job.py, cluster: 1, conf: {mapreduce.task.io.sort.mb: 0}}", "1 to 2047"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(job: Path, text: str, message: str) -> None:
    path = job.with_name("scenario.yaml")
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_scenario(path)
    assert message in str(error.value)


def test_a_job_without_a_system(job: Path) -> None:
    with pytest.raises(InputError, match=r"which system runs it\?"):
        scenario_of(Arguments([str(job)], cluster="4"))


def test_input_that_is_not_there(job: Path) -> None:
    for file in (job.parent / "input").iterdir():
        file.unlink()
    with pytest.raises(InputError, match="no such file"):
        read_job_scenario("mapreduce", [job], 4)


def test_a_configuration_says_which_system_it_is(job: Path) -> None:
    site = job.with_name("site.xml")
    site.write_text(
        "<configuration><property><name>mapreduce.task.io.sort.mb</name><value>9</value></property></configuration>"
    )
    scenario = scenario_of(Arguments([str(job), str(site)], cluster="4"))
    assert (scenario.system, scenario.native.settings.sort_mb) == ("mapreduce", 9)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="a job is missing"):
        scenario_of(Arguments([str(site)], cluster="4", system="mapreduce"))


def test_two_job_files(job: Path) -> None:
    with pytest.raises(InputError, match="one job file is wanted"):
        read_job_scenario("mapreduce", [job, job], 4)
