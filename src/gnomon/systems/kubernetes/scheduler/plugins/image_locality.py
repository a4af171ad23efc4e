"""ImageLocality: images that a node has already, the larger and the more widely spread the better (sheet §4.5).

Source: ``plugins/imagelocality/image_locality.go`` of v1.34.1: sizes are scaled by the share of nodes with the image,
the share taken first, in binary floating point.
"""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.scheduler.plugins.base import MAX_SCORE, Nodes, Query, Scope, Score, as_it_is
from gnomon.systems.kubernetes.scheduler.state import Ints, State

MIB = 1024 * 1024
LOW, HIGH_PER_CONTAINER = 23 * MIB, 1000 * MIB


def _images(state: State) -> dict[str, tuple[int, list[int]]]:
    """By name: the size that the first node with it gives, and the nodes that have it."""
    found: dict[str, tuple[int, list[int]]] = {}
    for i, node in enumerate(state.nodes):
        for image in node.images:
            for name in image.names:
                holders = found.setdefault(name, (image.size_bytes, []))[1]
                if not holders or holders[-1] != i:
                    holders.append(i)
    return found


def _raw(query: Query, nodes: Nodes) -> Ints:
    state = query.state
    images = state.static("images", lambda: _images(state))
    total = np.zeros(len(state.nodes), np.int64)
    for name in query.shape.images:
        if name in images:
            size, holders = images[name]
            total[holders] += int(size * (len(holders) / len(state.nodes)))
    high = HIGH_PER_CONTAINER * max(len(query.shape.images), 1)
    return MAX_SCORE * (np.clip(total, LOW, high) - LOW)[nodes] // (high - LOW)


SCORE = Score("ImageLocality", Scope.STATIC, _raw, as_it_is)
