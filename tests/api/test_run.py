"""A run as tables and files, and read back."""

import csv
import json
import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import tables
from gnomon.api.kept import FORM, sealed
from gnomon.api.run import FILES, Run
from gnomon.engine.log import Kind, Reason
from gnomon.model.cluster import Cluster, Node, Reservation
from gnomon.model.errors import InputError
from gnomon.model.quantity import format_seconds
from gnomon.model.resources import E4, Resources
from gnomon.model.scenario import Limits, Policy, Scenario, Tenant
from gnomon.model.work import Note, Shape, Task, Work
from tests.insight.stories import S, Story, cpus, stories, task

HEADER = ["id", "job", "user", "queue", "submit", "start", "end", "state", "attempts", "nodes", "reason"]
NODES = Cluster((Node("n1", Resources(8000)), Node("n2", Resources(8000))))


def run_of(story: Story) -> Run:
    return Run(story.scenario, story.log)


def every_state() -> Run:
    tasks = [
        task("done", user="u", queue="q"),
        task("killed", job="pair", user='O"Hara, F.'),
        task("twice", job="pair", submit=1),
        task("rejected", submit=2),
        task("waiting", submit=3),
        task("running", submit=3),
        task("unborn", submit=90),
    ]
    story = Story(NODES, tasks).arrive(0, 1).run(0, 0, 5, node=0)
    story.tell(0, Kind.START, 1, node=1).tell(2, Kind.KILL, 1, reason=Reason.AT_ESTIMATE)
    story.arrive(2).tell(2, Kind.START, 2, node=1).tell(3, Kind.PREEMPT, 2, reason=Reason.PREEMPTED).run(
        2, 6, 7, node=0
    )
    story.arrive(3).tell(2, Kind.REJECT, 3, reason=Reason.TOO_LARGE)
    story.arrive(4).tell(3, Kind.WAIT, 4, reason=Reason.RESOURCES, value=9)
    story.arrive(5).tell(4, Kind.START, 5, node=1, reason=Reason.NONE).tell(8, Kind.STOP, reason=Reason.LIMIT_TIME)
    return run_of(story)


def written(run: Run, path: Path) -> list[list[str]]:
    run.write_tasks(path)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.unit
def test_the_tasks_file_has_a_row_for_every_task_in_input_order(tmp_path: Path) -> None:
    assert written(every_state(), tmp_path / "tasks.csv") == [
        HEADER,
        ["done", "done", "u", "q", "0", "0", "5", "done", "1", "n1", ""],
        ["killed", "pair", 'O"Hara, F.', "", "0", "0", "2", "killed", "1", "n2", "at_estimate"],
        ["twice", "pair", "", "", "1", "6", "7", "done", "2", "n1", ""],
        ["rejected", "rejected", "", "", "2", "", "", "rejected", "0", "", "too_large"],
        ["waiting", "waiting", "", "", "3", "", "", "waiting", "0", "", "resources"],
        ["running", "running", "", "", "3", "4", "", "running", "1", "n2", ""],
        ["unborn", "unborn", "", "", "90", "", "", "waiting", "0", "", ""],
    ]


@pytest.mark.unit
def test_a_pool_has_no_nodes_to_name(tmp_path: Path) -> None:
    story = Story(Cluster.of_processors(4), [task("a")]).arrive(0).run(0, 0, 5, node=0)
    assert written(run_of(story), tmp_path / "tasks.csv")[1][9] == ""


@pytest.mark.property
@given(st.lists(st.integers(0, 2**61) | st.integers(0, 10**6).map(lambda second: second * S), max_size=9))
def test_seconds_are_written_exactly_and_as_short_as_can_be(times: list[int]) -> None:
    import pyarrow as pa

    written = tables.decimal_seconds(pa.array(times, pa.int64())).to_pylist()
    assert written == [format_seconds(ns) for ns in times]
    assert [Decimal(text) * S for text in written] == times


@pytest.mark.unit
def test_numbers_stay_numbers_and_names_with_commas_stay_one_field(tmp_path: Path) -> None:
    names = ['a,"b"', "line\nbreak", "ünï", ""]
    story = Story(Cluster.of_processors(4), [task(name, user=name) for name in names])
    assert [row[:3] for row in written(run_of(story), tmp_path / "a.csv")[1:]] == [[name] * 3 for name in names]
    numbered = Run(replace(story.scenario, work=replace(story.scenario.work, ids=np.array([7, 5, 3, 1]))), story.log)
    assert [row[:2] for row in written(numbered, tmp_path / "b.csv")[1:]] == [
        ["7", "7"],
        ["5", "5"],
        ["3", "3"],
        ["1", "1"],
    ]
    assert numbered.tasks()["id"].to_pylist() == [7, 5, 3, 1]


@pytest.mark.unit
def test_no_tasks_are_a_file_with_a_header_only(tmp_path: Path) -> None:
    assert written(run_of(Story(NODES, [])), tmp_path / "tasks.csv") == [HEADER]


