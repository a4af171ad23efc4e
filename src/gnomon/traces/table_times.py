"""The times in a table of tasks: spans and points of time, numbers and dates, units said or guessed."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

from gnomon.model.quantity import NS_PER_S, parse_duration
from gnomon.model.resources import MAX_TIME_NS, NEVER
from gnomon.traces.growing import Place
from gnomon.traces.headings import Heading

PLAIN = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
"""A number without a unit."""

POINTS = ("submit", "start", "end", "deadline")
"""Fields that are points of time: they may be dates, or below zero."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_FRACTION = re.compile(r"[.,]([0-9]+)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Times:
    """Reads the times of a table's rows, in ns; dates count from the first one.

    ``guessed`` counts the cells without a unit by field, ``unknown`` those that are empty (or -1 where no time can be
    below zero).
    """

    def __init__(self, headings: dict[str, Heading]) -> None:
        self._headings = headings
        self._first_date_ns: int | None = None
        self._dated: bool | None = None
        self.guessed: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def read(self, place: Place, cells: list[str], field: str) -> int | None:
        """One time: NEVER for ``never``, None when it is unknown or the table has no such column."""
        heading = self._headings.get(field)
        if heading is None:
            return None
        text = cells[heading.index].strip()
        if not text or (text == "-1" and field not in ("submit", "deadline")):
            self.unknown[field] += 1
            return None
        if text == "never":
            return NEVER
        try:
            if field in POINTS:
                return self._point(text, heading)
            return self._span(text, heading)
        except ValueError as error:
            raise place.error(str(error), heading.name, text) from None

    def _span(self, text: str, heading: Heading) -> int:
        if heading.unit in (None, "s") and text.isascii() and text.isdigit() and len(text) <= 9:  # most cells
            self.guessed[heading.field] += heading.unit is None
            return int(text) * NS_PER_S
        if PLAIN.fullmatch(text):
            self.guessed[heading.field] += heading.unit is None
            text += "" if heading.unit in (None, "s") else heading.unit
        return parse_duration(text)

    def _point(self, text: str, heading: Heading) -> int:
        dated = bool(_DATE.match(text))
        if self._dated is None:
            self._dated = dated
        elif self._dated != dated:
            raise ValueError(f"{'a date among numbers' if dated else 'no date among dates'}: one kind of time a table")
        if not dated:
            return -self._span(text[1:], heading) if text.startswith("-") else self._span(text, heading)
        date_ns = _date_ns(text)
        if self._first_date_ns is None:
            self._first_date_ns = date_ns
        since_ns = date_ns - self._first_date_ns
        if abs(since_ns) > MAX_TIME_NS:
            raise ValueError("more than 73 years from the first date")
        return since_ns


def _date_ns(text: str) -> int:
    """An ISO 8601 date, with a time or without, since 1970, exact to the nanosecond; UTC unless it says otherwise."""
    fraction = _FRACTION.search(text)
    digits = fraction[1] if fraction else ""
    if len(digits) > 9:
        raise ValueError("a date is at most as fine as a nanosecond")
    try:
        date = datetime.fromisoformat(_FRACTION.sub("", text, count=1))
    except ValueError:
        raise ValueError("not a date (as in 2024-05-31 or 2024-05-31T12:30:00.5+02:00)") from None
    since = (date if date.tzinfo else date.replace(tzinfo=UTC)) - _EPOCH
    return since // timedelta(microseconds=1) * 1000 + int(digits.ljust(9, "0"))
