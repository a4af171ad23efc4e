"""The Gantt chart: every task as the part of the machine that it held, for as long as it held it.

A node (or the pool) is a strip as high as its capacity of one resource; a task takes the lowest free part of it, in
pieces if need be. So an area is resource-time, and what is empty was free.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gnomon.model.quantity import format_cpu, format_e4, format_memory
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.report.columns import duration
from gnomon.report.figures import SECOND, Figure, View, label, packed
from gnomon.report.series import Floats, Ints

TASKS_MAX = 3_000
NAMED_NODES_MAX = 40
OUTLINED_MAX = 1_500
GAP = 0.06
"""The part of a node's strip that is left empty, so that nodes can be told apart."""


@dataclass(frozen=True)
class Piece:
    """A part of a node, from ``low`` to ``high`` in ledger units, that a stay (by its index) held."""

    stay: int
    low: int
    high: int


@dataclass
class Strip:
    """The free parts of one node, lowest first."""

    free: list[tuple[int, int]]
    held: dict[int, list[Piece]] = field(default_factory=dict)

    def take(self, stay: int, amount: int) -> list[Piece]:
        """The lowest free parts that make up an amount (as far as there are any)."""
        pieces = []
        while amount > 0 and self.free:
            low, high = self.free.pop(0)
            cut = min(high, low + amount)
            if cut < high:
                self.free.insert(0, (cut, high))
            pieces.append(Piece(stay, low, cut))
            amount -= cut - low
        self.held[stay] = pieces
        return pieces

    def give_back(self, stay: int) -> None:
        """Free what a stay held, joined with its free neighbours."""
        for piece in self.held.pop(stay, []):
            insort(self.free, (piece.low, piece.high))
        joined: list[tuple[int, int]] = []
        for low, high in self.free:
            if joined and joined[-1][1] == low:
                joined[-1] = (joined[-1][0], high)
            else:
                joined.append((low, high))
        self.free = joined


def pieces(
    starts_ns: Sequence[int],
    ends_ns: Sequence[int],
    nodes: Sequence[int],
    amounts: Sequence[int],
    capacities: Sequence[int],
) -> list[Piece]:
    """Which part of its node each stay (row) held; no two overlap in time and place.

    >>> [(p.stay, p.low, p.high) for p in pieces([0, 0, 5], [5, 9, 9], [0, 0, 0], [2, 1, 3], [4])]
    [(0, 0, 2), (1, 2, 3), (2, 0, 2), (2, 3, 4)]
    """
    strips = [Strip([(0, capacity)]) for capacity in capacities]
    lasting = [stay for stay, (start, end) in enumerate(zip(starts_ns, ends_ns, strict=True)) if end > start]
    changes = [(ends_ns[stay], 0, stay) for stay in lasting] + [(starts_ns[stay], 1, stay) for stay in lasting]
    found: list[Piece] = []
    for _, begins, stay in sorted(changes):
        strip = strips[nodes[stay]]
        if begins:
            found += strip.take(stay, amounts[stay])
        else:
            strip.give_back(stay)
    return found


