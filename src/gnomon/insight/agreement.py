"""How far two measurements of the same things put them in the same order: -1 (reversed) to 1 (the same)."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from gnomon.model.work import BoolArray, IntArray


def kendall_tau_b(x: IntArray, y: IntArray) -> float | None:
    """Kendall's tau-b, in O(n log n); None where either is constant.

    (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y). Knight, "A computer method for
    calculating Kendall's tau with ungrouped data", JASA 61, 1966: with the values in order of (x, y), the discordant
    pairs are the inversions of y.

    >>> kendall_tau_b(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3]))
    0.6666666666666666
    """
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    pairs = len(x) * (len(x) - 1) // 2
    new = np.append(True, x[1:] != x[:-1])[: len(x)]
    tied_x, tied_y = _tied_pairs(new), _tied_pairs_of(y)
    tied_both = _tied_pairs(new | np.append(True, y[1:] != y[:-1])[: len(x)])
    if tied_x == pairs or tied_y == pairs:
        return None
    difference = pairs - tied_x - tied_y + tied_both - 2 * inversions(y)
    return difference / sqrt((pairs - tied_x) * (pairs - tied_y))


def spearman_rho(x: IntArray, y: IntArray) -> float | None:
    """Spearman's rho: the correlation of the ranks, equal values sharing their mean rank; None where one is constant.

    >>> spearman_rho(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3]))
    0.8
    """
    if len(x) < 2:
        return None
    a, b = _ranks(x), _ranks(y)
    a -= a.mean()
    b -= b.mean()
    spread = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / spread if spread else None


def inversions(values: IntArray) -> int:
    """The number of pairs that stand in the wrong order: i < j with a larger value at i.

    Digit by digit in base 2, from the top: among values equal so far, each 0 is inverted with the 1s before it; then
    the zeros are moved before the ones. O(n log n), whole arrays at a time.

    >>> inversions(np.array([3, 1, 2, 2]))
    3
    """
    rank = np.unique(values, return_inverse=True)[1].astype(np.int64)
    found = 0
    for bit in reversed(range(int(rank.max(initial=0)).bit_length())):
        one = (rank >> bit) & 1
        group = rank >> (bit + 1)
        first = np.flatnonzero(np.append(True, group[1:] != group[:-1])[: len(group)])
        size = np.diff(np.append(first, len(group)))
        ones_before = np.cumsum(one) - one
        ones_before -= np.repeat(ones_before[first], size)
        found += int(ones_before[one == 0].sum())
        zeros = size - np.add.reduceat(one, first)
        start = np.repeat(first, size)
        inside = np.arange(len(rank)) - start
        place = start + np.where(one == 1, np.repeat(zeros, size) + ones_before, inside - ones_before)
        moved = np.empty_like(rank)
        moved[place] = rank
        rank = moved
    return found


def _ranks(values: IntArray) -> npt.NDArray[np.float64]:
    _, which, count = np.unique(values, return_inverse=True, return_counts=True)
    mean = np.cumsum(count) - (count - 1) / 2
    return np.asarray(mean[which], np.float64)


def _tied_pairs_of(values: IntArray) -> int:
    _, count = np.unique(values, return_counts=True)
    return int((count * (count - 1) // 2).sum())


def _tied_pairs(new: BoolArray) -> int:
    """Pairs of equal values, given where a new value begins in a sorted list."""
    count = np.diff(np.append(np.flatnonzero(new), len(new)))
    return int((count * (count - 1) // 2).sum())
