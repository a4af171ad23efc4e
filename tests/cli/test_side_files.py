"""A file beside the answer that cannot be written: the answer is given all the same, then what went wrong."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gnomon.cli import USER_ERROR
from gnomon.formats import whole
from tests.cli.conftest import Gnomon
from tests.shared import EXAMPLES

pytestmark = pytest.mark.unit

GANG, JOB = EXAMPLES / "gang.yaml", EXAMPLES / "dataflow" / "average.py"
CHAOS = EXAMPLES / "chaos" / "retries-without-fencing.yaml"


@pytest.fixture(autouse=True)
def full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with delayed allocation: that the disk is full is known when a file is to be durable."""

    def fail(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(whole, "_sync", fail)


@pytest.mark.parametrize(
    ("arguments", "option", "file"),
    [
        (("simulate", GANG), "--html", "page.html"),
        (("simulate", GANG), "--run", "kept"),
        (("simulate", GANG), "--tasks", "tasks.csv"),
        (("simulate", GANG), "--trace", "trace.json"),
        (("compare", GANG, "--policy", "fcfs,sjf", "--workers", 1), "--html", "page.html"),
        (("describe", JOB), "--html", "page.html"),
    ],
)
def test_the_answer_is_given(gnomon: Gnomon, arguments: tuple[object, ...], option: str, file: str) -> None:
    without = gnomon(*arguments)
    ended = gnomon(*arguments, option, file)
    assert (ended.code, ended.out) == (USER_ERROR, without.out)
    assert ended.err.splitlines()[-1] == f"error: {file}: cannot be written: No space left on device"
    assert os.listdir() == []


def test_a_scenario_that_replays_is_shown_where_it_is_not_written(gnomon: Gnomon) -> None:
    ended = gnomon("chaos", CHAOS, "--property", "no work lost", "--kinds", "crash", "--out", "minimal.yaml")
    assert "THE SCENARIO THAT REPLAYS IT" in ended.out
    assert ended.err.splitlines()[-1] == "error: minimal.yaml: cannot be written: No space left on device"
    assert (ended.code, os.listdir()) == (USER_ERROR, [])


def test_a_current_folder_that_is_gone(gnomon: Gnomon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails there, such as starting a process, names no file."""

    def fail(path: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr("gnomon.api.verify.read_case", fail)
    assert gnomon("verify", "x.json").err == "error: No such file or directory\n"
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    ended = gnomon("verify", "x.json")
    assert (ended.code, ended.err) == (USER_ERROR, "error: the current folder is gone; change to one that is there\n")
