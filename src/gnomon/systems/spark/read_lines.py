"""The events of a log, one by one: which files a log is made of, and what of it is not there yet.

A log is a file, or the folder of a rolling log: ``eventlog_v2_<application>`` with ``events_<n>_<application>`` and a
mark ``appstatus_<application>`` (Spark's ``EventLogFileWriters`` and ``EventLogFileReaders``). Either may be
compressed, each file for itself. While the application runs, names end in ``.inprogress``, and the last line may be
cut off.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, Final

import orjson

from gnomon.formats.files import CutOff, Path, open_bytes
from gnomon.model.errors import InputError

LINE_BYTES_MAX: Final = 2**28
"""The longest line that is read: a job of many stages is one line, with all the RDDs of each of them."""

ROLLING: Final = "eventlog_v2_"
"""How the folder of a rolling log begins."""

_PART: Final = re.compile(r"events_(\d{1,9})_[^/]+")
_COMPACT: Final = ".compact"

Event = dict[str, Any]


def is_log_folder(path: Path) -> bool:
    """Whether a path is the folder of a rolling log."""
    file = os.fspath(path)
    try:
        return os.path.isdir(file) and any(_PART.fullmatch(name) for name in os.listdir(file))
    except (OSError, ValueError):
        return False


def log_files(path: Path) -> list[str]:
    """The files of a log in the order of their events.

    Of a rolling log that was compacted, the newest compact file stands for all before it. Raises InputError for a
    folder without a log, and where a file in the middle is missing.
    """
    file = os.fspath(path)
    if file == "-" or not os.path.isdir(file):
        return [file]
    try:
        names = os.listdir(file)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from None
    parts = sorted((int(match[1]), name.endswith(_COMPACT), name) for name in names if (match := _PART.fullmatch(name)))
    if not parts:
        allowed = f"a file, or the folder {ROLLING}<application> of a rolling log with its events_<n>_*"
        raise InputError("no event log in this folder", file=file, allowed=allowed)
    compact = max((number for number, packed, _ in parts if packed), default=None)
    if compact is not None:
        parts = [
            (number, packed, name)
            for number, packed, name in parts
            if number > compact or (number, packed) == (compact, True)
        ]
    for (before, _, _), (number, _, name) in pairwise(parts):
        if number != before + 1:
            what = "twice" if number == before else f"after events_{before}: what is between is missing"
            raise InputError(f"a rolling log with {name} {what}", file=file)
    if compact is None and parts[0][0] != 1:
        raise InputError(f"a rolling log that begins with {parts[0][2]}: what is before is missing", file=file)
    return [os.path.join(file, name) for _, _, name in parts]


class Events:
    """The events of a log. While one is handled, ``file`` and ``line`` say where it stands; ``cut_off``: after the
    last, whether the log ends in the middle of a line or of compressed data. ``passed``, ``size``: bytes of lines that
    were read, and of the files, which are fewer where these are compressed."""

    def __init__(self, path: Path) -> None:
        self._files = log_files(path)
        self.file, self.line, self.cut_off = self._files[0], 0, ""
        self.passed, self.size = 0, sum(map(os.path.getsize, self._files))

    def __iter__(self) -> Iterator[Event]:
        for place, file in enumerate(self._files):
            self.file, self.line = file, 0
            last = place == len(self._files) - 1
            if last and place and not os.path.getsize(file):
                return  # just begun
            try:
                yield from self._of_file(file, last=last)
            except CutOff:
                if not last:
                    raise
                self.cut_off = f"the compressed data ends in the middle, after line {self.line}"

    def _of_file(self, file: str, *, last: bool) -> Iterator[Event]:
        with open_bytes(file) as stream:
            for self.line, line in enumerate(iter(partial(stream.readline, LINE_BYTES_MAX), b""), start=1):
                self.passed += len(line)
                if not line.strip():
                    continue
                try:
                    event = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    if last and not line.endswith(b"\n"):
                        self.cut_off = f"line {self.line} is cut off and was left out"
                        return
                    raise self._error(f"not JSON: {error.msg}", line) from None
                if not isinstance(event, dict) or not isinstance(event.get("Event"), str):
                    raise self._error("not an event: an object with its 'Event' is wanted", line)
                yield event

    def _error(self, problem: str, line: bytes) -> InputError:
        if len(line) == LINE_BYTES_MAX:
            return InputError(f"a line of more than {LINE_BYTES_MAX} bytes", file=self.file, line=self.line)
        found = line[:60].decode("utf-8", "replace").rstrip("\r\n")
        return InputError(problem, file=self.file, line=self.line, found=found)
