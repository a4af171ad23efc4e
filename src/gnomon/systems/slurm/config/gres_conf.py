"""gres.conf, and what the nodes have of generic resources: slurm.conf says how many, gres.conf where they sit.

A line of gres.conf holds for all nodes, or for those of ``NodeName=``. What it has above the count in slurm.conf is
left out; what slurm.conf has above the lines has no file and no cores. Source: ``_parse_gres_config``,
``_validate_gres_conf``, ``_merge_gres2``, ``_check_conf_mismatch`` of ``src/interfaces/gres.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Gres
from gnomon.systems.slurm.config.conf_lines import Notes, keys_of
from gnomon.systems.slurm.config.gres_words import GresWord
from gnomon.systems.slurm.config.lines import Line, Pair
from gnomon.systems.slurm.config.node_lines import NodeLine
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.notation.values import count

SHARED: Final = frozenset({"mps", "shard"})
"""Kinds of which one file stands for many."""

_KEYS = keys_of(texts="AutoDetect Cores Count CPUs File Files Flags Link Links MultipleFiles Name NodeName Type")
_LINK_MAX = 65_536
DEVICES_MAX: Final = 1024
"""The most of a kind that have files of their own, MAX_GRES_BITMAP of gres.c."""
_COUNT_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class GresRecord:
    """A line of gres.conf for one kind and type."""

    line: Line
    name: str
    type: str
    count: int
    cores: tuple[int, ...]
    links: tuple[int, ...]
    filed: bool
    has_type: bool


@dataclass(frozen=True)
class GresFile:
    """gres.conf: the records of all nodes and of single ones, in the order of the file; who finds GPUs by itself."""

    records: tuple[tuple[frozenset[str] | None, GresRecord], ...] = ()
    detecting: tuple[tuple[frozenset[str] | None, bool], ...] = ()
    given: bool = False

    def of(self, node: str) -> list[GresRecord]:
        return [record for nodes, record in self.records if nodes is None or node in nodes]

    def detects(self, node: str) -> bool:
        """Whether AutoDetect finds this node's GPUs: what is said of the node comes before what is said of all."""
        own = [on for nodes, on in self.detecting if nodes is not None and node in nodes]
        return (own or [on for nodes, on in self.detecting if nodes is None] or [False])[0]


def gres_file(lines: Iterable[Line], gres_types: Sequence[str], notes: Notes) -> GresFile:
    """gres.conf read. Raises :class:`InputError` in the words of slurmctld and slurmd."""
    records: list[tuple[frozenset[str] | None, GresRecord]] = []
    detecting: list[tuple[frozenset[str] | None, bool]] = []
    for line in lines:
        first = line.first.key.lower()
        if first not in ("nodename", "name", "autodetect"):
            raise line.error(f"Parsing error at unrecognized key: {line.first.key}", field=line.first.key)
        said: dict[str, str] = {}
        for pair in (line.first, *line.others):
            if pair.key.lower() not in _KEYS:
                notes.key_unknown(pair.key, line)
                continue
            said[pair.key.lower()] = pair.value
        nodes = frozenset(_expanded(line, line.first)) if first == "nodename" else None
        if "autodetect" in said:
            detecting.append((nodes, said["autodetect"].lower() != "off"))
            notes.add("not modelled", "AutoDetect", "what it finds: cores and links are those of gres.conf alone")
        if "name" not in said:
            if "autodetect" not in said:
                raise line.error(f"Invalid GRES data, no type name ({line.first.key}={line.first.value})")
            continue
        if said["name"] not in gres_types:
            notes.taken("gres.conf", f"Ignoring gres.conf record, invalid name: {said['name']}")
            continue
        records.append((nodes, _record(line, said, notes)))
    return GresFile(tuple(records), tuple(detecting), given=True)


def gres_of_nodes(
    lines: Sequence[NodeLine], file: GresFile, gres_types: Sequence[str], notes: Notes
) -> Mapping[str, tuple[Gres, ...]]:
    """What each node has, in the order of GresTypes, then of ``Gres=``, then of gres.conf."""
    result: dict[str, tuple[Gres, ...]] = {}
    for node_line in lines:
        merged: dict[tuple[tuple[tuple[str, int], ...], bool], tuple[Gres, ...]] = {}
        for node in node_line.names:
            records = file.of(node)
            if not node_line.gres and not records:
                continue
            filed = file.detects(node) or not file.given
            key = (tuple((record.line.file, record.line.number) for record in records), filed)
            if key not in merged:
                merged[key] = _merged(node_line, records, filed, gres_types, notes)
            result[node] = merged[key]
    return result


