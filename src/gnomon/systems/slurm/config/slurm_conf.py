"""A configuration of Slurm, read as slurmctld reads it: slurm.conf with what it includes, gres.conf, topology.conf.

What ends slurmctld is an :class:`InputError` with the file, the line and slurmctld's words; what it complains of and
goes on with is a note. Keys that it does not know end it too, but only a note is made of them here. Source:
``src/common/read_config.c``, ``src/slurmctld/read_config.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.formats.files import read_text
from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Block, Conf, NodeConf, Switch
from gnomon.systems.slurm.config.conf_checks import Options, check_options, check_type
from gnomon.systems.slurm.config.conf_lines import Notes
from gnomon.systems.slurm.config.gres_conf import GresFile, gres_file, gres_of_nodes
from gnomon.systems.slurm.config.lines import Line, Opener, no_includes, read_lines
from gnomon.systems.slurm.config.node_lines import NodeLine, down_nodes, node_lines
from gnomon.systems.slurm.config.options import KEYS, LINES, NEWEST, OLDEST, REPEATED, Version, default_of
from gnomon.systems.slurm.config.partition_lines import Cluster, node_sets, partitions_of
from gnomon.systems.slurm.config.scheduler_parameters import scheduler_parameters
from gnomon.systems.slurm.config.topology_conf import blocks_of, by_place, switches_of
from gnomon.systems.slurm.notation.hostlist import name_key
from gnomon.systems.slurm.notation.values import parts_of

_VERSION = re.compile(
    r"^\s*(?:SLURM_VERSION\s*=|SlurmctldVersion\s*=|#.{0,40}?\bslurm(?:ctld)?\s+(?:version\s*)?v?)\s*(\d\d)\.(\d\d)\b",
    re.I | re.M | re.ASCII,
)


def read_conf(path: str | os.PathLike[str], *, version: Version | None = None) -> Conf:
    """The configuration of this slurm.conf, or of the one in this folder, with gres.conf and topology.conf beside it.

    ``version``: whose defaults hold, for instance (22, 5); None: what a comment of the file says, else the newest.
    Raises :class:`InputError`.
    """
    given = Path(path)
    main = given / "slurm.conf" if given.is_dir() else given
    reader = _Reader(version)
    if (main.parent / "topology.yaml").is_file():
        reader.notes.add("not modelled", "topology.yaml", "only topology.conf is read")
    return reader.read(
        _Source(str(main), read_text(main), _open_file),
        _beside(main, "gres.conf"),
        _beside(main, "topology.conf"),
    )


def conf_of(
    slurm_conf: str,
    gres_conf: str | None = None,
    topology_conf: str | None = None,
    *,
    version: Version | None = None,
) -> Conf:
    """The configuration of these texts, which include no files.

    >>> conf = conf_of("ClusterName=c\\nNodeName=n[1-2] CPUs=4\\nPartitionName=p Nodes=ALL MaxTime=1-0")
    >>> conf.partitions[0].nodes, conf.partitions[0].max_time_min, conf.nodes[0].sockets
    (('n1', 'n2'), 1440, 4)

    :raises InputError: slurmctld would not start with them.
    """
    return _Reader(version).read(
        _Source("slurm.conf", slurm_conf, no_includes),
        None if gres_conf is None else _Source("gres.conf", gres_conf, no_includes),
        None if topology_conf is None else _Source("topology.conf", topology_conf, no_includes),
    )


def version_in(text: str) -> Version | None:
    """The version of Slurm that a text names: ``scontrol show config``, or a comment of slurm.conf.

    >>> version_in("SLURM_VERSION           = 22.05.8"), version_in("# for Slurm 24.11"), version_in("# slurm.conf")
    ((22, 5), (24, 11), None)
    """
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2])) if found else None


@dataclass(frozen=True)
class _Source:
    file: str
    text: str
    opener: Opener

    def lines(self) -> list[Line]:
        return list(read_lines(self.text, self.file, self.opener))


@dataclass
class _Reader:
    """One reading: what has been found so far."""

    version: Version | None
    notes: Notes = field(default_factory=Notes)

    def read(self, main: _Source, gres: _Source | None, topology: _Source | None) -> Conf:
        version = self._version(main.text)
        lines = main.lines()
        options = self._options(lines)
        check_options(options, version, self.notes)
        values_of = {name: value for name, (value, _) in options.items()}
        gres_types = tuple(dict.fromkeys(parts_of(values_of.get("grestypes", ""))))
        node_parts = node_lines(_of(lines, "nodename"), gres_types, self.notes)
        if not node_parts:
            raise InputError("No NodeName information available!", file=main.file)
        nodes = self._nodes(node_parts, lines, gres, gres_types)
        nodes, switches, blocks, sizes = self._topology(nodes, options, version, topology)
        sets = node_sets(_of(lines, "nodeset"), self.notes)
        partition_lines = _of(lines, "partitionname")
        partitions = partitions_of(partition_lines, Cluster(nodes, sets, values_of, version, self.notes))
        if not partitions:
            raise InputError("No PartitionName information available!", file=main.file)
        for _line in _of(lines, "frontendname"):
            self.notes.key_passed_over("FrontendName")
        return Conf(
            nodes,
            partitions,
            options=values_of,
            scheduler=scheduler_parameters(values_of.get("schedulerparameters", ""), self.notes),
            licenses=licenses_of(*options.get("licenses", ("",))),
            switches=switches,
            blocks=blocks,
            block_sizes=sizes,
            version=version,
            notes=self.notes.all(),
        )

    def _version(self, text: str) -> Version:
        found = self.version or version_in(text) or NEWEST
        nearest = min(max(found, OLDEST), NEWEST)
        if nearest != found:
            spoken = [f"{year}.{month:02d}" for year, month in (found, nearest)]
            self.notes.add("guess", "version", f"{spoken[0]} is read with the defaults of {spoken[1]}")
        return nearest

    def _options(self, lines: Sequence[Line]) -> Options:
        """The keys that stand alone, by their names in lower case: the last value and where it is."""
        options: Options = {}
        for line in lines:
            name = line.first.key.lower()
            if name in LINES:
                continue
            known = KEYS.get(name)
            if known is None:
                self.notes.key_unknown(line.first.key, line)
                continue
            if line.others:
                rest = " ".join(f"{pair.key}={pair.value}" for pair in line.others)
                raise line.error(f'Parse error: "{rest}"', field=known.name)
            check_type(known, line)
            value = line.first.value
            if name in options and name in REPEATED:
                value = f"{options[name][0]},{value}"
            elif name in options:
                self.notes.taken(known.name, f"{known.name} 1 specified more than once, latest value used")
            elif not known.looked_at:
                self.notes.key_passed_over(known.name)
            options[name] = (value, line)
        return options

    def _nodes(
        self, parts: Sequence[NodeLine], lines: Sequence[Line], gres: _Source | None, gres_types: Sequence[str]
    ) -> tuple[NodeConf, ...]:
        """The nodes in the order of the file, with DownNodes and generic resources."""
        file = GresFile() if gres is None else gres_file(gres.lines(), gres_types, self.notes)
        resources = gres_of_nodes(parts, file, gres_types, self.notes)
        nodes = {node.name: node for part in parts for node in part.nodes(resources)}
        down_nodes(_of(lines, "downnodes"), nodes, self.notes)
        return tuple(nodes.values())

    def _topology(
        self,
        nodes: tuple[NodeConf, ...],
        options: Options,
        version: Version,
        source: _Source | None,
    ) -> tuple[tuple[NodeConf, ...], tuple[Switch, ...], tuple[Block, ...], tuple[int, ...]]:
        """The nodes in the order of the node table, the switches, the blocks, and the sizes of blocks."""
        written = {name: value for name, (value, _) in options.items()}
        plugin = (written.get("topologyplugin") or default_of("topologyplugin", version, written)).lower()
        plugin = plugin.removeprefix("topology/")
        by_name = tuple(sorted(nodes, key=lambda node: name_key(node.name)))
        if plugin not in ("tree", "block"):
            if plugin not in ("none", "default", "flat"):
                self.notes.add("not modelled", "TopologyPlugin", f"topology/{plugin}: nodes are taken in a row")
            elif source is not None:
                self.notes.taken("topology.conf", f"not read, TopologyPlugin is topology/{plugin}")
            return by_name, (), (), ()
        if source is None:
            problem = "something wrong with opening/reading topology.conf: No such file or directory"
            raise options["topologyplugin"][1].error(problem, field="TopologyPlugin")
        lines, names = source.lines(), [node.name for node in by_name]
        try:
            if plugin == "block":
                blocks, sizes = blocks_of(lines, names, self.notes)
                return by_place(nodes, blocks), (), blocks, sizes
            switches = switches_of(lines, names, self.notes)
        except InputError as error:
            raise error.at(file=source.file) from None
        if "switchasnoderank" in written.get("topologyparam", "").lower():
            by_name = by_place(nodes, [switch for switch in switches if not switch.switches])
        return by_name, switches, (), ()


def licenses_of(text: str, line: Line | None = None) -> dict[str, int]:
    """How many there are of each licence.

    >>> licenses_of("matlab:50,ansys;fluent:10")
    {'matlab': 50, 'ansys': 1, 'fluent': 10}
    """
    result: dict[str, int] = {}
    for part in parts_of(text.replace(";", ",")):
        name, _, written = part.rpartition(":") if ":" in part else (part, "", "1")
        number = int(written) if written.isdecimal() and written.isascii() and len(written) < 10 else -1
        if not name or number < 0:
            problem = f"Invalid configured licenses: {text}"
            raise line.error(problem, field="Licenses") if line else InputError(problem, field="Licenses")
        result[name] = result.get(name, 0) + number
    return result


def _of(lines: Iterable[Line], key: str) -> list[Line]:
    return [line for line in lines if line.first.key.lower() == key]


def _beside(main: Path, name: str) -> _Source | None:
    """A file in the same folder, if it is there and not empty."""
    path = main.parent / name
    return _Source(str(path), read_text(path), _open_file) if path.is_file() and path.stat().st_size else None


def _open_file(name: str, file: str) -> tuple[str, str]:
    """An included file: its name is relative to the folder of the file that includes it."""
    path = os.path.join(os.path.dirname(file), name)
    return path, read_text(path)
