"""Tables with a header: streamed, every row as wide as the header, every error with its line."""

from __future__ import annotations

import csv
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.table import rows
from gnomon.model.errors import InputError

READ: dict[str, tuple[str, list[str], list[tuple[int, list[str]]]]] = {
    "commas": ("id,cpu\na,1\nb,2\n", ["id", "cpu"], [(2, ["a", "1"]), (3, ["b", "2"])]),
    "semicolons": ("id;cpu\na;1,5\n", ["id", "cpu"], [(2, ["a", "1,5"])]),
    "tabs": ("id\tcpu\na\t1\n", ["id", "cpu"], [(2, ["a", "1"])]),
    "one column": ("id\na\n", ["id"], [(2, ["a"])]),
    "no rows": ("id,cpu\n", ["id", "cpu"], []),
    "blanks after delimiters": ("id, cpu\na, 1\n", ["id", "cpu"], [(2, ["a", "1"])]),
    "blank lines do not count, but are counted": ("\n\nid,cpu\n\na,1\n", ["id", "cpu"], [(5, ["a", "1"])]),
    "empty cells": ("id,cpu\n,\n", ["id", "cpu"], [(2, ["", ""])]),
    "pandas' column without a name": (",cpu\n0,1\n", ["", "cpu"], [(2, ["0", "1"])]),
    "quotes around delimiters, quotes and line ends": (
        'id,cpu\n"a,b",1\n"c\n""d""",2\ne,3\n',
        ["id", "cpu"],
        [(2, ["a,b", "1"]), (3, ['c\n"d"', "2"]), (5, ["e", "3"])],
    ),
}

REFUSED: dict[str, tuple[str, str]] = {
    "only blank lines": ("\n\n", "line 1: a table needs a first line that names its columns"),
    "names that are all blank": (",,\n1,2,3\n", "line 1: a table needs a first line that names its columns"),
    "no header": ("1,2.5,-3\n", "line 1: the first line holds numbers; it has to name the columns, found '1,2.5,-3'"),
    "a column twice": ("id,cpu,id\n", "line 1: this column is there twice, found 'id'"),
    "a cell too few": ("id,cpu\na,1\nb\n", "line 3: wrong number of columns, found 1; allowed: 2"),
    "a cell too many": ("id,cpu\na,1,2\n", "line 2: wrong number of columns, found 3; allowed: 2"),
    "a quote without its end": ('id,cpu\na,1\nb,"2\nc,3\n', "line 3: not a table: unexpected end of data"),
    "the line ends of old Macs": ("id,cpu\ra,1\r", "line 1: not a table: a carriage return inside a line"),
    "text after a quote": ('id,cpu\n"a"b,1\n', "line 2: not a table"),
    "a cell without end": (f"id,cpu\na,{'1' * 200_000}\n", "line 2: not a table: field larger than field limit"),
    "columns without end": (",".join(f"c{n}" for n in range(10_001)), "line 1: more than 10000 columns"),
}


def put(folder: Path, content: str) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content.encode())
    return path


@pytest.mark.unit
@pytest.mark.parametrize("case", READ)
def test_reads(case: str, tmp_path: Path) -> None:
    content, header, expected = READ[case]
    found, cells = rows(put(tmp_path, content))
    assert (found, list(cells)) == (header, expected)


@pytest.mark.unit
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, tmp_path: Path) -> None:
    content, problem = REFUSED[case]
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        list(rows(path)[1])
    assert str(caught.value).startswith(f"{path}, {problem}")


@pytest.mark.unit
def test_rows_are_drawn_one_by_one(tmp_path: Path) -> None:
    _, cells = rows(put(tmp_path, "id\n" + "a\n" * 10 + "b,c\n"))
    assert len(list(islice(cells, 10))) == 10
    with pytest.raises(InputError, match="line 12: wrong number of columns"):
        next(cells)


cell = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=10).map(str.lstrip)


@pytest.mark.property
@given(st.lists(st.lists(cell, min_size=3, max_size=3)), st.sampled_from(",;\t"))
def test_what_the_csv_module_writes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], delimiter: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([["a", "b", "c"], *table])
    header, cells = rows(path)
    assert header == ["a", "b", "c"]
    assert [row for _, row in cells] == table


@pytest.mark.property
@given(st.binary() | st.text('ab,;\t\n\r" 01').map(str.encode))
def test_whatever_bytes_come_are_a_table_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_bytes(content)
    with suppress(InputError):
        header, cells = rows(path)
        assert all(len(row) == len(header) for _, row in cells)
