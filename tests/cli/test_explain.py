"""``gnomon explain``: of files or of a kept run, for people or for programs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Gnomon
from tests.cli.test_frame import PROGRAM
from tests.shared import EXAMPLES, ROOT

pytestmark = pytest.mark.unit

PENDING = EXAMPLES / "why-pending.yaml"
STORIES = ROOT / "tests" / "data" / "explain"
PARTITION = STORIES / "partition-twice.yaml"


def test_the_answer_comes_first(gnomon: Gnomon) -> None:
    ended = gnomon("explain", "render", "-f", PENDING)
    assert ended.code == ANSWERED
    assert ended.out.startswith("task/render   waiting\n")
    assert "WHAT WOULD CHANGE IT" in ended.out


def test_json_has_the_form_of_the_contract(gnomon: Gnomon) -> None:
    found = json.loads(gnomon("explain", "render", "-f", PENDING, "-o", "json").out)
    assert list(found) == ["subject", "state", "summary", "native", "waiting", "classes", "chain", "changes"]
    assert found["waiting"][0].keys() == {"kind", "rule", "object", "numbers", "earliest_s"}
    assert found["classes"][0].keys() == {"nodes", "example", "reasons"}
    assert found["chain"][0].keys() == {"row", "t_s", "event", "text"}
    assert found["changes"][0].keys() == {"what", "object", "field", "from", "to", "cost", "confirmed"}
    assert [change["cost"] for change in found["changes"]] == sorted(change["cost"] for change in found["changes"])


def test_a_kept_run_gives_the_same_answer(gnomon: Gnomon, tmp_path: Path) -> None:
    assert gnomon("simulate", PENDING, "--run", tmp_path / "kept").code == ANSWERED
    kept = gnomon("explain", "render", "--run", tmp_path / "kept", "-o", "json")
    assert kept.out == gnomon("explain", "render", "-f", PENDING, "-o", "json").out


def test_several_files_make_one_scenario(gnomon: Gnomon, tmp_path: Path) -> None:
    nodes, tasks = tmp_path / "nodes.yaml", tmp_path / "tasks.yaml"
    nodes.write_text("nodes: [{name: n, cpu: 4}]\n")
    tasks.write_text("tasks: [{id: big, cpu: 8, duration: 1s}]\n")
    for files in (["-f", nodes, "-f", tasks], ["-f", nodes, tasks]):
        found = json.loads(gnomon("explain", "big", *files, "-o", "json").out)
        assert (found["state"], found["waiting"][0]["kind"]) == ("rejected", "infeasible")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["render"], "one of -f and --run is needed"),
        (["nobody", "-f", PENDING], "nobody"),
        (["inference", "-f", PENDING], "allowed: "),
        (["render", "--run", "nowhere"], "nowhere"),
        (["render", "--run", "nowhere", "--policy", "easy"], "--policy: a kept run cannot be changed"),
        (["render", "-f", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["render", "-f", PENDING, "--why-not", "train-9"], "--why-not: unknown node (did you mean"),
        (["node/train-9", "-f", PENDING], "SUBJECT: unknown node"),
        (["node/train-1", "-f", PENDING, "--why-not", "train-2"], "--why-not: a node is on no node"),
    ],
)
def test_mistakes_get_one_line_and_code_2(gnomon: Gnomon, arguments: list[object], said: str) -> None:
    ended = gnomon("explain", *arguments)
    assert (ended.code, ended.out) == (USER_ERROR, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_what_the_search_found_nothing_for_is_said_apart(gnomon: Gnomon) -> None:
    ended = gnomon("explain", "etl-11", "-f", EXAMPLES / "two-queues.yaml", "-o", "json")
    assert json.loads(ended.out)["changes"] == []
    assert "no single change that was tried brings about that it starts by 40m" in ended.err


def test_why_not_a_node(gnomon: Gnomon) -> None:
    ended = gnomon("explain", "render", "-f", PENDING, "--why-not", "serve-1", "-o", "json")
    found = json.loads(ended.out)
    assert list(found)[-1] == "why_not"
    assert found["why_not"] == {
        "node": "serve-1",
        "fits": False,
        "text": "at 2h, serve-1 did not take render: 12 cpu asked, 8 of 16 free (inference-0 holds it)",
        "reasons": ["12 cpu asked, 8 of 16 free (inference-0 holds it)"],
    }
    shown = gnomon("explain", "render", "-f", PENDING, "--why-not", "serve-1").out
    assert "WHY NOT serve-1\nat 2h, serve-1 did not take render" in shown


def test_a_node_can_be_asked_about(gnomon: Gnomon) -> None:
    found = json.loads(gnomon("explain", "node/n-0", "-f", PARTITION, "-o", "json").out)
    assert (found["subject"], found["state"]) == ("node/n-0", "open")
    assert "at 10m n-0 is cut off from all the rest for 30m" in found["summary"]
    assert found["chain"][0]["event"] == "fault"


@pytest.mark.parametrize("story", ["partition-twice", "node-memory", "drain-budget", "results-lost", "checkpoint"])
def test_a_kept_run_with_faults_gives_the_same_answer(gnomon: Gnomon, tmp_path: Path, story: str) -> None:
    path = STORIES / f"{story}.yaml"
    subject = path.read_text(encoding="utf-8").removeprefix("# ").partition(":")[0]
    assert gnomon("simulate", path, "--run", tmp_path / "kept").code == ANSWERED
    kept = gnomon("explain", subject, "--run", tmp_path / "kept", "-o", "json")
    assert kept.out == gnomon("explain", subject, "-f", path, "-o", "json").out


OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: x}]}
"""


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_the_standard_input_is_a_file_too(name: str) -> None:
    command = [*PROGRAM, "explain", "p", "-f", name, "-o", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    found = subprocess.run(command, input=OBJECTS, capture_output=True, text=True, check=False, env=environment)
    assert found.returncode == ANSWERED, found.stderr
    assert json.loads(found.stdout)["subject"] == "pod/default/p"


def test_a_folder_is_all_of_its_files(gnomon: Gnomon, tmp_path: Path) -> None:
    node, _, pod = OBJECTS.partition("---")
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "node.yaml").write_text(node)
    (tmp_path / "objects" / "pod.yml").write_text(pod)
    assert gnomon("explain", "p", "-f", tmp_path / "objects").out.startswith("pod/default/p   waiting")
    (tmp_path / "scenario.yaml").write_text("system: kubernetes\ncluster: objects\n")
    assert gnomon("explain", "p", "-f", tmp_path / "scenario.yaml").out.startswith("pod/default/p   waiting")


def test_an_explanation_can_be_kept_as_a_page(gnomon: Gnomon, tmp_path: Path) -> None:
    path = tmp_path / "why.html"
    plain = gnomon("explain", "render", "-f", EXAMPLES / "why-pending.yaml")
    kept = gnomon("explain", "render", "-f", EXAMPLES / "why-pending.yaml", "--html", path)
    assert kept == plain
    page = path.read_text(encoding="utf-8")
    assert "accept nodes of kind K80 too: it starts at 5m" in page
    assert "runs on until the end of the simulation" in page
    full = gnomon("explain", "render", "-f", EXAMPLES / "why-pending.yaml", "--html", tmp_path)
    assert (full.code, full.out) == (USER_ERROR, "")
