"""Node failures of Los Alamos machines, 1995 to 2005 (LA-UR-05-7318).

A table with a row for each failure: which system and node, when it began, how long it took, and why. Analysed in
B. Schroeder, G. Gibson, "A large-scale study of failures in high-performance computing systems", DSN 2006.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from gnomon.formats.table import rows
from gnomon.model.errors import InputError
from gnomon.model.quantity import NS_PER_S, parse_count
from gnomon.model.work import IntArray, Note
from gnomon.traces.growing import Place
from gnomon.traces.outages import Outages

CAUSES = ("Facilities", "Hardware", "Human Error", "Network", "Undetermined", "Software")
"""One column each: the part that failed stands in the one that applies."""

COLUMNS = ("System", "nodes", "nodenumz", "node prod", "Prob Started", "Prob Fixed", "Down Time", *CAUSES)
"""What is read of the table."""

_MINUTE_NS = 60 * NS_PER_S
_COUNT_MAX = 10**7
_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}) (\d{1,2}):(\d{2})", re.ASCII)
_PRODUCTION = re.compile(r"(?:(\d{1,2})-)?([A-Z][a-z]{2})(?:-(\d{2}))?", re.ASCII)
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_PIVOT = 50


@dataclass(frozen=True, slots=True)
class _Row:
    """``node``: -1 if none is given; ``nodes``: how many the system has, 0 unknown; ``fixed``: ``Prob Fixed``."""

    system: int
    nodes: int
    node: int
    production: datetime | None
    begin: datetime
    minutes: int
    fixed: datetime
    cause: str


def read(path: str | Path, *, system: int | None = None) -> Outages:
    """The failures of one system (None: of the one that has most, with a note).

    Times are the table's local times, counted from the month in which the system's first node went into production,
    or from its first failure if that is earlier. An outage takes its ``Down Time``. Nodes are numbered from 0 as in
    ``nodenumz``; where numbers go beyond the system's size, only those nodes are known that failed.

    Raises InputError for a file that is no such table, a row at fault, and a system that is not there.
    """
    table = _rows(path)
    counts = Counter(row.system for row in table)
    if not counts:
        raise InputError("no failure in the file", file=str(path), allowed="a row for each failure below the header")
    chosen = counts.most_common(1)[0][0] if system is None else system
    if chosen not in counts:
        allowed = ", ".join(str(number) for number in sorted(counts))
        raise InputError("no failure of this system", file=str(path), field="system", found=system, allowed=allowed)
    of_system = [row for row in table if row.system == chosen]
    used = [row for row in of_system if row.node >= 0]
    if not used:
        raise InputError("its failures name no nodes", file=str(path), field="system", found=chosen)
    notes = _notes(of_system, len(table), guessed=system is None)
    return replace(_outages(used), records=len(table), notes=tuple(notes), source=str(path))


def _outages(failures: list[_Row]) -> Outages:
    first = min(row.begin for row in failures)
    origin = min((row.production for row in failures if row.production), default=first)
    origin = min(origin, first)
    begin = _ints((row.begin - origin) // timedelta(minutes=1) for row in failures) * _MINUTE_NS
    end = begin + _ints(row.minutes for row in failures) * _MINUTE_NS
    size = max(row.nodes for row in failures)
    seen = sorted({row.node for row in failures})
    numbers = seen if seen[-1] >= size else range(size)
    index = {number: position for position, number in enumerate(numbers)}
    causes: dict[str, int] = {}
    cause = _ints(causes.setdefault(row.cause, len(causes)) for row in failures)
    window = int(end.max())
    return Outages(
        names=tuple(str(number) for number in numbers),
        first_ns=np.zeros(len(numbers), np.int64),
        last_ns=np.full(len(numbers), window),
        node=_ints(index[row.node] for row in failures),
        begin_ns=begin,
        end_ns=end,
        causes=tuple(causes),
        cause=cause,
        window_ns=window,
        records=len(failures),
    )


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, np.int64)


def _notes(failures: list[_Row], records: int, *, guessed: bool) -> list[Note]:
    system, count = failures[0].system, len(failures)
    unnamed = sum(row.node < 0 for row in failures)
    apart = sum(abs((row.fixed - row.begin) // timedelta(minutes=1) - row.minutes) > 1 for row in failures)
    sizes = {row.nodes for row in failures}
    notes = [
        Note("guess", "System", f"the system with most failures, {system}: the others' are left out", records - count)
        if guessed
        else Note("not modelled", "System", f"failures of systems other than {system}", records - count),
        Note("not modelled", "nodenumz", "failures that name no node: left out", unnamed),
        Note("guess", "Prob Fixed", "not Prob Started and Down Time together: the Down Time is taken", apart),
        Note("guess", "Prob Started", "local times: an hour that the clock was put on or back is not undone", count),
    ]
    if max(row.node for row in failures) >= max(sizes):
        text = "node numbers beyond the system's size: only nodes that failed are known"
        notes.append(Note("guess", "nodes", text, count))
    return [note for note in notes if note.count]


def _rows(path: str | Path) -> list[_Row]:
    """Every row of the table, whatever its system."""
    names, records = rows(path)
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        problem = f"the column {missing[0]!r} is missing"
        raise InputError(problem, file=str(path), line=1, found=",".join(names), allowed=",".join(COLUMNS))
    at = {name: names.index(name) for name in COLUMNS}
    return [
        _row(Place(str(path), line), {name: cells[at[name]].strip() for name in COLUMNS}) for line, cells in records
    ]


def _row(place: Place, row: dict[str, str]) -> _Row:
    begin, fixed = _date(place, row, "Prob Started"), _date(place, row, "Prob Fixed")
    if fixed < begin:
        raise place.error("before the failure began", "Prob Fixed", row["Prob Fixed"], f"after {row['Prob Started']}")
    given = [name for name in CAUSES if row[name]]
    return _Row(
        system=_count(place, row, "System"),
        nodes=_count(place, row, "nodes") if row["nodes"] else 0,
        node=_count(place, row, "nodenumz") if row["nodenumz"] else -1,
        production=_month(row["node prod"]),
        begin=begin,
        minutes=_count(place, row, "Down Time"),
        fixed=fixed,
        cause="; ".join(f"{name}: {row[name]}" for name in given),
    )


def _count(place: Place, row: dict[str, str], column: str) -> int:
    number = place.parsed(parse_count, row[column], column)
    if number > _COUNT_MAX:
        raise place.error("too large", column, row[column], f"0 to {_COUNT_MAX}")
    return number


def _parsed(text: str) -> datetime | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    month, day, year, hour, minute = (int(part) for part in found.groups())
    try:
        return datetime(year, month, day, hour, minute)
    except ValueError:
        return None


def _date(place: Place, row: dict[str, str], column: str) -> datetime:
    date = _parsed(row[column])
    if date is None:
        raise place.error("not a date", column, row[column], "month/day/year hour:minute, as 6/21/2005 10:54")
    return date


def _month(text: str) -> datetime | None:
    """``Jan-97`` or ``5-Jun`` (June 2005, as a spreadsheet wrote it); None for words as "before tracking"."""
    found = _PRODUCTION.fullmatch(text)
    if found is None or found[2] not in _MONTHS or not (found[1] or found[3]):
        return None
    year = int(found[1] or found[3])
    return datetime(year + (2000 if year < _PIVOT else 1900), _MONTHS.index(found[2]) + 1, 1)
