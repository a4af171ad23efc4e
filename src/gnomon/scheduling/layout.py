"""Which resource stands in which column of a world, and which node in which row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.streams import stream
from gnomon.engine.world import I64
from gnomon.model.cluster import Node
from gnomon.model.errors import InputError
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.scenario import Scenario

MAX_DEVICES = 62
"""Device slots of a node: a start's devices are the bits of one signed 64-bit number."""


@dataclass(frozen=True)
class Layout:
    """``names``: the plain dimensions, then ``gpu``; ``slots``: device columns K; ``nodes``: in the world's order;
    ``node_of``: their indices in the scenario's cluster.
    """

    names: tuple[str, ...]
    slots: int
    nodes: tuple[Node, ...]
    node_of: I64

    @property
    def plain(self) -> int:
        """The number of plain dimensions D."""
        return len(self.names) - 1

    def totals(self, amounts: Resources) -> list[int]:
        """An amount as a row of D plain columns and one for the devices together."""
        return [amounts.amount(name) for name in self.names]

    def row(self, amounts: Resources, *, from_the_end: bool = False, devices: int | None = None) -> list[int]:
        """An amount as a row of D plain columns and K device slots, whole devices first (or last, of ``devices``)."""
        count, has = amounts.gpus, amounts.gpus if devices is None else devices
        first = has - count if from_the_end else 0
        slots = [E4 if first <= k < first + count else 0 for k in range(self.slots)]
        return [*self.totals(amounts)[:-1], *slots]


def lay_out(scenario: Scenario) -> Layout:
    """Choose the columns: every resource that the cluster has or the work asks for. Raises InputError."""
    cluster, shapes = scenario.cluster, scenario.work.shapes
    if not cluster.nodes:
        raise InputError("the cluster has no nodes", file=cluster.source or None)
    found = set(cluster.resource_names()).union(*(shape.request.names() for shape in shapes)) - {"gpu"}
    plain = ["cpu", *(["memory"] if "memory" in found else []), *sorted(found - {"cpu", "memory"})]
    slots = max(node.capacity.gpus for node in cluster.nodes)
    if slots > MAX_DEVICES:
        raise InputError("a node has too many devices", found=slots, allowed=f"at most {MAX_DEVICES} a node")
    for name in (*plain, "gpu"):
        if cluster.total(name) >= NEVER:
            raise InputError("the cluster has too much of a resource to be counted exactly", field=name)
    node_of = np.arange(len(cluster.nodes))
    policy = scenario.policy
    if policy.option(str(policy.placement), "ties", False):
        node_of = stream(scenario.seed, "ties").permutation(len(cluster.nodes))
    nodes = tuple(cluster.nodes[int(i)] for i in node_of)
    return Layout((*plain, "gpu"), slots, nodes, node_of.astype(np.int64))


def accepts(node: Node, kinds: tuple[str, ...], labels: tuple[tuple[str, str], ...]) -> bool:
    """Whether a node is of one of the kinds (any, if none is given) and has all the labels."""
    return (not kinds or node.kind in kinds) and set(labels) <= set(node.labels)
