"""The values of options: each parser takes what stands after an option (None: nothing) and where it was said.

Source: ``src/common/slurm_opt.c`` (``arg_set_…``) and ``proc_args.c`` of Slurm 22.05 to 25.05. Each refuses in sbatch's
own words, checked against sbatch 22.05.8.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation import times
from gnomon.systems.slurm.sbatch.refusals import WRONG, RefusedError, error, invalid

ALL: Final = -1
"""Minutes of a time limit that is none."""

NICE_MAX: Final = 2_147_483_645
"""NICE_OFFSET - 3."""

_ANY_DAY = datetime(2000, 1, 1)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an option is read: the version, whether the user is privileged, files, the time of submission (None: not
    known), and what sbatch says meanwhile."""

    version: tuple[int, int] = (25, 5)
    privileged: bool = False
    read: Callable[[str], str | None] = lambda path: None
    now: datetime | None = None
    said: list[str] = field(default_factory=list)


Parser = Callable[[str | None, Place], Any]


class Nodes(NamedTuple):
    """Of ``-N``: least and most (0: no bound), and the counts that are allowed, where they are listed."""

    least: int
    most: int
    counts: tuple[int, ...] = ()


def text(value: str | None, place: Place) -> str:
    """As it stands."""
    return value or ""


def flag(value: str | None, place: Place) -> bool:
    """An option without a value."""
    return True


def c_integer(value: str, label: str, *, least: int) -> int:
    """``parse_int``: strtol and a cast to 32 bits.

    >>> c_integer("+12", "--ntasks", least=1), c_integer("4294967297", "--ntasks", least=1)
    (12, 1)
    """
    matched = re.fullmatch(r"\s*([+-]?[0-9]+)", value, re.ASCII)
    number = int(matched[1]) if matched and len(value) <= 400 else -1
    if number >= 2**63 - 1:
        raise error(f"Numeric argument ({2**63 - 1}) to big for {label}.", WRONG)
    if number < least:
        raise error(f'Invalid numeric value "{value}" for {label}.', WRONG)
    return (number + 2**31) % 2**32 - 2**31


def number(label: str, *, least: int = 1) -> Parser:
    """A parser of whole numbers."""
    return lambda value, place: c_integer(value or "", label, least=least)


def mebibytes(value: str) -> int | None:
    """A size of memory in MiB, the default unit; kilobytes are rounded up. None: not a size.

    >>> mebibytes("2G"), mebibytes("1025K"), mebibytes("300"), mebibytes("2mb"), mebibytes("1.5G")
    (2048, 2, 300, 2, None)
    """
    matched = re.fullmatch(r"\+?([0-9]{1,18})(?:([kmgt])b?)?", value, re.ASCII | re.I)
    if matched is None:
        return None
    count = int(matched[1])
    unit = (matched[2] or "m").lower()
    return -(-count // 1024) if unit == "k" else count * 1024 ** "mgt".index(unit)


def memory(option: str) -> Parser:
    """A parser of sizes of memory."""

    def parse(value: str | None, place: Place) -> int:
        size = mebibytes(value or "")
        if size is None:
            raise invalid(option)
        return size

    return parse


def minutes(option: str) -> Parser:
    """A parser of time limits in minutes; none, and 0, is :data:`ALL`."""

    def parse(value: str | None, place: Place) -> int:
        try:
            limit = times.limit_minutes(_without_open_end(value or ""))
        except InputError:
            raise invalid(option) from None
        return limit or ALL

    return parse


def _without_open_end(value: str) -> str:
    """``1-`` is a day: sscanf takes what it finds."""
    return value + "0" if re.fullmatch("[0-9]+-", value, re.ASCII) else value


def moment(option: str) -> Parser:
    """A parser of moments, kept as written, for they depend on the time of submission."""

    def parse(value: str | None, place: Place) -> str:
        written = value or ""
        if not written:
            raise invalid(option)
        if not _is_moment(written):
            at = next((end for end in range(min(len(written), 40) - 1, 0, -1) if _is_moment(written[:end])), 0)
            complaint = invalid(option).refusal
            raise RefusedError(f"Invalid time specification (pos={at}): {written}\n{complaint.text}", complaint.rc)
        return written

    return parse


def _is_moment(value: str) -> bool:
    try:
        times.moment(value, _ANY_DAY)
    except InputError:
        return False
    return True


def in_order(begin: str | None, deadline: str | None, now: datetime | None) -> bool:
    """Whether the deadline is not before the begin, seen from ``now`` (None: nobody knows).

    >>> in_order("now+1hour", "now+30minutes", datetime(2026, 1, 1)), in_order("16:00", None, datetime(2026, 1, 1))
    (False, True)
    """
    if not begin or not deadline or now is None:
        return True
    return times.moment(begin, now) <= times.moment(deadline, now)


_COUNT = re.compile(r"\s*([+]?[0-9]{1,18})([km]?)\s*\Z", re.ASCII | re.I)


def _count(value: str) -> int:
    """One bound of ``-N``, -1 where there is none; k and m are 1024 and its square."""
    if not value.strip():
        return -1
    matched = _COUNT.match(value)
    if matched is None:
        raise error(f'"{value}" is not a valid node count')
    return int(matched[1]) * {"": 1, "k": 1024, "m": 1024 * 1024}[matched[2].lower()]


def nodes(value: str | None, place: Place) -> Nodes:
    """``-N 2``, ``2-4`` and, from 23.02 on, ``2,4-8:2``.

    >>> nodes("2-4", Place()), nodes("2,4-8:2", Place())
    (Nodes(least=2, most=4, counts=()), Nodes(least=2, most=8, counts=(2, 4, 6, 8)))
    """
    written = value or ""
    if re.search("[,:]", written) and place.version >= (23, 2):
        return _listed_counts(written)
    low, dash, high = written.partition("-")
    least = _count(low)
    if not dash:
        if least < 0:
            raise error(f'"{written}" is not a valid node count')
        return Nodes(least, least)
    least = 1 if least < 0 else least
    most = _count(high)
    if most and most < least:
        raise error(f"Maximum node count {most} is less than minimum node count {least}")
    return Nodes(least, most)


_COUNTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5})(?::([0-9]{1,5}))?)?\Z", re.ASCII)


