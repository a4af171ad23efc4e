"""Worker processes: each does one task at a time, dies alone, and ends when the process that started it does.

All have the same hash seed, so that Python's own ``hash`` gives equal numbers in all of them and in every run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

from gnomon.backends.processes import follow, interrupts_held
from gnomon.model.errors import GnomonError

HASH_SEED: Final = "0"
"""``PYTHONHASHSEED`` of the workers: PySpark's default too."""

Do = Callable[[Any], Any]
"""What a worker does with a task; its result goes back."""


@dataclass(frozen=True)
class Death:
    """A worker that ended in the middle of a task. ``code``: its exit code; negative: the signal that killed it."""

    code: int

    def __str__(self) -> str:
        if self.code >= 0:
            return f"the worker process ended with exit code {self.code}"
        try:
            name = signal.Signals(-self.code).name
        except ValueError:
            name = f"signal {-self.code}"
        hint = ", as a system does that is out of memory" if name == "SIGKILL" else ""
        return f"the worker process was killed ({name}{hint})"


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    task: Any = None


class Pool:
    """Up to ``size`` processes, started when they are needed. ``prepare()`` runs first in each, and gives what does
    the tasks."""

    def __init__(self, size: int, prepare: Callable[[], Do]) -> None:
        self.size = size
        self._prepare = prepare
        self._workers: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

    @property
    def pids(self) -> list[int]:
        """The processes that there are."""
        return [worker.process.pid for worker in self._workers if worker.process.pid]

    @property
    def free(self) -> int:
        """How many tasks can be given now."""
        return self.size - sum(worker.task is not None for worker in self._workers)

    def give(self, task: Any) -> None:
        """Let a worker that is free, or a new one, do a task (never None)."""
        idle = next((worker for worker in self._workers if worker.task is None), None) or self._start()
        idle.task = task
        with suppress(OSError):  # it is dead: :meth:`ended` tells
            idle.connection.send(task)

    def ended(self, timeout_s: float | None = None) -> Iterator[tuple[Any, Any]]:
        """Wait until tasks end: each with its result, or a :class:`Death`. Nothing ended: it took too long."""
        busy = {worker.connection: worker for worker in self._workers if worker.task is not None}
        for ready in wait(list(busy), timeout_s):
            worker = busy[ready]  # type: ignore[index]
            try:
                result = worker.connection.recv()
            except (EOFError, OSError):
                result = self._bury(worker)
            task, worker.task = worker.task, None
            yield task, result

    def _start(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._prepare), daemon=True)
        with _environment("PYTHONHASHSEED", HASH_SEED), interrupts_held():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]

    def _bury(self, worker: _Worker) -> Death:
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        return Death(worker.process.exitcode or 0)


def _serve(connection: Connection, prepare: Callable[[], Do]) -> None:
    """What a worker process runs until it is killed or left alone."""
    follow()
    os.dup2(2, 1)  # what functions of the user print is no result
    sys.stdout = sys.stderr
    do = _prepared(prepare)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(do(task))


def _prepared(prepare: Callable[[], Do]) -> Do:
    """What does the tasks; where it cannot be prepared, the error is the result of each."""
    try:
        return prepare()
    except GnomonError as error:
        why = error  # the name of an except clause does not outlive it
        return lambda task: why


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
