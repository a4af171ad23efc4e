"""Tables in text: a header line that names the columns, then one row a line, streamed."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator

from gnomon.formats.files import Path, open_text
from gnomon.model.errors import InputError

DELIMITERS = (",", ";", "\t")
"""What may part the columns; the one that the header has most of does."""

COLUMNS_MAX = 10_000
"""How many columns a table may have."""

_NUMBER = re.compile(r"[-+.\d][-+.\deE]*", re.ASCII)

Rows = Iterator[tuple[int, list[str]]]


def rows(path: Path) -> tuple[list[str], Rows]:
    """The names of the columns, and each row's line number with its cells, as many as there are columns.

    Blank lines are passed over. A cell in double quotes may hold delimiters and line ends. Raises
    :class:`InputError` for what is no table with a header, here or while the rows are drawn: a first line of numbers, a
    name that is there twice, too few or too many cells, a quote without its end, a cell above 131,072 characters.
    """
    file = os.fspath(path)
    records = _records(open_text(path), file)
    line, header = next(records, (1, []))
    names = [name.strip() for name in header]
    if not any(names):
        raise InputError("a table needs a first line that names its columns", file=file, line=line)
    if all(_NUMBER.fullmatch(name) for name in names):
        raise InputError(
            "the first line holds numbers; it has to name the columns", file=file, line=line, found=",".join(names)
        )
    if len(names) > COLUMNS_MAX:
        raise InputError(f"more than {COLUMNS_MAX} columns", file=file, line=line)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError("this column is there twice", file=file, line=line, found=name)
        seen.add(name)
    return names, _checked(records, len(names), file)


def _checked(records: Rows, columns: int, file: str) -> Rows:
    for line, cells in records:
        if len(cells) != columns:
            raise InputError("wrong number of columns", file=file, line=line, found=len(cells), allowed=str(columns))
        yield line, cells


def _records(lines: Iterator[str], file: str) -> Rows:
    """Each record that is not blank with the number of its first line."""
    first = ""
    skipped = 0
    for first in lines:
        if first.strip():
            break
        skipped += 1
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(_with_ends(first, lines), delimiter=delimiter, skipinitialspace=True, strict=True)
    start = 1
    try:
        for cells in reader:
            if cells:
                yield skipped + start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        problem = "a carriage return inside a line" if "new-line character" in str(error) else str(error)
        raise InputError(f"not a table: {problem}", file=file, line=skipped + start) from None


def _with_ends(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield f"{first}\n"
    for line in rest:
        yield f"{line}\n"
