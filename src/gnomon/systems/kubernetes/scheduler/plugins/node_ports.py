"""NodePorts: a host port is taken by one pod of a node, at an address or at all of them (sheet §4.3)."""

from __future__ import annotations

from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, by_text
from gnomon.systems.kubernetes.scheduler.state import Ints

EVERYWHERE = "0.0.0.0"


def _codes(query: Query, nodes: Nodes) -> Ints:
    taken = query.state.count[nodes] < 0  # nowhere
    for address, protocol, port in query.shape.ports:
        for other, column in query.state.ports.get((protocol, port), {}).items():
            if EVERYWHERE in (address, other) or address == other:
                taken |= column[nodes] > 0
    return taken.astype("int64")


FILTER = Filter(
    "NodePorts",
    Scope.NODE,
    _codes,
    (True, True),
    lambda query, nodes, codes: by_text(["node(s) didn't have free ports for the requested pod ports"], codes),
    lambda query: bool(query.shape.ports),
)
