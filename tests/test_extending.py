"""The changes that docs/extending.md shows, applied to a copy of the source and run.

No git and no patch is needed: a hunk replaces the one place that has its lines, wherever that is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "extending.md"
NOTHING = "/dev/null"

Run = Callable[..., str]


@dataclass(frozen=True)
class Change:
    """What a diff does to one file: pairs of lines as they are and as they become. Of a new file there is one."""

    path: str
    new: bool
    hunks: tuple[tuple[str, str], ...]

    @property
    def added(self) -> int:
        """How many lines more."""
        return sum(after.count("\n") - before.count("\n") for before, after in self.hunks)


def changes(diff: str) -> list[Change]:
    """The files of a unified diff."""
    found = []
    for part in re.split(r"^(?=--- )", diff, flags=re.MULTILINE)[1:]:
        old, new, rest = part.split("\n", 2)
        hunks = tuple(
            (_side(hunk, "-"), _side(hunk, "+")) for hunk in re.split(r"^@@.*@@\n", rest, flags=re.MULTILINE)[1:]
        )
        found.append(Change(new.removeprefix("+++ b/"), old == f"--- {NOTHING}", hunks))
    return found


def _side(hunk: str, mark: str) -> str:
    return "".join(f"{line[1:]}\n" for line in hunk.splitlines() if not line or line[0] in (" ", mark))


def apply(change: Change, root: Path) -> None:
    path = root / change.path
    if change.new:
        assert not path.exists(), f"{change.path} is there: a change of the page is part of the product"
        path.parent.mkdir(exist_ok=True)
        path.write_text(change.hunks[0][1], encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    for before, after in change.hunks:
        assert text.count(before) == 1, f"{PAGE.name} does not fit {change.path} any more:\n{before}"
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


DIFFS = re.findall(r"^## A (.*?)\n.*?^```diff\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def gnomon(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the command line of the copy, with what is given as its one file; gives back what it prints."""
    root = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "src", root / "src")
    for _, diff in DIFFS:
        for change in changes(diff):
            apply(change, root)

    def run(file: str, content: str, *arguments: str) -> str:
        (root / file).write_text(content, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(root / "src")}
        command = [sys.executable, "-m", "gnomon", *(str(root / one) if one == file else one for one in arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize(("what", "diff"), DIFFS, ids=[what for what, _ in DIFFS])
def test_it_is_one_file_and_one_line(what: str, diff: str) -> None:
    """The policy is a function beside the others; an import, a line of documentation may go with the line."""
    old = [change for change in changes(diff) if not change.new]
    new = [change for change in changes(diff) if change.new]
    assert len(old) == 1
    assert (len(new), old[0].added <= 2) == (1, True) if what != "policy" else (0, False)


def test_four_things_are_added() -> None:
    assert [what for what, _ in DIFFS] == ["policy", "fault", "trace format", "system"]


def test_a_policy(gnomon: Run) -> None:
    """Two processors are free from 100 s on: of 10 s x 2 and 15 s x 1 the second is less work, though it is longer."""
    table = "id,submit,duration,cpus\nfirst,0,100,2\nwide,1,10,2\nlong,2,15,1\n"
    starts = {
        policy: json.loads(
            gnomon("work.csv", table, "simulate", "work.csv", *f"--cluster 2 --policy {policy} -o json".split())
        )
        for policy in ("sjf", "smallest-area")
    }
    # in turn: 100 s, then 10 and 15 s, or 15 and 10 s: waits of 99 + 108 s, or 98 + 114 s
    waits = {policy: round(3 * answer["wait_s"]["mean"]) for policy, answer in starts.items()}
    assert waits == {"sjf": 99 + 108, "smallest-area": 98 + 114}


def test_a_fault(gnomon: Run) -> None:
    """A task of 100 s on a node that stands still for 30 s takes 130 s, and is not lost."""
    scenario = """
cluster: {nodes: [{name: n1, cpu: 2}]}
work: [{id: a, cpu: 2, duration: 100s}]
faults: [{at: 40s, freeze: node/n1, for: 30s}]
operation: {detection: {beat: 10s, grace: 5m}}
"""
    answer = json.loads(gnomon("freeze.yaml", scenario, "simulate", "freeze.yaml", "-o", "json"))
    assert (answer["done"], answer["makespan_s"]) == (1, 130.0)
    told = gnomon("freeze.yaml", scenario, "explain", "a", "-f", "freeze.yaml")
    assert "n1 stands still for 30s" in told
    assert "n1 goes on" in told
    drawn = gnomon("freeze.yaml", scenario, "chaos", "freeze.yaml", "--kinds", "freeze", "--runs", "3", "-o", "json")
    assert "every job ends" in drawn


def test_a_trace_format(gnomon: Run) -> None:
    """Two jobs of both processors, one after the other: 100 s and 40 s. Their fields as the format lists them."""
    rest = "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1"
    job = "{} {} -1 {} 2 -1 -1 2 -1 -1 1 U7 G1 X Q0 -1 S1 S1 UNITARY " + rest
    log = "\n".join(["# JobID SubmitTime WaitTime RunTime NProcs", job.format(1, 0, 100), job.format(2, 5, 40), ""])
    answer = json.loads(gnomon("grid.log", log, "simulate", "grid.log", "--cluster", "2", "-o", "json"))
    assert (answer["jobs"], answer["makespan_s"]) == (2, 140.0)


def test_a_system(gnomon: Run) -> None:
    """30, 10, 20 and 10 s in two slots, each as soon as one is free: 0-30, 0-10, 10-30, 30-40."""
    script = "#!/bin/sh\nparallel -j 2 sleep ::: 30 10 20 10\n"
    answer = json.loads(gnomon("sweep.sh", script, "simulate", "sweep.sh", "-o", "json"))
    assert (answer["system"], answer["done"], answer["makespan_s"]) == ("parallel", 4, 40.0)
