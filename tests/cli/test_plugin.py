"""``kubectl gnomon``: what is for kubectl, what is checked before it is asked, and what is explained."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Ended
from tests.cli.test_snapshot import NODE, POD

pytestmark = pytest.mark.unit

PROGRAM = "import sys; sys.argv[0] = 'kubectl-gnomon'; from gnomon.cli.plugin import plugin; plugin()"
OTHER = {**POD, "metadata": {"name": "typo", "namespace": "bank"}}
WHOLE = {"apiVersion": "v1", "kind": "List", "items": [NODE, POD, OTHER]}


def kubectl_gnomon(folder: Path, *arguments: str) -> tuple[Ended, list[str]]:
    """How it ended, and what kubectl was asked."""
    asked = folder / "asked"
    kubectl = folder / "kubectl"
    kubectl.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"open({str(asked)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\nprint(json.dumps({WHOLE!r}))\n"
    )
    kubectl.chmod(0o755)
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": str(folder)},
        timeout=120,
    )
    calls = asked.read_text().splitlines() if asked.exists() else []
    return Ended(found.returncode, found.stdout, found.stderr), calls


@pytest.mark.parametrize("option", [["-n", "shop"], ["--namespace=shop"], ["-nshop"]])
def test_a_namespace_is_the_subjects(tmp_path: Path, option: list[str]) -> None:
    ended, asked = kubectl_gnomon(tmp_path, "explain", "typo", *option, "-o", "json")
    assert ended.code == ANSWERED, ended.err
    assert json.loads(ended.out)["subject"] == "pod/shop/typo"
    assert len(asked) == 1
    assert "--all-namespaces" in asked[0]


def test_without_one_a_name_that_two_have_is_no_answer(tmp_path: Path) -> None:
    ended, _ = kubectl_gnomon(tmp_path, "explain", "typo")
    assert ended.code == USER_ERROR
    assert "shop/typo" in ended.err


def test_the_context_is_kubectls(tmp_path: Path) -> None:
    ended, asked = kubectl_gnomon(tmp_path, "explain", "shop/typo", "--context", "staging", "--kubeconfig=own.conf")
    assert ended.code == ANSWERED, ended.err
    assert asked[0].startswith("--context staging --kubeconfig own.conf get nodes,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "typo", "--bogus"], "No such option: --bogus (see kubectl gnomon explain --help)"),
        (["explain"], "SUBJECT: say what is to be explained; allowed: kubectl gnomon explain POD"),
        (["explain", "typo", "-n"], "-n: a value is missing"),
        (["explain", "typo", "-o", "xml"], "xml"),
        (["simulate", "-n", "shop"], "--namespace: a namespace is for explain"),
        (["explane", "typo"], "explane"),
    ],
)
def test_mistakes_are_told_before_the_cluster_is_asked(tmp_path: Path, arguments: list[str], said: str) -> None:
    ended, asked = kubectl_gnomon(tmp_path, *arguments)
    assert (ended.code, ended.out, asked) == (USER_ERROR, "", [])
    assert said in ended.err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["explain", "--help"]])
def test_the_help_is_its_own(tmp_path: Path, arguments: list[str]) -> None:
    ended, asked = kubectl_gnomon(tmp_path, *arguments)
    assert (ended.code, asked) == (ANSWERED, [])
    assert ended.out.startswith("Usage: kubectl gnomon VERB")
    assert ("Usage: kubectl gnomon explain" in ended.out) == ("explain" in arguments)


def test_files_are_taken_instead_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "objects.json").write_text(json.dumps({**WHOLE, "items": [NODE, POD]}))
    ended, asked = kubectl_gnomon(tmp_path, "explain", "typo", "-f", str(tmp_path / "objects.json"))
    assert (ended.code, asked) == (ANSWERED, [])


def test_a_snapshot_needs_no_system(tmp_path: Path) -> None:
    ended, asked = kubectl_gnomon(tmp_path, "snapshot", "--out", str(tmp_path / "out.json"), "--context", "staging")
    assert (ended.code, len(asked)) == (ANSWERED, 1)
    assert asked[0].startswith("--context staging get")
    assert json.loads((tmp_path / "out.json").read_text()) == WHOLE
