"""Tables with ``|`` between the fields (``sacct -P``, ``sshare -P``, ``squeue -o '%i|%j'``), read in blocks.

A block is a few MiB of whole lines; its columns are texts. A free text (name, comment, command line) may hold the
delimiter, or an end of line: such rows are put together again by what the other columns must look like.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, Final

import pyarrow as pa
from pyarrow import csv

from gnomon.formats.files import Path, open_bytes
from gnomon.model.errors import InputError

BLOCK_BYTES: Final = 2**22
LINE_BYTES_MAX: Final = 2**24
_COLUMNS_MAX: Final = 1_000
_EXTRA_MAX: Final = 100

Looks = Mapping[str, Callable[[str], bool]]
"""What a value of a column has to look like."""


@dataclass
class Block:
    """``columns``: texts by the name in the header; ``rows``: how many; ``first_line``: of its text."""

    columns: dict[str, Any]
    rows: int
    first_line: int
    text: bytes

    def line_of(self, names: Sequence[str], column: str, value: str) -> int:
        """The line of a value: what an error tells."""
        place = list(names).index(column)
        for number, line in enumerate(self.text.decode().splitlines(), self.first_line):
            parts = line.split("|")
            if len(parts) > place and parts[place] == value:
                return number
        return self.first_line


@dataclass
class Told:
    """What is to be told about a file: bytes that are not UTF-8, rows put together again, a last line cut off."""

    other_bytes: int = 0
    joined: int = 0
    cut: int = 0


@dataclass
class Parsable:
    """A table in a file. ``free``: columns of free text, ``looks``: of the others; ``wanted`` None: all columns."""

    path: Path
    free: Collection[str] = ()
    looks: Looks = field(default_factory=dict)
    wanted: Collection[str] | None = None
    told: Told = field(default_factory=Told)
    names: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Its name."""
        return os.fspath(self.path)

    def blocks(self) -> Iterator[Block]:
        """The rows, block by block. Raises InputError with file and line."""
        with open_bytes(self.path) as stream:
            header = stream.readline(LINE_BYTES_MAX)
            self.names = _names(self._utf8(header, 1).decode(), self.file)
            line, rest = 2, b""
            while True:
                read = stream.read(BLOCK_BYTES)
                text = rest + read
                if not text:
                    return
                cut = len(text) if not read else text.rfind(b"\n") + 1
                if not cut:
                    if len(text) > LINE_BYTES_MAX:
                        raise InputError(f"a line of more than {LINE_BYTES_MAX} bytes", file=self.file, line=line)
                    rest = text
                    continue
                rest = text[cut:]
                text, held = self._whole_rows(self._utf8(text[:cut], line), last=not read)
                rest = held + rest
                if text:
                    yield self._block(text, line, last=not rest and not read)
                line += text.count(b"\n")
                if not read:
                    return

    def _whole_rows(self, text: bytes, *, last: bool) -> tuple[bytes, bytes]:
        """The text without a last row that may go on in the next block."""
        if last:
            return text, b""
        start, width = text.rfind(b"\n", 0, len(text) - 1) + 1, len(self.names)
        while start > 0 and text.count(b"|", start, text.find(b"\n", start)) != width - 1 and len(text) - start < 2**16:
            start = text.rfind(b"\n", 0, start - 1) + 1
        held = text[start:]
        if held.count(b"|") == (width - 1) * held.count(b"\n"):
            return text, b""
        return text[:start], held

    def _utf8(self, text: bytes, line: int) -> bytes:
        """The text as UTF-8; a line that is something else is taken for Latin-1."""
        if (place := text.find(b"\0")) >= 0:
            number = line + text.count(b"\n", 0, place)
            raise InputError("a NUL byte: this is not a text file", file=self.file, line=number)
        try:
            text.decode()
        except UnicodeDecodeError:
            return b"\n".join(self._line_utf8(one) for one in text.split(b"\n"))
        return text

    def _line_utf8(self, line: bytes) -> bytes:
        try:
            line.decode()
        except UnicodeDecodeError:
            self.told.other_bytes += 1
            return line.decode("latin-1").encode()
        return line

    def _block(self, text: bytes, line: int, *, last: bool) -> Block:
        odd: list[tuple[int, str]] = []

        def remember(row: Any) -> str:
            odd.append((int(row.number or 0), str(row.text)))
            return "skip"

        names = self.names
        wanted = [name for name in names if name and (self.wanted is None or name in self.wanted)]
        try:
            table = csv.read_csv(
                io.BytesIO(text),
                read_options=csv.ReadOptions(column_names=list(names), use_threads=False, block_size=len(text) + 1),
                parse_options=csv.ParseOptions(delimiter="|", quote_char=False, invalid_row_handler=remember),
                convert_options=csv.ConvertOptions(
                    column_types={name: pa.string() for name in names},
                    strings_can_be_null=False,
                    include_columns=wanted,
                ),
            )
        except pa.ArrowInvalid as error:
            raise InputError(f"not a table: {str(error).splitlines()[0]}", file=self.file, line=line) from None
        columns = {name: table.column(name) for name in wanted}
        rows = table.num_rows
        if odd:
            mended = list(self._mended(odd, line, last=last))
            for place, name in enumerate(names):
                if name in columns:
                    extra = pa.array([row[place] for row in mended], pa.string())
                    columns[name] = pa.chunked_array([*columns[name].chunks, extra])
            rows += len(mended)
        return Block(columns, rows, line, text)

    def _mended(self, odd: Sequence[tuple[int, str]], line: int, *, last: bool) -> Iterator[list[str]]:
        """The rows with more or fewer fields than the header, as they were meant."""
        width, place = len(self.names), 0
        while place < len(odd):
            number, text = odd[place]
            place += 1
            while text.count("|") < width - 1 and place < len(odd) and odd[place][0] == odd[place - 1][0] + 1:
                text += "\n" + odd[place][1]
                place += 1
            ends_file = last and place == len(odd)
            if not text.strip() or ("|" not in text and self.names[-1] in self.free and not ends_file):
                continue  # the rest of a last column of several lines
            parts = text.split("|")
            if len(parts) < width:
                if ends_file:
                    self.told.cut += 1
                    return
                raise InputError(
                    f"{len(parts)} fields, the header has {width}",
                    file=self.file,
                    line=line + number - 1,
                    found=text[:60],
                )
            self.told.joined += 1
            found = joined(parts, self.names, self.free, self.looks)
            if found is None:
                raise InputError(
                    f"{len(parts)} fields, the header has {width}; free texts may hold {_EXTRA_MAX} delimiters",
                    file=self.file,
                    line=line + number - 1,
                    found=text[:60],
                )
            yield found


