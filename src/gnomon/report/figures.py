"""Pictures of runs, as Plotly figures in plain dicts (traces and layout), without Plotly's own Python classes.

Runs that stand side by side share their axes. What changes over time is drawn as exact means over intervals, so that
the picture of a million tasks is as small as that of a thousand. Colours are Okabe and Ito's, which the colour-blind
can tell apart.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import State
from gnomon.model.resources import NEVER
from gnomon.report.columns import duration
from gnomon.report.series import Floats, Ints, Series, Steps, node_load
from gnomon.report.text import plain

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
SECOND = 10**9
UNITS = (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1), ("milliseconds", 1e-3))
POINTS = 600
HEAT_ROWS_MAX, HEAT_COLUMNS = 300, 200
WAIT_STEPS_S = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86_400, 7 * 86_400, 30 * 86_400)

Figure = dict[str, Any]


@dataclass(frozen=True)
class View:
    """A run with what changed over time in it, on the time axis that it shares with its neighbours."""

    name: str
    series: Series
    first_ns: int
    last_ns: int
    unit: str
    unit_ns: float

    def at(self, t_ns: npt.NDArray[Any]) -> Floats:
        """Times on the shared axis, which begins when the first of the runs does."""
        return (np.asarray(t_ns, np.float64) - self.first_ns) / self.unit_ns

    def cuts(self, most: int = POINTS) -> Ints:
        """The shared time in intervals of (nearly) equal length."""
        length, count = self.last_ns - self.first_ns, min(most, self.last_ns - self.first_ns)
        return np.array([self.first_ns + length * i // count for i in range(count + 1)], np.int64)

    @property
    def time_axis(self) -> Figure:
        """The shared axis."""
        last = (self.last_ns - self.first_ns) / self.unit_ns
        return {"title": {"text": f"time ({self.unit})"}, "range": [0, last]}


def views(runs: Sequence[tuple[str, Series]]) -> list[View]:
    """Runs by name, on one time axis in the unit that suits the longest."""
    first_ns = min(series.past.begin_ns for _, series in runs)
    last_ns = max(first_ns + 1, *(series.past.end_ns for _, series in runs))
    unit, seconds = next(((u, s) for u, s in UNITS if last_ns - first_ns >= 2 * s * SECOND), UNITS[-1])
    return [View(name, series, first_ns, last_ns, unit, seconds * SECOND) for name, series in runs]


def allocation(view: View) -> Figure:
    """How much of each resource was held, in per cent of all there is, over time."""
    steps = view.series.allocated
    traces = [
        _line(name, view, one, 100, colour=index, hover="%{y:.1f}%", fill=len(steps) == 1)
        for index, (name, one) in enumerate(steps.items())
    ]
    axes = {"xaxis": view.time_axis, "yaxis": {"title": {"text": "allocated (%)"}, "range": [0, 103]}}
    return {"data": traces, "layout": {**axes, "showlegend": len(traces) > 1}, "time": True}


def queue(all_views: Sequence[View]) -> Figure:
    """How many tasks waited over time, a line for each run."""
    traces = [
        _line(view.name, view, view.series.queue, 1, colour=index, hover="%{y:,.1f} tasks", fill=len(all_views) == 1)
        for index, view in enumerate(all_views)
    ]
    axes = {"xaxis": all_views[0].time_axis, "yaxis": {"title": {"text": "tasks waiting"}, "rangemode": "tozero"}}
    return {"data": traces, "layout": {**axes, "showlegend": len(traces) > 1}, "time": True}


def waits(all_views: Sequence[View]) -> Figure:
    """Which share of the tasks waited how long, a bar for each run, and which never started."""
    names, shares = wait_shares(all_views)
    traces = [
        {
            "type": "bar",
            "name": label(view.name),
            "x": names,
            "y": share,
            "marker": {"color": COLOURS[index % len(COLOURS)]},
            "hovertemplate": "%{y:.1f}% of tasks",
        }
        for index, (view, share) in enumerate(zip(all_views, shares, strict=True))
    ]
    axes = {
        "xaxis": {"title": {"text": "time waited before the start"}, "type": "category", "showgrid": False},
        "yaxis": {"title": {"text": "share of tasks (%)"}, "rangemode": "tozero"},
    }
    return {"data": traces, "layout": {**axes, "barmode": "group", "showlegend": len(traces) > 1}}


def wait_shares(all_views: Sequence[View]) -> tuple[list[str], list[list[float]]]:
    """Ranges of waits by name, and for each run the share of its tasks in each of them, in per cent."""
    found = [waits_s(view.series) for view in all_views]
    steps = _steps(np.concatenate([waited for waited, _ in found]))
    words = [duration(step) for step in steps]
    names = ["none"]
    if steps:
        names += [f"up to {words[0]}", *(f"{a} – {b}" for a, b in pairwise(words))]
    anyone_left = any(tasks > len(waited) for waited, tasks in found)
    shares = []
    for waited, tasks in found:
        counts = np.bincount(np.where(waited <= 0, 0, 1 + np.searchsorted(steps, waited)), minlength=len(names))
        bars = [*counts.tolist(), *([tasks - len(waited)] if anyone_left else [])]
        shares.append([round(100 * bar / max(tasks, 1), 3) for bar in bars])
    return [*names, *(["never started"] if anyone_left else [])], shares


def _steps(waited_s: Floats) -> list[float]:
    """The limits of the bars: from that below which the shortest wait is to that below which all are, at most eight."""
    waited_s = waited_s[waited_s > 0]
    if not len(waited_s):
        return []
    first, last = np.searchsorted(WAIT_STEPS_S, (waited_s.min(), waited_s.max()))
    steps = [*WAIT_STEPS_S, float(waited_s.max())][first : last + 1]
    return steps[-8:]


def busiest(all_views: Sequence[View]) -> str:
    """The resource of which the largest share was held, over all runs: the one that was scarce."""
    whole = all_views[0].cuts(1)
    held: dict[str, float] = {}
    for view in all_views:
        for name, steps in view.series.allocated.items():
            held[name] = held.get(name, 0.0) + float(steps.binned(whole)[0])
    return max(held, key=lambda name: held[name], default="cpu")


def heat(view: View, resource: str) -> Figure | None:
    """How full each node was over time; neighbours share a row where there are many. None for a pool."""
    past, edges = view.series.past, view.cuts(HEAT_COLUMNS)
    cluster = past.scenario.cluster
    has = np.array([node.capacity.amount(resource) for node in cluster.nodes], np.float64)
    rows = np.flatnonzero(has)
    if cluster.pool or not len(rows):
        return None
    size = -(-len(rows) // HEAT_ROWS_MAX)
    starts = np.arange(0, len(rows), size)
    held = np.add.reduceat(node_load(past, resource, edges)[rows], starts, axis=0)
    share = held / np.add.reduceat(has[rows], starts)[:, None]
    names = [cluster.nodes[int(row)].name for row in rows]
    bands = [names[i : i + size] for i in starts.tolist()]
    trace = {
        "type": "heatmap",
        "z": packed(np.clip(np.round(share * 100), 0, 255), "u1"),
        "x": packed(view.at(edges), "f4"),
        "y": [label(band[0] if len(band) == 1 else f"{band[0]} … {band[-1]}", most=30) for band in bands],
        "zmin": 0,
        "zmax": 100,
        "colorbar": {"title": {"text": f"{label(resource)} (%)"}, "thickness": 12},
        "hovertemplate": "%{y}: %{z}%<extra></extra>",
    }
    layout = {"xaxis": view.time_axis, "yaxis": {"autorange": "reversed", "type": "category", "showgrid": False}}
    note = f"{size} neighbouring nodes share a row" if size > 1 else ""
    height = min(640, 110 + 16 * max(6, len(bands)))
    return {"data": [trace], "layout": layout, "time": True, "note": note, "height": height}


def label(text: str, *, most: int = 60) -> str:
    """Text of a user's for a figure: Plotly reads tags, so none may be left."""
    clean = plain(text)
    return escape(clean if len(clean) <= most else f"{clean[: most - 1]}…", quote=False)


def packed(values: npt.NDArray[Any], kind: str) -> Figure:
    """An array as Plotly's typed, base64-coded form: a fraction of the size of digits."""
    array = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
    coded = {"dtype": kind, "bdata": b64encode(array.tobytes()).decode("ascii")}
    return coded if array.ndim == 1 else {**coded, "shape": ", ".join(map(str, array.shape))}


def _line(name: str, view: View, steps: Steps, factor: float, *, colour: int, hover: str, fill: bool) -> Figure:
    shade = COLOURS[colour % len(COLOURS)]
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": label(name),
        "x": packed(view.at(view.cuts()[:-1]), "f8"),
        "y": packed(steps.binned(view.cuts()) * factor, "f4"),
        "line": {"color": shade, "width": 1.5, "shape": "hv"},
        "hovertemplate": hover,
    }
    return {**line, "fill": "tozeroy", "fillcolor": f"{shade}40"} if fill else line


def waits_s(series: Series) -> tuple[Floats, int]:
    """The wait of every task that started, in seconds, and how many tasks arrived."""
    found = series.past.outcome
    arrived = found.state != State.UNBORN
    started = arrived & (found.first_start_ns < NEVER)
    waited = series.past.waited_ns[started] / SECOND
    return waited, int(arrived.sum())
