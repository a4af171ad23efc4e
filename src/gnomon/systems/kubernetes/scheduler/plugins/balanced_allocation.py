"""NodeResourcesBalancedAllocation: how evenly a node's resources would be used (sheet §4.5).

Source: ``plugins/noderesources/balanced_allocation.go`` of v1.34.1. In binary floating point as there: of two
resources half the difference, of more the standard deviation, and the points cut to an integer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.systems.kubernetes.scheduler.plugins.base import MAX_SCORE, Nodes, Query, Scope, Score, as_it_is
from gnomon.systems.kubernetes.scheduler.plugins.node_resources_fit import is_scalar
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask

Floats = npt.NDArray[np.float64]


def _raw(query: Query, nodes: Nodes) -> Ints:
    state, requests = query.state, query.shape.requests
    fractions, present = [], []
    for name in query.profile.balanced:
        own, row = requests.get(name, 0), state.resources.get(name)
        if row is None or (own == 0 and is_scalar(name)):
            continue
        capacity = state.allocatable[row, nodes]
        fractions.append(np.minimum((state.used[row, nodes] + own) / np.maximum(capacity, 1), 1.0))
        present.append(capacity > 0)
    if len(fractions) == 2:
        spread = np.abs(fractions[0] - fractions[1]) / 2 * (present[0] & present[1])
    elif len(fractions) > 2:
        spread = _deviation(np.array(fractions), np.array(present))
    else:
        spread = np.zeros(len(state.nodes))[nodes]
    return np.asarray((1 - spread) * MAX_SCORE).astype(np.int64)


def _deviation(fractions: Floats, present: Mask) -> Floats:
    """The population standard deviation over the resources that each node has, added up in order as the source does;
    with two of them half the difference."""
    count = present.sum(axis=0)
    total = np.zeros(fractions.shape[1])
    for row, has in zip(fractions, present, strict=True):
        total = total + row * has
    mean = total / np.maximum(count, 1)
    squares = np.zeros(fractions.shape[1])
    for row, has in zip(fractions, present, strict=True):
        squares = squares + np.where(has, (row - mean) * (row - mean), 0.0)
    spread = np.sqrt(squares / np.maximum(count, 1))
    high = np.where(present, fractions, -1.0).max(axis=0)
    low = np.where(present, fractions, 2.0).min(axis=0)
    return np.where(count == 2, (high - low) / 2, np.where(count < 2, 0.0, spread))


def _applies(query: Query) -> bool:
    return any(query.shape.requests.get(name) for name in query.profile.balanced)


SCORE = Score("NodeResourcesBalancedAllocation", Scope.NODE, _raw, as_it_is, _applies)
