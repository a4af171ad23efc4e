"""What of a job is done: a folder with the outputs of finished tasks, and a list of them that outlives a crash.

The list is a line of JSON a task, written after the task's output has its final name. A line that a crash cut off is no
line; an output that is not what its line says is made again.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from gnomon.backends.local_blocks import digest_of
from gnomon.model.errors import InputError

SCRATCH: Final = "scratch"
"""The folder inside for what tasks spill; it is of no use to a later run."""

_FORMAT: Final = 1
_LOCK: Final = "lock"
_LIST: Final = "manifest.jsonl"


@dataclass(frozen=True)
class Done:
    """A finished task: its stage and number, its output with length and digest, and what was counted."""

    stage: int
    task: int
    path: str
    bytes: int
    digest: str
    counts: Mapping[str, int]


class Manifest:
    """The folder of one job, which one process at a time works in.

    ``identity`` says of which job: the code, the input, what the plan depends on. If the folder's is another one,
    ``changed`` names the parts that differ, and all that was there is gone.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str]) -> None:
        self.folder = folder
        self.done: dict[tuple[int, int], Done] = {}
        self.changed: list[str] = []
        self.remade = 0
        self._open = ExitStack()
        self._list: IO[str]
        self._file = folder / _LIST
        folder.mkdir(parents=True, exist_ok=True)
        if not self._file.exists() and any(path.name != _LOCK for path in folder.iterdir()):
            raise InputError("not an empty folder, and not one of an earlier run", file=str(folder))
        self._lock()
        before = _lines(self._file)
        found = before[0] if before else {}
        if found != {"format": _FORMAT, **identity}:
            self.changed = [name for name, value in identity.items() if found and found.get(name) != value]
            self.clear()
            before = []
        self._keep([Done(**line) for line in before[1:]], identity)

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def path(self, *names: str) -> Path:
        """A path inside the folder."""
        return self.folder.joinpath(*names)

    def add(self, done: Done) -> None:
        """Note that a task is finished; its output has its final name already."""
        self.done[done.stage, done.task] = done
        self._write(asdict(done))

    def clear(self) -> None:
        """Remove all that tasks left."""
        for path in (*self.folder.glob("stage-*"), self.folder / SCRATCH):
            shutil.rmtree(path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder, unless something else is in it."""
        self.clear()
        self._open.close()
        for path in (self._file, self.folder / _LOCK):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _lock(self) -> None:
        lock = self._open.enter_context((self.folder / _LOCK).open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._open.close()
            raise InputError("another process runs a job here", file=str(self.folder)) from None

    def _keep(self, before: list[Done], identity: Mapping[str, str]) -> None:
        """Write the list anew, with those tasks whose output is whole: what a crash cut off is gone from it."""
        whole = [done for done in before if _is_whole(done)]
        self.remade = len(before) - len(whole)
        self.done = {(done.stage, done.task): done for done in whole}
        new = self._file.with_suffix(".new")
        lines = map(_line, [{"format": _FORMAT, **identity}, *map(asdict, whole)])
        with self._written():
            new.write_text("".join(lines), encoding="utf-8")
            new.replace(self._file)
            self._list = self._open.enter_context(self._file.open("a", encoding="utf-8"))

    def _write(self, entry: Mapping[str, Any]) -> None:
        with self._written():
            self._list.write(_line(entry))
            self._list.flush()
            os.fsync(self._list.fileno())

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", file=str(self.folder)) from None


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(",", ":")) + "\n"


def _lines(file: Path) -> list[dict[str, Any]]:
    """The lines that are whole."""
    if not file.exists():
        return []
    found = []
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        found.append(json.loads(line))
    return found


def _is_whole(done: Done) -> bool:
    path = Path(done.path)
    return path.is_file() and path.stat().st_size == done.bytes and digest_of(path) == done.digest