@pytest.mark.unit
def test_parquet_has_the_columns_and_the_exact_times(tmp_path: Path) -> None:
    every_state().write_tasks(tmp_path / "tasks.parquet")
    table = pq.read_table(tmp_path / "tasks.parquet")
    assert table.column_names == [*HEADER, "submit_ns", "start_ns", "end_ns"]
    assert table["start"].to_pylist() == [0.0, 0.0, 6.0, None, None, 4.0, None]
    assert table["end_ns"].to_pylist() == [5 * S, 2 * S, 7 * S, None, None, None, None]
    assert table["reason"].to_pylist()[1] == "at_estimate"


@pytest.mark.unit
def test_long_tables_are_written_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = every_state()
    at_once = run.tasks(), written(run, tmp_path / "a.csv")
    monkeypatch.setattr(tables, "SLICE", 3)
    assert (run.tasks(), written(run, tmp_path / "b.csv")) == at_once
    run.save(tmp_path / "run")
    assert Run.open(tmp_path / "run").log.digest() == run.log.digest()


@pytest.mark.unit
@pytest.mark.parametrize("name", ["tasks", "tasks.txt", "tasks.csv.gz"])
def test_an_unknown_form_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown form; allowed: a name in \.csv or \.parquet"):
        every_state().write_tasks(tmp_path / name)


def same_work(one: Work, other: Work) -> bool:
    def equal(a: object, b: object) -> bool:
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return a.dtype == b.dtype and np.array_equal(a, b)
        return type(a) is type(b) and a == b

    return all(equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(Work))


def read_back(run: Run) -> Run:
    with TemporaryDirectory() as folder:
        run.save(Path(folder) / "run")
        return Run.open(Path(folder) / "run")


@pytest.mark.property
@settings(max_examples=25)
@given(stories())
def test_a_kept_run_is_read_back_as_it_was(story: Story) -> None:
    run = run_of(story)
    again = read_back(run)
    assert again.log.canonical_bytes() == run.log.canonical_bytes()
    assert same_work(again.scenario.work, run.scenario.work)
    assert again.scenario.cluster == run.scenario.cluster
    assert again.metrics() == run.metrics()
    assert again.tasks() == run.tasks()


def everything() -> Scenario:
    """A scenario in which every field says something."""
    request = Resources(1500, 2**40, gpus=1, gpu_share_e4=2500, named=(("b", 5), ("licence", 2 * E4)))
    shapes = (Shape(request, ("A10", "T4"), (("zone", "a"), ("disk", "ssd"))), Shape(), Shape(Resources(gpus=2)))
    work = Work.from_tasks(
        [
            Task("1", shapes[0], 1, 2, 3, "user", "queue", -4, 5, "job"),
            Task("2", shapes[1], 2**61, 2**62, None, "other"),
            Task("3", shapes[2], job="job", queue="queue"),
        ],
        source="trace.swf",
    )
    work = replace(work, ids=np.array([3, 1, 2]), recorded_wait_ns=np.array([-1, 0, 9]), processors=128)
    work = replace(work, usable=np.array([True, False, True]), notes=(Note("guess", "cpu", "no unit: cores", 7),))
    nodes = (
        Node("n", Resources(8000, 2**40, 2, named=(("licence", 7),)), "A10", (("zone", "a"),)),
        Node("m", Resources()),
    )
    return Scenario(
        cluster=Cluster(nodes, reservations=(Reservation("r", 1, 9, "n", request, ("user",)),), source="nodes.yaml"),
        work=work,
        policy=Policy("sjf", "easy", "best-fit", (("easy", (("extra", False), ("depth", 3), ("x", 0.5))),), "sjf+easy"),
        seed=2**63,
        limits=Limits(events=10, until_ns=11, repeats=12),
        kill_at_limit=False,
        gang=False,
        preempt=True,
        tenants_by="queue",
        tenants=(Tenant("queue", 2.5, request, 3), Tenant("no: limit")),
        name="a name: with #signs",
        source="scenario.yaml",
    )


@pytest.mark.unit
def test_every_fact_of_a_scenario_is_kept() -> None:
    empty = Story(NODES, []).log
    notes = (Note("not modelled", "spec.affinity", "ignored", 3),)
    run = Run(everything(), empty, {"read": 0.25}, Reason.LIMIT_EVENTS, notes)
    again = read_back(run)
    for field in fields(Scenario):
        if field.name != "work":
            found, kept = getattr(again.scenario, field.name), getattr(run.scenario, field.name)
            assert found == kept, field.name
    assert same_work(again.scenario.work, run.scenario.work)
    assert (again.timings, again.stopped, again.notes) == (run.timings, run.stopped, run.notes)


@pytest.mark.unit
def test_arrays_that_were_read_back_may_be_written() -> None:
    again = read_back(every_state())
    for column in (again.scenario.work.submit_ns, again.scenario.work.usable, again.log.t_ns, again.log.kind):
        assert column.flags.writeable


