"""Writing to the terminal: results to stdout, everything else to stderr, colour only where someone looks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from io import StringIO
from math import isfinite
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

from gnomon.cli.encoding import takes

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.model.work import Note


class Output(StrEnum):
    """The forms of a result."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


def _fit_tables(form: Output) -> Output:
    """Tables are as wide as the line, unless everything is asked for."""
    from gnomon.report.fitting import LINE

    LINE.set(None if form is Output.WIDE else line_length(sys.stdout))
    return form


OutputOption = Annotated[
    Output,
    typer.Option(
        "-o",
        "--output",
        metavar="FORM",
        help=f"Form of the result: {', '.join(Output)}.",
        callback=_fit_tables,
    ),
]

LINE_MIN = 20
"""Nothing is broken into lines shorter than that."""


def line_length(stream: IO[str]) -> int | None:
    """How long lines may be: in a terminal as long as COLUMNS says, else as wide as it is; None in files and pipes,
    which programs read."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and int(said):
        return max(int(said), LINE_MIN)
    try:
        wide = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(wide, LINE_MIN) if wide else None  # 0: serial lines and some containers do not know


def show(text: Text) -> None:
    """Write a text to stdout."""
    write(_rendered(text, sys.stdout))


def emit(output: Output, document: object, shown: Text) -> None:
    """Write a result in the form that was asked for: the text for people, the document for programs."""
    if output is Output.JSON:
        texts = (as_json(document, ascii=ascii) for ascii in (False, True))
        write(next(text for text in texts if takes(sys.stdout, text)) + "\n")
    elif output is Output.YAML:
        import yaml

        plain = plain_data(document)
        texts = (str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=all_signs)) for all_signs in (True, False))
        write(next(text for text in texts if takes(sys.stdout, text)))
    else:
        show(shown)


def failure_of(write: Callable[[], object]) -> Exception | None:
    """Write something beside the answer; what kept that from being done, which is no reason to lose the answer: it is
    raised when that has been given."""
    from gnomon.model.errors import InputError

    try:
        write()
    except (InputError, OSError) as error:
        return error
    return None


def write(text: str) -> None:
    """Write to stdout, until a reader such as ``head`` has seen enough: that is no error. A full disk is one."""
    from gnomon.model.errors import InputError

    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _lead_nowhere(sys.stdout)
    except OSError as error:
        _lead_nowhere(sys.stdout)
        raise InputError(f"cannot be written: {error.strerror or error}", file="standard output") from None


def say(text: str) -> None:
    """Write a line to stderr, if one can."""
    from rich.text import Text

    from gnomon.report.text import plain

    try:
        sys.stderr.write(_rendered(Text(plain(text), style="dim"), sys.stderr))
        sys.stderr.flush()
    except OSError:
        _lead_nowhere(sys.stderr)


def say_notes(notes: Sequence[Note]) -> None:
    """What the answer leaves out or takes for granted, once a kind, on stderr."""
    for note in notes:
        say(note_line(note))


def note_line(note: Note) -> str:
    """A note in one line."""
    times = f" ({note.count:,} times)" if note.count > 1 else ""
    what = _TOLD.get(note.what, note.what)
    return f"{what}: {note.field}: {note.text}{times}" if note.field else f"{what}: {note.text}{times}"


_TOLD: Final = {"default": "assumed"}
"""Kinds of notes that read like something else: ``default`` is a namespace too."""


def notes_data(notes: Sequence[Note]) -> list[dict[str, object]]:
    """Notes as data."""
    return [{"what": n.what, "field": n.field, "text": n.text, "count": n.count} for n in notes]


def as_json(document: object, *, ascii: bool = False) -> str:
    """One JSON document. What JSON cannot say (an endless number) is null. ``ascii``: with all else as ``\\uXXXX``."""
    import json

    return json.dumps(plain_data(document), indent=2, ensure_ascii=ascii, allow_nan=False)


def plain_data(value: Any) -> Any:
    """The value in dicts, lists, texts, numbers and nulls."""
    if value is None or isinstance(value, str | bool | int):
        return str(value) if isinstance(value, StrEnum) else value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain_data(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return plain_data(value.tolist())
    return str(value)


def _lead_nowhere(stream: IO[str]) -> None:
    """Drop what is still to be written to a stream that takes no more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _rendered(text: Text, stream: IO[str]) -> str:
    """The text with colours if the stream is a terminal, its sentences broken into lines where somebody looks."""
    from rich.console import Console

    page = StringIO()
    page.isatty = stream.isatty  # type: ignore[method-assign]
    length = line_length(stream)
    if length is not None:
        text = _broken(text, length)
    Console(file=page, highlight=False, markup=False, emoji=False).print(text, soft_wrap=True)
    return page.getvalue()


def _broken(text: Text, length: int) -> Text:
    """The text with its long sentences in several lines, each indented as its first one; rows of tables stay."""
    from rich.console import Console
    from rich.text import Text

    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        said = line.plain
        if line.cell_len <= length or _ROW.search(said):
            lines.append(line)
            continue
        indent = len(said) - len(said.lstrip(" "))
        width = max(length - indent, LINE_MIN // 2)
        for part in line[indent:].wrap(Console(width=width), width):
            part.rstrip()
            lines.append(Text.assemble(" " * indent, part))
    return Text("\n").join(lines)


_ROW: Final = re.compile(r"\S {3,}\S")
"""What only rows of tables have: columns."""