def joined(parts: Sequence[str], names: Sequence[str], free: Collection[str], looks: Looks) -> list[str] | None:
    """Fields of which some were cut at a delimiter of their own: the way that suits the other columns best, of several
    the one that gives most to the last free column. None: there is no free column, or far too many fields.

    >>> joined("7|a|b|PENDING".split("|"), ("JobID", "JobName", "State"), ("JobName",), {})
    ['7', 'a|b', 'PENDING']
    """
    extra = len(parts) - len(names)
    if not extra:
        return list(parts)
    if extra > _EXTRA_MAX or not any(name in free for name in names):
        return None
    # how many of the columns from each on look wrong at the least, by how many delimiters those before it hold
    wrong = [[len(names)] * extra + [0]]
    for place in reversed(range(len(names))):
        after, name = wrong[0], names[place]
        if name in free:
            row = list(accumulate(reversed(after), min))[::-1]
        else:
            look = looks.get(name)
            row = [count + (look is not None and not look(parts[place + held])) for held, count in enumerate(after)]
        wrong.insert(0, row)
    found, at = [], 0
    for place, name in enumerate(names):
        held = at - place
        size = 1
        if name in free:
            size += wrong[place + 1].index(wrong[place][held], held) - held
        found.append("|".join(parts[at : at + size]))
        at += size
    return found


def _names(header: str, file: str) -> tuple[str, ...]:
    """The names of the columns; one that is there twice gets a number."""
    names = header.rstrip("\r\n").split("|")
    if len(names) < 2:
        raise InputError("no header with | between the names of columns", file=file, line=1, found=header[:60])
    return unlike([name.strip() for name in names], file=file)


def unlike(names: Sequence[str], *, file: str | None = None, line: int | None = 1) -> tuple[str, ...]:
    """Names of columns, one that is there twice with a number. Raises InputError for far too many.

    >>> unlike(["TIME", "ST", "TIME"])
    ('TIME', 'ST', 'TIME_2')
    """
    if len(names) > _COLUMNS_MAX:
        raise InputError(f"more than {_COLUMNS_MAX:,} columns", file=file, line=line)
    found: list[str] = []
    known: set[str] = set()
    for name in names:
        numbered = (f"{name}_{number}" for number in range(2, len(names) + 2))
        found.append(next(one for one in chain([name], numbered) if one not in known or not one))
        known.add(found[-1])
    return tuple(found)
