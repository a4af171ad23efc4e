"""How long lines are: as COLUMNS says, as wide as a terminal, and in pipes as long as they are."""

from __future__ import annotations

import io
import os

import pytest

from gnomon.cli import ANSWERED
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
    with os.fdopen(slave, "w") as terminal:
        termios, fcntl = pytest.importorskip("termios"), pytest.importorskip("fcntl")
        fcntl.ioctl(slave, termios.TIOCSWINSZ, (50).to_bytes(2, "little") + (77).to_bytes(2, "little") + bytes(4))
        assert line_length(terminal) == 77
        monkeypatch.setenv("COLUMNS", "120")
        assert line_length(terminal) == 120
    os.close(master)


@pytest.mark.parametrize(("said", "length"), [("100", 100), ("3", LINE_MIN), ("0", None), ("x", None), ("", None)])
def test_columns_is_obeyed_in_pipes_too(monkeypatch: pytest.MonkeyPatch, said: str, length: int | None) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert line_length(io.StringIO()) == length


def test_an_answer_is_fitted_into_its_lines(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = gnomon("explain", "render", "-f", PENDING)
    assert max(map(len, plain.out.splitlines())) > 100
    monkeypatch.setenv("COLUMNS", "100")
    fitted = gnomon("explain", "render", "-f", PENDING)
    assert (plain.code, fitted.code) == (ANSWERED, ANSWERED)
    assert max(map(len, fitted.out.splitlines())) <= 100
    assert sorted(fitted.out.split()) == sorted(plain.out.split())


def test_wide_tables_are_whole(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    wide = gnomon("explain", "render", "-f", PENDING, "-o", "wide").out
    assert "add 1 node of kind L40 with 16 cpu, 64Gi memory and 2 gpu: it starts at 5m   yes" in wide


def test_documents_are_not_broken(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = gnomon("explain", "render", "-f", PENDING, "-o", "json").out
    monkeypatch.setenv("COLUMNS", "40")
    assert gnomon("explain", "render", "-f", PENDING, "-o", "json").out == plain
