"""The numbers in a file of the Standard Workload Format, in blocks, exact, and with the place of every error.

One meaning and two speeds: :func:`blocks` converts a few megabytes at a time with NumPy; a block in which that
fails, or might lose a digit, is read again line by line, exactly, and that finds the line and field at fault.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from functools import cache
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

from gnomon.formats.files import open_bytes
from gnomon.model.errors import InputError
from gnomon.model.quantity import NS_PER_S
from gnomon.model.resources import MAX_AMOUNT, MAX_TIME_NS
from gnomon.model.work import IntArray

FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time used",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
"""The 18 fields, in order (Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers",
JSSPP 1999; version 2.2 on the pages of the Parallel Workloads Archive)."""

NUMBER, SUBMIT, WAIT, RUN, ALLOCATED, CPU_USED, MEMORY_USED, REQUESTED, ESTIMATE, MEMORY, STATUS, USER = range(12)
GROUP, EXECUTABLE, QUEUE, PARTITION, PRECEDING, THINK = range(12, 18)

TIMES = (SUBMIT, WAIT, RUN, ESTIMATE)
"""Fields in seconds that the model uses: they become nanoseconds."""

LOOSE = (CPU_USED, MEMORY_USED, MEMORY, THINK)
"""Fields that may have a fraction and need no exact value: it is rounded up, so that what is above zero stays so."""

_BLOCK_CHARACTERS = 4_000_000
_LINE_CHARACTERS_MAX = 1_000_000
_FIELDS_MAX = 100
_SECONDS_MAX = MAX_TIME_NS // NS_PER_S
_PROCESSORS_MAX = MAX_AMOUNT // 1000
_WHOLE_MAX = 2**53 - 1
_INTEGER = re.compile(r"-?[0-9]{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_DECIMAL = Context(prec=40)


def blocks(path: str | Path) -> Iterator[IntArray]:
    """The job lines as int64 arrays of shape (jobs, fields), fields at least 18: times in ns, all else as it stands.

    A fraction of a nanosecond is rounded to the nearest, half to even. Raises InputError for a file that cannot be
    read, a line with fewer than 18 or more than 100 fields, and a field that is not a number or not within its bounds.
    """
    first_line = 1
    with _open(path) as stream:
        while text := stream.read(_BLOCK_CHARACTERS):
            text += stream.readline(_LINE_CHARACTERS_MAX)
            if not text.endswith("\n") and len(text) >= _LINE_CHARACTERS_MAX + _BLOCK_CHARACTERS:
                raise InputError("a line without an end", file=str(path), line=first_line + text.count("\n"))
            rows = _fast(text)
            if rows is None:
                rows = _careful(text, str(path), first_line)
            yield rows
            first_line += text.count("\n")


def job_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Each job line with its number in the file, comments taken off."""
    with _open(path) as stream:
        yield from _job_lines(stream, 1)


def comments(path: str | Path) -> Iterator[str]:
    """The comment lines above the first job line, without the semicolon."""
    with _open(path) as stream:
        while line := stream.readline(_LINE_CHARACTERS_MAX):
            text = line.strip()
            if text.startswith(";"):
                yield _decoded(text[1:].strip())
            elif text:
                return


def _open(path: str | Path) -> TextIO:
    """The text with every kind of line end as a newline; each byte is one character, whatever the encoding."""
    return io.TextIOWrapper(open_bytes(path), encoding="latin-1", newline=None)


