"""NodeUnschedulable: cordoned nodes take only pods that tolerate it (sheet §4.3)."""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.api.constraints import Taint
from gnomon.systems.kubernetes.api.selectors import untolerated
from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, by_text
from gnomon.systems.kubernetes.scheduler.state import Ints

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def _codes(query: Query, nodes: Nodes) -> Ints:
    state = query.state
    cordoned = state.static("cordoned", lambda: np.array([node.unschedulable for node in state.nodes], np.int64))
    return cordoned[nodes]


FILTER = Filter(
    "NodeUnschedulable",
    Scope.STATIC,
    _codes,
    (True, False),
    lambda query, nodes, codes: by_text(["node(s) were unschedulable"], codes),
    lambda query: untolerated((CORDON,), query.shape.spec.tolerations) is not None,
)
