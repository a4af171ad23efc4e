"""Times in Slurm's own forms: limits (``1-12:30``), and moments (``now+1hour``, ``teatime``, ``2026-03-01T12:00``).

Source: ``src/common/parse_time.c`` of Slurm 22.05 to 25.05; sbatch(1), ``--time`` and ``--begin``.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from gnomon.model.errors import InputError

LIMIT_FORMS: Final = (
    "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes[:seconds], UNLIMITED"
)
MOMENT_FORMS: Final = (
    "HH:MM[:SS] [AM|PM], YYYY-MM-DD[THH:MM[:SS]], MM/DD[/YY], today, tomorrow, midnight, noon, teatime, now+1hour"
)

_DAYS = re.compile(r"([0-9]+)-(?:([0-9]+)(?::([0-9]+)(?::([0-9]+))?)?)?\Z", re.ASCII)
_CLOCK = re.compile(r"([0-9]+)(?::([0-9]+))?(?::([0-9]+))?\Z", re.ASCII)
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_DELTA = re.compile(r"\s*now\s*(?:([+-])\s*([0-9][0-9\s]*)((?:second|minute|hour|day|week)s?)?)?\s*\Z", re.I | re.ASCII)
_WORDS = {"midnight": 0, "noon": 12, "elevenses": 11, "fika": 15, "teatime": 16}
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?\s*(am|pm)?", re.I | re.ASCII)
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{1,2})", re.ASCII)
_DATE = re.compile(r"([0-9]{1,2}+)[./]?([0-9]{1,2}+)[./]?(?:([0-9]{2})|(?![0-9]))", re.ASCII)
_UTS = re.compile(r"uts([0-9]{7,12})\Z", re.I | re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_DIGITS_MAX = 10


def limit_seconds(text: str) -> int | None:
    """Seconds of a time limit; None: unlimited. A plain number is minutes. Raises :class:`InputError`.

    >>> limit_seconds("5"), limit_seconds("5:30"), limit_seconds("1-0"), limit_seconds("1-2:3"), limit_seconds("1:2:3")
    (300, 330, 86400, 93780, 3723)
    >>> limit_seconds("UNLIMITED") is None
    True
    """
    if text.lower() in ("-1", "infinite", "unlimited"):
        return None
    matched = _DAYS.match(text) if "-" in text else _CLOCK.match(text)
    if matched is None or any(part is not None and len(part) > _DIGITS_MAX for part in matched.groups()):
        raise InputError("Invalid time limit specification", found=text, allowed=LIMIT_FORMS)
    numbers = [int(part or 0) for part in matched.groups()]
    if "-" in text:
        weights: tuple[int, ...] = (86_400, 3600, 60, 1)
    else:
        weights = (60, 1, 0) if matched[3] is None else (3600, 60, 1)
    return sum(number * weight for number, weight in zip(numbers, weights, strict=True))


def limit_minutes(text: str) -> int | None:
    """Minutes of a time limit, a begun one counting whole; None: unlimited. Raises :class:`InputError`.

    >>> limit_minutes("0:30"), limit_minutes("3-12:30:15"), limit_minutes("INFINITE")
    (1, 5071, None)
    """
    seconds = limit_seconds(text)
    return None if seconds is None else -(-seconds // 60)


def format_seconds(seconds: int | None) -> str:
    """A length of time as Slurm prints it.

    >>> format_seconds(86400), format_seconds(3723), format_seconds(None)
    ('1-00:00:00', '01:02:03', 'UNLIMITED')
    """
    if seconds is None:
        return "UNLIMITED"
    if seconds < 0:
        return "INVALID"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = f"{hours:02d}:{minutes:02d}:{rest:02d}"
    return f"{days}-{clock}" if days else clock


def format_minutes(minutes: int | None) -> str:
    """A limit in minutes as Slurm prints it.

    >>> format_minutes(90), format_minutes(None)
    ('01:30:00', 'UNLIMITED')
    """
    return format_seconds(None if minutes is None else minutes * 60)


def moment(text: str, now: datetime) -> datetime:
    """The moment that ``--begin`` or ``--deadline`` names, seen from ``now`` (both local, without a zone).

    A time of day without a date is the next one; a date without a time is its midnight; a date without a year is the
    next one. Raises :class:`InputError`.

    >>> noon = datetime(2026, 3, 1, 12, 0)
    >>> [f"{moment(text, noon):%d %H:%M}" for text in ("now+1hour", "16:30", "9:00", "tomorrow", "teatime", "now + 90")]
    ['01 13:00', '01 16:30', '02 09:00', '02 00:00', '01 16:00', '01 12:01']
    """
    try:
        return _moment(text, now)
    except (ValueError, OverflowError):
        raise InputError("Invalid time specification", found=text, allowed=MOMENT_FORMS) from None


def _moment(text: str, now: datetime) -> datetime:
    if epoch := _UTS.match(text):
        return _EPOCH + timedelta(seconds=int(epoch[1]))
    if delta := _DELTA.match(text):
        return now + _shift(*delta.groups())
    clock, date = _clock_and_date(text, now)
    if clock is None and date is None:
        raise ValueError(text)
    hour, minute, second = clock or (0, 0, 0)
    if date is None:
        day = now if (hour, minute) > (now.hour, now.minute) else now + timedelta(days=1)
        date = (day.year, day.month, day.day)
    year, month, mday = date
    if year is None:
        passed = (month, mday, hour, minute) <= (now.month, now.day, now.hour, now.minute)
        year = now.year + 1 if passed else now.year
    # as mktime does, a day beyond the end of its month runs on into the next
    return datetime(year, month, 1, hour, minute, second) + timedelta(days=mday - 1)


def _shift(sign: str | None, count: str | None, unit: str | None) -> timedelta:
    if count is None:
        return timedelta()
    seconds = int("".join(count.split())) * _UNITS[(unit or "second").lower().rstrip("s")]
    return timedelta(seconds=-seconds if sign == "-" else seconds)


_Clock = tuple[int, int, int]
_Date = tuple[int | None, int, int]


def _clock_and_date(text: str, now: datetime) -> tuple[_Clock | None, _Date | None]:
    """What a text says of the time of day, and of the day (the year may stay open)."""
    clock: _Clock | None = None
    date: _Date | None = None
    at = 0
    while at < len(text):
        if text[at] in "-T \t" and not text[at : at + 8].lower().startswith(("today", "tomorrow", "teatime")):
            at += 1
            continue
        if word := re.compile("[a-z]+", re.I).match(text, at):
            name = next((known for known in (*_WORDS, "today", "tomorrow") if word[0].lower().startswith(known)), None)
            if name is None:
                raise ValueError(text)
            if name in _WORDS:
                clock = (_WORDS[name], 0, 0)
            else:
                day = now + timedelta(days=name == "tomorrow")
                date = (day.year, day.month, day.day)
            at += len(name)
        elif time := _TIME.match(text, at):
            clock, at = _time_of_day(time), time.end()
        elif iso := _ISO.match(text, at):
            date, at = (int(iso[1]), *_day(iso[2], iso[3])), iso.end()
        elif short := _DATE.match(text, at):
            year = int(short[3] or 0)
            date, at = (2000 + year if year else None, *_day(short[1], short[2])), short.end()
        else:
            raise ValueError(text)
    return clock, date


def _time_of_day(matched: re.Match[str]) -> _Clock:
    hour, minute, second = int(matched[1]), int(matched[2]), int(matched[3] or 0)
    half = (matched[4] or "").lower()
    if hour > 23 or minute > 59 or second > 59 or (half and hour > 12):
        raise ValueError(matched[0])
    if half == "pm":
        hour = 12 if hour == 12 else hour + 12
    elif half == "am" and hour == 12:
        hour = 0
    return hour, minute, second


def _day(month: str, day: str) -> tuple[int, int]:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        raise ValueError(f"{month}/{day}")
    return int(month), int(day)
