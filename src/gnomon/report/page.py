"""What the pages have in common: a file that loads nothing from anywhere, in light and dark, and tables in it.

Whatever comes from the user is escaped. The reader's browser chooses between light and dark; ``#light`` and ``#dark``
at the end of the address do so too on pages with a script, and paper is light.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from gnomon.report.text import plain


@dataclass(frozen=True)
class Markup:
    """A cell that is HTML already."""

    html: str


Cell = str | Markup


def framed(title: str, body: Iterable[str], *, style: str = "", scripted: bool = False) -> Iterator[str]:
    """A page around its body, in parts."""
    allowed = "script-src 'unsafe-inline'; img-src data: blob:; " if scripted else ""
    yield "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
    yield "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
    yield f"{allowed}style-src 'unsafe-inline'\">\n"
    yield f"<title>{safe(title)}</title>\n<style>\n{part('page.css')}{style}</style>\n</head>\n<body>\n"
    yield from body
    yield "</body>\n</html>\n"


def table(
    name: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    texts: Collection[int] = (),
    soft: Collection[int] = (),
) -> str:
    """A table that scrolls within itself; ``name``: what it is called for those who do not see it.

    The first column names the rows. Columns in ``texts`` are flush left and may be broken into lines, those in
    ``soft`` are of less weight.
    """
    kinds = ["text" * (i in texts) + " hint" * (i in soft) for i in range(len(heads))]
    classes = [f" class='{kind.strip()}'" if kind else "" for kind in kinds]
    head = "".join(f"<th scope='col'{kind}>{safe(text)}</th>" for text, kind in zip(heads, classes, strict=True))
    body = "".join(
        f"<tr><th scope='row'{classes[0]}>{_cell(first)}</th>"
        f"{''.join(f'<td{kind}>{_cell(cell)}</td>' for cell, kind in zip(rest, classes[1:], strict=True))}</tr>\n"
        for first, *rest in rows
    )
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{safe(name)}'><table>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def section(heading: str, body: str, *, about: str = "", text: str = "") -> str:
    """A part of the page below its heading; ``about``: what it is about, where the heading says what was found."""
    kicker = f"<p class='kicker'>{safe(about)}</p>\n" if about else ""
    told = f"<p>{safe(text)}</p>\n" if text else ""
    return f"<section>\n{kicker}<h2>{safe(heading)}</h2>\n{told}{body}</section>\n"


def headline(title: str) -> str:
    """The title at the head of the page; long names may be broken after a slash."""
    return f"<h1>{safe(title).replace('/', '/<wbr>')}</h1>\n"


def folded(summary: str, body: str) -> str:
    """What is shown when it is asked for."""
    return f"<details>\n<summary>{safe(summary)}</summary>\n{body}</details>\n"


def safe(text: object) -> str:
    """Text as HTML, on one line, with control characters written out."""
    return escape(plain(text), quote=True)


def part(name: str) -> str:
    """A file that belongs to the pages."""
    return (files("gnomon.report") / name).read_text("utf-8")


def _cell(cell: Cell) -> str:
    return cell.html if isinstance(cell, Markup) else safe(cell)
