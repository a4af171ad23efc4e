"""A run as trace events, for ui.perfetto.dev: nodes are processes, tasks are slices on their lanes.

The first process is the cluster, with counters for the queue and for what is allocated. An arrow leads from the end of
one task to the start of the task that it made possible, as the log's cause says. The form is Chrome's trace event
format (JSON), written as it is made, one event a line.
"""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from gnomon.engine.log import Kind
from gnomon.model.resources import NEVER
from gnomon.report.series import History, Series, Steps

CLUSTER = 1
"""The process of the cluster; that of node i is ``CLUSTER + 1 + i``."""

Event = dict[str, Any]


def write(path: str | os.PathLike[str], series: Series) -> None:
    """Write the trace of a run. Raises OSError where that fails."""
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        dump(file, series)


def dump(file: IO[str], series: Series) -> None:
    """Write the trace of a run to an open file."""
    file.write('{"displayTimeUnit":"ms","traceEvents":[')
    for index, event in enumerate(events(series)):
        file.write(("," if index else "") + "\n" + json.dumps(event, separators=(",", ":")))
    file.write("\n]}\n")


def events(series: Series) -> Iterator[Event]:
    """All trace events of a run."""
    past = series.past
    yield from _names(past)
    for name, steps in series.allocated.items():
        yield from _counter(f"{name} allocated (%)", steps, 100)
    yield from _counter("tasks waiting", series.queue, 1)
    lane = lanes(past)
    yield from _slices(past, lane)
    yield from _arrows(past, lane)


def lanes(past: History) -> list[int]:
    """For each attempt the lowest lane of its node that is free when it opens, so that no two overlap in a lane."""
    stays = past.attempts
    order = np.lexsort((stays.open_row, stays.open_ns)).tolist()
    node, opens, closes = stays.node.tolist(), stays.open_ns.tolist(), stays.close_ns.tolist()
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[int, int]]] = {}
    found = [0] * len(order)
    for stay in order:
        idle, taken = free.setdefault(node[stay], []), busy.setdefault(node[stay], [])
        while taken and taken[0][0] <= opens[stay]:
            heapq.heappush(idle, heapq.heappop(taken)[1])
        found[stay] = heapq.heappop(idle) if idle else len(taken)
        heapq.heappush(taken, (closes[stay], found[stay]))
    return found


def _names(past: History) -> Iterator[Event]:
    cluster = past.scenario.cluster
    names = ["cluster", *("processors" if cluster.pool else node.name for node in cluster.nodes)]
    for pid, name in enumerate(names, start=CLUSTER):
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}


def _counter(name: str, steps: Steps, factor: float) -> Iterator[Event]:
    for t_ns, value in zip(steps.t_ns.tolist(), (steps.value * factor).tolist(), strict=True):
        yield {"ph": "C", "name": name, "pid": CLUSTER, "ts": t_ns / 1000, "args": {"value": round(value, 4)}}


def _slices(past: History, lane: Sequence[int]) -> Iterator[Event]:
    """One slice an attempt; the part of it in which the task only held its place is told beside it."""
    work, stays, what = past.scenario.work, past.attempts, past.outcome
    for stay, (task, node, opened, started, closed, by) in enumerate(
        zip(
            stays.task.tolist(),
            stays.node.tolist(),
            stays.open_ns.tolist(),
            stays.start_ns.tolist(),
            np.minimum(stays.close_ns, past.end_ns).tolist(),
            stays.closed_by.tolist(),
            strict=True,
        )
    ):
        args = {
            "job": work.job_name(task),
            "user": work.users[int(work.user[task])],
            "queue": work.queues[int(work.queue[task])],
            "waited_s": (int(what.first_start_ns[task]) - int(what.arrive_ns[task])) / 1e9 if started < NEVER else None,
            "held_s": (min(started, closed) - opened) / 1e9,
            "ended": Kind(by).name.lower() if by else "still there at the end",
        }
        place = {"pid": CLUSTER + 1 + max(node, 0), "tid": lane[stay]}
        shown = {name: value for name, value in args.items() if value not in ("", None, 0.0)}
        name = {"ph": "X", "name": work.id(task), "cat": "task"}
        yield {**name, **place, "ts": opened / 1000, "dur": (closed - opened) / 1000, "args": shown}


def _arrows(past: History, lane: Sequence[int]) -> Iterator[Event]:
    """From the attempt whose close is the cause of an open, to the attempt that it opened."""
    stays, log = past.attempts, past.log
    closed_by_row = {row: stay for stay, row in enumerate(stays.close_row.tolist()) if row >= 0}
    causes = log.cause[stays.open_row].tolist()
    for stay, cause in enumerate(causes):
        source = closed_by_row.get(cause)
        if source is None or stays.close_ns[source] == stays.open_ns[source]:
            continue
        # An arrow starts within its slice, so a nanosecond before the end.
        for phase, of, t_ns in (("s", source, int(stays.close_ns[source]) - 1), ("f", stay, int(stays.open_ns[stay]))):
            place = {"pid": CLUSTER + 1 + max(int(stays.node[of]), 0), "tid": lane[of]}
            name = {"ph": phase, "id": stay, "name": "made room", "cat": "cause"}
            yield {**name, **place, "ts": t_ns / 1000, **({"bp": "e"} if phase == "f" else {})}
