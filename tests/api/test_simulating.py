"""Running scenarios side by side."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.api.simulating import warm_up
from tests.shared import ROOT

SCRIPT = """
from dataclasses import replace
from gnomon.api import Scenario, compare, parse_policy

two = Scenario.load("examples/two-queues.yaml")
for run in compare([replace(two, policy=parse_policy(text)) for text in ("fcfs", "sjf")], workers=2):
    print(run)
"""


@pytest.mark.unit
@pytest.mark.parametrize("read", ["from a file", "from a pipe"])
def test_a_script_without_a_guard_may_compare(tmp_path: Path, read: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    arguments, fed = ([str(path)], None) if read == "from a file" else ([], SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        [sys.executable, *arguments],
        input=fed,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [line.partition(":")[0] for line in ended.stdout.splitlines()] == ["Run(fcfs", "Run(sjf"]


@pytest.mark.unit
def test_kernels_are_made_for_the_systems_that_are_compared_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr("gnomon.engine.fast.compiled", lambda kernel: made.append(kernel.__module__))
    warm_up([])
    assert not made
    warm_up(["slurm"])
    assert {"gnomon.scheduling.pipeline", "gnomon.systems.slurm.columnar.clock"} <= set(made)
    made.clear()
    warm_up(["plain"])
    assert "gnomon.scheduling.pipeline" in made
    assert not any(module.startswith("gnomon.systems") for module in made)
