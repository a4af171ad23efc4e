"""Tables of fixed width: ``squeue``, ``sinfo``, ``sprio``, ``sshare``, ``sacct`` without ``-P``; and those with ``|``.

Where a rule of dashes stands below the header, it tells the widths. Without one, a column ends where every row has a
blank between two names of the header; columns that touch (``-O`` and cut texts) begin where their name does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.parsable import joined, unlike
from gnomon.systems.slurm.read.words import STATES

Row = dict[str, str]

# names that touch the one before where the columns are as wide as the names
_LONG_NAMES: Final = (
    *("ARRAY_JOB_ID", "ARRAY_TASK_ID", "JOBID", "NAME", "USER", "ACCOUNT", "PARTITION", "QOS", "STATE", "REASON"),
    *("PRIORITY", "NODES", "CPUS", "TRES_ALLOC", "TIME_LIMIT", "TIME_LEFT", "START_TIME", "END_TIME", "SUBMIT_TIME"),
    *("NODELIST(REASON)", "NODELIST", "DEPENDENCY", "TIME", "MIN_MEMORY", "FEATURES", "TRES_PER_NODE", "RESERVATION"),
    *("WORK_DIR", "COMMENT", "OVER_SUBSCRIBE", "NICE", "LICENSES", "SCHEDNODES", "GROUP", "WCKEY", "ELIGIBLE_TIME"),
)
_DATED: Final = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}\Z")
_MESSAGE: Final = re.compile(r"(?:s[a-z]+|slurm_\w+): |slurm_\w+ error")
_FREE: Final = ("NAME", "COMMENT", "REASON", "NODELIST(REASON)", "WORK_DIR", "COMMAND", "DEPENDENCY")
_LOOKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "STATE": lambda text: text in STATES.values(),
    "ST": lambda text: text in STATES,
    "PRIORITY": lambda text: re.fullmatch(r"[\d.]+", text) is not None,
    "NODES": lambda text: re.fullmatch(r"[\dK.-]+", text) is not None,
    "CPUS": lambda text: re.fullmatch(r"[\dK.-]+", text) is not None,
}


@dataclass(frozen=True)
class Table:
    """``names``: of the columns, one that is there twice with a number; ``rows``; ``lines``: where each stands;
    ``dated``: the first line where it tells the time."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    lines: tuple[int, ...]
    dated: str = ""


def read_table(text: str, *, file: str | None = None) -> Table:
    """The rows of a table. Raises InputError with file and line.

    >>> read_table("JOBID NAME     ST\\n    7 my job   PD\\n    8          R\\n").rows[0]
    {'JOBID': '7', 'NAME': 'my job', 'ST': 'PD'}
    """
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    dated = ""
    if numbered and _DATED.match(numbered[0][1].strip()):
        dated = numbered.pop(0)[1].strip()
    if numbered and set(numbered[0][1].strip()) == {"-"}:  # a report: what stands between two rules is its title
        second = next((i for i, (_, line) in enumerate(numbered[1:], 1) if set(line.strip()) == {"-"}), 0)
        numbered = numbered[second + 1 :]
    if not numbered:
        return Table((), (), (), dated)
    if _MESSAGE.match(numbered[0][1]):
        number, line = numbered[0]
        raise InputError("a message of the command, and no table", file=file, line=number, found=line.strip()[:80])
    (number, header), body = numbered[0], numbered[1:]
    if "|" in header:
        return _with_bars(number, header, body, file, dated)
    if body and set(body[0][1]) <= {"-", " "}:
        spans = [found.span() for found in re.finditer(r"-+", body.pop(0)[1])]
        ends = [(a, (*spans, (len(header) + 10**6, 0))[place + 1][0]) for place, (a, _) in enumerate(spans)]
    else:
        ends = _spans(header, [line for _, line in body])
    names = unlike([header[a:b].strip() for a, b in ends], file=file, line=number)
    if "" in names:
        raise InputError("not the header of a table", file=file, line=number, found=header[:60])
    rows = tuple(dict(zip(names, (line[a:b].strip() for a, b in ends), strict=True)) for _, line in body)
    return Table(names, rows, tuple(line for line, _ in body), dated)


def _with_bars(at: int, header: str, body: Sequence[tuple[int, str]], file: str | None, dated: str) -> Table:
    names = unlike([name.strip() for name in header.split("|")], file=file, line=at)
    rows = []
    for number, line in body:
        parts = line.split("|")
        found = joined(parts, names, _FREE, _LOOKS) if len(parts) >= len(names) else None
        if found is None:
            problem = f"{len(parts)} fields, the header has {len(names)}"
            raise InputError(problem, file=file, line=number, found=line[:60])
        rows.append({name: value.strip() for name, value in zip(names, found, strict=True) if name})
    return Table(names, tuple(rows), tuple(number for number, _ in body), dated)


def _spans(header: str, body: Sequence[str]) -> list[tuple[int, int]]:
    """From where to where each column goes; the last one to the end."""
    words = _header_words(header)
    cuts: list[int] = []
    for (_, end), (start, _) in pairwise(words):
        taken = {at for line in body for at, letter in enumerate(line[end:start], end) if letter != " "}
        blank = next((at for at in reversed(range(end, start)) if at not in taken), None)
        if blank is None:
            cuts = [start for start, _ in words[1:]]
            break
        cuts.append(blank)
    return list(zip([0, *cuts], [*cuts, 10**9], strict=True))


def _header_words(header: str) -> list[tuple[int, int]]:
    found = []
    for word in re.finditer(r"\S+", header):
        at, end = word.span()
        while at < end:
            name = next((one for one in _LONG_NAMES if header.startswith(one, at) and at + len(one) < end), None)
            rest = header[at + len(name) : end] if name else ""
            if name and not any(rest.startswith(one) for one in _LONG_NAMES):
                name = None
            stop = at + len(name) if name else end
            found.append((at, stop))
            at = stop
    return found
