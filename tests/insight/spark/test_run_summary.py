"""What a run of Spark's jobs came to, against what is known of it by hand."""

from dataclasses import replace
from operator import add

from gnomon.api import simulate
from gnomon.dataflow import Dataflow
from gnomon.insight.spark.answer import explain
from gnomon.insight.spark.run_summary import summarise
from gnomon.model.cluster import Cluster, Node
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import Resources
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.read import read_event_log
from gnomon.systems.spark.scenario import read_job, read_scenario
from tests.shared import ROOT

MS = 1_000_000


def word_count() -> Scenario:
    flow = Dataflow("wordcount")
    words = flow.source([["welcome everyone"], ["hello everyone"]]).flat_map(str.split)
    words.map(lambda word: (word, 1), name="pairs").reduce_by_key(add, partitions=2, name="counts").collect()
    executors = Cluster(tuple(Node(f"e{n}", Resources(cpu_milli=1000)) for n in range(2)))
    return read_job(flow.graph(), lambda each: ({}, {}), executors, [], options={})


def test_jobs_and_stages_with_their_records_and_bytes() -> None:
    scenario = word_count()
    data = summarise(scenario, simulate(scenario).log).data
    assert [(one["job"], one["status"]) for one in data["jobs"]] == [(0, "SUCCEEDED")]
    maps, reduces = data["stages"]
    assert (maps["tasks"], maps["done"], maps["records_read"], maps["records_written"]) == (2, 2, 2, 4)
    assert (reduces["tasks"], reduces["done"], reduces["records_read"], reduces["records_written"]) == (2, 2, 4, 3)
    assert maps["shuffle_write_bytes"] == reduces["shuffle_read_bytes"] > 0


def test_a_stage_that_came_again_is_a_row_of_its_own() -> None:
    restart = Failure(Fault.REBOOT, at_ns=10 * MS, for_ns=2 * MS, targets=("node/e0",))
    scenario = replace(word_count(), faults=(restart,))
    summary = summarise(scenario, simulate(scenario).log)
    stages = [(one["stage"], one["attempt"], one["tasks"]) for one in summary.data["stages"]]
    assert stages == [(0, 0, 2), (0, 1, 1), (1, 0, 2), (1, 1, 2)]
    assert [row[0] for row in summary.listings[1].rows] == ["0", "0.1", "1", "1.1"]


def test_a_job_that_failed_says_why() -> None:
    flow = Dataflow("bad")
    flow.source([["a"]]).map(lambda word: 1 // 0, name="parse").collect()
    scenario = read_job(flow.graph(), lambda each: ({}, {}), 1, [], options={})
    summary = summarise(scenario, simulate(scenario).log)
    (job,) = summary.data["jobs"]
    assert job["status"] == "FAILED"
    assert "ZeroDivisionError" in job["error"]
    assert summary.data["stages"][0]["failed"] == 4


def test_sizes_are_in_the_units_of_the_ui() -> None:
    flow = Dataflow("pairs")
    flow.source([[(n, n) for n in range(1000)]]).reduce_by_key(add, partitions=2).collect()
    scenario = read_job(flow.graph(), lambda each: ({}, {}), 1, [], options={})
    summary = summarise(scenario, simulate(scenario).log)
    written = summary.data["stages"][0]["shuffle_write_bytes"]
    assert summary.listings[1].rows[0][-1] == f"{written / 1024:.1f} KiB"


def test_the_run_of_a_log_has_its_call_sites_records_and_bytes() -> None:
    log = ROOT / "tests" / "golden" / "spark" / "spark-log-executor-loss-1.jsonl.gz"
    scenario, recorded = read_scenario(str(log)), read_event_log(log)
    data = summarise(scenario, simulate(scenario).log).data
    assert [job["name"] for job in data["jobs"]] == ["count at /opt/app/apps.py:130", "collect at /opt/app/apps.py:134"]
    (first,) = recorded.attempts_of(0)
    assert data["stages"][0]["shuffle_write_bytes"] == int(first.tasks.column("write_bytes").sum()) > 0
    assert data["stages"][0]["records_written"] == int(first.tasks.column("write_records").sum()) > 0
    later = [one.tasks.succeeded for one in recorded.attempts_of(3)]
    assert data["stages"][-1]["shuffle_read_bytes"] == sum(int(one.shuffle_read_bytes.sum()) for one in later)


def test_an_attempt_that_could_not_fetch_says_so_when_it_is_explained() -> None:
    """The story of a task of a job in Python has what the attempt said, and the executor by its name."""
    restart = Failure(Fault.REBOOT, at_ns=10 * MS, for_ns=2 * MS, targets=("node/e0",))
    scenario = replace(word_count(), faults=(restart,))
    found = explain("1.0", scenario, simulate=lambda one: simulate(one).log)
    assert "FetchFailed: output of stage 0" in found.summary
    assert "from node 0" not in found.summary
