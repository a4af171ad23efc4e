"""VolumeRestrictions: disks that one pod of a node has to itself, and claims that one pod of the cluster has (sheet
§4.3)."""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.api.storage import READ_WRITE_ONCE_POD
from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, by_text
from gnomon.systems.kubernetes.scheduler.state import Ints

DISK = "node(s) had no available disk"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def _codes(query: Query, nodes: Nodes) -> Ints:
    volumes, shape = query.state.volumes, query.shape
    taken = np.zeros(len(query.state.nodes), bool)
    for kind, name, read_only in shape.disks:
        taken |= volumes.users_of_disk((kind, name, False)) > 0
        if not read_only or kind == "awsElasticBlockStore":
            taken |= volumes.users_of_disk((kind, name, True)) > 0
    in_use = any(
        key in volumes.claims
        and READ_WRITE_ONCE_POD in volumes.claims[key].access_modes
        and bool(volumes.users_of(key).any())
        for key in shape.claims
    )
    codes: Ints = np.where(taken, 1, 2 if in_use else 0)
    return codes[nodes]


FILTER = Filter(
    "VolumeRestrictions",
    Scope.CLUSTER,
    _codes,
    (True, True, True),
    lambda query, nodes, codes: by_text([DISK, IN_USE], codes),
    lambda query: bool(query.shape.claims or query.shape.disks),
)
