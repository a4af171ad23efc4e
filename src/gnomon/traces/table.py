"""Plain tables of tasks (CSV with a header, ``,`` ``;`` or tab between the columns), read as work.

Columns stand in any order and go by many names (:mod:`~gnomon.traces.headings`). Needed is how long a task runs:
a ``duration``, or ``start`` and ``end``. Units are those of the values (``2Gi``, ``1h30m``), else of the column's name
(``memory_gb``); else a plain number is seconds, MiB, or whole processors and devices, and a note says so. Dates count
from the first one. In columns of times an empty cell or -1 is "unknown", and ``never`` is what never comes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gnomon.formats.table import rows
from gnomon.model.errors import InputError
from gnomon.model.quantity import parse_count, parse_cpu, parse_e4, parse_memory, parse_share
from gnomon.model.resources import E4, MAX_TIME_NS, NEVER, Resources
from gnomon.model.work import Note, Shape, Work
from gnomon.traces.growing import GrowingWork, Place
from gnomon.traces.headings import Heading, understood
from gnomon.traces.start import Start
from gnomon.traces.table_times import PLAIN, Times
from gnomon.traces.table_write import write

__all__ = ["read", "write"]

_SIZES = ("cpus", "memory", "gpus", "gpu_share", "node_kinds")


def recognised(start: Start) -> bool:
    """Whether a file that starts so names columns of tasks: a time, and something else."""
    try:
        fields, _ = understood(start.names, start.file)
    except InputError:  # two columns for one field: a table, whose reader tells what is wrong with it
        return True
    return bool({"submit", "duration", "start", "end"} & fields.keys()) and len(fields) > 1


def read(path: str | Path) -> Work:
    """A table of tasks as work: one task a row, in their order. The file is streamed.

    A task of unknown duration stays in the work, marked as unusable. What is guessed, missing or left out is in
    ``notes``.

    Raises InputError for a file that is no table, lacks a needed column, has two columns for one field, or a row at
    fault, also when two rows have the same id.

    >>> work = read("tests/data/traces/tasks.csv")
    >>> task = work.task(1)
    >>> task.id, task.submit_ns, task.duration_ns // 10**9, task.shape.request.memory_bytes // 2**20, task.user
    ('b', 90000000000, 5400, 512, 'ann')
    """
    names, records = rows(path)
    headings, unknown = understood(names, str(path))
    if "duration" not in headings and not {"start", "end"} <= headings.keys():
        raise InputError(
            "no column says how long a task runs",
            file=str(path),
            line=1,
            found=", ".join(names),
            allowed="a column duration (or runtime, run_time, …), or both start and end",
        )
    reader = _Reader(str(path), headings)
    for line, cells in records:
        reader.add(Place(str(path), line), cells)
    return reader.finished(unknown)


class _Reader:
    """Turns rows into tasks and counts what it had to guess."""

    def __init__(self, file: str, headings: dict[str, Heading]) -> None:
        self._headings = headings
        self._times = Times(headings)
        self._work = GrowingWork(file)
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self._sized = any(field in headings for field in ("cpus", "memory", "gpus", "gpu_share"))
        self._bare_memory = 0
        self._weightless = 0

    def add(self, place: Place, cells: list[str]) -> None:
        """One row."""
        submit_ns = self._times.read(place, cells, "submit") if "submit" in self._headings else 0
        if submit_ns is None or submit_ns == NEVER:
            raise place.error("no submit time", self._headings["submit"].name, self._text(cells, "submit"))
        duration_ns, wait_ns = self._duration_and_wait(place, cells, submit_ns)
        deadline_ns = self._times.read(place, cells, "deadline")
        name = self._text(cells, "id") if "id" in self._headings else str(len(self._work) + 1)
        if not name:
            raise place.error("a task without a name", self._headings["id"].name, name)
        self._work.add(
            place.line,
            name,
            self._shape(place, cells),
            submit_ns=submit_ns,
            duration_ns=NEVER if duration_ns is None else duration_ns,
            estimate_ns=self._times.read(place, cells, "estimate"),
            deadline_ns=NEVER if deadline_ns is None else deadline_ns,
            wait_ns=wait_ns,
            user=self._text(cells, "user"),
            queue=self._text(cells, "queue"),
            job=self._text(cells, "job"),
            priority=self._priority(place, cells),
            usable=duration_ns is not None,
        )

    def _text(self, cells: list[str], field: str) -> str:
        heading = self._headings.get(field)
        return "" if heading is None else cells[heading.index].strip()

    def _duration_and_wait(self, place: Place, cells: list[str], submit_ns: int) -> tuple[int | None, int]:
        """The duration (None: unknown) and the recorded wait (-1: unknown), from their columns or from the ends."""
        duration_ns, wait_ns = self._times.read(place, cells, "duration"), self._times.read(place, cells, "wait")
        start_ns, end_ns = self._times.read(place, cells, "start"), self._times.read(place, cells, "end")
        if start_ns is None or start_ns == NEVER:
            return duration_ns, -1 if wait_ns is None or wait_ns == NEVER else wait_ns
        if duration_ns is None and "duration" not in self._headings and end_ns is not None:
            duration_ns = NEVER if end_ns == NEVER else self._span(place, cells, "end", end_ns - start_ns)
        if wait_ns is None and "wait" not in self._headings:
            wait_ns = self._span(place, cells, "start", start_ns - submit_ns)
        return duration_ns, -1 if wait_ns is None or wait_ns == NEVER else wait_ns

    def _span(self, place: Place, cells: list[str], field: str, ns: int) -> int:
        """The time up to the ``end`` or ``start`` from what comes before it."""
        if not 0 <= ns <= MAX_TIME_NS:
            before = "the start" if field == "end" else "the submit time"
            problem = f"before {before}, or more than 73 years after it"
            raise place.error(problem, self._headings[field].name, self._text(cells, field))
        return ns

    def _priority(self, place: Place, cells: list[str]) -> int:
        text = self._text(cells, "priority")
        if not text:
            return 0
        size = place.parsed(parse_count, text.removeprefix("-"), self._headings["priority"].name)
        return -size if text.startswith("-") else size

    def _shape(self, place: Place, cells: list[str]) -> Shape:
        texts = tuple(self._text(cells, field) for field in _SIZES)
        self._bare_memory += "memory" in self._headings and self._is_bare(texts[1])
        shape = self._shapes.get(texts)
        if shape is None:
            shape = self._shapes[texts] = self._parsed_shape(place, dict(zip(_SIZES, texts, strict=True)))
        self._weightless += not shape.request.names()
        return shape

    def _is_bare(self, memory: str) -> bool:
        return self._headings["memory"].unit is None and memory != "0" and bool(PLAIN.fullmatch(memory))

    def _parsed_shape(self, place: Place, texts: dict[str, str]) -> Shape:
        def size(field: str, parse: Callable[[str], int], unit: str = "") -> int:
            text = texts[field]
            if not text:
                return 0
            heading = self._headings[field]
            unit = heading.unit or unit
            return place.parsed(lambda cell: parse(cell + unit if PLAIN.fullmatch(cell) else cell), text, heading.name)

        cpu_milli = size("cpus", parse_cpu) if self._sized else 1000
        memory_bytes = size("memory", parse_memory, "Mi")
        share_e4 = size("gpu_share", _share_e4)
        gpus_e4 = size("gpus", parse_e4) if "gpus" in self._headings else E4 * bool(share_e4)
        kinds = tuple(sorted({kind.strip() for kind in re.split(r"[|;]", texts["node_kinds"]) if kind.strip()}))
        try:
            gpus, share_e4 = _devices(gpus_e4, share_e4)
            return Shape(Resources(cpu_milli, memory_bytes, gpus, share_e4), node_kinds=kinds)
        except ValueError as error:
            found = ", ".join(f"{self._headings[field].name} {text}" for field, text in texts.items() if text)
            raise InputError(str(error), file=place.file, line=place.line, found=found) from None

    def finished(self, unknown: list[str]) -> Work:
        """The work, with notes of all that was guessed, defaulted or left out."""
        tasks, headings = len(self._work), self._headings
        notes = [Note("not modelled", name, "a column of no known name", tasks) for name in unknown]
        renamed = [f"{h.name} is the {field}" for field, h in headings.items() if h.guess]
        if renamed:
            notes.append(Note("guess", "columns", "; ".join(renamed)))
        bare = [(field, "seconds", count) for field, count in self._times.guessed.items()]
        bare += [("memory", "MiB", self._bare_memory)]
        for field, unit, count in bare:
            if count:
                notes.append(Note("guess", headings[field].name, f"numbers without a unit are {unit}", count))
        for field, text in _UNKNOWN.items():
            if (count := self._times.unknown[field]) and ("duration" not in headings or field not in _ENDS):
                notes.append(Note("default", headings[field].name, f"unknown: {text}", count))
        if self._weightless:
            notes.append(Note("default", "sizes", "nothing is asked for: such a task takes no room", self._weightless))
        defaults = [("submit", "submit" in headings, "all arrive at 0"), ("cpus", self._sized, "one processor each")]
        notes += [
            Note("default", field, f"no such column: {text}", tasks) for field, given, text in defaults if not given
        ]
        return self._work.finished(notes=notes)


_ENDS = ("start", "end")
_UNKNOWN = {
    "duration": "the task cannot run, and is listed as rejected",
    "estimate": "the duration stands for it",
    **dict.fromkeys(_ENDS, "the task cannot run, and is listed as rejected"),
}


def _share_e4(text: str) -> int:
    """A share of a device, 0 for none; ``milli`` is 1/1000."""
    number = text.removesuffix("milli")
    if PLAIN.fullmatch(number) and not parse_e4(number):
        return 0
    if number == text:
        return parse_share(text)
    share_e4, finer = divmod(parse_e4(number), 1000)
    if finer or share_e4 > E4:
        raise ValueError("not a share in 1/1000 (above 0 and at most 1000, at most one decimal)")
    return share_e4


def _devices(gpus_e4: int, share_e4: int) -> tuple[int, int]:
    """Devices and the share of each: a fraction below one device is a share of one."""
    if not share_e4 and gpus_e4 < E4:
        return (1, gpus_e4) if gpus_e4 else (0, E4)
    if gpus_e4 % E4:
        raise ValueError("gpus: a whole number, or a part of one device")
    if share_e4 and not gpus_e4:
        raise ValueError("gpu share: a share of no device")
    return gpus_e4 // E4, share_e4 or E4
