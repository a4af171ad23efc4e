"""Moments that come again after a period: looks, beats, rounds. Times are ns; without a period (0) it is any moment."""

from __future__ import annotations

from gnomon.model.resources import NEVER


def at_or_after(now: int, period_ns: int) -> int:
    """The first multiple of a period at or after ``now``.

    >>> at_or_after(11, 5), at_or_after(10, 5), at_or_after(11, 0)
    (15, 10, 11)
    """
    return min(-(-now // period_ns) * period_ns, NEVER) if period_ns > 0 and now < NEVER else now


def following(now: int, period_ns: int, phase_ns: int = 0) -> int:
    """The first multiple of a period plus a phase after ``now``; ``now`` itself without a period.

    >>> following(11, 5), following(10, 5), following(10, 5, phase_ns=2)
    (15, 15, 12)
    """
    return now + period_ns - (now - phase_ns) % period_ns if period_ns > 0 else now
