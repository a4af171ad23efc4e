"""Where the terminal knows ASCII only, all is readable still, and documents are what they are called."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon.cli import ANSWERED
from tests.cli.test_signals import PROGRAM
from tests.shared import ROOT

pytestmark = pytest.mark.unit

ENVIRONMENTS = {
    "said": {"PYTHONIOENCODING": "ascii"},
    "locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def in_ascii(environment: str, *arguments: object) -> str:
    """What a command writes to a stdout in ASCII."""
    given = {**os.environ, **ENVIRONMENTS[environment], "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run([*PROGRAM, *map(str, arguments)], env=given, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (ANSWERED, b"1 case: 0 agree, 0 disagree, 1 not modelled\n")
    return ended.stdout.decode("ascii")


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    path.write_text('{"name": "größer \\ud800 × 2 …", "system": "Ω", "outcome": 0}', encoding="utf-8")
    return path


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_table_has_what_looks_alike(case: Path, environment: str) -> None:
    assert "gr\\xf6\\xdfer \\ud800 x 2 ..." in in_ascii(environment, "verify", case)


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_documents_hold_what_they_would_anywhere(case: Path, form: str, read: Any) -> None:
    case.write_text('{"name": "größer × 2 …", "system": "Ω", "outcome": 0}', encoding="utf-8")
    (found,) = read(in_ascii("said", "verify", case, "-o", form))
    assert (found["name"], found["system"]) == ("größer × 2 …", "Ω")
