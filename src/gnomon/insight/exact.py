"""Exact sums of integers that do not fit 64 bits: resource x time of a year is beyond 2**63 easily."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from gnomon.model.work import IntArray

_HALF = 32
_LOW = 2**_HALF - 1


def total(values: IntArray) -> int:
    """The sum as a Python integer, exact for up to 2**31 values.

    >>> total(np.array([2**62, 2**62, 2**62], np.int64)) == 3 * 2**62
    True
    """
    return (int((values >> _HALF).sum()) << _HALF) + int((values & _LOW).sum())


def total_by(values: IntArray, group: IntArray, groups: int) -> list[int]:
    """The exact sum of the values of each group (``group[i]`` is that of ``values[i]``).

    >>> total_by(np.array([2**62, 2**62, 5]), np.array([0, 0, 2]), 3) == [2**63, 0, 5]
    True
    """
    high, low = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    np.add.at(high, group, values >> _HALF)
    np.add.at(low, group, values & _LOW)
    return [(above << _HALF) + below for above, below in zip(high.tolist(), low.tolist(), strict=True)]


def dot(weights: Sequence[int], values: Sequence[int]) -> int:
    """The exact sum of products of two lists of Python integers."""
    return sum(map(mul, weights, values))


def ratio(part: int, whole: int) -> float | None:
    """A part of a whole, rounded once; None of nothing.

    >>> ratio(2**70, 2**71), ratio(1, 0)
    (0.5, None)
    """
    return float(Fraction(part, whole)) if whole else None
