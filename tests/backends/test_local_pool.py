"""Worker processes: equal hashes in all, one that dies takes nobody with it, all end with who started them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon.backends.local_pool import Death, Pool
from gnomon.dataflow.hashing import portable

pytestmark = pytest.mark.unit


def double() -> Callable[[Any], Any]:
    return lambda task: 2 * task


def hashes() -> Callable[[Any], Any]:
    return lambda task: (os.getpid(), hash(task))


def killed() -> Callable[[Any], Any]:
    return lambda task: os.kill(os.getpid(), signal.SIGKILL) if task == 1 else task


def test_tasks_come_back_with_results() -> None:
    with Pool(2, double) as pool:
        pool.give(3)
        pool.give(4)
        assert pool.free == 0
        found: list[tuple[Any, Any]] = []
        while len(found) < 2:
            found.extend(pool.ended())
        assert sorted(found) == [(3, 6), (4, 8)]
        assert pool.free == 2


def test_strings_have_the_hash_of_seed_0_in_every_worker() -> None:
    """``portable`` works that out by itself, from the definition of the hash."""
    with Pool(2, hashes) as pool:
        pool.give("a")
        pool.give("a")
        found: list[Any] = []
        while len(found) < 2:
            found.extend(result for _, result in pool.ended())
    assert len({pid for pid, _ in found}) == 2
    assert {number for _, number in found} == {portable("a")}


def test_a_worker_that_is_killed_is_told_and_replaced() -> None:
    with Pool(1, killed) as pool:
        pool.give(1)
        assert list(pool.ended()) == [(1, Death(-9))]
        pool.give(2)
        assert list(pool.ended()) == [(2, 2)]
    assert str(Death(-9)) == "the worker process was killed (SIGKILL, as a system does that is out of memory)"
    assert str(Death(3)) == "the worker process ended with exit code 3"


ORPHANS = """
import os, signal, time
from gnomon.backends.local_pool import Pool

def endless():
    return lambda task: time.sleep(1000)

if __name__ == "__main__":
    with Pool(2, endless) as pool:
        pool.give(1)
        pool.give(2)
        print(*pool.pids, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_when_their_starter_is_killed(tmp_path: Path) -> None:
    """They hold the other end of its stderr: that it closes says that all of them are gone."""
    (tmp_path / "main.py").write_text(ORPHANS)
    ended = subprocess.run([sys.executable, tmp_path / "main.py"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -9
    assert len(ended.stdout.split()) == 2


def waits_for_nothing() -> Callable[[Any], Any]:
    return lambda task: (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN and not signal.pthread_sigmask(signal.SIG_BLOCK, ())
    )


def test_ctrl_c_while_a_worker_starts_reaches_only_the_first_process() -> None:
    """It is held back in what starts until that ignores it, so none fails in its imports; and no program that a worker
    starts has it held back."""
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        with Pool(1, waits_for_nothing) as pool:
            pool.give(1)
            os.kill(pool.pids[0], signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            assert [result for _, result in pool.ended()] == [True]
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupts == [signal.SIGINT]
