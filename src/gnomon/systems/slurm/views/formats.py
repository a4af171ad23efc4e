"""Formats of squeue and sinfo (``%.18i %.9P``, ``-O name:20``), and units and times as they print them.

Source: ``src/squeue/opts.c`` and ``print.c``, ``src/sinfo/opts.c`` and ``print.c``, ``convert_num_unit2`` of
``src/common/slurm_protocol_api.c``, ``secs2time_str`` of ``src/common/parse_time.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from gnomon.model.errors import InputError
from gnomon.systems.slurm.cluster.state import SECOND, State

Clock = Callable[[int], str]
"""A time (ns of the run) as it is printed."""
_TOKEN: Final = re.compile(r"%([.#]*)(\d*)([A-Za-z])")


class Cell(NamedTuple):
    """A column: its letter or name, its width (0: as long as it is, -1: as the longest), whether to the right; what
    stands behind it."""

    field: str
    width: int = 0
    right: bool = False
    after: str = ""


def cells_of(text: str) -> tuple[str, list[Cell]]:
    """What stands before the first column of a format, and its columns.

    >>> cells_of("%.18i %j|")
    ('', [Cell(field='i', width=18, right=True, after=' '), Cell(field='j', width=0, right=False, after='|')])
    """
    found = list(_TOKEN.finditer(text))
    if not found:
        raise InputError("not a format", found=text, allowed="for instance %i %j %T")
    ends = [*(one.start() for one in found[1:]), len(text)]
    cells = [
        Cell(one[3], int(one[2] or 0) or (-1 if "#" in one[1] else 0), "." in one[1], text[one.end() : end])
        for one, end in zip(found, ends, strict=True)
    ]
    return text[: found[0].start()], cells


def cells_of_names(text: str, letters: Mapping[str, str]) -> list[Cell]:
    """The columns of ``-O name:width,…``; names are taken in any case, dots put them to the right."""
    cells = []
    for part in text.split(","):
        name, _, width = part.partition(":")
        right = width.startswith(".")
        size = width.strip(".")
        if name.strip().lower() not in letters or (size and not size.isdigit()):
            raise InputError("not a field of this command", found=part, allowed=", ".join(letters))
        cells.append(Cell(letters[name.strip().lower()], int(size or 20), right))
    return cells


def table(
    before: str,
    cells: Sequence[Cell],
    headers: Mapping[str, str],
    rows: Iterable[Callable[[str], str]],
    *,
    header: bool = True,
) -> str:
    """A table; each row gives the value of a field."""
    unknown = [cell.field for cell in cells if cell.field not in headers]
    if unknown:
        raise InputError(
            "not modelled: a field of this format", found=f"%{unknown[0]}", allowed="".join(sorted(headers))
        )
    values = [[row(cell.field) for cell in cells] for row in rows]
    titles = [headers[cell.field] for cell in cells]
    widths = []
    for place, cell in enumerate(cells):
        longest = max((len(one[place]) for one in [titles, *values]), default=0)
        widths.append(longest if cell.width < 0 else cell.width)
    lines = [titles, *values] if header else values
    return "".join(
        before
        + "".join(
            _cell(text, width, cell.right) + cell.after for text, width, cell in zip(line, widths, cells, strict=True)
        )
        + "\n"
        for line in lines
    )


def _cell(text: str, width: int, right: bool) -> str:
    if not width:
        return text
    return text[:width].rjust(width) if right else text[:width].ljust(width)


def dates(state: State) -> Clock:
    """Times as dates, from the moment of time 0."""

    def shown(time_ns: int) -> str:
        return (state.epoch + timedelta(seconds=time_ns // SECOND)).isoformat(timespec="seconds")

    return shown


def used(seconds: int) -> str:
    """A length of time as squeue prints it.

    >>> used(27), used(3723), used(93_780)
    ('0:27', '1:02:03', '1-02:03:00')
    """
    minutes, rest = divmod(max(0, seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}-{hours:02d}:{minutes:02d}:{rest:02d}"
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def size(mb: int, unit: str = "M") -> str:
    """MiB with the largest unit that gives at most two decimals exactly.

    >>> size(64_000), size(16_000), size(2048), size(0)
    ('62.50G', '16000M', '2G', '0')
    """
    if not mb:
        return "0"
    units = "MGTPE"
    value, place = float(mb), units.index(unit)
    while value >= 1024 and int(value) % 512 == 0:
        value, place = value / 1024, place + 1
    return f"{value:.0f}{units[place]}" if value == int(value) else f"{value:.2f}{units[place]}"


def tres_text(tres: Mapping[str, int], *, ordered: Sequence[str] = ("cpu", "mem", "node", "billing")) -> str:
    """Resources as squeue and scontrol print them."""
    names = [
        *(name for name in ordered if tres.get(name)),
        *(name for name in tres if name not in ordered and tres[name]),
    ]
    return ",".join(f"{name}={size(tres[name]) if name == 'mem' else tres[name]}" for name in names)


def option(args: Sequence[str], *names: str) -> str | None:
    """The value of an option, in any of its forms (``-o X``, ``-oX``, ``--format=X``); None: it is not there."""
    for place, word in enumerate(args):
        for name in names:
            if word == name:
                return args[place + 1] if place + 1 < len(args) else ""
            if name.startswith("--") and word.startswith(name + "="):
                return word[len(name) + 1 :]
            if not name.startswith("--") and word.startswith(name) and len(word) > 2 and not word.startswith("--"):
                return word[2:]
    return None


def flags(args: Sequence[str], valued: str) -> set[str]:
    """The short flags and long names that stand alone; ``valued``: letters that take a value."""
    found: set[str] = set()
    skip = False
    for word in args:
        if skip:
            skip = False
        elif word.startswith("--"):
            found.add(word.partition("=")[0])
        elif word.startswith("-"):
            for place, letter in enumerate(word[1:], 1):
                if letter in valued:
                    skip = place == len(word) - 1
                    break
                found.add(f"-{letter}")
    return found
