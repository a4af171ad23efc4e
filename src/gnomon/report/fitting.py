"""Tables within a line's length: long texts go on below, and columns for which there is no room are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextvars import ContextVar

from rich.console import Console
from rich.text import Text

LINE: ContextVar[int | None] = ContextVar("line", default=None)
"""How long lines of tables may be; None: as long as they are."""

TEXT_MIN = 16
"""A column of texts is not made narrower than this, nor than its longest word while there is room."""

ELLIPSIS = "…"


def fit(
    cells: Sequence[Sequence[Text]], right: Collection[int], gap: int, line: int
) -> tuple[list[list[Text]], set[int], int]:
    """Rows of cells that are no longer than a line, where that can be, which of their columns are flush right, and how
    many columns are left out: the last ones, where they do not fit at all. Texts that are too long go on in rows below.

    >>> rows, _, _ = fit([[Text("WHY"), Text("NO")], [Text("one two three four five six"), Text("7")]], {1}, 3, 21)
    >>> [[cell.plain for cell in row] for row in rows]
    [['WHY', 'NO'], ['one two three', '7'], ['four five six', '']]
    """
    widths = [max(row[i].cell_len for row in cells) for i in range(len(cells[0]))]
    words = [max((len(word) for row in cells for word in row[i].plain.split()), default=0) for i in range(len(widths))]
    least = [width if i in right else max(min(width, TEXT_MIN), words[i]) for i, width in enumerate(widths)]
    if sum(least) + gap * (len(least) - 1) > line:  # then long words are cut
        least = [width if i in right else min(width, TEXT_MIN) for i, width in enumerate(widths)]
    shown = len(widths)
    while shown > 1 and sum(least[:shown]) + gap * (shown - 1) + (shown < len(widths)) * (gap + 1) > line:
        shown -= 1
    hidden = len(widths) - shown
    rest = gap + 1 if hidden else 0
    widths = _narrowed(widths[:shown], least[:shown], line - rest - gap * (shown - 1))
    rows: list[list[Text]] = []
    for row in cells:
        parts = [_lines(cell, width) for cell, width in zip(row[:shown], widths, strict=True)]
        for number in range(max(map(len, parts))):
            below = [part[number] if number < len(part) else Text() for part in parts]
            rows.append([*below, Text(ELLIPSIS)] if rest else below)
    return rows, {column for column in right if column < shown}, hidden


def _narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The widest columns made as narrow as it takes, none below its least."""
    found = list(widths)
    while sum(found) > room:
        wide = [i for i, width in enumerate(found) if width > least[i]]
        if not wide:
            break
        most = max(found[i] for i in wide)
        widest = [i for i in wide if found[i] == most]
        below = max([found[i] for i in wide if found[i] < most] + [least[i] for i in widest])
        over = -(-(sum(found) - room) // len(widest))
        for i in widest:
            found[i] = max(most - over, below, least[i])
    return found


def _lines(cell: Text, width: int) -> list[Text]:
    """A text in lines of a width."""
    if cell.cell_len <= width:
        return [cell]
    lines = list(cell.wrap(Console(width=max(width, 1)), max(width, 1)))
    for one in lines:
        one.rstrip()
    return lines
