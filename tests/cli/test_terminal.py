"""How long lines are: in a terminal as COLUMNS says, or as wide as it is; in pipes as long as they are."""

from __future__ import annotations

import io
import os
import re
import struct
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, run, terminal
from gnomon.cli.terminal import LINE_MIN, line_length
from tests.cli.conftest import Gnomon
from tests.shared import EXAMPLES

pytestmark = pytest.mark.unit

PENDING = EXAMPLES / "why-pending.yaml"


@pytest.fixture(autouse=True)
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_nobody_looks_at_a_pipe() -> None:
    assert line_length(io.StringIO()) is None


def test_a_terminal_says_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as screen:
        termios, fcntl = pytest.importorskip("termios"), pytest.importorskip("fcntl")
        for said, length in ((0, None), (3, LINE_MIN), (30, 30), (77, 77)):
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, said, 0, 0))
            assert line_length(screen) == length
        monkeypatch.setenv("COLUMNS", "120")
        assert line_length(screen) == 120
    os.close(master)


class Terminal(io.StringIO):
    """One whose width nobody knows."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("said", "length"), [("100", 100), ("3", LINE_MIN), ("0", None), ("x", None), ("", None)])
def test_columns_is_obeyed_in_terminals_only(monkeypatch: pytest.MonkeyPatch, said: str, length: int | None) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert line_length(Terminal()) == length
    assert line_length(io.StringIO()) is None


def in_lines_of(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(terminal, "line_length", lambda stream: length)


def test_an_answer_is_fitted_into_its_lines(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = gnomon("explain", "render", "-f", PENDING)
    assert max(map(len, plain.out.splitlines())) > 100
    in_lines_of(monkeypatch, 100)
    fitted = gnomon("explain", "render", "-f", PENDING)
    assert (plain.code, fitted.code) == (ANSWERED, ANSWERED)
    assert max(map(len, fitted.out.splitlines())) <= 100
    assert sorted(fitted.out.split()) == sorted(plain.out.split())


def test_wide_tables_are_whole(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    in_lines_of(monkeypatch, 72)
    wide = gnomon("explain", "render", "-f", PENDING, "-o", "wide").out
    assert "add 1 node of kind L40 with 16 cpu, 64Gi memory and 2 gpu: it starts at 5m   yes" in wide


def test_documents_are_not_broken(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = gnomon("explain", "render", "-f", PENDING, "-o", "json").out
    in_lines_of(monkeypatch, 40)
    assert gnomon("explain", "render", "-f", PENDING, "-o", "json").out == plain


def test_columns_without_room_are_named(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert gnomon("generate", tmp_path / "jobs.swf", "--jobs", 50, "--procs", 32).code == ANSWERED
    in_lines_of(monkeypatch, 60)
    lines = gnomon("compare", tmp_path / "jobs.swf", "--policy", "fcfs,easy").out.splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].endswith("…")
    assert re.fullmatch("… (.*, )?CPU: in a wider terminal, or with -o wide", lines[-1])


def test_errors_are_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "70")
    run(["compare", str(PENDING), "--policy", "esay"])
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 70
    assert lines[1].startswith("  ")
    assert " ".join(line.strip() for line in lines).endswith("smallest, worst-fit")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{id: a, cpu: 4, duration: 1h}", "explain a -f"),  # can never run
        ("{id: a, cpu: 2, duration: 1h}, {id: b, cpu: 1, duration: 1h}", "explain b -f"),  # waits for a
        ("{id: a, cpu: 1, duration: 1h}", ""),
    ],
)
def test_what_one_would_ask_next_is_told_where_somebody_looks(
    gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"nodes: [{{name: n, cpu: 2}}]\ntasks: [{text}]")
    assert "next:" not in gnomon("simulate", path).err
    monkeypatch.setattr("gnomon.cli.guide.somebody_looks", lambda: True)
    monkeypatch.setattr("gnomon.cli.simulate.somebody_looks", lambda: True)
    assert ("next: gnomon " in (shown := gnomon("simulate", path).err)) == bool(said)
    assert said in shown
    assert "next:" not in gnomon("simulate", path, "-o", "json").err