def _listed_counts(written: str) -> Nodes:
    counts: set[int] = set()
    for part in written.split(","):
        matched = _COUNTS.match(part)
        low, high, step = (int(one) if one else None for one in matched.groups()) if matched else (None, None, None)
        if low is None or step == 0 or (high is not None and high < low):
            raise error(f'"{written}" is not a valid node count')
        counts.update(range(low, (low if high is None else high) + 1, step or 1))
    return Nodes(min(counts), max(counts), tuple(sorted(counts)))


_SIGNAL = re.compile(r"(?:([RB]{1,2}):)?([^@]+)(?:@([0-9]{1,5}))?\Z", re.ASCII | re.I)


def warning_signal(value: str | None, place: Place) -> str:
    """``--signal=[R][B:]SIG[@seconds]``, as written."""
    matched = _SIGNAL.match(value or "")
    if matched is None or not _known_signal(matched[2]) or int(matched[3] or 0) > 65_535:
        raise invalid("signal")
    return value or ""


def _known_signal(name: str) -> bool:
    if name.isascii() and name.isdigit():
        return len(name) <= 5 and int(name) > 0
    bare = name.upper().removeprefix("SIG")
    return f"SIG{bare}" in signal.Signals.__members__


def switches(value: str | None, place: Place) -> tuple[int, int | None]:
    """``--switches=count[@time]``: the count, and seconds to wait for it at most (None: not said)."""
    count, at, wait = (value or "").partition("@")
    if not at:
        return c_integer(count, "--switches", least=1), None
    try:
        limit = times.limit_seconds(wait)
    except InputError:
        limit = None
    return c_integer(count, "--switches", least=1), limit


def nice(value: str | None, place: Place) -> int:
    """``--nice[=n]``, 100 without a number; what a plain user may not ask for is left out."""
    matched = re.match(r"\s*([+-]?[0-9]{1,30})", value, re.ASCII) if value else None
    amount = 100 if not value else int(matched[1]) if matched else 0
    if abs(amount) > NICE_MAX:
        raise error(f"Invalid --nice value, out of range (+/- {NICE_MAX})")
    if amount < 0 and not place.privileged:
        place.said.append("sbatch: error: Nice value must be non-negative, value ignored")
        return 0
    return amount


def priority(value: str | None, place: Place) -> int:
    """``--priority=n``; TOP is the highest."""
    written = value or ""
    if written.upper() == "TOP":
        return 2**32 - 3
    matched = re.match(r"\s*([+-]?[0-9]{1,30})", written, re.ASCII)
    wanted = int(matched[1]) if matched else 0
    if wanted < 0:
        raise error("Priority must be >= 0")
    if wanted >= 2**32 - 2:
        raise error("Priority must be < 4294967294")
    return wanted


def no_kill(value: str | None, place: Place) -> bool:
    """``-k[=off]``."""
    if value is None or value.lower() == "set":
        return True
    if value.lower() in ("off", "no"):
        return False
    raise invalid("no-kill")


def exclusive(value: str | None, place: Place) -> str:
    """``--exclusive[=user|mcs|topo]``: node, user, mcs or topo (24.11)."""
    kind = (value or "exclusive").lower()
    if kind == "exclusive":
        return "node"
    if kind in ("user", "mcs") or (kind == "topo" and place.version >= (24, 11)):
        return kind
    raise invalid("exclusive")


def yes_or_no(option: str) -> Parser:
    """A parser of yes and no."""

    def parse(value: str | None, place: Place) -> bool:
        if (value or "").lower() not in ("yes", "no"):
            raise invalid(option)
        return (value or "").lower() == "yes"

    return parse


def hint(value: str | None, place: Place) -> str:
    """``--hint``, checked when the options are put together, as sbatch does."""
    return value or ""


def one_of(option: str, *allowed: str) -> Parser:
    """A parser of words."""

    def parse(value: str | None, place: Place) -> str:
        if (value or "").lower() not in allowed:
            raise invalid(option)
        return (value or "").lower()

    return parse