def _decoded(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text


def _fast(text: str) -> IntArray | None:
    """A block with NumPy, or None when the careful way has to look at it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a block without a job line
            values = np.loadtxt(io.StringIO(text), comments=";", ndmin=2)
    except ValueError:
        return None
    if not values.size:
        return np.empty((0, len(FIELDS)), np.int64)
    width = values.shape[1]
    limits = np.array([_limit(field) for field in range(width)])
    fits = len(FIELDS) <= width <= _FIELDS_MAX
    if not (fits and np.all(np.abs(values) <= limits)):  # what is not a number compares false
        return None
    for field in (*LOOSE, *range(len(FIELDS), width)):
        values[:, field] = np.ceil(values[:, field])
    rows = np.rint(values).astype(np.int64)
    for field in range(width):
        if field in TIMES:
            exact = _nanoseconds(values[:, field], field, text)
            if exact is None:
                return None
            rows[:, field] = exact
        elif not np.array_equal(rows[:, field], values[:, field]):
            return None
    return rows


def _nanoseconds(seconds: npt.NDArray[np.float64], field: int, text: str) -> IntArray | None:
    """A field of times in ns, or None where the floats may have lost a digit of the text.

    Below 2**22 s (48 days) nine decimals survive: a float is within 0.24 ns of the text, the product within 0.25 ns
    of the float. Longer times are exact as long as they are whole.
    """
    if np.all(np.abs(seconds) < 2**22):
        return np.rint(seconds * 1e9).astype(np.int64)
    if any(sign in text for sign in ".eE") and _fraction(field).search(text):
        return None
    return seconds.astype(np.int64) * NS_PER_S


@cache
def _fraction(field: int) -> re.Pattern[str]:
    """Finds a job line in which a field is not written as a plain integer."""
    return re.compile(rf"^[ \t]*[^\s;]\S*(?:[ \t]+\S+){{{field - 1}}}[ \t]+[^\s;]*[.eE]", re.MULTILINE)


def _careful(text: str, file: str, first_line: int) -> IntArray:
    """The same line by line: exact, and with the place of what is wrong."""
    rows = []
    for line, content in _job_lines(io.StringIO(text), first_line):
        tokens = content.split()
        if not len(FIELDS) <= len(tokens) <= _FIELDS_MAX:
            raise InputError(
                "wrong number of fields in a job line",
                file=file,
                line=line,
                found=len(tokens),
                allowed=f"from {len(FIELDS)} to {_FIELDS_MAX}",
            )
        try:
            rows.append([_exact(field, token) for field, token in enumerate(tokens)])
        except InputError as error:
            raise error.at(file=file, line=line) from None
    width = max(map(len, rows), default=len(FIELDS))
    padded = [row + [-1] * (width - len(row)) for row in rows]
    return np.array(padded, np.int64).reshape(-1, width)


def _exact(field: int, token: str) -> int:
    """One field, as :func:`blocks` gives it."""
    limit = _limit(field)
    if _INTEGER.fullmatch(token) and abs(integer := int(token)) <= limit:
        return integer * NS_PER_S if field in TIMES else integer
    name = FIELDS[field] if field < len(FIELDS) else "extension"
    place = f"field {field + 1} ({name})"
    if not _NUMBER.fullmatch(token):
        raise InputError("not a number", field=place, found=_decoded(token), allowed="a decimal number, -1 for unknown")
    try:
        value = _DECIMAL.create_decimal(token)
    except ArithmeticError:
        value = Decimal("Infinity")
    if abs(value) > limit:
        raise InputError("out of bounds", field=place, found=token, allowed=f"from -{limit} to {limit}")
    if field in TIMES:
        return int(_DECIMAL.multiply(value, NS_PER_S).to_integral_value(ROUND_HALF_EVEN))
    if field in LOOSE or field >= len(FIELDS):
        return int(value.to_integral_value(ROUND_CEILING))
    if value != value.to_integral_value():
        raise InputError("not a whole number", field=place, found=token, allowed=f"from -{limit} to {limit}")
    return int(value)


def _limit(field: int) -> int:
    """The largest magnitude that a field may have, as written in the file."""
    if field in TIMES:
        return _SECONDS_MAX
    return _PROCESSORS_MAX if field in (ALLOCATED, REQUESTED) else _WHOLE_MAX


def _job_lines(stream: TextIO, first_line: int) -> Iterator[tuple[int, str]]:
    for line, text in enumerate(stream, start=first_line):
        content = text.partition(";")[0].strip()
        if content:
            yield line, content
