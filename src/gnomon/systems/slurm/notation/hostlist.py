"""Host lists: ``n[001-016,020]`` to names and back, as Slurm reads and prints them, and the order of names in Slurm.

Source: ``src/common/hostlist.c`` and ``strnatcmp.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from itertools import product
from typing import Final, NamedTuple

from gnomon.model.errors import InputError

HOSTS_PER_RANGE_MAX: Final = 65_536
"""The largest range, MAX_RANGE of hostlist.h."""

HOSTS_MAX: Final = 1_000_000
"""So many names one list may give: a bound of Gnomon, against ``a[0-65535]b[0-65535]``."""

_ALLOWED: Final = "for instance n[1-4,6], r[1-3]n[01-16], a,b"
_RANGE: Final = re.compile(r"([0-9]+)(?:-([0-9]*))?\Z", re.ASCII)
_PART: Final = re.compile(r"([^\[\]]*)\[([^\[\]]*)\]")
_NUMBERED: Final = re.compile(r"(.*?)([0-9]+)\Z", re.ASCII | re.DOTALL)


def expand(text: str) -> tuple[str, ...]:
    """The names that a list stands for, in its order; separators are commas and blanks.

    A number keeps the width of the first of its range. Raises :class:`InputError` for bad ranges and for text after
    the last bracket of a name, which Slurm does not take.

    >>> expand("n[8-10,020], login")
    ('n8', 'n9', 'n10', 'n020', 'login')
    >>> expand("r[1-2]n[01-02]")
    ('r1n01', 'r1n02', 'r2n01', 'r2n02')
    """
    names: list[str] = []
    for token in _tokens(text):
        names.extend(_expanded(token, text))
        if len(names) > HOSTS_MAX:
            raise _bad("too many hosts", text)
    return tuple(names)


def compress(names: Iterable[str]) -> str:
    """The list as Slurm prints it; neighbours that count up are joined, so sort first (see :func:`by_name`).

    >>> compress(["n1", "n2", "n3", "n5", "login", "a07", "a08"])
    'n[1-3,5],login,a[07-08]'
    """
    groups: list[tuple[str, list[_Range]]] = []
    for name in names:
        prefix, number = _split(name)
        if number is None:
            groups.append((name, []))
        elif not groups or not groups[-1][1] or groups[-1][0] != prefix:
            groups.append((prefix, [number]))
        else:
            ranges = groups[-1][1]
            joined = _joined(ranges[-1], number)
            ranges[-1:] = [ranges[-1], number] if joined is None else [joined]
    return ",".join(_printed(prefix, ranges) for prefix, ranges in groups)


def by_name(names: Iterable[str]) -> list[str]:
    """The names in the order of slurmctld's node table: numbers inside names compare as numbers.

    >>> by_name(["n10", "n9", "gpu1", "n2"])
    ['gpu1', 'n2', 'n9', 'n10']
    """
    return sorted(names, key=name_key)


def compare_names(a: str, b: str) -> int:
    """Negative, zero or positive as ``a`` comes before ``b``, as ``strnatcmp`` says: blanks are passed over, runs of
    digits compare by their value, or, where one begins with 0, digit by digit."""
    i = j = 0
    while True:
        i, j = _past_blanks(a, i), _past_blanks(b, j)
        one, other = a[i : i + 1], b[j : j + 1]
        if one.isdigit() and other.isdigit():
            order = _compare_digits(a[i:], b[j:], fractional="0" in (one, other))
            if order:
                return order
        if not one and not other:
            return 0
        if one != other:
            return -1 if one < other else 1
        i, j = i + 1, j + 1


name_key = cmp_to_key(compare_names)
"""The key with which ``sorted`` gives the order of slurmctld."""


class _Range(NamedTuple):
    """Numbers low to high, printed with a width."""

    low: int
    high: int
    width: int


def _tokens(text: str) -> Iterator[str]:
    """The parts between separators that are outside brackets."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
        elif depth == 0 and (char == "," or char.isspace()):
            if at > start:
                yield text[start:at]
            start = at + 1
        if depth not in (0, 1):
            raise _bad("unbalanced brackets", text)
    if depth:
        raise _bad("unbalanced brackets", text)
    if start < len(text):
        yield text[start:]


def _expanded(token: str, text: str) -> Iterator[str]:
    """The names of one token: the last bracket counts fastest, then the first, the second, …"""
    if "[" not in token:
        yield token
        return
    parts = list(_PART.finditer(token))
    if parts[-1].end() != len(token):
        raise _bad("text after the last bracket", text)
    choices = [[part[1] + number for number in _numbers(part[2], text)] for part in parts]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > HOSTS_MAX:
        raise _bad("too many hosts", text)
    *before, last = choices
    for chosen in product(*reversed(before)):
        prefix = "".join(reversed(chosen))
        for part in last:
            yield prefix + part


def _numbers(ranges: str, text: str) -> list[str]:
    """What stands between brackets, one by one."""
    numbers: list[str] = []
    for part in ranges.split(","):
        matched = _RANGE.match(part)
        if matched is None or len(part) > 40:
            raise _bad(f"Invalid range: `{part}'", text)
        low = int(matched[1])
        high = int(matched[2]) if matched[2] else low
        if low > high:
            raise _bad(f"Invalid range: `{part}'", text)
        if high - low + 1 > HOSTS_PER_RANGE_MAX or len(numbers) > HOSTS_MAX:
            raise _bad(f"Too many hosts in range `{part}'", text)
        width = len(matched[1])
        numbers.extend(f"{number:0{width}d}" for number in range(low, high + 1))
    return numbers


def _bad(problem: str, text: str) -> InputError:
    return InputError(problem, found=text, allowed=_ALLOWED)


def _split(name: str) -> tuple[str, _Range | None]:
    """A name as what stands before its last number, and that number."""
    matched = _NUMBERED.match(name)
    if matched is None or len(matched[2]) > 18:
        return name, None
    number = int(matched[2])
    return matched[1], _Range(number, number, len(matched[2]))


def _joined(first: _Range, second: _Range) -> _Range | None:
    """Two ranges as one, where the second goes on and is printed the same with a common width."""
    if second.low != first.high + 1 or second.high - first.low >= HOSTS_PER_RANGE_MAX:
        return None
    if first.width == second.width or _padding(second.low, first.width) == _padding(second.low, second.width):
        return _Range(first.low, second.high, first.width)
    if _padding(first.low, first.width) == _padding(first.low, second.width):
        return _Range(first.low, second.high, second.width)
    return None


def _padding(number: int, width: int) -> int:
    """How many zeros stand before it."""
    return max(0, width - len(str(number)))


def _printed(prefix: str, ranges: Sequence[_Range]) -> str:
    if not ranges:
        return prefix
    texts = [f"{low:0{width}d}" if low == high else f"{low:0{width}d}-{high:0{width}d}" for low, high, width in ranges]
    inside = ",".join(texts)
    return f"{prefix}[{inside}]" if len(ranges) > 1 or ranges[0].low != ranges[0].high else prefix + inside


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _compare_digits(a: str, b: str, *, fractional: bool) -> int:
    """The digits at the start: the first difference decides, unless, of two numbers, one is longer."""
    first = 0
    for at in range(max(len(a), len(b)) + 1):
        one, other = a[at : at + 1], b[at : at + 1]
        if not one.isdigit() or not other.isdigit():
            return first if one.isdigit() == other.isdigit() else (1 if one.isdigit() else -1)
        if one != other and not first:
            first = -1 if one < other else 1
            if fractional:
                return first
    return first
