"""topology.conf: a tree of switches, or blocks of nodes.

Source: ``src/plugins/topology/tree/switch_record.c``, ``src/plugins/topology/block/block_record.c``, Slurm 22.05 to
25.05; topology.conf(5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Block, NodeConf, Switch
from gnomon.systems.slurm.config.conf_lines import Notes, entry_of, keys_of
from gnomon.systems.slurm.config.lines import Line
from gnomon.systems.slurm.notation.hostlist import compress, expand

_SWITCH_KEYS = keys_of(longs="LinkSpeed", texts="Nodes Switches")
_BLOCK_KEYS = keys_of(texts="Nodes")
_SIZES_MAX = 16
LEVELS_MAX = 64
"""So many levels of switches are read: a bound of Gnomon."""


def switches_of(lines: Iterable[Line], nodes: Iterable[str], notes: Notes) -> tuple[Switch, ...]:
    """The switches, in the order of the file. Raises :class:`InputError` where slurmctld would end."""
    order = {name: at for at, name in enumerate(nodes)}
    switches: dict[str, Switch] = {}
    places: dict[str, Line] = {}
    for line in lines:
        if line.first.key.lower() != "switchname":
            raise line.error(f"_parse_next_key: Parsing error at unrecognized key: {line.first.key}")
        entry = entry_of(line, _SWITCH_KEYS, {}, notes)
        below, of_nodes = entry.own.get("switches"), entry.own.get("nodes")
        if below and of_nodes:
            notes.taken("topology.conf", f"switch {entry.name} has both child switches and nodes")
            continue
        if entry.name in switches:
            raise line.error(f"Switch ({entry.name}) has already been defined")
        children = _expanded(line, below, f"Invalid switches: {below}") if below else ()
        switches[entry.name] = Switch(entry.name, _known(line, of_nodes, order, notes), children)
        places[entry.name] = line
    if not switches:
        raise InputError("No switches configured, failed to create context for topology plugin")
    _check_tree(switches, places)
    _tell(switches, order, notes)
    return tuple(switches.values())


def blocks_of(lines: Iterable[Line], nodes: Iterable[str], notes: Notes) -> tuple[tuple[Block, ...], tuple[int, ...]]:
    """The blocks, in the order of the file, and BlockSizes in nodes. Raises :class:`InputError` where slurmctld would
    end."""
    order = {name: at for at, name in enumerate(nodes)}
    blocks: dict[str, Block] = {}
    sizes: tuple[int, ...] = ()
    places: dict[str, Line] = {}
    for line in lines:
        key = line.first.key.lower()
        if key == "blocksizes":
            sizes = _sizes(line)
            continue
        if key != "blockname":
            raise line.error(f"_parse_next_key: Parsing error at unrecognized key: {line.first.key}")
        entry = entry_of(line, _BLOCK_KEYS, {}, notes)
        if not entry.own.get("nodes"):
            raise line.error(f"block {entry.name} hasn't got nodes")
        if entry.name in blocks:
            raise line.error(f"Block ({entry.name}) has already been defined")
        blocks[entry.name] = Block(entry.name, _known(line, entry.own["nodes"], order, notes))
        places[entry.name] = line
    if not blocks:
        raise InputError("No blocks configured")
    smallest = sizes[0] if sizes else len(next(iter(blocks.values())).nodes)
    for block in blocks.values():
        if len(block.nodes) < smallest:
            text = f"Block configuration ({block.name}) children count lower than bblock_node_cnt"
            raise places[block.name].error(text, found=len(block.nodes))
    return tuple(blocks.values()), sizes


def by_place(nodes: Sequence[NodeConf], places: Iterable[Switch | Block]) -> tuple[NodeConf, ...]:
    """Nodes by the leaf switch, or the block, that they are under, as they stand; first those under none.

    So slurmctld orders its node table with TopologyParam=SwitchAsNodeRank, and always with topology/block.
    """
    rank = {name: at for at, place in enumerate(places, start=1) for name in place.nodes}
    return tuple(sorted(nodes, key=lambda node: rank.get(node.name, 0)))


def _known(line: Line, text: str | None, order: Mapping[str, int], notes: Notes) -> tuple[str, ...]:
    """The nodes of a list that exist, in the order of the node table."""
    if not text:
        return ()
    names = dict.fromkeys(_expanded(line, text, f"Invalid node name ({text}) in {line.first.key}={line.first.value}"))
    missing = [name for name in names if name not in order]
    if missing:
        notes.taken("topology.conf", f"Invalid hostnames in {line.first.key}={line.first.value}: {compress(missing)}")
    return tuple(sorted((name for name in names if name in order), key=order.__getitem__))


def _expanded(line: Line, text: str, problem: str) -> tuple[str, ...]:
    try:
        return expand(text)
    except InputError as error:
        raise line.error(f"{problem} ({error.problem})") from None


def _check_tree(switches: Mapping[str, Switch], places: Mapping[str, Line]) -> None:
    """Every child exists and nothing is below itself."""
    for switch in switches.values():
        for child in switch.switches:
            if child not in switches or child == switch.name:
                text = f"Switch configuration {switch.name} has invalid child ({child})"
                raise places[switch.name].error(text)
    levels = {name: 1 for name, switch in switches.items() if not switch.switches}
    left = [switch for switch in switches.values() if switch.switches]
    while left:
        later = []
        for switch in left:
            if not levels.keys() >= set(switch.switches):
                later.append(switch)
                continue
            levels[switch.name] = 1 + max(levels[child] for child in switch.switches)
            if levels[switch.name] > LEVELS_MAX:
                raise places[switch.name].error(f"more than {LEVELS_MAX} levels of switches", found=switch.name)
        if len(later) == len(left):
            raise places[later[0].name].error("Switch configuration is not a tree", found=later[0].name)
        left = later


def _tell(switches: Mapping[str, Switch], order: Mapping[str, int], notes: Notes) -> None:
    """Nodes under no switch or under several are told of."""
    seen: dict[str, int] = {}
    for switch in switches.values():
        for name in switch.nodes:
            seen[name] = seen.get(name, 0) + 1
    missing = [name for name in order if name not in seen]
    if missing and seen:
        notes.taken("topology.conf", f"switches lack access to {len(missing)} nodes: {compress(missing)}")
    several = [name for name in order if seen.get(name, 0) > 1]
    if several:
        notes.taken("topology.conf", f"Multiple leaf switches contain nodes: {compress(several)}")


def _sizes(line: Line) -> tuple[int, ...]:
    """BlockSizes: each is the first times a power of two."""
    sizes: list[int] = []
    for part in line.first.value.split(","):
        size = int(part) if part.isdecimal() and part.isascii() and len(part) < 8 else 0
        times = size // sizes[0] if sizes else 1
        if size <= 0 or (sizes and size % sizes[0]) or times & (times - 1) or times >= 2**_SIZES_MAX:
            raise line.error(f"Invalid BlockSizes value: {part}", field="BlockSizes")
        sizes.append(size)
    return tuple(sizes)
