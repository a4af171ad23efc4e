"""Machines that leave a Google cell and come back: the ``machine_events`` table of the 2011 trace.

Rows of time [us], machine, event (0 ADD, 1 REMOVE, 2 UPDATE), platform, CPU and memory, without a header or with one
that begins with ``#``; C. Reiss, J. Wilkes, J. Hellerstein, "Google cluster-usage traces: format + schema", 2011.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np

from gnomon.formats.files import open_text
from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_TIME_NS, NEVER
from gnomon.model.work import Note
from gnomon.traces.growing import Place
from gnomon.traces.outages import Outages

ADD, REMOVE, UPDATE = "0", "1", "2"
"""The events."""

CELLS = 6
"""How many cells a row has."""

_HEADER = "#time stamp"
_NS_PER_US = 1000
_TIME = re.compile(r"\d{1,19}|\d(?:\.\d{1,15})?[eE]\+?\d{1,2}", re.ASCII)
_EVENT = re.compile(rf"(?:{_TIME.pattern}),\d+,[012],[^,]*,[\d.]*,[\d.]*", re.ASCII)


def is_event(line: str) -> bool:
    """Whether a line begins such a table."""
    return line.lower().startswith(_HEADER) or _EVENT.fullmatch(line.strip()) is not None


@dataclass(slots=True)
class _Machines:
    """The machines so far, and what has become of each."""

    index: dict[str, int] = field(default_factory=dict)
    first: list[int] = field(default_factory=list)
    away_since: list[int] = field(default_factory=list)
    """-1 while it is there."""
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def event(self, machine: str, event: str, at: int) -> None:
        number = self.index.get(machine)
        if number is None:
            number = self.index[machine] = len(self.first)
            self.first.append(at if event == ADD else 0)
            self.away_since.append(-1)
        since = self.away_since[number]
        self.counts[event] += 1
        if event == REMOVE and since < 0:
            self.away_since[number] = at
        elif event == REMOVE:
            self.counts["again"] += 1
        elif event == ADD and since >= 0:
            self.spans.append((number, since, at))
            self.away_since[number] = -1


def read(path: str | Path) -> Outages:
    """Each REMOVE up to the machine's next ADD; without one, to the end.

    A machine whose first event is an ADD is watched from then on. Times count from 600 s before the trace's window, as
    its own do. Raises InputError for a file that is no such table, and a row at fault.
    """
    file, machines, last, records = str(path), _Machines(), 0, 0
    for line, text in enumerate(open_text(path), start=1):
        if not text.strip() or text.startswith("#"):
            continue
        place, cells = Place(file, line), [cell.strip() for cell in text.split(",")]
        if len(cells) != CELLS:
            raise InputError("wrong number of columns", file=file, line=line, found=len(cells), allowed=str(CELLS))
        at = _time(place, cells[0])
        if at < last:
            raise place.error("earlier than the row before", "time", cells[0])
        if not cells[1].isdigit():
            raise place.error("not a number of a machine", "machine", cells[1])
        if cells[2] not in (ADD, REMOVE, UPDATE):
            raise place.error("unknown event", "event", cells[2], "0 (ADD), 1 (REMOVE), 2 (UPDATE)")
        machines.event(cells[1], cells[2], at)
        machines.counts["rounded"] += not cells[0].isdigit()
        last, records = at, records + 1
    if not records:
        raise InputError("no event in the file", file=file, allowed="a row for each event")
    return _outages(machines, last, records, file)


def _outages(machines: _Machines, window: int, records: int, file: str) -> Outages:
    spans = machines.spans + [(n, since, NEVER) for n, since in enumerate(machines.away_since) if since >= 0]
    columns = np.array(sorted(spans, key=lambda span: (span[1], span[0])), np.int64).reshape(-1, 3).T
    return Outages(
        names=tuple(machines.index),
        first_ns=np.array(machines.first, np.int64),
        last_ns=np.full(len(machines.first), window, np.int64),
        node=columns[0],
        begin_ns=columns[1],
        end_ns=columns[2],
        causes=("removed",),
        cause=np.zeros(len(spans), np.int64),
        window_ns=window,
        records=records,
        notes=tuple(_notes(machines.counts)),
        source=file,
    )


def _notes(counts: Counter[str]) -> list[Note]:
    notes = (
        Note("not modelled", "event", "changes of a machine's capacity (UPDATE)", counts[UPDATE]),
        Note("guess", "event", "removals of a machine that is away already: part of the same outage", counts["again"]),
        Note("guess", "time", "times with an exponent, as a spreadsheet rounds them", counts["rounded"]),
    )
    return [note for note in notes if note.count]


def _time(place: Place, text: str) -> int:
    """Microseconds, to ns."""
    if _TIME.fullmatch(text):
        ns = Decimal(text) * _NS_PER_US
        if ns == int(ns) and ns <= MAX_TIME_NS:
            return int(ns)
    raise place.error("not a time", "time", text, f"microseconds, 0 to {MAX_TIME_NS // _NS_PER_US}")
