"""Schedules of cron in five fields: minute, hour, day of month, month, day of week.

For CronJobs, as the standard parser of ``robfig/cron`` reads them: lists, ranges, steps, names, ``?`` for ``*``,
and ``@hourly`` and its kin. A day counts if the month's day or the week's day matches, where both are restricted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS: Final = "sun mon tue wed thu fri sat".split()
_WORDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIELDS: Final = (("minute", 0, 59), ("hour", 0, 23), ("day of month", 1, 31), ("month", 1, 12), ("day of week", 0, 6))
_YEARS: Final = 5
MINUTE_NS: Final = 60 * 10**9


@dataclass(frozen=True, slots=True)
class Schedule:
    """When it is time: the allowed values of each field; ``any_day``, ``any_weekday``: written as ``*``."""

    fields: tuple[frozenset[int], ...]
    any_day: bool
    any_weekday: bool

    def next_ns(self, after_ns: int) -> int | None:
        """The first time after a time (ns since 1970-01-01T00:00Z); None: there is none within five years.

        >>> parse("*/15 * * * *").next_ns(0) // MINUTE_NS, parse("0 0 31 2 *").next_ns(0)
        (15, None)
        """
        at = datetime.fromtimestamp(after_ns // MINUTE_NS * 60, UTC) + timedelta(minutes=1)
        last = at.year + _YEARS
        minutes, hours, _, months, _ = self.fields
        while at.year <= last:
            if at.month not in months:
                at = (at.replace(day=1, hour=0, minute=0) + timedelta(days=32)).replace(day=1)
            elif not self._is_day(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in minutes:
                at += timedelta(minutes=1)
            else:
                return int(at.timestamp()) * 10**9
        return None

    def _is_day(self, at: datetime) -> bool:
        day = at.day in self.fields[2]
        weekday = at.isoweekday() % 7 in self.fields[4]
        return day and weekday if self.any_day or self.any_weekday else day or weekday


def parse(text: str) -> Schedule:
    """A schedule as it is written. Raises ValueError for what is none.

    >>> sorted(parse("0 9-17/4 * * mon-fri").fields[1])
    [9, 13, 17]
    """
    parts = _WORDS.get(text.strip().lower(), text).split()
    if len(parts) != len(_FIELDS):
        raise ValueError(f"a schedule has five fields, this one {len(parts)}")
    fields = tuple(_field(part, *limits) for part, limits in zip(parts, _FIELDS, strict=True))
    return Schedule(fields, _is_any(parts[2]), _is_any(parts[4]))


def _is_any(part: str) -> bool:
    return part.partition("/")[0] in ("*", "?")


def _field(text: str, name: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span in ("*", "?"):
            start, end = low, high
        else:
            start = _value(first, name)
            end = _value(last, name) if dash else high if slash else start
        width = int(step) if step.isdecimal() and len(step) < 5 else 0 if slash else 1
        if not (low <= start <= end <= high) or width < 1:
            raise ValueError(f"not a {name}: {part}")
        found.update(range(start, end + 1, width))
    return frozenset(found)


def _value(text: str, name: str) -> int:
    word = text.lower()
    if name == "month" and word in _MONTHS:
        return _MONTHS.index(word) + 1
    if name == "day of week" and word in _DAYS:
        return _DAYS.index(word)
    if not text.isdecimal() or len(text) > 4:
        raise ValueError(f"not a {name}: {text}")
    return int(text)
