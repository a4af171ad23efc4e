"""NodeVolumeLimits: how many volumes of a CSI driver a node takes, as its CSINode says (sheet §4.3)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, by_text
from gnomon.systems.kubernetes.scheduler.state import Ints, State


def _limits(state: State, driver: str) -> Ints:
    """By node; -1: no limit."""
    limits = state.around.csi_limits
    return np.array([limits.get(name, {}).get(driver, -1) for name in state.names], np.int64)


def _codes(query: Query, nodes: Nodes) -> Ints:
    state, volumes = query.state, query.state.volumes
    own: dict[str, list[str]] = defaultdict(list)
    for key in query.shape.claims:
        own[volumes.driver(key)].append(key)
    full = np.zeros(len(state.nodes), bool)
    for driver, keys in own.items():
        limits = state.static(("volume limits", driver), lambda driver=driver: _limits(state, driver))  # type: ignore[misc]
        if not driver or not (limits >= 0).any():
            continue
        attached = sum(users > 0 for key, users in volumes.users.items() if volumes.driver(key) == driver)
        new = sum(volumes.users_of(key) == 0 for key in keys)
        full |= (limits >= 0) & (new > 0) & (attached + new > limits)
    return full.astype(np.int64)[nodes]


FILTER = Filter(
    "NodeVolumeLimits",
    Scope.CLUSTER,
    _codes,
    (True, True),
    lambda query, nodes, codes: by_text(["node(s) exceed max volume count"], codes),
    lambda query: bool(query.shape.claims),
)
