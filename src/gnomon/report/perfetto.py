"""A run as trace events, for ui.perfetto.dev: nodes are processes, tasks are slices on their lanes.

The first process is the cluster, with counters for the queue and for what is allocated. An arrow leads from the end of
one task to the start of the task that it made possible, as the log's cause says, and from an attempt that failed to the
next of its task. Faults are stretches of their own on the node that they struck, and what the control plane did about
them are instants there. The form is Chrome's trace event format (JSON), written as it is made, one event a line.
"""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from gnomon.engine.log import Kind, Reason
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
    yield from _again(past, lane)
    yield from _faults(series)
    yield from _instants(past)


def lanes(past: History) -> list[int]:
    """For each attempt or copy the lowest lane of its node that is free when it opens, so that no two overlap there."""
    stays = past.places
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
    """One slice an attempt or copy; the part of it in which the task only held its place is told beside it."""
    work, stays, what = past.scenario.work, past.places, past.outcome
    for stay, (task, node, opened, started, closed, by, row) in enumerate(
        zip(
            stays.task.tolist(),
            stays.node.tolist(),
            stays.open_ns.tolist(),
            stays.start_ns.tolist(),
            np.maximum(np.minimum(stays.close_ns, past.end_ns), stays.open_ns).tolist(),
            stays.closed_by.tolist(),
            stays.close_row.tolist(),
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
            "why": _reason(past, row) if by in (Kind.FAIL, Kind.COPY_END) else "",
        }
        place = {"pid": CLUSTER + 1 + max(node, 0), "tid": lane[stay]}
        shown = {name: value for name, value in args.items() if value not in ("", None, 0.0)}
        name = {"ph": "X", "name": work.id(task), "cat": "task" if stay < len(past.attempts) else "copy"}
        yield {**name, **place, "ts": opened / 1000, "dur": (closed - opened) / 1000, "args": shown}


def _arrows(past: History, lane: Sequence[int]) -> Iterator[Event]:
    """From the attempt whose close is the cause of an open, to the attempt that it opened."""
    stays, log = past.places, past.log
    closed_by_row = {row: stay for stay, row in enumerate(stays.close_row.tolist()) if row >= 0}
    causes = log.cause[stays.open_row].tolist()
    for stay, cause in enumerate(causes):
        source = closed_by_row.get(cause)
        if source is None or stays.close_ns[source] == stays.open_ns[source]:
            continue
        yield from _arrow(past, lane, (source, stay), number=stay, name="made room")


def _again(past: History, lane: Sequence[int]) -> Iterator[Event]:
    """From an attempt that failed to the next of its task."""
    stays = past.attempts
    follows = (stays.closed_by[:-1] == Kind.FAIL) & (stays.task[:-1] == stays.task[1:])
    follows &= stays.open_ns[:-1] < stays.close_ns[:-1]  # an arrow needs a slice to begin in
    for stay in np.flatnonzero(follows).tolist():
        yield from _arrow(past, lane, (stay, stay + 1), number=len(past.places) + stay, name="tried again")


def _arrow(past: History, lane: Sequence[int], ends: tuple[int, int], *, number: int, name: str) -> Iterator[Event]:
    """An arrow between two slices; it starts within the first, so a nanosecond before its end."""
    source, target = ends
    stays = past.places
    for phase, of, t_ns in (("s", source, int(stays.close_ns[source]) - 1), ("f", target, int(stays.open_ns[target]))):
        place = {"pid": CLUSTER + 1 + max(int(stays.node[of]), 0), "tid": lane[of]}
        said = {"ph": phase, "id": number, "name": name, "cat": "cause"}
        yield {**said, **place, "ts": t_ns / 1000, **({"bp": "e"} if phase == "f" else {})}


def _process(node: int) -> int:
    """The process of a node; that of the cluster for what is about no node."""
    return CLUSTER + 1 + node if node >= 0 else CLUSTER


def _faults(series: Series) -> Iterator[Event]:
    """Each fault as a stretch of time on each node that it struck, up to the end of the run."""
    past = series.past
    for number, one in enumerate(series.faults):
        begin, end = one.begin_ns, max(one.begin_ns, min(one.end_ns, past.end_ns))
        said = {"name": one.kind or "fault", "cat": "fault", "id": number, "pid": _process(one.node), "tid": 0}
        yield {"ph": "b", **said, "ts": begin / 1000, "args": {"fault": one.fault}}
        yield {"ph": "e", **said, "ts": end / 1000}


_TOLD = (
    *(Kind.FAULT, Kind.HEAL, Kind.NOTICE, Kind.CLOSE, Kind.OPEN),
    *(Kind.LEAD, Kind.PRESSURE, Kind.CALM, Kind.REFUSE),
)


def _instants(past: History) -> Iterator[Event]:
    """What happened to nodes and to the control plane, and what was done about it."""
    log = past.log
    for row in np.flatnonzero(np.isin(log.kind, _TOLD)).tolist():
        args = {"value": int(log.value[row]), "cause": int(log.cause[row]), "why": _reason(past, row)}
        shown = {name: value for name, value in args.items() if value not in ("", -1)} | dict(log.details.get(row, {}))
        said = {"ph": "i", "s": "p", "name": Kind(log.kind[row]).name.lower(), "cat": "control"}
        place = {"pid": _process(int(log.node[row])), "tid": 0}
        yield {**said, **place, "ts": int(log.t_ns[row]) / 1000, "args": shown}


def _reason(past: History, row: int) -> str:
    """The reason of a row in words, empty for none (and for no row)."""
    code = Reason(int(past.log.reason[row])) if row >= 0 else Reason.NONE
    return code.name.lower().replace("_", " ") if code else ""
