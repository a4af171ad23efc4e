"""The lines of slurm.conf and its like: comments, continuation, ``Include``, and pairs ``Key=value``.

Everything after a ``#`` without a backslash before it is a comment, also between quotes; a backslash at the end goes on
with the next line; a pair has one of ``=``, ``+=``, ``-=`` and a value that is quoted or has no blank in it.
Source: ``src/common/parse_config.c`` of Slurm 22.05 to 25.05 (``_get_next_line``, ``keyvalue_pattern``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gnomon.model.errors import InputError

LINES_MAX: Final = 1_000_000
_DEPTH_MAX: Final = 16

_PAIR = re.compile(
    r"\s*(?P<key>[A-Za-z0-9_.]+)\s*[-*+/]?=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>\S+))(?=\s|\Z)", re.ASCII
)
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)#.*", re.DOTALL)
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\s*\Z")
_INCLUDE = re.compile(r"include\s+(\S+)(.*)", re.I | re.DOTALL)

Opener = Callable[[str, str], tuple[str, str]]
"""From the name behind ``Include`` and the file it stands in: the name of the file meant, and its text."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One ``key=value``; the key as it is written."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line that says something: the first pair, and those that follow it on the same line."""

    file: str
    number: int
    first: Pair
    others: tuple[Pair, ...] = ()

    def error(self, problem: str, *, field: str | None = None, found: object = None) -> InputError:
        """An error at this line."""
        return InputError(problem, file=self.file, line=self.number, field=field, found=found)


def read_lines(text: str, file: str, open_included: Opener) -> Iterator[Line]:
    """The lines of a file and of those that it includes, in the order in which slurmctld reads them.

    ``%c`` in the name of an included file is the cluster's name as far as it is known by then. Raises
    :class:`InputError` with the file and the line for what is not ``Key=value``.

    >>> line, = read_lines('NodeName=n[1-2] Feature="a b" \\\\\\n  CPUs=4 # four', "slurm.conf", no_includes)
    >>> line.first.value, [(pair.key, pair.value) for pair in line.others]
    ('n[1-2]', [('Feature', 'a b'), ('CPUs', '4')])
    """
    cluster: dict[str, str] = {}
    yield from _read(text, (file,), open_included, cluster)


def no_includes(name: str, file: str) -> tuple[str, str]:
    """For text that stands alone: every ``Include`` is an error."""
    raise InputError("an included file, which is not at hand", found=name)


def _read(text: str, files: tuple[str, ...], open_included: Opener, cluster: dict[str, str]) -> Iterator[Line]:
    file = files[-1]
    for number, content in _logical_lines(text, file):
        if included := _INCLUDE.match(content):
            name = included[1]
            if "%c" in name:
                if "name" not in cluster:
                    raise InputError("Did not get ClusterName for include path", file=file, line=number, found=name)
                name = name.replace("%c", cluster["name"].lower())
            if included[2].strip():
                raise InputError(f'Parse error: "{included[2].rstrip()}"', file=file, line=number)
            try:
                opened, inside = open_included(name, file)
            except InputError as error:
                if error.file is None:
                    raise error.at(file=file, line=number, field="Include") from None
                if error.line is None:  # the file cannot be read: what names it is to be mended
                    raise InputError(error.problem, file=file, line=number, field="Include", found=error.file) from None
                raise
            if opened in files or len(files) > _DEPTH_MAX:
                raise InputError("a file that includes itself", file=file, line=number, field="Include", found=name)
            yield from _read(inside, (*files, opened), open_included, cluster)
            continue
        line = _parsed(content, file, number)
        if line.first.key.lower() == "clustername":
            cluster["name"] = line.first.value
        yield line


def _logical_lines(text: str, file: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that go on joined, each with the number of its first."""
    held, begun = "", 0
    number = 0
    for number, raw in enumerate(text.split("\n"), start=1):
        if number > LINES_MAX:
            raise InputError(f"more than {LINES_MAX:,} lines", file=file)
        content = _COMMENT.sub(r"\1", raw.rstrip("\r")) if "#" in raw else raw.rstrip("\r")
        begun = begun or number
        if "\\" in content and (continued := _CONTINUED.search(content)):
            held += content[: continued.end(1)]
            continue
        content, held = _ESCAPED.sub(r"\1", held + content), ""
        if content.strip():
            yield begun, content
        begun = 0
    held = _ESCAPED.sub(r"\1", held)
    if held.strip():
        yield begun, held


def _parsed(content: str, file: str, number: int) -> Line:
    pairs: list[Pair] = []
    content = content.rstrip()
    at = 0
    while at < len(content):
        matched = _PAIR.match(content, at)
        if matched is None:
            raise InputError(f'Parse error: "{content[at:].strip()}"', file=file, line=number, allowed="Key=value")
        value = matched["quoted"] if matched["quoted"] is not None else matched["plain"]
        pairs.append(Pair(matched["key"], value))
        at = matched.end()
    return Line(file, number, pairs[0], tuple(pairs[1:]))
