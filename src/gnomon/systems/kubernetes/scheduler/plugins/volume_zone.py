"""VolumeZone: nodes in the zone and region that a bound volume's labels name (sheet §4.3). Nodes without any such label
are not held to it."""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.api.constraints import REGION, ZONE
from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, by_text
from gnomon.systems.kubernetes.scheduler.state import Ints
from gnomon.systems.kubernetes.scheduler.volumes import same_zone

KEYS = (ZONE, REGION, "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region")


def _codes(query: Query, nodes: Nodes) -> Ints:
    state, volumes = query.state, query.state.volumes
    codes = np.zeros(len(state.nodes), np.int64)
    for key in query.shape.claims:
        volume = volumes.volumes.get(volumes.bound.get(key, ""))
        if volume is not None and any(name in volume.labels for name in KEYS):
            for i, node in enumerate(state.nodes):
                labelled = any(name in node.labels for name in KEYS)
                codes[i] |= labelled and not same_zone(volume.labels, node.labels, KEYS)
    return codes[nodes]


FILTER = Filter(
    "VolumeZone",
    Scope.CLUSTER,
    _codes,
    (True, False),
    lambda query, nodes, codes: by_text(["node(s) had no available volume zone"], codes),
    lambda query: bool(query.shape.claims),
)
