"""What a reader may do with any bytes: give values that fit in the ledger, or raise InputError, soon and in little
memory."""

from __future__ import annotations

import math
import resource
import signal
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_TIME_NS, NEVER
from gnomon.model.work import Work
from tests.fuzz.readers import Reader

SLOW_CPU_S: Final = 2.0
"""An input of a few kilobytes that takes longer is a fault."""

HANGS_CPU_S: Final = 30
"""After so long it is stopped."""

MEMORY_KIB: Final = 1_000_000
"""By so much one input may make the process larger."""

_TIMES: Final = {
    "submit_ns": -MAX_TIME_NS,  # before the start of the log
    "deadline_ns": -MAX_TIME_NS,
    "duration_ns": 0,
    "estimate_ns": 0,
}
_LOOKED_AT: Final = 4_000


class HangsError(BaseException):
    """Raised in the middle of what takes too long."""


@dataclass(frozen=True)
class Fault:
    """What a reader did that it must not. ``key``: the same for the same cause."""

    key: str
    text: str


def judge(reader: Reader, data: bytes, folder: Path) -> Fault | None:
    """Let a reader read ``data`` in a folder of its own; None: as it must be."""
    files = {folder / name: content for name, content in parts(data, (reader.file, *reader.beside)).items()}
    for path, content in files.items():
        path.write_bytes(content)
    before, began = _peak_kib(), time.process_time()
    try:
        with _stopped():
            found = reader.read(folder)
        problem = _out_of_range(found)
        if problem:
            return Fault(f"range {problem}", problem)
    except InputError as error:
        try:
            str(error)
        except Exception as other:
            return _of_error(other)
    except (Exception, HangsError) as error:
        return _of_error(error)
    finally:
        for path in files:
            path.unlink(missing_ok=True)
    took = time.process_time() - began
    if took > SLOW_CPU_S:
        return Fault("slow", f"{took:.1f} CPU s for {len(data)} bytes")
    grown = _peak_kib() - before
    return Fault("memory", f"{grown:,} KiB for {len(data)} bytes") if grown > MEMORY_KIB else None


def parts(data: bytes, names: tuple[str, ...]) -> dict[str, bytes]:
    """The files that an input stands for: what comes after a line ``%%% NAME`` is the content of that one.

    >>> parts(b"a\\n%%% b.txt\\nc", ("a.txt", "b.txt"))
    {'a.txt': b'a', 'b.txt': b'c'}
    """
    found: dict[str, bytes] = {}
    name, start = names[0], 0
    while True:
        ends = [(at, other) for other in names if (at := data.find(b"\n%%% " + other.encode() + b"\n", start)) >= 0]
        if not ends:
            return {**found, name: data[start:]}
        at, other = min(ends)
        found[name] = data[start:at]
        name, start = other, at + len(other) + 6


@contextmanager
def _stopped() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise HangsError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _of_error(error: BaseException) -> Fault:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/gnomon/" in frame.filename]
    where = f"{frames[-1].filename.partition('/gnomon/')[2]}:{frames[-1].lineno}" if frames else "?"
    kind = type(error).__name__
    key = kind if isinstance(error, RecursionError | HangsError) else f"{kind} {where}"
    return Fault(key, "".join(traceback.format_exception(error, limit=-12)))


def _out_of_range(found: object) -> str:
    """What in a value does not fit in the ledger; empty: nothing."""
    todo, looked_at = [("", found)], 0
    while todo and looked_at < _LOOKED_AT:
        name, value = todo.pop()
        looked_at += 1
        if isinstance(value, Work):
            for column, least in _TIMES.items():
                times = getattr(value, column)
                if not ((times >= least) & ((times <= MAX_TIME_NS) | (times == NEVER))).all():
                    return f"{column} of the work"
        if isinstance(value, bool) or value is None or isinstance(value, str | bytes):
            continue
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return f"{name}: an integer above 64 bits"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{name}: {value}"
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
            return f"{name}: not finite"
        todo += _inside(name, value)
    return ""


def _inside(name: str, value: object) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"{name}[]", one) for pair in list(value.items())[:200] for one in pair]
    if isinstance(value, list | tuple):
        return [(f"{name}[]", one) for one in value[:200]]
    if is_dataclass(value) and not isinstance(value, type):
        return [(f"{type(value).__name__}.{one.name}", getattr(value, one.name)) for one in fields(value)]
    return []
