"""``gnomon snapshot kubernetes`` and ``kubectl gnomon``: a program that answers as kubectl does stands for it."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"pool": "general"}},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "typo", "namespace": "shop"},
    "spec": {"nodeSelector": {"pool": "genral"}, "containers": [{"name": "c", "image": "x:1"}]},
}
WHOLE = {"apiVersion": "v1", "kind": "List", "items": [NODE, POD]}


def pretend(folder: Path, body: str) -> Path:
    """A kubectl that does what a few lines of Python say."""
    path = folder / "kubectl"
    path.write_text(f"#!{sys.executable}\nimport json, sys\nasked = sys.argv[sys.argv.index('get') + 1]\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_cluster_becomes_a_file(gnomon: Gnomon, tmp_path: Path) -> None:
    kubectl = pretend(tmp_path, f"print(json.dumps({WHOLE!r}))")
    out = tmp_path / "cluster.json"
    ended = gnomon("snapshot", "kubernetes", "--kubectl", kubectl, "--out", out)
    assert ended.code == ANSWERED
    assert json.loads(out.read_bytes()) == WHOLE
    assert "gnomon explain POD -f" in ended.err


def test_what_may_not_be_listed_is_left_out_and_told(gnomon: Gnomon, tmp_path: Path) -> None:
    body = f"""
if "," in asked or asked == "storageclasses.storage.k8s.io":
    print("Error from server (Forbidden): storageclasses is forbidden", file=sys.stderr)
    sys.exit(1)
found = {{"nodes": [{NODE!r}], "pods": [{POD!r}]}}.get(asked, [])
print(json.dumps({{"apiVersion": "v1", "kind": "List", "items": found}}))
"""
    out = tmp_path / "cluster.json"
    ended = gnomon("snapshot", "kubernetes", "--kubectl", pretend(tmp_path, body), "--out", out)
    assert ended.code == ANSWERED
    assert "left out: storageclasses.storage.k8s.io: Error from server (Forbidden)" in ended.err
    assert gnomon("simulate", out, "-o", "json").code == ANSWERED


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("print('no route to host', file=sys.stderr); sys.exit(1)", "kubectl cannot list nodes: no route to host"),
        ("", ""),
    ],
)
def test_a_cluster_that_does_not_answer(gnomon: Gnomon, tmp_path: Path, body: str, said: str) -> None:
    kubectl = pretend(tmp_path, body) if body else tmp_path / "nowhere"
    ended = gnomon("snapshot", "kubernetes", "--kubectl", kubectl, "--out", tmp_path / "cluster.json")
    assert ended.code == USER_ERROR
    assert (said or "kubectl is not found") in ended.err
    assert not (tmp_path / "cluster.json").exists()


def test_the_plug_in_asks_the_cluster_itself(tmp_path: Path) -> None:
    pretend(tmp_path, f"print(json.dumps({WHOLE!r}))")
    program = "import sys; sys.argv[0] = 'kubectl-gnomon'; from gnomon.cli.plugin import plugin; plugin()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "simulate"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": str(tmp_path)},
        timeout=120,
    )
    assert ended.returncode == ANSWERED, ended.stderr
    assert "shop/typo   Pending   FailedScheduling" in ended.stdout
