"""Work as a table of tasks (CSV), which :func:`gnomon.traces.table.read` reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gnomon.model.quantity import format_e4, format_seconds
from gnomon.model.resources import E4, NEVER
from gnomon.model.work import IntArray, Note, Work
from gnomon.traces.output import created

_CHUNK = 10_000


def write(work: Work, path: str | Path, *, waits_ns: IntArray | None = None) -> tuple[Note, ...]:
    """Write one row a task, in order, and return what the table cannot say.

    ``waits_ns``: the column of waits (-1 or NEVER: unknown), for instance from a simulation; without it those that
    the work recorded. Times are decimal seconds, exact to the nanosecond; columns that say nothing are left out. A
    path that ends in ``.gz`` is compressed.

    Raises InputError when the file cannot be written.

    >>> import tempfile
    >>> from gnomon.model.work import Task
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = write(Work.from_tasks([Task("a", duration_ns=1_500_000_000, user="ann")]), Path(folder, "a.csv"))
    ...     print(Path(folder, "a.csv").read_text())
    id,user,submit_s,duration_s,cpus_milli
    a,ann,0,1.5,0
    """
    waits_ns = work.recorded_wait_ns if waits_ns is None else waits_ns
    said = _said(work, waits_ns)
    with created(path) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(said)
        for start in range(0, len(work), _CHUNK):
            columns = _columns(work, waits_ns, slice(start, start + _CHUNK))
            table.writerows(zip(*(columns[name] for name in said), strict=True))
    return tuple(_lost(work))


def _said(work: Work, waits_ns: IntArray) -> list[str]:
    """The columns that say something."""
    requests = [shape.request for shape in work.shapes]
    says = {
        "id": True,
        "job": work.jobs is not None,
        "user": any(work.users),
        "queue": any(work.queues),
        "submit_s": True,
        "duration_s": True,
        "estimate_s": bool((work.estimate_ns != work.duration_ns).any()),
        "wait_s": bool(((waits_ns >= 0) & (waits_ns < NEVER)).any()),
        "deadline_s": bool((work.deadline_ns < NEVER).any()),
        "priority": bool(work.priority.any()),
        "cpus_milli": True,
        "memory_bytes": any(request.memory_bytes for request in requests),
        "gpus": any(request.gpus for request in requests),
        "gpu_share": any(request.gpu_share_e4 < E4 for request in requests),
        "node_kinds": any(shape.node_kinds for shape in work.shapes),
    }
    return [name for name, something in says.items() if something]


def _columns(work: Work, waits_ns: IntArray, part: slice) -> dict[str, list[object]]:
    """The cells of some rows, by column."""
    rows = range(*part.indices(len(work)))
    shapes = [work.shapes[index] for index in work.shape[part].tolist()]
    usable = work.usable[part].tolist()
    return {
        "id": [work.id(row) for row in rows],
        "job": [work.job_name(row) for row in rows],
        "user": [work.users[index] for index in work.user[part].tolist()],
        "queue": [work.queues[index] for index in work.queue[part].tolist()],
        "submit_s": [format_seconds(time) for time in work.submit_ns[part].tolist()],
        "duration_s": [
            _span(t) if known else "" for t, known in zip(work.duration_ns[part].tolist(), usable, strict=True)
        ],
        "estimate_s": [_span(time) for time in work.estimate_ns[part].tolist()],
        "wait_s": ["" if time < 0 else format_seconds(time) for time in waits_ns[part].tolist()],
        "deadline_s": [_span(time) for time in work.deadline_ns[part].tolist()],
        "priority": work.priority[part].tolist(),
        "cpus_milli": [shape.request.cpu_milli for shape in shapes],
        "memory_bytes": [shape.request.memory_bytes for shape in shapes],
        "gpus": [shape.request.gpus for shape in shapes],
        "gpu_share": [format_e4(shape.request.gpu_share_e4) if shape.request.gpus else "" for shape in shapes],
        "node_kinds": ["|".join(shape.node_kinds) for shape in shapes],
    }


def _span(time_ns: int) -> str:
    return format_seconds(time_ns) or "never"


def _lost(work: Work) -> Iterator[Note]:
    """What the table has no column for, once a kind."""
    lost = {
        "resources": [bool(shape.request.named) for shape in work.shapes],
        "nodes": [bool(shape.node_labels) for shape in work.shapes],
    }
    texts = {"resources": "other resources (CSV)", "nodes": "constraints on the labels of nodes (CSV)"}
    for field, concerned in lost.items():
        count = int(np.array(concerned, np.bool_)[work.shape].sum())
        if count:
            yield Note("not modelled", field, texts[field], count)
