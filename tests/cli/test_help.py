"""The help of each verb: every example in it runs, in a folder that holds files such as its reader has."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, NO
from gnomon.cli.app import QUESTIONS, VERBS
from tests.cli import test_snapshot, test_snapshot_slurm
from tests.cli.conftest import Gnomon
from tests.shared import EXAMPLES, ROOT

pytestmark = pytest.mark.unit

GOLDEN = ROOT / "tests" / "golden"
TRACES = ROOT / "tests" / "data" / "traces"

SCENARIO = """
cluster: {nodes: [{name: a, cpu: 8, memory: 16Gi}, {name: b, cpu: 8, memory: 16Gi}]}
work:
  - {id: ingest, cpu: 6, memory: 4Gi, duration: 2h, count: 2}
  - {id: render, cpu: 8, memory: 8Gi, submit: 5m, duration: 30m}
properties: [every job ends]
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:1.27", resources: {requests: {cpu: "3"}}}]}
"""
NODES = """
apiVersion: v1
kind: Node
metadata: {name: worker-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
SLURM_CONF = """
ClusterName=lab
SlurmctldHost=head
NodeName=n[1-2] CPUs=4 RealMemory=8000
PartitionName=main Nodes=ALL Default=YES
"""
SCRIPT = "#!/bin/bash\n#SBATCH -J train -N 3 -t 1:00:00\nsrun train\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gnomon: Gnomon) -> Path:
    """A place with the files that the examples name, and with programs that answer as kubectl and Slurm's do."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("scenario.yaml", SCENARIO),
        ("deployment.yaml", DEPLOYMENT),
        ("nodes.yaml", NODES),
        ("slurm.conf", SLURM_CONF),
        ("job.sh", SCRIPT),
    ):
        Path(name).write_text(text)
    for source, name in (
        (TRACES / "openb-nodes.csv", "nodes.csv"),
        (TRACES / "openb-tasks.csv", "pods.csv"),
        (EXAMPLES / "dataflow" / "wordcount.py", "job.py"),
    ):
        shutil.copy(source, name)
    shutil.copytree(EXAMPLES / "dataflow" / "input", "input")
    shutil.copytree(GOLDEN / "spark" / "eventlog_v2_spark-log-task-retry-7", "eventlog")
    Path("recorded").mkdir()
    for number, name in enumerate(("fit-cpu-exact", "fit-hugepages"), start=1):
        shutil.copy(GOLDEN / "kubernetes" / f"{name}.json", f"recorded/fit-{number}.json")
    assert gnomon("generate", "jobs.swf", "--jobs", 100, "--procs", 64).code == ANSWERED
    programs = test_snapshot_slurm.pretend(tmp_path)
    body = f"print(json.dumps({test_snapshot.WHOLE!r}))"
    shutil.move(test_snapshot.pretend(tmp_path, body), programs / "kubectl")
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return tmp_path


def examples(help_text: str) -> Iterator[list[str]]:
    """The commands in a help text, as arguments."""
    for line in re.findall(r"^ +gnomon (.+)$", help_text, re.MULTILINE):
        yield shlex.split(line)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_example_in_the_help_runs(gnomon: Gnomon, folder: Path, verb: str) -> None:
    if verb in ("query", "explain"):
        assert gnomon("simulate", "jobs.swf", "--run", "results").code == ANSWERED
    shown = list(examples(gnomon(verb, "--help").out))
    assert len(shown) >= 2
    for arguments in shown:
        assert arguments[0] == verb
        shutil.rmtree("out", ignore_errors=True)  # what a run of the job gave is not written over
        ended = gnomon(*arguments)
        assert ended.code in ((ANSWERED, NO) if verb in ("chaos", "check") else (ANSWERED,)), (arguments, ended.err)


def test_without_a_verb_each_stands_below_a_question_with_an_example_that_its_own_help_has(gnomon: Gnomon) -> None:
    shown = gnomon().out
    assert [arguments[0] for arguments in examples(shown)] == [verb.name for verb in VERBS]
    assert {shlex.join(one) for one in examples(shown)} <= {
        shlex.join(one) for verb in VERBS for one in examples(gnomon(verb.name, "--help").out)
    }
    assert [heading for heading, _ in QUESTIONS] == re.findall(r"^(\w.*):$", shown, re.MULTILINE)[:-1]
    assert max(map(len, shown.splitlines())) <= 80


def test_help_may_come_first(gnomon: Gnomon) -> None:
    assert gnomon("help") == gnomon("--help")
    assert gnomon("help", "explain") == gnomon("explain", "--help")
    assert gnomon("version") == gnomon("--version")
