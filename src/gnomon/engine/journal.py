"""A durable journal of what came from outside: each record is on disk before it is applied, and a restart replays it.

One record a line: a checksum (CRC-32 of the rest, eight hexadecimal digits), a blank, the record as compact JSON. A
line that a crash cut off at the end of the file was never applied, and is dropped; damage anywhere else is an
InputError. One process at a time has a journal open.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from gnomon.model.errors import InputError

Record = Mapping[str, Any]


class Journal:
    """An open journal that records are appended to.

    Opening a file with a torn last line cuts that line off. Raises InputError where the file is damaged, where another
    process has it open, and for what cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with _written(self.path):
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._lock()
            whole = sum(size for _, size in _lines(self.path))
            with _written(self.path):
                os.ftruncate(self._file, whole)
                os.lseek(self._file, 0, os.SEEK_END)
        except BaseException:
            self.close()
            raise

    def append(self, record: Record) -> None:
        """Write one record; it is on disk when this returns."""
        text = json.dumps(record, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()
        line = b"%08x %b\n" % (zlib.crc32(text), text)
        with _written(self.path):
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lock(self) -> None:
        try:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another process has this journal open", file=str(self.path)) from None
        except (ImportError, OSError):  # a system, or a file system, without locks
            pass


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"the journal cannot be written: {error.strerror}", file=str(path)) from None


def records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a journal, in order, without a torn last one. Raises InputError where it is damaged or missing."""
    for record, _ in _lines(Path(path)):
        yield record


def _lines(path: Path) -> Iterator[tuple[Record, int]]:
    """Every whole record and how many bytes its line takes."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"the journal cannot be read: {error.strerror}", file=str(path)) from None
    for number, line in enumerate(lines, 1):
        record = _decoded(line)
        if record is not None:
            yield record, len(line)
        elif number < len(lines):
            problem = "the journal is damaged: a record does not match its checksum, or is none"
            raise InputError(problem, file=str(path), line=number)


def _decoded(line: bytes) -> Record | None:
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
