"""The charts of a page as tables, for who would rather read numbers: time in slices, lists cut at a length."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gnomon.model.resources import NEVER
from gnomon.report.columns import NOTHING, duration, number, percent
from gnomon.report.figures import SECOND, View, wait_shares
from gnomon.report.page import folded, table
from gnomon.report.series import Floats, Steps, node_load

SLICES = 12
ROWS_MAX = 200
"""How many nodes or tasks a table lists."""


def allocation(views: Sequence[View]) -> str:
    """The part of each resource that was held, by slices of time."""
    columns = [
        (view.name if len(view.series.allocated) == 1 else f"{view.name} {name}", steps)
        for view in views
        for name, steps in view.series.allocated.items()
    ]
    return _over_time("allocated on average", views[0], columns, percent)


def queue(views: Sequence[View]) -> str:
    """How many tasks waited, by slices of time."""
    return _over_time("tasks waiting on average", views[0], [(view.name, view.series.queue) for view in views], number)


def _over_time(name: str, view: View, columns: Sequence[tuple[str, Steps]], write: Callable[[float], str]) -> str:
    cuts = view.cuts(SLICES)
    values = [steps.binned(cuts).tolist() for _, steps in columns]
    begins = [duration((int(cut) - view.first_ns) / SECOND) for cut in cuts]
    rows = [[f"{begins[i]} – {begins[i + 1]}", *(write(value[i]) for value in values)] for i in range(len(begins) - 1)]
    return folded(f"As a table: {name}", table(name, ["time", *(title for title, _ in columns)], rows))


def waits(views: Sequence[View]) -> str:
    """Which share of the tasks waited how long."""
    names, shares = wait_shares(views)
    rows = [[name, *(f"{share[i]:.1f}%" for share in shares)] for i, name in enumerate(names)]
    return folded(
        "As a table: share of the tasks", table("share of the tasks", ["waited", *(view.name for view in views)], rows)
    )


def nodes(views: Sequence[View], resource: str) -> str:
    """How full each node was over the whole time."""
    found: dict[str, dict[str, float]] = {}
    for view in views:
        cluster = view.series.past.scenario.cluster
        load: Floats = node_load(view.series.past, resource, view.cuts(1))[:, 0]
        for node, held in zip(cluster.nodes[:ROWS_MAX], load.tolist(), strict=False):
            if has := node.capacity.amount(resource):
                found.setdefault(node.name, {})[view.name] = held / has
    rows = [
        [node, *(percent(held[view.name]) if view.name in held else NOTHING for view in views)]
        for node, held in found.items()
    ]
    name = f"{resource} held on average"
    return folded(f"As a table: {name}", table(name, ["node", *(view.name for view in views)], rows))


def tasks(views: Sequence[View]) -> str:
    """When and where each task ran, the first of each run."""
    rows, whole = [], 0
    most = max(ROWS_MAX // len(views), 1)
    for view in views:
        past = view.series.past
        work, cluster, stays = past.scenario.work, past.scenario.cluster, past.places
        whole += len(stays.task)
        for stay in range(min(len(stays.task), most)):
            task, node, start = int(stays.task[stay]), int(stays.node[stay]), int(stays.open_ns[stay])
            end = min(int(stays.close_ns[stay]), past.end_ns)
            rows.append(
                [
                    str(work.id(task)),
                    *([view.name] if len(views) > 1 else []),
                    cluster.nodes[node].name if node >= 0 and not cluster.pool else NOTHING,
                    duration(float(past.waited_ns[task]) / SECOND),
                    duration((start - view.first_ns) / SECOND),
                    duration(max(end - start, 0) / SECOND) if end < NEVER else NOTHING,
                ]
            )
    heads = ["task", *(["run"] if len(views) > 1 else []), "node", "waited", "started at", "stayed"]
    told = "attempts" if len(rows) == whole else f"{len(rows):,} of {whole:,} attempts"
    return folded(f"As a table: {told}", table(told, heads, rows, texts=range(1, len(heads) - 3)))
