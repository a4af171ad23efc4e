"""The folder of a sink: what is in it before, while and after a job writes there.

As by the first algorithm of Hadoop's ``FileOutputCommitter``: outputs of tasks gather in ``_temporary``, move up when
the job commits, and ``_SUCCESS`` is the only sign that all are there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gnomon.dataflow.commit import SUCCESS
from gnomon.model.errors import InputError

TEMPORARY: Final = "_temporary"


@dataclass(frozen=True)
class Sink:
    """A folder that a job writes to; ``kind`` is the letter in the names of its files: r of reducers, m of mappers."""

    folder: Path
    kind: str = "r"

    def target(self, index: int) -> Path:
        """The name of a task's output until the job commits."""
        return self.folder / TEMPORARY / f"part-{self.kind}-{index:05}"

    def check(self) -> None:
        """Raise InputError where something else is there: what is written is never written over."""
        temporary = self.folder / TEMPORARY
        there = self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir()))
        if there and not (temporary.is_dir() and not (self.folder / SUCCESS).exists()):
            raise InputError("the output exists already; remove it, or name another one", file=str(self.folder))

    @contextmanager
    def open(self) -> Iterator[None]:
        """Be ready for outputs; those that a commit had moved when it was cut off are put back.

        Raises InputError as :meth:`check` does, and where another process writes.
        """
        self.check()
        temporary = self.folder / TEMPORARY
        temporary.mkdir(parents=True, exist_ok=True)
        lock = os.open(temporary, os.O_RDONLY)
        try:
            _lock(lock, self.folder)
            self.check()  # once more: another one may have come to its end before the lock
            for path in self.folder.glob("part-*"):
                path.replace(temporary / path.name)
            yield
        finally:
            os.close(lock)

    def clear(self) -> None:
        """Remove the outputs of a job that was another one."""
        for path in (self.folder / TEMPORARY).iterdir():
            path.unlink()

    def commit(self, tasks: int) -> None:
        """Move the outputs of all tasks to where they are looked for, and say so."""
        for index in range(tasks):
            path = self.target(index)
            path.replace(self.folder / path.name)
        (self.folder / SUCCESS).touch()
        shutil.rmtree(self.folder / TEMPORARY)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("another process writes here", file=str(folder)) from None
