"""Cutting the lines of a YAML file into its documents, and the items of large lists out of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gnomon.formats.files import TEXT_BYTES_MAX
from gnomon.model.errors import InputError

_YAML_VERSION: Final = re.compile(r"%YAML\s+1\.[12]\s*(?:#.*)?")


class Documents:
    """Cuts lines into documents, and the items of a list in block style out of them.

    Each document is an iterator of (lines, number of lines before, whether it is an item of the list); what is left of
    a list without its items comes last and says nothing. ``whole``: lists are not cut.
    """

    def __init__(self, lines: Iterator[str], *, whole: bool = False) -> None:
        self._lines = enumerate(lines)
        self._whole = whole
        self._ended = False
        self._directive = self._tagged = False
        self._start: tuple[int, str] | None = None
        self._held = 0

    def __iter__(self) -> Iterator[Iterator[tuple[list[str], int, bool]]]:
        while not self._ended:
            parts = self._document()
            yield parts
            for _ in parts:
                pass

    def _document(self) -> Iterator[tuple[list[str], int, bool]]:
        outer: list[str] = []
        first = self._held = 0
        self._tagged = False
        dash = ""  # what each item of the list starts with; " " right after `items:`
        for number, line in self._within():
            if not outer and not dash:
                first = number
            if dash == " " and line.strip(" ") and not line.lstrip(" ").startswith("#"):
                indent = len(line) - len(line.lstrip(" "))
                dash = line[:indent] + "- " if line.startswith("- ", indent) else ""
                if dash:
                    ended = yield from self._items(number, line, dash)
                    if ended is None:
                        return
                    number, line = ended
            outer.append(line)
            if not self._whole and not self._tagged and line.rstrip(" ") == "items:":
                dash = " "
        if dash in ("", " "):
            yield outer, first, False

    def _items(self, number: int, line: str, dash: str) -> Any:
        """Yields the items of the list that starts at a line; gives the first line after it, None at the end."""
        item, first = [f"{' ' * len(dash)}{line[len(dash) :]}"], number
        blank = " " * len(dash)
        for number, line in self._within():
            if line.startswith(blank) or not line.strip(" ") or line.lstrip(" ").startswith("#"):
                item.append(line)
                continue
            yield item, first, True
            self._held = 0
            if not line.startswith(dash):
                return number, line
            item, first = [blank + line[len(dash) :]], number
        yield item, first, True
        return None

    def _within(self) -> Iterator[tuple[int, str]]:
        """The lines up to the end of the document, or of what is cut out of it: whoever holds them sets ``_held``."""
        said = self._start is not None  # whether the document has begun to say something
        if self._start is not None:
            yield self._start
            self._start = None
        for number, line in self._lines:
            self._held += len(line)
            if self._held > TEXT_BYTES_MAX:
                raise InputError(f"an object of more than {TEXT_BYTES_MAX} characters", line=number + 1)
            if line.startswith(("---", "...")) and (len(line) == 3 or line[3] in " \t"):
                rest = line[3:].strip()
                if self._directive:
                    self._directive, said = False, bool(rest)
                    yield number, line if self._tagged else f"   {line[3:]}"
                    continue
                if rest and not rest.startswith("#"):
                    self._start = number, f"   {line[3:]}"
                return
            if not said and line.startswith("%"):
                line = self._directed(line, number)
            elif not said and line.strip() and not line.lstrip(" ").startswith("#"):
                if self._directive:
                    raise InputError("not YAML: after a directive a line --- is wanted", line=number + 1)
                said = True
            yield number, line
        self._ended = True

    def _directed(self, line: str, number: int) -> str:
        """What is left of a directive: of tags all, of the version nothing, for it changes nothing."""
        if line.startswith("%YAML") and not _YAML_VERSION.fullmatch(line):
            raise InputError("a version of YAML that is not read here", line=number + 1, found=line, allowed="1.1, 1.2")
        self._directive = True
        self._tagged = self._tagged or line.startswith("%TAG")
        return line if line.startswith("%TAG") else ""
