"""Nodes, partitions and reservations as ``scontrol show`` and ``sinfo`` tell of them.

Source: ``slurm_sprint_node_table``, ``slurm_sprint_partition_info`` and ``slurm_sprint_reservation_info``
(``src/api``), ``src/sinfo/print.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.read.jobs import number
from gnomon.systems.slurm.read.pairs import Record
from gnomon.systems.slurm.read.tables import Table
from gnomon.systems.slurm.read.words import NO_TIME, NOTHING, moment, whole

_REASON: Final = re.compile(r"(.*?)(?: \[(\S+?)@(\S+)\])?\Z", re.DOTALL)
_WHERE: Final = re.compile(r"\([^)]*\)")
_MARKS: Final = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINT",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
_SHORT: Final = {
    "ALLOC": "ALLOCATED",
    "COMP": "COMPLETING",
    "DRNG": "DRAINING",
    "FAILG": "FAILING",
    "MIX": "MIXED",
    "PLND": "PLANNED",
    "RESV": "RESERVED",
    "UNK": "UNKNOWN",
    "MAINT": "MAINT",
    "BOOT": "REBOOT",
    "FUTR": "FUTURE",
    "DRAIN": "DRAINED",
}


@dataclass(frozen=True)
class SeenNode:
    """``state``: its base state, ``flags``: what else holds; ``reason``, ``reason_s``: since when (-1). ``hardware``:
    as keys of slurm.conf, empty where the form does not tell."""

    name: str
    state: str
    flags: frozenset[str] = frozenset()
    reason: str = ""
    reason_s: int = NO_TIME
    hardware: Mapping[str, str] = ()  # type: ignore[assignment]
    partitions: tuple[str, ...] = ()

    @property
    def is_drained(self) -> bool:
        """Whether it takes no new jobs by somebody's hand."""
        return bool({"DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING"} & {self.state, *self.flags})

    @property
    def is_down(self) -> bool:
        """Whether nothing can run on it."""
        return self.state in ("DOWN", "FUTURE", "ERROR") or "INVALID_REG" in self.flags


def state_of(text: str) -> tuple[str, frozenset[str]]:
    """Base state and flags: ``IDLE+DRAIN``, ``mix*``, ``alloc``.

    >>> state_of("mix*") == ("MIXED", frozenset({"NOT_RESPONDING"})), state_of("IDLE+DRAIN")[0]
    (True, 'IDLE')
    """
    marks = {_MARKS[mark] for mark in text if mark in _MARKS}
    words = [word for word in text.strip("".join(_MARKS)).upper().split("+") if word]
    if not words:
        raise InputError("not the state of a node", found=text)
    words = [_SHORT.get(word, word) for word in words]
    return words[0], frozenset((*words[1:], *marks))


def node_of(record: Record, *, file: str | None = None) -> SeenNode:
    """A record of ``scontrol show node``. Raises InputError with file, line and field."""
    get = record.get
    try:
        base, flags = state_of(record.values.get("State", ""))
        matched = _REASON.match(get("Reason"))
        assert matched is not None
        return SeenNode(
            record.values["NodeName"],
            base,
            flags,
            reason=matched[1],
            reason_s=moment(matched[3] or ""),
            hardware=dict(_hardware(record)),
            partitions=tuple(part for part in get("Partitions").split(",") if part),
        )
    except InputError as error:
        raise error.at(file=file, line=record.line, field="NodeName=" + record.values.get("NodeName", "")) from None


_KEYS: Final = {
    "CPUTot": "CPUs",
    "Boards": "Boards",
    "Sockets": "Sockets",
    "CoresPerSocket": "CoresPerSocket",
    "ThreadsPerCore": "ThreadsPerCore",
    "RealMemory": "RealMemory",
    "TmpDisk": "TmpDisk",
    "Weight": "Weight",
    "AvailableFeatures": "Feature",
    "CoreSpecCount": "CoreSpecCount",
    "MemSpecLimit": "MemSpecLimit",
    "CPUSpecList": "CpuSpecList",
}


def _hardware(record: Record) -> Iterator[tuple[str, str]]:
    for key, name in _KEYS.items():
        value = record.get(key)
        if value and not (key == "TmpDisk" and value == "0"):
            yield name, _sockets(record, value) if key == "Sockets" else value
    if gres := record.get("Gres"):
        yield "Gres", _WHERE.sub("", gres)


def _sockets(record: Record, value: str) -> str:
    """Sockets of the node: what is shown is of a board."""
    boards = record.get("Boards")
    return str(int(value) * int(boards)) if boards.isdigit() and value.isdigit() else value


