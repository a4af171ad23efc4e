"""Sizes, times and ratios of Spark's metrics as people read them."""

from __future__ import annotations

from gnomon.model.quantity import format_duration

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(count: int) -> str:
    """Bytes as Spark's UI shows them.

    >>> size(0), size(1536), size(3 * 2**30)
    ('0 B', '1.5 KiB', '3.0 GiB')
    """
    amount, unit = float(count), 0
    while abs(amount) >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{count} B"


def time(ms: int) -> str:
    """A span of time: to the ms below a second, to a tenth below a minute, to the second above.

    >>> time(250), time(12_340), time(3_000_400)
    ('250ms', '12.3s', '50m')
    """
    step = 1 if ms < 1000 else 100 if ms < 60_000 else 1000
    return format_duration((ms + step // 2) // step * step * 1_000_000)


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent.

    >>> share(1, 3), share(1, 0), share(1, 1000)
    ('33 %', '-', '0.1 %')
    """
    if not whole:
        return "-"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 or not part else f"{percent:.1f} %"
