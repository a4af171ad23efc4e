"""The beginning of a file, from which a format is told."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gnomon.formats.files import read_start
from gnomon.formats.table import DELIMITERS

_CHARACTERS = 16_384


@dataclass(frozen=True)
class Start:
    """The first lines of a file that are not empty."""

    file: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, path: str | Path) -> Start:
        """That of a file. Raises InputError when it cannot be read."""
        text = read_start(path, characters=_CHARACTERS)
        return cls(str(path), tuple(line for line in text.splitlines() if line.strip()))

    @cached_property
    def names(self) -> list[str]:
        """The columns that the first line names; none if it is no line of a table.

        >>> Start("a.csv", ("job id; submit", "1; 2")).names
        ['job id', 'submit']
        """
        header = self.lines[0]
        try:
            cells = next(csv.reader([header], delimiter=max(DELIMITERS, key=header.count), skipinitialspace=True))
        except csv.Error:
            return []
        return [name.strip() for name in cells]
