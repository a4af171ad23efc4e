"""``gnomon simulate``: its forms, its files, its answers."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from gnomon.cli import ANSWERED, INTERRUPTED, NO, USER_ERROR
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit

SWF = """\
; MaxProcs: 4
1 0 0 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1
2 0 0 10 4 -1 -1 4 20 -1 1 2 1 1 1 1 -1 -1
3 1 0 5 2 -1 -1 2 5 -1 1 1 1 1 1 1 -1 -1
"""
SCENARIO = "cluster: 4\nwork: trace.swf\npolicy: easy\n"
METRICS = """jobs done rejected makespan_s wait_s turnaround_s bounded_slowdown utilisation allocated throughput_per_s
fragmentation jain_index preemptions wasted_cpu_s goodput longest_wait_s overtaken_max""".split()


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a trace of three jobs (2, 4 and 2 processors) and a scenario of it."""
    (tmp_path / "trace.swf").write_text(SWF)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def makespan(ended_out: str) -> float:
    found: float = json.loads(ended_out)["makespan_s"]
    return found


def test_the_table(gnomon: Gnomon) -> None:
    ended = gnomon("simulate", "trace.swf", "--cluster", 4, "--policy", "easy")
    assert ended.code == ANSWERED
    assert ended.out.splitlines() == [
        "JOBS   DONE   MAKESPAN",
        "3      3      20s",
        "",
        "               MEAN   P50   P90     P99   MAX",
        "WAIT         3.333s    0s    8s    9.8s   10s",
        "TURNAROUND   11.67s   10s   18s   19.8s   20s",
        "SLOWDOWN      1.333     1   1.8    1.98     2",
        "",
        "RESOURCE    USED   ALLOCATED",
        "cpu        87.5%       87.5%",
    ]


def test_json_is_one_document_with_the_metrics_of_the_contract(gnomon: Gnomon) -> None:
    document = json.loads(gnomon("simulate", "trace.swf", "--cluster", 4, "--policy", "easy", "-o", "json").out)
    assert [name for name in METRICS if name not in document] == []
    assert document["policy"] == "easy"
    assert document["stopped"] is None
    assert document["makespan_s"] == 20.0
    assert all({"what", "field", "text", "count"} == note.keys() for note in document["notes"])


def test_yaml_says_the_same(gnomon: Gnomon) -> None:
    arguments = ("simulate", "trace.swf", "-c", 4, "-p", "easy", "-o")
    assert yaml.safe_load(gnomon(*arguments, "yaml").out) == json.loads(gnomon(*arguments, "json").out)


def test_wide_adds_columns(gnomon: Gnomon) -> None:
    assert "JAIN" in gnomon("simulate", "trace.swf", "-o", "wide").out


def test_options_override_the_scenario(gnomon: Gnomon) -> None:
    assert makespan(gnomon("simulate", "scenario.yaml", "-o", "json").out) == 20
    assert makespan(gnomon("simulate", "scenario.yaml", "-p", "fcfs", "-o", "json").out) == 25
    assert makespan(gnomon("simulate", "scenario.yaml", "-c", 8, "-o", "json").out) == 10
    assert json.loads(gnomon("simulate", "scenario.yaml", "--seed", 7, "-o", "json").out)["seed"] == 7


def test_a_trace_may_say_its_machine_which_is_noted(gnomon: Gnomon) -> None:
    ended = gnomon("simulate", "trace.swf", "-o", "json")
    assert makespan(ended.out) == 25
    assert "4 processors, as the trace says" in ended.err


def test_files_of_nodes_and_of_tasks_are_told_apart(gnomon: Gnomon, workplace: Path) -> None:
    nodes, tasks = "nodes: [{name: n, cpu: 2}]\n", "tasks: [{id: a, cpu: 2, count: 3, duration: 5s}]\n"
    (workplace / "nodes.yaml").write_text(nodes)
    (workplace / "tasks.yaml").write_text(tasks)
    (workplace / "both.yaml").write_text(nodes + tasks)
    for files in (["nodes.yaml", "tasks.yaml"], ["tasks.yaml", "nodes.yaml"], ["both.yaml"]):
        assert makespan(gnomon("simulate", *files, "-o", "json").out) == 15
    assert gnomon("simulate", "both.yaml", "nodes.yaml").code == USER_ERROR
    assert gnomon("simulate", "nodes.yaml").code == USER_ERROR


def test_timings_are_the_parts_of_the_contract(gnomon: Gnomon) -> None:
    document = json.loads(gnomon("simulate", "trace.swf", "--timings", "-o", "json").out)
    assert list(document["timings"]) == ["read", "compile", "simulate", "log", "write"]
    assert "CPU-SECONDS" in gnomon("simulate", "trace.swf", "--timings").out


