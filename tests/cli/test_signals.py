"""How a command ends that is told to: quietly, with the code that shells give to the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gnomon.cli import ANSWERED, INTERRUPTED
from gnomon.cli.watch import Watch
from gnomon.engine.compiling import WATCHERS
from tests.shared import ROOT

pytestmark = pytest.mark.unit

PROGRAM = [sys.executable, "-c", "import sys; sys.argv[0] = 'gnomon'; from gnomon.cli import main; main()"]
WAITS = "import signal\nprint('ready', flush=True)\nwhile True:\n    signal.pause()\n"


def begun(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """A command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], env=environment, **pipes)


def ended_by(numbers: Sequence[int], tmp_path: Path, **options: Any) -> tuple[int, bytes]:
    """The exit code and the words on stderr of a command that is sent signals in the middle of what it does."""
    job = tmp_path / "job.py"
    job.write_text(WAITS)
    command = begun("check", job, **options)
    assert command.stdout is not None
    assert command.stdout.readline() == b"ready\n"
    for number in numbers:
        command.send_signal(number)
    said = command.communicate(timeout=60)[1]
    return command.returncode, said.strip()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_it_without_a_word(number: int, code: int, tmp_path: Path) -> None:
    assert ended_by([number], tmp_path) == (code, b"")


def test_a_command_that_outlives_its_terminal_does(tmp_path: Path) -> None:
    """``nohup`` has it ignore SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the command inherits
    try:
        assert ended_by([signal.SIGHUP, signal.SIGTERM], tmp_path) == (143, b"")
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",), ("simulate", "--help")], ids=" ".join)
def test_help_that_nobody_reads_is_no_error(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = begun(*arguments, stdout=writer)
    os.close(writer)
    assert command.communicate(timeout=60)[1] == b""
    assert command.returncode == ANSWERED


def test_ctrl_c_stops_the_making_of_kernels_at_the_next_one() -> None:
    with Watch("simulating") as watch:
        (watcher,) = WATCHERS
        watcher(0, 2)
        signal.raise_signal(signal.SIGINT)
        assert watch.interrupted
        with pytest.raises(KeyboardInterrupt):
            watcher(1, 2)


def test_ctrl_c_is_for_the_foreground() -> None:
    """A shell has what it runs in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Watch("simulating") as watch:
            signal.raise_signal(signal.SIGINT)
            assert not watch.interrupted
    finally:
        signal.signal(signal.SIGINT, before)
