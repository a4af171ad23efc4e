"""NodeResourcesFit: what a pod asks for must be free; the score spreads, packs, or follows a shape (sheet §4.3, §4.5).

Source of the scores: ``plugins/noderesources/{least,most}_allocated.go``, ``requested_to_capacity_ratio.go`` of
v1.34.1. Amounts are integers, and so are both divisions.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from gnomon.systems.kubernetes.api.requests import HUGE_PAGES, is_extended
from gnomon.systems.kubernetes.scheduler.plugins.base import MAX_SCORE, Filter, Nodes, Query, Scope, Score, as_it_is
from gnomon.systems.kubernetes.scheduler.state import CPU, MEMORY, Ints, Mask

TOO_MANY = "Too many pods"

_SHORT, _NEVER = 1, 2
"""Bits of a code: something is short now; a request is more than the node has at all."""


def _asked(query: Query) -> list[tuple[str, int, int]]:
    """What the filter looks at: (resource, its row, the amount)."""
    fit, shape = query.profile.fit, query.shape
    return [
        (name, row, amount)
        for (name, amount), row in zip(shape.requests.items(), shape.rows, strict=True)
        if not (is_extended(name) and (name in fit.ignored or name.partition("/")[0] in fit.ignored_groups))
    ]


def _codes(query: Query, nodes: Nodes) -> Ints:
    state = query.state
    codes = (state.count[nodes] >= state.allowed[nodes]).astype(np.int64)
    for _, row, amount in _asked(query):
        capacity = state.allocatable[row, nodes]
        codes |= state.used[row, nodes] + amount > capacity
        codes |= (amount > capacity) * _NEVER
    return codes


def _reasons(query: Query, nodes: Ints, codes: Ints) -> list[tuple[str, Mask]]:
    state = query.state
    found = [(TOO_MANY, state.count[nodes] >= state.allowed[nodes])]
    for name, row, amount in _asked(query):
        short = state.used[row, nodes] + amount > state.allocatable[row, nodes]
        found.append((f"Insufficient {name}", short))
    return [(text, mask) for text, mask in found if mask.any()]


FILTER = Filter("NodeResourcesFit", Scope.NODE, _codes, (True, True, False, False), _reasons)


# ---------------------------------------------------------------- scores


def is_scalar(name: str) -> bool:
    """Whether a resource counts in scores only for pods that ask for it."""
    return is_extended(name) or name.startswith((HUGE_PAGES, "attachable-volumes-"))


def _raw(query: Query, nodes: Nodes) -> Ints:
    state, fit = query.state, query.profile.fit
    total: Ints = np.zeros(len(state.nodes), np.int64)[nodes]
    weights = total
    for name, weight in fit.resources:
        own = query.shape.scored.get(name, 0)
        row = state.resources.get(name)
        if row is None or (own == 0 and is_scalar(name)):
            continue
        capacity = state.allocatable[row, nodes]
        there = state.non_zero[row, nodes] if row in (CPU, MEMORY) else state.used[row, nodes]
        points: Ints = _points(query, there + own, capacity)
        counts = capacity > 0
        if fit.strategy == "RequestedToCapacityRatio":
            counts &= points > 0
        total = total + points * weight * counts
        weights = weights + counts * weight
    weights = np.maximum(weights, 1)
    if fit.strategy == "RequestedToCapacityRatio":
        total, weights = 2 * total + weights, 2 * weights  # rounded, half up
    mean: Ints = total // weights
    return mean


def _points(query: Query, asked: Ints, capacity: Ints) -> Ints:
    """The points of one resource, before weights; those of nodes without the resource do not count."""
    fit = query.profile.fit
    safe: Ints = np.maximum(capacity, 1)
    if fit.strategy == "LeastAllocated":
        free: Ints = np.maximum(capacity - asked, 0) * MAX_SCORE
        return free // safe
    if fit.strategy == "MostAllocated":
        used: Ints = np.minimum(asked, capacity) * MAX_SCORE
        return used // safe
    use: Ints = np.minimum(asked * MAX_SCORE // safe, MAX_SCORE)
    return shape_table(fit.shape)[use]


@cache
def shape_table(points: tuple[tuple[int, int], ...]) -> Ints:
    """The points for a utilisation of 0 to 100 %, along straight lines between those of the shape, times 10.

    >>> shape_table(((0, 0), (60, 8), (100, 10)))[[0, 30, 60, 90]].tolist()
    [0, 40, 80, 95]
    """
    scaled = [(x, y * 10) for x, y in points]
    return np.array([_along(scaled, u) for u in range(MAX_SCORE + 1)], np.int64)


def _along(points: list[tuple[int, int]], u: int) -> int:
    if u <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if u <= x1:
            rise = (y1 - y0) * (u - x0)
            return y0 + (abs(rise) // (x1 - x0)) * (1 if rise > 0 else -1)  # towards zero, as Go divides
    return points[-1][1]


SCORE = Score("NodeResourcesFit", Scope.NODE, _raw, as_it_is)
