"""The Gantt chart: every task as the part of the machine that it held, for as long as it held it.

A node (or the pool) is a strip as high as its capacity of one resource; a task takes the lowest free part of it, in
pieces if need be. So an area is resource-time, and what is empty was free. Attempts that failed are crossed, copies
striped; where a node was down it is grey, and a cross marks the begin of each fault.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gnomon.control.faults import harmful
from gnomon.control.faults.kind import Harm
from gnomon.engine.log import Kind, Reason
from gnomon.model.quantity import format_cpu, format_e4, format_memory
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.report.columns import duration
from gnomon.report.figures import SECOND, Figure, View, label, packed
from gnomon.report.series import Floats, Ints

TASKS_MAX = 3_000
NAMED_NODES_MAX = 40
OUTLINED_MAX = 1_500
FAULTS_MAX = 2_000
DOWN = harmful(Harm.CUT_OFF)
"""The faults while which a node cannot be used."""

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
    work, cluster, stays = past.scenario.work, past.scenario.cluster, past.places
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
            "showscale": longest_wait > 0,
            "colorbar": {"title": {"text": f"waited ({view.unit})"}, "thickness": 12},
            "line": {"width": 0.5 if len(parts) <= OUTLINED_MAX else 0},
            **_patterns(view, stay),
        },
        "hovertext": [texts[index] for index in stay.tolist()],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    axis = _node_axis(view, resource, has)
    layout = {"xaxis": view.time_axis, "yaxis": axis, "showlegend": False}
    rows = 1 if cluster.pool else len(has)
    height = min(900, max(360, 80 + 24 * rows))
    return {"data": [*_faults(view, axis["range"]), trace], "layout": layout, "time": True, "height": height}


def _patterns(view: View, stay: Ints) -> Figure:
    """How the bars of failed attempts and of copies are filled; nothing where there are none."""
    past = view.series.past
    failed, copies = past.places.closed_by == Kind.FAIL, np.arange(len(past.places)) >= len(past.attempts)
    shapes = np.where(copies, "/", np.where(failed, "x", ""))[stay]
    return {"pattern": {"shape": shapes.tolist(), "size": 6, "solidity": 0.25}} if shapes.any() else {}


def _faults(view: View, rows: Sequence[float]) -> list[Figure]:
    """Grey where nodes were down, and a cross where each fault began; left out where there are very many."""
    past, faults = view.series.past, view.series.faults
    if not faults or len(faults) > FAULTS_MAX:
        return []
    pool, top = past.scenario.cluster.pool, max(rows)
    begin = np.array([one.begin_ns for one in faults], np.int64)
    end = np.minimum(np.array([one.end_ns for one in faults], np.int64), max(view.last_ns, int(begin.max())))
    y = np.array([top / 2 if pool else one.node + 0.5 if one.node >= 0 else 0.05 for one in faults])
    texts = [_fault_text(view, i, int(end[i] - begin[i])) for i in range(len(faults))]
    down = [i for i, one in enumerate(faults) if one.kind in DOWN and (one.node >= 0 or pool)]
    hover = {"hovertemplate": "%{hovertext}<extra></extra>"}
    grey = {
        "type": "bar",
        "orientation": "h",
        "base": packed(view.at(begin[down]), "f8"),
        "x": packed((end - begin)[down] / view.unit_ns, "f8"),
        "y": packed(y[down], "f8"),
        "width": packed(np.full(len(down), top if pool else 1.0), "f8"),
        "marker": {"color": "#7F7F7F55"},
        "hovertext": [texts[i] for i in down],
        **hover,
    }
    crosses = {
        "type": "scatter",
        "mode": "markers",
        "x": packed(view.at(begin), "f8"),
        "y": packed(y, "f8"),
        "marker": {"color": "#D55E00", "symbol": "x", "size": 7},
        "hovertext": texts,
        **hover,
    }
    return [grey, crosses] if down else [crosses]


def _fault_text(view: View, index: int, lasted_ns: int) -> str:
    one, nodes = view.series.faults[index], view.series.past.scenario.cluster.nodes
    place = f" of {label(nodes[one.node].name)}" if one.node >= 0 else ""
    lasted = "to the end" if one.end_ns >= NEVER else f"for {duration(lasted_ns / SECOND)}"
    return f"<b>{label(one.kind or 'fault')}</b>{place}<br>fault {one.fault}, {lasted}"


def longest_wait(views: Sequence[View]) -> float:
    """Where the shared colour scale ends: the longest wait of all runs."""
    return max((float(_waited(view).max(initial=0)) for view in views), default=0.0)


def _waited(view: View) -> Floats:
    past = view.series.past
    return np.where(past.outcome.first_start_ns < NEVER, past.waited_ns, 0) / view.unit_ns


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
    work, nodes, stays = past.scenario.work, past.scenario.cluster.nodes, past.places
    waited = (_waited(view) * view.unit_ns / SECOND).tolist()
    asks = [_request(shape.request) for shape in work.shapes]
    texts = []
    lasted = np.maximum(end_ns - stays.open_ns, 0).tolist()
    for stay, (task, node, held) in enumerate(zip(stays.task.tolist(), stays.node.tolist(), lasted, strict=True)):
        user = work.users[int(work.user[task])]
        who = f" of {label(user)}" if user else ""
        place = f" on {label(nodes[node].name)}" if node >= 0 and len(nodes) > 1 else ""
        head = f"<b>{label(work.id(task))}</b>{who}: {asks[int(work.shape[task])]}{place}"
        stayed = f"waited {duration(waited[task])}, stayed {duration(held / SECOND)}"
        texts.append(f"{head}<br>{stayed}{_ending(view, stay)}")
    return texts


def _ending(view: View, stay: int) -> str:
    """What is said of an attempt that failed, and of a copy."""
    past = view.series.past
    row = int(past.places.close_row[stay])
    why = Reason(int(past.log.reason[row])) if row >= 0 else Reason.NONE
    words = f": {why.name.lower().replace('_', ' ')}" if why else ""
    if stay >= len(past.attempts):
        return f"<br>a copy{words}"
    return f"<br>failed{words}" if past.places.closed_by[stay] == Kind.FAIL else ""


def _request(request: Resources) -> str:
    parts = [f"{format_cpu(request.cpu_milli)} cpu"] if request.cpu_milli else []
    parts += [f"{format_memory(request.memory_bytes)} memory"] if request.memory_bytes else []
    parts += [f"{format_e4(request.amount('gpu'))} gpu"] if request.gpus else []
    return ", ".join([*parts, *(f"{format_e4(amount)} {label(name)}" for name, amount in request.named)])