@pytest.mark.unit
def test_a_policy_written_in_python_is_kept_by_name() -> None:
    def my_order(view: object, waiting: object) -> object:
        return waiting

    scenario = replace(every_state().scenario, policy=Policy(order=my_order, text="my_order"))
    assert read_back(Run(scenario, every_state().log)).scenario.policy == Policy(order="my_order", text="my_order")


@pytest.mark.unit
def test_the_files_of_a_run_can_be_asked_in_sql(tmp_path: Path) -> None:
    import duckdb

    every_state().save(tmp_path / "run")
    assert sorted(os.listdir(tmp_path / "run")) == sorted(FILES)
    query = """
        SELECT tasks.id, nodes.name, log.t_ns // 1000000000 FROM '{0}/log.parquet' AS log
        JOIN '{0}/tasks.parquet' AS tasks ON tasks.task = log.subject JOIN '{0}/nodes.parquet' AS nodes
        ON nodes.node = log.node WHERE log.kind = 'start' AND tasks.attempts = 2 ORDER BY log.row
    """
    assert duckdb.connect().execute(query.format(tmp_path / "run")).fetchall() == [
        ("twice", "n2", 2),
        ("twice", "n1", 6),
    ]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics == every_state().metrics()


@pytest.mark.unit
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_paths_of_bytes_that_are_no_text(tmp_path: Path) -> None:
    scenario = replace(every_state().scenario, source="bad\udcff.yaml")
    folder = tmp_path / "bad\udcff"
    Run(scenario, every_state().log).save(folder)
    assert Run.open(folder).scenario.source == "bad\\udcff.yaml"
    every_state().write_tasks(folder.with_suffix(".parquet"))


@pytest.mark.unit
def test_a_run_replaces_a_run(tmp_path: Path) -> None:
    every_state().save(tmp_path / "run")
    story = Story(NODES, [task("a", cpus(1))]).arrive(0).run(0, 0, 5, node=0)
    run_of(story).save(tmp_path / "run")
    assert len(Run.open(tmp_path / "run").scenario.work) == 1
    assert os.listdir(tmp_path) == ["run"]


def truncated(path: Path) -> None:
    log = path / "log.parquet"
    log.write_bytes(log.read_bytes()[:100])


def of_another_version(path: Path) -> None:
    file = path / "scenario.yaml"
    file.write_text(file.read_text().replace(f"gnomon_run: {FORM}", "gnomon_run: 99"))


def with_another_seed(path: Path) -> None:
    file = path / "scenario.yaml"
    file.write_text(file.read_text().replace("seed: 0", "seed: 1"))


def without_a_key(path: Path) -> None:
    """Written so by somebody who can seal."""
    file = path / "scenario.yaml"
    file.write_text(sealed(file.read_text().partition("sha256")[0].replace("stopped:", "halted:")))


def with_the_log_of_another(path: Path) -> None:
    story = Story(NODES, [task("a", cpus(1))]).arrive(0).run(0, 0, 5, node=0)
    run_of(story).save(path.parent / "other")
    (path.parent / "other" / "log.parquet").replace(path / "log.parquet")


def without_tasks(path: Path) -> None:
    (path / "tasks.parquet").unlink()


def without_metrics(path: Path) -> None:
    (path / "metrics.json").write_text("{")


@pytest.mark.unit
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (truncated, "log.parquet: is not as it was kept: it is damaged, or was changed"),
        (with_the_log_of_another, "log.parquet: is not as it was kept"),
        (with_another_seed, "scenario.yaml: is not as it was kept"),
        (of_another_version, f"is not a kept run; allowed: a directory that was kept with --run, of form {FORM}"),
        (without_a_key, "is not a kept run as this version writes them: KeyError: 'stopped'"),
        (without_tasks, "it has no tasks.parquet"),
        (without_metrics, "metrics.json: is not as it was kept"),
    ],
)
def test_what_is_no_kept_run_is_said_so_in_one_line(harm: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    every_state().save(tmp_path / "run")
    harm(tmp_path / "run")
    with pytest.raises(InputError) as error:
        Run.open(tmp_path / "run")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.unit
@pytest.mark.parametrize("name", ["nothing", "file", "empty"])
def test_no_run_at_all_is_an_input_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError):
        Run.open(tmp_path / name)


@pytest.mark.unit
def test_a_run_introduces_itself() -> None:
    assert repr(every_state()) == "Run(fcfs: 7 tasks, 18 events)"
    assert every_state()._repr_html_().startswith("<div")


@pytest.mark.unit
def test_the_log_as_a_table_has_words_for_kinds_and_reasons() -> None:
    table = every_state().log_table()
    assert table.column_names == [
        *("row", "t_ns", "instant", "kind", "subject", "node", "cause", "reason", "value", "details")
    ]
    assert table["kind"].to_pylist()[-1] == "stop"
    assert table["reason"].to_pylist()[-1] == "limit_time"
