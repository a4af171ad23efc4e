"""``gnomon chaos``: the table, one JSON document, the scenario file that replays, exit codes, bad input."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, INTERRUPTED, NO, USER_ERROR
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit

SCENARIO = """
cluster:
  nodes:
    - {name: n, cpu: 4, count: 3}
work:
  - {id: t, count: 4, cpu: 2, duration: 10m}
operation:
  detection: {beat: 10s, grace: 40s}
  eviction: {after: 60s}
properties:
  - no task runs twice at once
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_violation_is_told_with_its_faults_its_story_and_the_scenario(gnomon: Gnomon) -> None:
    ended = gnomon("chaos", "scenario.yaml", "--kinds", "partition,crash")
    assert ended.code == NO
    assert ended.out.splitlines()[0].split() == ["PROPERTY", "RESULT", "VIOLATIONS", "RUNS"]
    assert "no task runs twice at once   violated" in ended.out
    assert "HOW IT CAME TO BE" in ended.out
    _, _, replay = ended.out.partition("THE SCENARIO THAT REPLAYS IT\n")
    assert replay.startswith("# Written by Gnomon after scenario.yaml")
    assert "partition: node/n-" in replay


def test_the_file_that_is_written_replays_it(gnomon: Gnomon, workplace: Path) -> None:
    ended = gnomon("chaos", "scenario.yaml", "--kinds", "partition", "--out", "minimal.yaml")
    assert ended.code == NO
    *_, replay, change = ended.out.rstrip().splitlines()
    assert replay == "To replay it: gnomon simulate minimal.yaml"
    assert change.startswith("To see what would change it: gnomon explain ")
    assert gnomon(*change.split()[-4:]).code == ANSWERED
    metrics = json.loads(gnomon("simulate", "minimal.yaml", "-o", "json").out)
    assert metrics["recovery"]["ran_twice"]["unplanned"] >= 1
    again = gnomon("chaos", "minimal.yaml", "--runs", 1)
    assert again.code == NO
    assert "It is so without any additional fault." in again.out


def test_what_no_run_could_keep_is_not_demanded_and_that_is_said(gnomon: Gnomon, workplace: Path) -> None:
    service = "cluster: {nodes: [{name: n, count: 2, cpu: 4}]}\nwork: [{id: web, cpu: 1}]\nuntil: 1h\n"
    (workplace / "service.yaml").write_text(service)
    usual = gnomon("chaos", "service.yaml", "--runs", 1)
    assert usual.out.splitlines()[1].startswith("no task runs twice at once")
    assert "not demanded: every job ends, for web runs without an end" in usual.err
    said = gnomon("chaos", "service.yaml", "--runs", 1, "--property", "no task runs twice at once")
    assert "not demanded" not in said.err


def test_one_json_document(gnomon: Gnomon) -> None:
    arguments = ("--kinds", "partition,crash", "--seed", 3)
    document = json.loads(gnomon("chaos", "scenario.yaml", "-o", "json", *arguments).out)
    assert document["seed"] == 3
    assert document["kinds"] == ["crash", "partition"]
    (one,) = document["properties"]
    assert (one["property"], one["holds"]) == ("no task runs twice at once", False)
    (violation,) = document["violations"]
    assert violation["minimal"] is True
    assert [fault["kind"] for fault in violation["faults"]] == ["partition"]
    assert len(violation["faults"]) <= len(violation["faults_of_run"])
    assert {"row", "t_s", "event", "text"} == violation["chain"][0].keys()
    assert "partition: node/n-" in violation["scenario"]


def test_the_same_seed_gives_the_same_and_workers_do_not_matter(gnomon: Gnomon) -> None:
    arguments = ("chaos", "scenario.yaml", "--seed", 5, "--runs", 40, "-o", "json")
    assert gnomon(*arguments, "--workers", 1).out == gnomon(*arguments).out


def test_what_holds_is_answered_so(gnomon: Gnomon, workplace: Path) -> None:
    ended = gnomon("chaos", "scenario.yaml", "--kinds", "kill", "--runs", 30, "--out", "minimal.yaml")
    assert ended.code == ANSWERED
    assert ended.out.splitlines()[1].split()[-3:] == ["holds", "0", "30"]
    assert "there is nothing to replay" in ended.err
    assert not (workplace / "minimal.yaml").exists()


