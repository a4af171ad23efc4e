"""The tasks file: when tasks were submitted that their system submits, and those that never were."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from gnomon.api import Run
from tests.systems.kubernetes.play import job, node, play, spec


def run() -> Run:
    """A Job of two pods, one after the other, of 60 s each: the second comes when the first is done, at 60 s; the run
    ends before the third."""
    asked = job("sum", spec(), {"gnomon.dev/duration": "60s"}, completions=3, parallelism=1)
    return play([node("n1"), asked], until_s=100)


def test_a_pod_that_a_controller_makes_is_submitted_when_it_is_made(tmp_path: Path) -> None:
    run().write_tasks(tmp_path / "tasks.csv")
    rows = [line.split(",") for line in (tmp_path / "tasks.csv").read_text().splitlines()[1:]]
    assert [(row[0], row[4], row[5]) for row in rows] == [
        ("default/sum-0", "0", "0"),
        ("default/sum-1", "60", "60"),
        ("default/sum-2", "", ""),
    ]


def test_the_exact_times_are_the_same(tmp_path: Path) -> None:
    run().write_tasks(tmp_path / "tasks.parquet")
    assert pq.read_table(tmp_path / "tasks.parquet")["submit_ns"].to_pylist() == [0, 60 * 10**9, None]
