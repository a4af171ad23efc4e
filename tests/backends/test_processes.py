"""Processes side by side: they leave Ctrl-C to who started them, and end with it, even when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from gnomon.backends.processes import side_by_side
from tests.shared import ROOT

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks of signals"),
]

HELD_AT_IMPORT = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
"""Whether Ctrl-C was held back when this module was imported: as a process begins that is given its functions."""

prepared: list[object] = []


def prepare(text: str) -> None:
    prepared.append(text)


def of_interrupts() -> tuple[bool, bool, object, list[object]]:
    held = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return HELD_AT_IMPORT, held, signal.getsignal(signal.SIGINT), prepared


def wait_for_ever() -> None:
    signal.pause()


def fail() -> None:
    raise ZeroDivisionError("by nothing")


def test_ctrl_c_is_held_back_while_they_begin_and_left_to_who_started_them() -> None:
    with side_by_side(1, prepare, "ready") as submit:
        assert submit(of_interrupts).result() == (True, False, signal.SIG_IGN, ["ready"])
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_what_one_raises_ends_the_others() -> None:
    def begin() -> None:
        with side_by_side(2) as submit:
            submit(wait_for_ever)
            submit(fail).result()

    with pytest.raises(ZeroDivisionError):
        begin()


STARTER = """
from gnomon.backends.processes import side_by_side
from tests.backends import test_processes as functions
with side_by_side(2) as submit:
    submit(functions.of_interrupts).result()
    submit(functions.wait_for_ever)
    print("ready", flush=True)
    functions.wait_for_ever()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_they_end_with_who_started_them(number: int) -> None:
    """All have its standard output, which ends when the last of them has ended: busy or idle, or just beginning."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    starter = subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, env=environment, cwd=ROOT)
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"ready\n"
    starter.send_signal(number)
    assert starter.communicate(timeout=60)[0] == b""
    assert starter.returncode == -number