def test_properties_on_the_command_line_take_the_place_of_the_scenario_s(gnomon: Gnomon) -> None:
    ended = gnomon(
        *("chaos", "scenario.yaml", "--kinds", "crash", "--all", "--runs", 40),
        *("--property", "every job ends", "--property", "no work lost"),
    )
    assert ended.code == NO
    lines = ended.out.splitlines()
    assert lines[1].split()[-3:] == ["holds", "0", "40"]
    assert lines[2].startswith("no work lost")
    assert lines[2].split()[-3] == "violated"


def test_several_violations_go_to_several_files(gnomon: Gnomon, workplace: Path) -> None:
    demanded = ("--property", "no work lost", "--property", "makespan <= 10m")
    ended = gnomon("chaos", "scenario.yaml", *demanded, "--kinds", "crash", "--out", "bad.yaml", "--all", "--runs", 30)
    assert ended.code == NO
    assert sorted(path.name for path in workplace.glob("bad*")) == ["bad-2.yaml", "bad.yaml"]


def test_a_scenario_in_python_has_no_file_to_replay(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "it.py").write_text("from gnomon import Scenario\nscenario = Scenario.load('scenario.yaml')\n")
    ended = gnomon("chaos", "it.py", "--kinds", "partition", "-o", "json")
    assert ended.code == NO
    assert json.loads(ended.out)["violations"][0]["scenario"] is None
    assert "no scenario file" in ended.err


def test_a_violation_that_is_about_no_task_has_its_story_too(gnomon: Gnomon, workplace: Path) -> None:
    control = "  control: {members: 3, lease: 15s, quorum: false}\nproperties: [at most one leader]\n"
    (workplace / "scenario.yaml").write_text(SCENARIO.partition("properties")[0] + control)
    document = json.loads(gnomon("chaos", "scenario.yaml", "-o", "json").out)
    (violation,) = document["violations"]
    assert violation["task"] is None
    assert [link["event"] for link in violation["chain"]] == ["fault"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--property", "p95 wiat < 1m"), "--property: unknown measure (did you mean 'wait'?), found 'wiat'"),
        (("--property", "all is well"), "--property: not a property that is understood, found 'all is well'"),
        (("--property", "at most one leader"), "can never be evaluated in this scenario: the control plane has one"),
        (("--kinds", "crush"), "--kinds: unknown kind of fault (did you mean 'crash'?), found 'crush'"),
        (("--kinds", ","), "--kinds: no kind of fault is named"),
        (("--kinds", "device"), "--kinds: such a fault can do nothing in this scenario, found 'device'"),
        (("--runs", 0), "--runs"),
        (("--state", "scenario.yaml"), "scenario.yaml: is not a state of gnomon chaos"),
        (("--out", "."), "error: ."),
    ],
)
def test_bad_input_is_one_clear_line(gnomon: Gnomon, arguments: tuple[object, ...], said: str) -> None:
    ended = gnomon("chaos", "scenario.yaml", *arguments)
    assert ended.code == USER_ERROR
    assert ended.out == ""
    (line,) = ended.err.splitlines()
    assert said in line


def test_a_property_of_the_scenario_names_its_place(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "scenario.yaml").write_text(SCENARIO + "  - at most one leader\n")
    ended = gnomon("chaos", "scenario.yaml")
    assert ended.code == USER_ERROR
    assert "properties: this can never be evaluated" in ended.err


def test_ctrl_c_keeps_the_state(gnomon: Gnomon, workplace: Path) -> None:
    state = workplace / "state"
    arguments = ("chaos", "scenario.yaml", "--kinds", "partition", "--state", "state", "--workers", 1, "--runs")

    def interrupt() -> None:
        while not state.exists() or state.read_bytes().count(b"\n") < 10:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    ended = gnomon(*arguments, 100_000, "--all")
    watcher.join()
    assert ended.code == INTERRUPTED
    assert ended.out == ""
    assert "what was done is in state" in ended.err
    kept = state.read_bytes()
    assert gnomon(*arguments, 10).code in (ANSWERED, NO)
    assert state.read_bytes().startswith(kept)