def gantt(view: View, resource: str, *, longest_wait: float) -> Figure | None:
    """The chart of one run by one resource; None for too many tasks. Colour tells how long a task had waited."""
    past = view.series.past
    work, cluster, stays = past.scenario.work, past.scenario.cluster, past.attempts
    if len(work) > TASKS_MAX:
        return None
    has = np.array([node.capacity.amount(resource) for node in cluster.nodes], np.int64)
    node, end_ns = np.maximum(stays.node, 0), np.minimum(stays.close_ns, past.end_ns)
    amount = past.demand[resource][work.shape[stays.task]]
    parts = pieces(stays.open_ns.tolist(), end_ns.tolist(), node.tolist(), amount.tolist(), has.tolist())
    stay = np.array([part.stay for part in parts], np.int64)
    low, high = (np.array([getattr(part, end) for part in parts], np.float64) for end in ("low", "high"))
    if cluster.pool:
        scale = np.full(len(parts), 1000.0 if resource == "cpu" else E4)
        base = np.zeros(len(parts))
    else:
        scale = has[node[stay]] / (1 - 2 * GAP)
        base = node[stay] + GAP
    texts = _texts(view, end_ns)
    trace = {
        "type": "bar",
        "orientation": "h",
        "base": packed(view.at(stays.open_ns[stay]), "f8"),
        "x": packed((end_ns - stays.open_ns)[stay] / view.unit_ns, "f8"),
        "y": packed(base + (low + high) / 2 / scale, "f8"),
        "width": packed((high - low) / scale, "f8"),
        "marker": {
            "color": packed(_waited(view)[stays.task[stay]], "f4"),
            "cmin": 0,
            "cmax": longest_wait or 1,
            "colorscale": "YlGnBu",
            "colorbar": {"title": {"text": f"waited ({view.unit})"}, "thickness": 12},
            "line": {"width": 0.5 if len(parts) <= OUTLINED_MAX else 0},
        },
        "hovertext": [texts[index] for index in stay.tolist()],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    layout = {"xaxis": view.time_axis, "yaxis": _node_axis(view, resource, has), "showlegend": False}
    rows = 1 if cluster.pool else len(has)
    return {"data": [trace], "layout": layout, "time": True, "height": min(900, max(360, 80 + 24 * rows))}


def longest_wait(views: Sequence[View]) -> float:
    """Where the shared colour scale ends: the longest wait of all runs."""
    return max((float(_waited(view).max(initial=0)) for view in views), default=0.0)


def _waited(view: View) -> Floats:
    found = view.series.past.outcome
    waited = np.where(found.first_start_ns < NEVER, found.first_start_ns - found.arrive_ns, 0)
    return waited / view.unit_ns


def _node_axis(view: View, resource: str, has: Ints) -> Figure:
    cluster = view.series.past.scenario.cluster
    if cluster.pool:
        top = int(has[0]) / (1000 if resource == "cpu" else E4)
        return {"title": {"text": "processors" if resource == "cpu" else label(resource)}, "range": [0, top]}
    step = -(-len(has) // NAMED_NODES_MAX)
    rows = range(0, len(has), step)
    names = [label(cluster.nodes[i].name, most=24) for i in rows]
    axis = {"tickvals": [i + 0.5 for i in rows], "ticktext": names, "range": [len(has), 0], "showgrid": False}
    return {**axis, "title": {"text": f"node, by {label(resource)}"}}


def _texts(view: View, end_ns: Ints) -> list[str]:
    """What is said of each stay when it is pointed at."""
    past = view.series.past
    work, nodes, stays = past.scenario.work, past.scenario.cluster.nodes, past.attempts
    waited = (_waited(view) * view.unit_ns / SECOND).tolist()
    asks = [_request(shape.request) for shape in work.shapes]
    texts = []
    for task, node, held in zip(
        stays.task.tolist(), stays.node.tolist(), (end_ns - stays.open_ns).tolist(), strict=True
    ):
        user = work.users[int(work.user[task])]
        who = f" of {label(user)}" if user else ""
        place = f" on {label(nodes[node].name)}" if node >= 0 and len(nodes) > 1 else ""
        head = f"<b>{label(work.id(task))}</b>{who}: {asks[int(work.shape[task])]}{place}"
        texts.append(f"{head}<br>waited {duration(waited[task])}, stayed {duration(held / SECOND)}")
    return texts


def _request(request: Resources) -> str:
    parts = [f"{format_cpu(request.cpu_milli)} cpu"] if request.cpu_milli else []
    parts += [f"{format_memory(request.memory_bytes)} memory"] if request.memory_bytes else []
    parts += [f"{format_e4(request.amount('gpu'))} gpu"] if request.gpus else []
    return ", ".join([*parts, *(f"{format_e4(amount)} {label(name)}" for name, amount in request.named)])