def test_all_files_are_written(gnomon: Gnomon, workplace: Path) -> None:
    options = "--tasks tasks.csv --run kept --html page.html --trace trace.json".split()
    assert gnomon("simulate", "trace.swf", *options).code == ANSWERED
    assert gnomon("simulate", "trace.swf", "--tasks", "tasks.parquet").code == ANSWERED
    with (workplace / "tasks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["start"], row["state"]) for row in rows] == [
        ("1", "0", "done"),
        ("2", "10", "done"),
        ("3", "20", "done"),
    ]
    assert pq.read_table(workplace / "tasks.parquet").column("id").to_pylist() == [1, 2, 3]
    kept = {path.name for path in (workplace / "kept").iterdir()}
    assert kept == {"log.parquet", "tasks.parquet", "nodes.parquet", "metrics.json", "scenario.yaml"}
    assert "<h1>trace.swf</h1>" in (workplace / "page.html").read_text()
    slices = [e for e in json.loads((workplace / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {event["name"] for event in slices} == {"1", "2", "3"}


def test_what_cannot_run_is_counted_with_its_reason(gnomon: Gnomon) -> None:
    ended = gnomon("simulate", "trace.swf", "--cluster", 3)
    assert ended.code == ANSWERED
    assert ended.out.splitlines()[-2:] == ["STATE      REASON      TASKS   FIRST", "rejected   too large       1   2"]


def test_a_run_that_reaches_its_horizon_says_so(gnomon: Gnomon) -> None:
    ended = gnomon("simulate", "trace.swf", "--until", "5s")
    assert ended.code == ANSWERED
    assert "the run ends at 5s, as it was told to (until)" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.swf"], "nowhere.swf: no such file"),
        (["trace.swf", "--policy", "esay"], "did you mean 'easy'?"),
        (["trace.swf", "--cluster", "0"], "not a number of processors"),
        (["trace.swf", "--until", "soon"], "--until"),
        (["trace.swf", "--system", "ray"], "not modelled yet"),
        (["trace.swf", "--system", "slurm"], "--cluster: the cluster is missing; allowed: slurm.conf"),
        (["trace.swf", "--system", "slurm", "--cluster", "4"], "--cluster: not a cluster of slurm"),
        (["trace.swf", "--system", "slrm"], "unknown system"),
        (["trace.swf", "--work-format", "nonsense"], "nonsense"),
        (["trace.swf", "--tasks", "tasks.txt"], "tasks.txt"),
        (["trace.swf", "--html", "."], "directory"),
        (["trace.swf", "--run", "/"], "root of the file system"),
        (["trace.swf", "--run", "."], "is not replaced"),
        (["trace.swf", "--run", "trace.swf"], "is a file"),
        (["trace.swf", "--trace", "trace.swf/x"], "cannot be written: Not a directory"),
        (["trace.swf", "-o", "xml"], "xml"),
        (["trace.swf", "--seed", "-1"], "--seed"),
        (["two.yaml"], "gnomon compare"),
        (["tasks.yaml"], "--cluster"),
    ],
)
def test_mistakes_get_one_line_and_code_2(gnomon: Gnomon, workplace: Path, arguments: list[str], said: str) -> None:
    (workplace / "two.yaml").write_text("cluster: 4\nwork: trace.swf\npolicy: [easy, fcfs]\n")
    (workplace / "tasks.yaml").write_text("tasks:\n- {id: a, cpu: 1, duration: 1s}\n")
    ended = gnomon("simulate", *arguments)
    assert (ended.code, ended.out) == (USER_ERROR, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_what_cannot_be_written_is_said_before_anything_is_simulated(
    gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.api.simulate", lambda *arguments, **options: pytest.fail("it ran"))
    for option in (["--tasks", "tasks.txt"], ["--run", "."], ["--html", "."], ["--trace", "."]):
        assert gnomon("simulate", "trace.swf", *option).code == USER_ERROR


INTERRUPTED_WHILE_IT_RUNS = """
import signal
from dataclasses import replace
from gnomon import Scenario
from gnomon.api import Policy

def order(view, tasks):
    signal.raise_signal(signal.SIGINT)
    return view.submit_ns[tasks]

scenario = replace(Scenario.load("scenario.yaml"), policy=Policy(order=order))
"""


def test_ctrl_c_keeps_what_was_simulated(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "interrupted.py").write_text(INTERRUPTED_WHILE_IT_RUNS)
    ended = gnomon("simulate", "interrupted.py", "--invariants", "--run", "kept")
    assert ended.code == INTERRUPTED
    assert "stopped early: it was interrupted; what happened up to then is in kept" in ended.err
    asked = gnomon("query", "kept", "SELECT kind, reason FROM log ORDER BY row DESC LIMIT 1", "-o", "json")
    assert json.loads(asked.out) == [{"kind": "stop", "reason": "interrupted"}]


STUCK = """
cluster: {nodes: [{name: n, cpu: 4}]}
work: [{id: fails, cpu: 1, duration: 1h}, {id: reads, cpu: 1, duration: 1h, needs: [fails]}]
faults: [{fail: task/fails, chance: 1}]
"""


def test_a_run_that_ends_is_answered_and_one_that_breaks_what_is_asserted_is_a_no(
    gnomon: Gnomon, workplace: Path
) -> None:
    (workplace / "stuck.yaml").write_text(STUCK)
    assert gnomon("simulate", "stuck.yaml").code == ANSWERED
    ended = gnomon(
        "simulate", "stuck.yaml", "--assert", "every job ends", "--assert", "no task runs twice", "-o", "json"
    )
    assert ended.code == NO
    assert json.loads(ended.out)["properties"] == [
        {
            "property": "every job ends",
            "holds": False,
            "found": "2 of 2 tasks not done: fails (failed, exit), reads (waiting, needs)",
            "task": "fails",
        },
        {"property": "no task runs twice", "holds": True, "found": "never", "task": None},
    ]
    assert gnomon("simulate", "stuck.yaml", "--assert", "no task runs twice").code == ANSWERED


def test_the_properties_of_a_scenario_are_checked(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "stuck.yaml").write_text(f"{STUCK}properties: [at most 50 % tasks fail, every job ends within 3h]\n")
    ended = gnomon("simulate", "stuck.yaml")
    assert ended.code == NO
    table = [line.split("   ") for line in ended.out.splitlines()]
    shown = [[cell.strip() for cell in line if cell.strip()][:2] for line in table if len(line) > 2]
    assert ["at most 50 % tasks fail", "holds"] in shown
    assert ["every job ends within 3h", "violated"] in shown


@pytest.mark.parametrize("text", ["every jop ends", "no task waits longer than 1x", "max slowdown < 1"])
def test_what_is_not_understood_or_never_holds_is_the_users_mistake(gnomon: Gnomon, text: str) -> None:
    ended = gnomon("simulate", "scenario.yaml", "--assert", text)
    assert ended.code == USER_ERROR
    assert "--assert" in ended.err


CRON = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "*/10 * * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}}
"""


def test_the_end_that_is_said_is_that_of_native_files_too(workplace: Path, gnomon: Gnomon) -> None:
    (workplace / "cron.yaml").write_text(CRON)
    ended = gnomon("simulate", "cron.yaml", "--until", "1h", "-o", "json")
    assert ended.code == ANSWERED
    assert json.loads(ended.out)["jobs"] == 6


@pytest.mark.parametrize("said", ["", "until: 20m\n"])
def test_what_comes_by_itself_comes_until_the_end_on_the_command_line(
    gnomon: Gnomon, workplace: Path, said: str
) -> None:
    """A CronJob's Jobs at 0, 10, 20, 30 and 40 min."""
    (workplace / "objects.yaml").write_text(CRON)
    (workplace / "cron.yaml").write_text(f"system: kubernetes\nwork: objects.yaml\n{said}")
    for file in ("cron.yaml", "objects.yaml"):
        ended = gnomon("simulate", file, "--until", "45m", "-o", "json")
        assert (ended.code, json.loads(ended.out)["jobs"]) == (ANSWERED, 5)


def test_a_pod_that_is_not_tried_has_the_reason_of_its_condition(gnomon: Gnomon, workplace: Path) -> None:
    node, _, _ = CRON.partition("---")
    gated = "spec: {schedulingGates: [{name: a/b}], containers: [{name: c, image: x}]}"
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\n{gated}\n"
    (workplace / "objects.yaml").write_text(f"{node}---\n{pod}")
    ended = gnomon("simulate", "objects.yaml", "--until", "1m", "-o", "json")
    said = {"state": "waiting", "reason": "gated", "tasks": 1, "first": "default/p", "native": "SchedulingGated"}
    assert json.loads(ended.out)["reasons"] == [said]
    out = gnomon("simulate", "objects.yaml", "--until", "1m").out
    assert "   1   default/p   Pending   SchedulingGated   " in out
    assert "JOBS" not in out
    assert "JOBS" in gnomon("simulate", "objects.yaml", "--until", "1m", "-o", "wide").out


def test_a_run_that_cannot_be_kept_is_told_all_the_same(
    gnomon: Gnomon, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full at the end of an hour takes the files away, not the answer."""
    from gnomon.api import Run

    def full(run: Run, path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Run, "save", full)
    ended = gnomon("simulate", "trace.swf", "--run", "kept")
    assert (ended.code, ended.err.splitlines()[-1]) == (USER_ERROR, "error: kept: No space left on device")
    assert ended.out.startswith("JOBS")
