"""The node and task lists of Alibaba's "openb" GPU cluster (cluster-trace-gpu-v2023).

Columns as in the trace's description (https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2023), which
Q. Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
USENIX ATC 2023, used. Plain or gzip.
"""

from __future__ import annotations

from pathlib import Path

from gnomon.formats.table import rows
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.quantity import parse_count, parse_duration
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.work import Note, Shape, Work
from gnomon.traces.growing import GrowingWork, Place
from gnomon.traces.start import Start

NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
"""What a node list has."""

TASK_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
"""What every task list has."""

TIME_COLUMNS = ("creation_time", "deletion_time", "scheduled_time")
"""What the task lists with times have besides, in seconds since the trace's start, empty if it never came."""

_MIB = 2**20


def recognised_nodes(start: Start) -> bool:
    """Whether a file that starts so is a node list."""
    return set(NODE_COLUMNS) <= set(start.names)


def recognised_tasks(start: Start) -> bool:
    """Whether a file that starts so is a task list, and no node list."""
    return set(TASK_COLUMNS) <= set(start.names) and not recognised_nodes(start)


def read_nodes(path: str | Path) -> Cluster:
    """A node list: ``kind`` is the GPU model; columns besides :data:`NODE_COLUMNS` become labels.

    Raises InputError for a file that is no such list, or a row at fault.

    >>> cluster = read_nodes("tests/data/traces/openb-nodes.csv")
    >>> len(cluster.nodes), cluster.nodes[2].kind, cluster.total("gpu") // 10_000
    (16, 'P100', 68)
    """
    names, records = rows(path)
    _require(NODE_COLUMNS, names, path)
    extra = [name for name in names if name not in NODE_COLUMNS]
    nodes: dict[str, Node] = {}
    lines: dict[str, int] = {}
    for line, cells in records:
        place, row = Place(str(path), line), dict(zip(names, cells, strict=True))
        name = row["sn"]
        if not name or name in nodes:
            problem = f"the name of line {lines[name]} again" if name else "a node without a name"
            raise place.error(problem, "sn", name)
        capacity = _resources(place, row, gpus=_count(place, row, "gpu"))
        labels = tuple((column, row[column]) for column in extra if row[column])
        nodes[name], lines[name] = Node(name, capacity, kind=row["model"], labels=labels), line
    if not nodes:
        raise InputError("no node in the file", file=str(path), allowed="a row for each node below the header")
    return Cluster(tuple(nodes.values()), source=str(path))


def read_tasks(path: str | Path, *, arrivals_only: bool = False) -> Work:
    """A task list, with times or without.

    A task is submitted at its ``creation_time`` and runs from ``scheduled_time`` to ``deletion_time``; one that was
    never scheduled runs as long as it was there; one without a deletion runs on, as do all in lists without times
    (submitted at 0) and with ``arrivals_only``. ``gpu_milli`` is the share of each GPU, ``gpu_spec`` the kinds of
    nodes (empty: any).

    Raises InputError for a file that is no such list, or a row at fault.

    >>> work = read_tasks("tests/data/traces/openb-tasks.csv")
    >>> len(work), work.id(1), work.task(1).shape.request.gpu_share_e4
    (30, 'openb-pod-0001', 4600)
    """
    names, records = rows(path)
    _require(TASK_COLUMNS, names, path)
    timed = all(column in names for column in TIME_COLUMNS)
    work = GrowingWork(str(path))
    unscheduled = 0
    for line, cells in records:
        place, row = Place(str(path), line), dict(zip(names, cells, strict=True))
        if not row["name"]:
            raise place.error("a task without a name", "name", "")
        submit_ns, duration_ns, wait_ns = _times(place, row) if timed else (0, NEVER, -1)
        unscheduled += timed and wait_ns < 0
        work.add(
            line,
            row["name"],
            _shape(place, row),
            submit_ns=submit_ns,
            duration_ns=NEVER if arrivals_only else duration_ns,
            wait_ns=wait_ns,
        )
    return work.finished(notes=_notes(names, len(work), 0 if arrivals_only else unscheduled, timed=timed))


def _require(wanted: tuple[str, ...], names: list[str], path: str | Path) -> None:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(
            f"the column {missing[0]!r} is missing",
            file=str(path),
            line=1,
            found=",".join(names),
            allowed=",".join(wanted),
        )


def _notes(names: list[str], tasks: int, unscheduled: int, *, timed: bool) -> list[Note]:
    known = (*TASK_COLUMNS, "gpu_spec", *(TIME_COLUMNS if timed else ()))
    texts = {"qos": "the class of service", "pod_phase": "how the task ended"}
    unknown = [name for name in names if name not in known]
    notes = [Note("not modelled", name, texts.get(name, "this column"), tasks) for name in unknown]
    if not timed:
        notes.append(Note("default", "times", "no times: all tasks are there at 0 and run on", tasks))
    if unscheduled:
        text = "never scheduled: the duration is the time from creation to deletion"
        notes.append(Note("default", "scheduled_time", text, unscheduled))
    return notes


def _count(place: Place, row: dict[str, str], column: str) -> int:
    return place.parsed(parse_count, row[column], column)


def _resources(place: Place, row: dict[str, str], *, gpus: int, share_e4: int = E4) -> Resources:
    cpu_milli, memory_mib = _count(place, row, "cpu_milli"), _count(place, row, "memory_mib")
    try:
        return Resources(cpu_milli, memory_mib * _MIB, gpus, share_e4)
    except ValueError as error:
        raise InputError(str(error), file=place.file, line=place.line) from None


def _shape(place: Place, row: dict[str, str]) -> Shape:
    gpus, share_milli = _count(place, row, "num_gpu"), _count(place, row, "gpu_milli")
    if bool(gpus) != bool(share_milli) or share_milli > 1000:
        allowed = "1 to 1000 with a GPU, 0 without"
        raise place.error(f"not a share of each of {gpus} GPUs", "gpu_milli", share_milli, allowed)
    kinds = tuple(sorted({kind for kind in row.get("gpu_spec", "").split("|") if kind}))
    return Shape(_resources(place, row, gpus=gpus, share_e4=share_milli * 10 or E4), node_kinds=kinds)


def _times(place: Place, row: dict[str, str]) -> tuple[int, int, int]:
    """Submit time, duration (NEVER: it runs on) and wait (-1: never scheduled), in ns."""
    created = place.parsed(parse_duration, row["creation_time"], "creation_time")
    scheduled = place.parsed(parse_duration, row["scheduled_time"], "scheduled_time") if row["scheduled_time"] else None
    began = created if scheduled is None else scheduled
    if began < created:
        raise place.error("before the creation", "scheduled_time", row["scheduled_time"])
    wait = -1 if scheduled is None else scheduled - created
    if not row["deletion_time"]:
        return created, NEVER, wait
    ended = place.parsed(parse_duration, row["deletion_time"], "deletion_time")
    if ended < began:
        raise place.error("before the task began", "deletion_time", row["deletion_time"])
    return created, ended - began, wait