def nodes_of_json(nodes: Sequence[Any], *, file: str | None = None) -> list[SeenNode]:
    """The nodes of ``sinfo --json`` (22.05: one a node; later: groups of them) or ``scontrol show node --json``."""
    found: dict[str, SeenNode] = {}
    for place, one in enumerate(nodes):
        if not isinstance(one, dict):
            raise InputError("not a node of sinfo --json", file=file, field=f"[{place}]")
        try:
            for node in _of_object(one) if "name" in one else _of_group(one):
                found.setdefault(node.name, node)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise InputError(f"not as sinfo writes it: {error}", file=file, field=f"[{place}]") from None
        except InputError as error:
            raise error.at(file=file, field=f"[{place}]") from None
    return list(found.values())


def _of_object(one: Mapping[str, Any]) -> Iterator[SeenNode]:
    states = one["state"]
    words = [states, *one.get("state_flags", ())] if isinstance(states, str) else list(states)
    keys = (
        ("cpus", "CPUs"),
        ("boards", "Boards"),
        ("sockets", "Sockets"),
        ("cores", "CoresPerSocket"),
        ("threads", "ThreadsPerCore"),
        ("real_memory", "RealMemory"),
        ("weight", "Weight"),
    )
    hardware = {name: str(value) for key, name in keys if (value := number(one.get(key))) is not None}
    features = one.get("features")
    if features:
        hardware["Feature"] = features if isinstance(features, str) else ",".join(features)
    if one.get("gres"):
        hardware["Gres"] = _WHERE.sub("", one["gres"])
    base, flags = state_of("+".join(str(word) for word in words))
    since = number(one.get("reason_changed_at")) or NO_TIME
    yield SeenNode(
        one["name"], base, flags, one.get("reason") or "", since, hardware, tuple(one.get("partitions") or ())
    )


def _of_group(one: Mapping[str, Any]) -> Iterator[SeenNode]:
    """A row of sinfo from data_parser 0.0.39 on: nodes that are alike."""
    base, flags = state_of("+".join(one["node"]["state"]))
    reason = one.get("reason") or {}
    text = reason.get("description", "") if isinstance(reason, dict) else str(reason)
    partition = (one.get("partition") or {}).get("name", "")
    for name in one["nodes"]["nodes"]:
        yield SeenNode(name, base, flags, text, partitions=(partition,) if partition else ())


def nodes_of_table(table: Table, *, file: str | None = None) -> list[SeenNode]:
    """The nodes of a table of sinfo with NODELIST and STATE, each once."""
    if not {"NODELIST", "STATE"} <= set(table.names):
        raise InputError("not a table of sinfo that tells of nodes", file=file, found=", ".join(table.names))
    found: dict[str, SeenNode] = {}
    for row, line in zip(table.rows, table.lines, strict=True):
        try:
            base, flags = state_of(row["STATE"])
            reason = row.get("REASON", "")
            partition = row.get("PARTITION", "").rstrip("*")
            for name in expand(row["NODELIST"]):
                known = found.get(name)
                parts = (*(known.partitions if known else ()), *((partition,) if partition else ()))
                found[name] = SeenNode(
                    name,
                    base,
                    flags,
                    "" if reason in (*NOTHING, "none") else reason,
                    partitions=tuple(dict.fromkeys(parts)),
                )
        except InputError as error:
            raise error.at(file=file, line=line) from None
    return list(found.values())


@dataclass(frozen=True)
class SeenReservation:
    """``nodes``: as a list of hosts; ``flags``; ``users`` and ``accounts`` as written."""

    name: str
    start_s: int
    end_s: int
    nodes: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    partition: str = ""
    licenses: str = ""
    cores: int = 0


def reservation_of(record: Record, *, file: str | None = None) -> SeenReservation:
    """A record of ``scontrol show reservation``. Raises InputError with file, line and field."""
    get = record.get

    def words(key: str) -> tuple[str, ...]:
        return tuple(word for word in get(key).split(",") if word)

    try:
        return SeenReservation(
            record.values["ReservationName"],
            moment(record.values.get("StartTime", "")),
            moment(record.values.get("EndTime", "")),
            get("Nodes"),
            words("Users"),
            words("Accounts"),
            frozenset(words("Flags")),
            get("PartitionName"),
            get("Licenses"),
            whole(get("CoreCnt") or "0"),
        )
    except InputError as error:
        raise error.at(file=file, line=record.line, field="ReservationName") from None
