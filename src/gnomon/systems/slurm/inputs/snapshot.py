"""What the commands printed of a running cluster, put together: how it is made up, who runs where, who waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar

from gnomon.formats.files import read_text
from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.slurm.inputs.files import read_json
from gnomon.systems.slurm.read.jobs import SeenJob, number, of_json, of_record, of_table
from gnomon.systems.slurm.read.nodes import (
    SeenNode,
    SeenReservation,
    node_of,
    nodes_of_json,
    nodes_of_table,
    reservation_of,
)
from gnomon.systems.slurm.read.pairs import Record, read_config, read_records, taken_at
from gnomon.systems.slurm.read.share import Usage, read_assoc_mgr, read_sshare
from gnomon.systems.slurm.read.tables import read_table
from gnomon.systems.slurm.read.words import NO_TIME, moment, whole

PRINTED = (
    "config",
    "associations",
    "jobs",
    "nodes",
    "partitions",
    "reservations",
    "licenses",
    "share",
    "queue",
    "sinfo",
)
"""Kinds of files that tell of a running cluster."""
_A = TypeVar("_A")
_B = TypeVar("_B")
_DATE: Final = "%a %b %d %H:%M:%S %Y"


@dataclass
class Snapshot:
    """``now_s``: when it was taken, in seconds since 1970 on the cluster's clock; ``jobs`` None: nothing tells of
    them."""

    config: dict[str, str] = field(default_factory=dict)
    nodes: list[SeenNode] = field(default_factory=list)
    partitions: list[Record] = field(default_factory=list)
    reservations: list[SeenReservation] = field(default_factory=list)
    jobs: list[SeenJob] | None = None
    usage: Usage = field(default_factory=dict)
    licenses: dict[str, int] = field(default_factory=dict)
    now_s: int = NO_TIME
    notes: list[Note] = field(default_factory=list)

    def moment_s(self) -> int:
        """When it was taken; if nothing tells, when the last thing in it happened."""
        if self.now_s != NO_TIME:
            return self.now_s
        jobs = self.jobs or ()
        times = [one.submit_s for one in jobs] + [one.start_s for one in jobs if one.nodes]
        return max(times, default=0)


def read_snapshot(files: Mapping[str, Sequence[str]]) -> Snapshot:
    """What files of the kinds of :mod:`gnomon.systems.slurm.inputs.files` tell. Raises InputError.

    Of several that tell of jobs, ``scontrol show job`` counts, then JSON, then tables; likewise of nodes.
    """
    found = Snapshot()
    queues: dict[int, tuple[str, list[SeenJob]]] = {}
    nodes: dict[int, list[SeenNode]] = {}
    for path in files.get("config", ()):
        text = read_text(path)
        found.config = read_config(text, file=path)
        found.now_s = _read(moment, taken_at(text), file=path)
    for path in files.get("jobs", ()):
        queues.setdefault(0, (path, [of_record(one, file=path) for one in _records(path, "JobId")]))
    for path in files.get("json", ()):
        kind, listed, document = read_json(path)
        if kind == "queue":
            queues.setdefault(1, (path, of_json(listed, file=path)))
            updated = _read(number, document.get("last_update"), file=path)
            if updated and found.now_s == NO_TIME and 0 not in queues:
                found.now_s = updated
        elif kind == "nodes":
            nodes.setdefault(1, nodes_of_json(listed, file=path))
    for path in files.get("queue", ()):
        table = read_table(read_text(path), file=path)
        if table.dated and found.now_s == NO_TIME:
            found.now_s = _dated(table.dated)
        if "JOBID" in table.names and {"ST", "STATE"} & set(table.names):
            queues.setdefault(2, (path, of_table(table, file=path)))
    for path in files.get("nodes", ()):
        nodes.setdefault(0, [node_of(one, file=path) for one in _records(path, "NodeName")])
    for path in files.get("sinfo", ()):
        table = read_table(read_text(path), file=path)
        if {"NODELIST", "STATE"} <= set(table.names):
            nodes.setdefault(2, nodes_of_table(table, file=path))
    _others(found, files)
    if queues:
        best = min(queues)
        path, found.jobs = queues[best]
        if best == 2:
            text = "the jobs are known from a table of squeue alone: scontrol show job tells more"
            found.notes.append(Note("guess", path, text))
    if nodes:
        found.nodes = nodes[min(nodes)]
    return found


def _others(found: Snapshot, files: Mapping[str, Sequence[str]]) -> None:
    for path in files.get("partitions", ()):
        found.partitions = _records(path, "PartitionName")
    for path in files.get("reservations", ()):
        found.reservations = [reservation_of(one, file=path) for one in _records(path, "ReservationName")]
    for path in files.get("licenses", ()):
        for record in _records(path, "LicenseName"):
            total = _read(whole, record.get("Total"), file=path, line=record.line, field="Total")
            found.licenses[record.values["LicenseName"]] = total
    for path in files.get("share", ()):
        found.usage = read_sshare(read_text(path), file=path)
    for path in files.get("associations", ()):  # it has fractions
        found.usage = read_assoc_mgr(read_text(path), file=path)


def _read(read: Callable[[_A], _B], value: _A, **place: Any) -> _B:
    """What is read of a value. Raises InputError that tells the place."""
    try:
        return read(value)
    except InputError as error:
        raise error.at(**place) from None


def _records(path: str, key: str) -> list[Record]:
    return read_records(read_text(path), of=key, file=path)


def _dated(text: str) -> int:
    """The moment in the first line of a long table; NO_TIME in another language."""
    try:
        return moment(datetime.strptime(" ".join(text.split()), _DATE).isoformat())
    except (ValueError, InputError):
        return NO_TIME
