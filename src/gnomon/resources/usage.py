"""Exact arithmetic over profiles of use: what is used at a time, and when it first is more than a bound.

A :class:`~gnomon.model.usage.Profile` is linear between its points, so every question has an exact answer in integers
and fractions; nothing is sampled. At a jump the later point counts. An amount is rounded down to a whole byte (or
millicore); a sum is added up exactly and rounded down once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import ceil, floor, lcm

from gnomon.model.resources import NEVER
from gnomon.model.usage import Profile

Piece = tuple[int, int, int, int]
"""From a time, to a time (exclusive), the amount at the first, the amount that it comes to at the second."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A profile, taken apart into its linear pieces. ``peak``: no amount is above it; ``every``: its period, 0 none."""

    starts: tuple[int, ...]
    pieces: tuple[Piece, ...]
    every: int
    peak: int

    def at(self, t: int) -> tuple[Piece, int]:
        """The piece that holds at ``t``, and how much later than its own times it holds there."""
        shift = t - t % self.every if self.every else 0
        return self.pieces[bisect_right(self.starts, t - shift) - 1], shift

    def value(self, t: int) -> Fraction | int:
        """The exact amount at ``t``."""
        (begin, end, first, last), shift = self.at(t)
        return first if first == last else first + Fraction((last - first) * (t - shift - begin), end - begin)

    def amount(self, t: int) -> int:
        """The amount at ``t``, rounded down."""
        return floor(self.value(t))

    def level(self, t: int) -> int:
        """The mean amount of the piece that holds at ``t``: what a demand that rises or falls is taken for."""
        (_, _, first, last), _ = self.at(t)
        return (first + last) // 2

    def next_break(self, t: int) -> int:
        """The first time after ``t`` at which another piece begins, NEVER if none does."""
        (_, end, _, last), shift = self.at(t)
        wraps = self.every and end == self.every
        if wraps and _slope(self.pieces[-1]) == _slope(self.pieces[0]) and last == self.pieces[0][2]:
            return shift + self.every + self.pieces[0][1]
        return min(end + shift, NEVER)

    def settled(self) -> int:
        """From when on it only repeats, or is constant."""
        return 0 if self.every else self.starts[-1]


Part = tuple[Curve, int]
"""A curve and when it began."""


def curve(profile: Profile) -> Curve:
    """The linear pieces of a profile.

    >>> curve(Profile(((0, 1), (5, 1), (5, 3)), every_ns=8)).pieces
    ((0, 5, 1, 1), (5, 8, 3, 3))
    """
    points = [*profile.points, (profile.every_ns or NEVER, profile.points[-1][1])]
    pieces: list[Piece] = []
    for (begin, first), (end, last) in pairwise(points):
        if begin == end:
            continue
        piece = (begin, end, first, last)
        if pieces and pieces[-1][3] == first and _slope(pieces[-1]) == _slope(piece):
            piece = (pieces[-1][0], end, pieces.pop()[2], last)
        pieces.append(piece)
    peak = max(max(first, last) for _, _, first, last in pieces)
    every = profile.every_ns
    if len(pieces) == 1 and _slope(pieces[0]) == 0:
        every = 0
        pieces = [(0, NEVER, peak, peak)]
    return Curve(tuple(piece[0] for piece in pieces), tuple(pieces), every, peak)


def _slope(piece: Piece) -> Fraction:
    begin, end, first, last = piece
    return Fraction(last - first, end - begin)


def constant(amount: int) -> Curve:
    """The same amount at all times."""
    return Curve((0,), ((0, NEVER, amount, amount),), 0, amount)


def total(parts: Sequence[Part], t: int) -> int:
    """What the parts are together at ``t``, rounded down once.

    >>> half = curve(Profile(((0, 0), (2, 1))))
    >>> total([(half, 0), (half, 0)], 1)
    1
    """
    return floor(sum(one.value(t - start) for one, start in parts))


def search(
    parts: Sequence[Part], bound: int, from_ns: int, until_ns: int, *, above: bool = True, most: int = 0
) -> tuple[int, int]:
    """The first time at which the sum of the parts is above ``bound`` (or not above it), and up to when was looked.

    ``most``: how many values of parts may be computed (0: any number). What was looked through to the end, or repeats
    from there on, is answered with NEVER twice.
    """
    if above and sum(one.peak for one, _ in parts) <= bound:
        return NEVER, NEVER
    until = min(until_ns, _repeats_from(parts, from_ns))
    left = most
    for begin, end, extreme in _stretches(parts, from_ns, until, max if above else min):
        left -= 1
        if (extreme > bound) == above:  # else no need to look closer: nobody comes to so much (so little) here
            left -= len(parts)
            found = _first_in(parts, bound, begin, end, above)
            if found < NEVER:
                return found, found
        if most and left <= 0 and end < until:
            return NEVER, end
    return NEVER, NEVER


def _stretches(
    parts: Sequence[Part], from_ns: int, until_ns: int, extreme: Callable[[int, int], int]
) -> Iterator[tuple[int, int, int]]:
    """The stretches between the breakpoints of the parts: from, to, and the sum of the extremes of their pieces, beyond
    which the sum does not go."""
    ends: list[tuple[int, int]] = []
    most = [0] * len(parts)

    def enter(k: int, t: int) -> None:
        one, start = parts[k]
        (_, right, first, last), shift = one.at(t - start)
        most[k] = extreme(first, last)
        heappush(ends, (right + shift + start, k))

    for k in range(len(parts)):
        enter(k, from_ns)
    bound, begin = sum(most), from_ns
    while begin < until_ns:
        end = min(ends[0][0], until_ns) if ends else until_ns
        yield begin, end, bound
        while ends and ends[0][0] == end:
            k = heappop(ends)[1]
            bound -= most[k]
            enter(k, end)
            bound += most[k]
        begin = end


def _first_in(parts: Sequence[Part], bound: int, begin: int, end: int, above: bool) -> int:
    """The first time in a stretch without breakpoints at which the sum is (not) above the bound, NEVER."""
    value: Fraction | int = 0
    slope: Fraction | int = 0
    for one, start in parts:
        t = begin - start
        (left, right, first, last), shift = one.at(t)
        if first == last:
            value += first
        else:
            rate = Fraction(last - first, right - left)
            value += first + rate * (t - shift - left)
            slope += rate
    if (value >= bound + 1) == above:
        return begin
    if not slope or (slope > 0) != above:
        return NEVER
    found = begin + (ceil((bound + 1 - value) / slope) if above else floor((bound + 1 - value) / slope) + 1)
    return found if found < end else NEVER


def _repeats_from(parts: Sequence[Part], from_ns: int) -> int:
    """From when on the sum holds nothing that it did not hold since ``from_ns``."""
    settled = max((start + one.settled() for one, start in parts), default=0)
    periods = [one.every for one, _ in parts if one.every]
    return min(max(from_ns, settled) + lcm(*periods), NEVER) if periods else max(from_ns, settled) + 1
