"""The static side of a world: nodes, shapes and windows as rows of exact integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.log import Reason
from gnomon.engine.streams import stream
from gnomon.engine.world import I32, I64
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape

MAX_DEVICES = 62
"""Device slots of a node: a start's devices are the bits of one signed 64-bit number."""

Columns = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """Which resource stands in which column, and which node in which row.

    ``names``: the plain dimensions, then ``gpu``; ``slots``: device columns K; ``nodes``: in the world's order;
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


def node_columns(layout: Layout) -> Columns:
    """Capacity and what is free, all of it at first."""
    capacity = np.array([layout.row(node.capacity) for node in layout.nodes], np.int64)
    totals = np.array([layout.totals(node.capacity) for node in layout.nodes], np.int64)
    return {
        "capacity": capacity,
        "free": capacity.copy(),
        "rest": capacity.copy(),
        "withheld": np.zeros_like(capacity),
        "closed": np.zeros(len(capacity), np.int8),
        "watch_node": np.zeros(len(capacity), np.int8),
        "node_row": np.full(len(capacity), -1, np.int32),
        "total": totals.sum(axis=0),
    }


def shape_columns(layout: Layout, shapes: tuple[Shape, ...]) -> Columns:
    """What every shape needs, and the nodes it accepts."""
    need = np.array([layout.totals(shape.request) for shape in shapes], np.int64).reshape(-1, len(layout.names))
    rules = {(shape.node_kinds, shape.node_labels) for shape in shapes} - {((), ())}
    numbered = {rule: row for row, rule in enumerate(sorted(rules))}
    allowed = [[accepts(node, *rule) for node in layout.nodes] for rule in numbered]
    return {
        "need": need,
        "gpus": np.array([shape.request.gpus for shape in shapes], np.int32),
        "share": np.array([shape.request.gpu_share_e4 for shape in shapes], np.int64),
        "mask": np.array([numbered.get((s.node_kinds, s.node_labels), -1) for s in shapes], np.int32),
        "allowed": np.array(allowed, np.int8).reshape(-1, len(layout.nodes)),
        "least": need[:, :-1].min(axis=0) if len(need) else np.zeros(layout.plain, np.int64),
    }


def accepts(node: Node, kinds: tuple[str, ...], labels: tuple[tuple[str, str], ...]) -> bool:
    """Whether a node is of one of the kinds (any, if none is given) and has all the labels."""
    return (not kinds or node.kind in kinds) and set(labels) <= set(node.labels)


def shape_verdicts(layout: Layout, columns: Columns) -> I32:
    """For each shape the Reason for which no empty node could ever run it, 0 if one could."""
    need, gpus, share = columns["need"], columns["gpus"], columns["share"]
    capacity = columns["capacity"]
    verdict = np.zeros(len(need), np.int32)
    for row in sorted(set(columns["mask"].tolist())):
        members = np.flatnonzero(columns["mask"] == row)
        nodes = np.arange(len(capacity)) if row < 0 else np.flatnonzero(columns["allowed"][row])
        if not len(nodes):
            verdict[members] = Reason.NO_NODE_KIND
            continue
        # Many nodes are alike, so that only distinct ones are compared.
        kinds = np.unique(capacity[nodes], axis=0)
        fits = np.zeros(len(members), np.bool_)
        for kind in kinds:
            enough = (need[members, : layout.plain] <= kind[: layout.plain]).all(axis=1)
            devices = (kind[layout.plain :][None, :] >= share[members][:, None]).sum(axis=1)
            fits |= enough & (devices >= gpus[members])
        verdict[members[~fits]] = Reason.TOO_LARGE
    return verdict


def window_columns(layout: Layout, cluster: Cluster, users: tuple[str, ...]) -> Columns:
    """Advance reservations, one row for each node that they concern, and the times at which they begin and end."""
    node, begin, end, amount, open_to = [], [], [], [], []
    names = [n.name for n in layout.nodes]
    for window in cluster.reservations:
        if window.node and window.node not in names:
            allowed = ", ".join(sorted(names)[:20])
            raise InputError(
                "a reservation is for an unknown node", field=window.name, found=window.node, allowed=allowed
            )
        if not 0 <= window.start_ns < window.end_ns:
            raise InputError("a reservation ends before it begins", field=window.name)
        for index, each in enumerate(layout.nodes):
            if window.node in ("", each.name):
                wanted = each.capacity if window.amount is None else window.amount
                row = layout.row(wanted, from_the_end=True, devices=each.capacity.gpus)
                if any(w > c for w, c in zip(row, layout.row(each.capacity), strict=True)):
                    raise InputError(f"a reservation asks for more than node {each.name} has", field=window.name)
                node.append(index)
                begin.append(window.start_ns)
                end.append(window.end_ns)
                amount.append(row)
                open_to.append([user in window.users for user in users])
    times = sorted({t for t in (*begin, *end) if t < NEVER})
    return {
        "window_node": np.array(node, np.int32),
        "window_from": np.array(begin, np.int64),
        "window_to": np.array(end, np.int64),
        "window_amount": np.array(amount, np.int64).reshape(-1, layout.plain + layout.slots),
        "window_user": np.array(open_to, np.int8).reshape(len(node), len(users)),
        "wakes": np.array(times, np.int64),
    }
