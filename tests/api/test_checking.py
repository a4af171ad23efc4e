"""Checks that look outside of the functions: files, output, programs, and what no other process can get."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api.checking import check_job
from gnomon.api.jobs import load_job
from gnomon.dataflow.findings import Finding, Level

START = "import os, pathlib, subprocess, sys, threading\nfrom gnomon.dataflow import Dataflow\nflow = Dataflow()\n"
END = "flow.source([1, 2, 3], partitions=2).map(work, name='work').collect()\n"


@pytest.fixture(autouse=True)
def _in_this_process_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes make is tested in test_hash_seeds.py."""
    monkeypatch.setattr("gnomon.api.checking.seed_findings", lambda *_: ())


def found(folder: Path, text: str) -> list[Finding]:
    (folder / "job.py").write_text(START + text + END)
    return check_job(load_job(folder / "job.py"))


@pytest.mark.parametrize(
    ("body", "does"),
    [
        ("open(os.path.join(HERE, 'log'), 'a').close(); return record", "writes a file"),
        ("print('saw', record); return record", "prints"),
        ("subprocess.run([sys.executable, '-c', '']); return record", "starts a program"),
        ("os.makedirs(os.path.join(HERE, f'f{record}'), exist_ok=True); return record", "makes a folder"),
    ],
)
def test_an_effect_outside_is_found_with_its_first_record(tmp_path: Path, body: str, does: str) -> None:
    findings = found(tmp_path, f"HERE = {str(tmp_path)!r}\ndef work(record):\n    {body}\n")
    (effect,) = [one for one in findings if one.rule == "effects"]
    assert (effect.level, effect.stage, effect.record) == (Level.WARNING, "work", "1")
    assert does in effect.problem


def test_what_a_job_prints_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found(tmp_path, "def work(record):\n    print('loud')\n    return record\n")
    assert capsys.readouterr() == ("", "")


def test_reading_a_file_is_no_effect(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("x")
    assert (
        found(
            tmp_path, f"def work(record):\n    return pathlib.Path({str(tmp_path / 'table')!r}).read_text(), record\n"
        )
        == []
    )


@pytest.mark.parametrize(
    ("made", "kind"),
    [("threading.Lock()", "lock"), ("memoryview(b'')", "memoryview"), ("(x for x in 'ab')", "generator")],
)
def test_what_cannot_be_sent_to_a_worker_is_named(tmp_path: Path, made: str, kind: str) -> None:
    (finding,) = found(tmp_path, f"held = {made}\ndef work(record):\n    held\n    return record\n")
    assert (finding.rule, finding.level, finding.stage) == ("pickling", Level.ERROR, "work")
    assert finding.problem.startswith("work uses held, a ")
    assert kind in finding.problem


def test_the_worst_come_first(tmp_path: Path) -> None:
    text = "held = threading.Lock()\ndef work(record):\n    held\n    print(record)\n    return record\n"
    assert [one.level for one in found(tmp_path, text)] == [Level.ERROR, Level.WARNING]