def _merged(
    node_line: NodeLine, records: Sequence[GresRecord], filed: bool, gres_types: Sequence[str], notes: Notes
) -> tuple[Gres, ...]:
    """What a node has; ``filed``: GPUs that gres.conf does not name have files all the same."""
    result: list[Gres] = []
    for name in gres_types:
        mine = [record for record in records if record.name == name]
        _check_records(name, mine)
        words = _summed(word for word in node_line.gres if word.name == name)
        if len(words) > 1 and any(not word.type for word in words):
            raise node_line.entry.error(
                f"_foreach_slurm_conf: Some {name} GRES in slurm.conf have a type while others do not", "gres"
            )
        for word in words:
            result.extend(_placed(word, mine, node_line, filed=filed and name == "gpu"))
        for record in mine:
            if record.count:
                kind = f"{name}:{record.type}" if record.type else name
                notes.taken(
                    "gres.conf",
                    f"A line in gres.conf for GRES {kind} has {record.count} more configured than expected in "
                    "slurm.conf. Ignoring extra GRES.",
                )
        for most, some in ((DEVICES_MAX, [one for one in result if not one.count_only]), (_COUNT_MAX, result)):
            if sum(one.count for one in some if one.name == name) > most:
                raise node_line.entry.error(f"more than {most:,} of {name} on a node", "gres")
    return tuple(result)


def _summed(words: Iterable[GresWord]) -> list[GresWord]:
    """One word for each type."""
    counts: dict[tuple[str, str], int] = {}
    for word in words:
        counts[word.name, word.type] = counts.get((word.name, word.type), 0) + word.count
    return [GresWord(name, type_, amount) for (name, type_), amount in counts.items()]


def _placed(word: GresWord, records: list[GresRecord], node_line: NodeLine, *, filed: bool) -> Iterable[Gres]:
    """What a word of ``Gres=`` becomes; what is used of the records is taken out of them."""
    left = word.count
    for at, record in enumerate(records):
        if not left:
            break
        if not record.count or (word.type and record.type.lower() != word.type.lower()):
            continue
        used = min(left, record.count)
        cpus = node_line.node.cpus
        if record.cores and record.cores[-1] >= cpus:
            raise record.line.error(
                f"Invalid GRES data for {word.name}, Cores={record.cores[0]}-{record.cores[-1]} "
                f"(only {cpus} CPUs are available)"
            )
        links = (record.links,) * used if record.links and used < _LINK_MAX else ()
        yield Gres(word.name, word.type, used, record.cores, links, count_only=not record.filed)
        records[at] = replace(record, count=record.count - used)
        left -= used
    if left:
        yield Gres(word.name, word.type, left, count_only=not filed)


def _check_records(name: str, records: Sequence[GresRecord]) -> None:
    """What cannot stand together in gres.conf."""
    for record in records:
        if record.filed != records[0].filed:
            text = f'gres.conf for {name}, some records have "File" specification while others do not'
            raise record.line.error(text)
        if record.has_type != records[0].has_type:
            text = f'gres.conf for {name}, some records have "Type=" specification while others do not'
            raise record.line.error(text)
    if len(records) > 1 and not records[0].filed and not records[0].has_type:
        raise records[1].line.error(f"gres.conf duplicate records for {name}")


def _record(line: Line, said: Mapping[str, str], notes: Notes) -> GresRecord:
    name = said["name"]
    files = said.get("file") or said.get("files")
    several = said.get("multiplefiles")
    amount = 0
    if files:
        amount = len(_expanded(line, Pair("File", files)))
    if several:
        if files:
            raise line.error("File and MultipleFiles options are mutually exclusive")
        if len(_expanded(line, Pair("MultipleFiles", several))) < 2:
            raise line.error("MultipleFiles does not contain multiple files. Use File instead")
        amount = 1
    if "count" in said:
        counted = count(said["count"])
        if counted is None:
            raise line.error(f"Invalid GRES record for {name}, invalid count {said['count']}", field="Count")
        if amount and counted != amount and name not in SHARED:
            raise line.error(f"Invalid GRES record for {name}, count does not match File value", field="Count")
        amount = counted
    return GresRecord(
        line,
        name,
        said.get("type", ""),
        amount if "count" in said else amount or 1,
        _cores(line, said),
        _links(said.get("links") or said.get("link"), name, notes),
        filed=bool(files or several) and "countonly" not in said.get("flags", "").lower(),
        has_type="type" in said,
    )


def _cores(line: Line, said: Mapping[str, str]) -> tuple[int, ...]:
    """Core numbers; of hexadecimal masks, which are old, nothing is read."""
    written = said.get("cores") or said.get("cpus")
    if not written:
        return ()
    names = _expanded(line, Pair("Cores", f"[{written}]"))
    return tuple(sorted({int(core) for core in names}))


def _links(written: str | None, name: str, notes: Notes) -> tuple[int, ...]:
    """Numbers of links to each of the others; -1 stands for the thing itself, once."""
    if not written:
        return ()
    parts = written.split(",")
    numbers = [int(part) for part in parts if part.lstrip("-").isdecimal() and len(part) < 8]
    valid = len(numbers) == len(parts) and all(-2 <= link <= _LINK_MAX for link in numbers) and numbers.count(-1) == 1
    if not valid:
        notes.taken("Links", f"gres.conf: Ignoring invalid Links={written} for Name={name}")
        return ()
    return tuple(numbers)


def _expanded(line: Line, pair: Pair) -> tuple[str, ...]:
    try:
        return expand(pair.value)
    except InputError as error:
        raise line.error(f"{error.problem} in {pair.key}", field=pair.key, found=pair.value) from None
