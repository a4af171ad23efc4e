"""The hardware as columns, made from a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gnomon.systems.slurm.config.conf import Conf, Gres, NodeConf, PartitionConf
from gnomon.systems.slurm.select import rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware

SHARED: Final = frozenset({"mps", "shard"})
"""Kinds that are shares of GPUs (``gres_id_shared``)."""

_UNITS: Final = {
    "cr_cpu": rule.CPU,
    "cr_core": rule.CORE,
    "cr_socket": rule.SOCKET,
    "cr_memory": rule.NOTHING,
}


def option(conf: Conf, key: str, default: str = "") -> str:
    """The value of a key, in lower case."""
    return conf.options.get(key, default).strip().lower()


@dataclass(frozen=True)
class Names:
    """What the numbers in the columns stand for."""

    kinds: Mapping[str, int]
    types: Mapping[str, int]
    partitions: Mapping[str, int]


def names_of(conf: Conf) -> Names:
    """Numbers for kinds and types of generic resources (0: no type) and for partitions."""
    gres = [one for node in conf.nodes for one in node.gres]
    kinds = sorted({one.name for one in gres} | {"gpu"})
    types = ["", *sorted({one.type for one in gres} - {""})]
    return Names(
        {name: i for i, name in enumerate(kinds)},
        {name: i for i, name in enumerate(types)},
        {partition.name: i for i, partition in enumerate(conf.partitions)},
    )


def parameters(conf: Conf, partition: PartitionConf | None = None) -> frozenset[str]:
    """SelectTypeParameters, in lower case; a partition's own replace unit and memory (``_setup_cr_type``)."""
    words = frozenset(option(conf, "selecttypeparameters").replace(" ", "").split(",")) - {""}
    if partition is not None and partition.select_parameters:
        own = frozenset(partition.select_parameters.lower().split(","))
        words = frozenset(word for word in words if word.removesuffix("_memory") not in _UNITS) | own
    return words


def is_linear(conf: Conf) -> bool:
    """Whether select/linear gives out whole nodes; it is the default up to 23.02."""
    default = "select/linear" if conf.version < (23, 11) else "select/cons_tres"
    return option(conf, "selecttype", default) == "select/linear"


def unit_of(words: frozenset[str]) -> tuple[int, bool]:
    """What is given out, and whether memory is counted.

    >>> unit_of(frozenset({"cr_core_memory", "cr_lln"})), unit_of(frozenset())
    ((1, True), (1, True))
    """
    for word in sorted(words):
        if word.removesuffix("_memory") in _UNITS:
            return _UNITS[word.removesuffix("_memory")], word.endswith("_memory")
    return rule.CORE, True


def rules_of(conf: Conf, names: Names) -> list[int]:
    """The places of ``Hardware.rule``."""
    words = parameters(conf)
    unit, memory = unit_of(words)
    linear = is_linear(conf)
    plugin = option(conf, "topologyplugin")
    over = option(conf, "overtimelimit", "0")
    values = [0] * rule.COUNT
    values[rule.UNIT] = rule.CORE if linear else unit
    values[rule.MEMORY] = "cr_memory" in words if linear else memory
    values[rule.ONE_TASK_PER_CORE] = "cr_one_task_per_core" in words
    values[rule.LLN] = "cr_lln" in words
    values[rule.BLOCK_CORES] = "cr_core_default_dist_block" in words
    values[rule.SERIAL_AT_END] = "pack_serial_at_end" in conf.scheduler
    values[rule.BUSY_NODES] = "bf_busy_nodes" in conf.scheduler
    values[rule.WINDOW_STEP_S] = int(conf.scheduler.get("bf_window_linear", "0") or 0)
    values[rule.GANG] = "gang" in option(conf, "preemptmode").split(",")
    values[rule.LINEAR] = linear
    if plugin.endswith("tree") and conf.switches:
        values[rule.TREE] = 2 if "topooptional" in option(conf, "topologyparam") else 1
    values[rule.SHARES_OF_MANY] = "multiple_sharing_gres_pj" in words
    values[rule.BY_PARTITION] = "partition" in option(conf, "preempttype")
    values[rule.BY_QOS] = "qos" in option(conf, "preempttype")
    values[rule.GPU] = names.kinds["gpu"]
    values[rule.VERSION] = conf.version[0] * 100 + conf.version[1]
    values[rule.KILL_WAIT_S] = int(option(conf, "killwait", "30") or 30)
    values[rule.OVER_LIMIT_S] = int(over) * 60 if over.isdigit() else -1
    values[rule.BLOCKS] = plugin.endswith("block") and len(conf.blocks) > 0
    weights = (_sets(conf.nodes) if linear else [node.weight for node in conf.nodes]) or [0]
    values[rule.LIGHTEST], values[rule.HEAVIEST] = min(weights), max(weights)
    return [int(value) for value in values]


def _sets(nodes: Sequence[NodeConf]) -> list[int]:
    """The set of each node, in the order that they are tried in: one for all that are configured alike, by weight.
    Source: ``_build_node_list``, ``_sort_node_set`` of ``src/slurmctld/node_scheduler.c``."""
    alike = [replace(node, name="", state="", reason="") for node in nodes]
    order = sorted(dict.fromkeys(alike), key=lambda node: node.weight)
    return [order.index(node) for node in alike]


def kept_cores(node: NodeConf, *, first: bool) -> list[int]:
    """The cores that are kept for the system: from the last core of the last socket on, socket by socket; ``first``:
    from the first (``spec_cores_first``). Source: ``build_node_spec_bitmap`` of ``src/slurmctld/node_mgr.c``.

    >>> kept_cores(NodeConf("n", cpus=8, sockets=2, cores=4, core_spec=3), first=False)
    [7, 3, 6]
    """
    cpu_spec = getattr(node, "cpu_spec", ())
    if cpu_spec:
        threads = max(1, node.cpus // (node.sockets * node.cores))
        return sorted({cpu // threads for cpu in cpu_spec})
    cores = range(node.cores) if first else range(node.cores - 1, -1, -1)
    sockets = range(node.sockets) if first else range(node.sockets - 1, -1, -1)
    return [socket * node.cores + core for core in cores for socket in sockets][: node.core_spec]


@dataclass(frozen=True)
class Holder:
    """One device, the shares of one, or a pool that is only counted."""

    kind: str
    type: str
    capacity: int
    near: int = 0
    index: int = -1
    device: int = -1
    links: tuple[int, ...] = ()


def holders_of(node: NodeConf) -> list[Holder]:
    """The holders of a node: devices first, in the order of their indexes; shares are spread evenly over GPUs."""
    holders: list[Holder] = []
    indexes: dict[str, int] = {}
    for gres in node.gres:
        if gres.name in SHARED or gres.count_only:
            continue
        for i in range(gres.count):
            index = indexes.get(gres.name, 0)
            indexes[gres.name] = index + 1
            links = gres.links[i] if i < len(gres.links) else ()
            holders.append(Holder(gres.name, gres.type, 1, _sockets(gres, node), index, -1, links))
    gpus = [k for k, holder in enumerate(holders) if holder.kind == "gpu"]
    for gres in node.gres:
        if gres.name in SHARED and gpus:
            fitting = [k for k in gpus if not gres.type or holders[k].type in ("", gres.type)] or gpus
            each = gres.count // len(fitting)
            holders += [
                Holder(gres.name, gres.type, each, holders[k].near, holders[k].index, k) for k in fitting if each > 0
            ]
        elif gres.count_only or gres.name in SHARED:
            holders.append(Holder(gres.name, gres.type, gres.count))
    return holders


def _sockets(gres: Gres, node: NodeConf) -> int:
    sockets = {core // node.cores for core in gres.cores if core < node.sockets * node.cores}
    return sum(1 << socket for socket in sockets)


def hardware_of(conf: Conf, names: Names) -> Hardware:
    """The columns of a configuration."""
    nodes = conf.nodes
    n, holders = len(nodes), [holders_of(node) for node in nodes]
    sockets = max((node.sockets for node in nodes), default=1)
    cores = max((node.sockets * node.cores for node in nodes), default=1)
    width = max((len(one) for one in holders), default=0) or 1
    barred, every = np.zeros((n, cores), np.int8), np.zeros((n, sockets), np.int32)
    for i, node in enumerate(nodes):
        barred[i, node.sockets * node.cores :] = 1
        barred[i, kept_cores(node, first="spec_cores_first" in conf.scheduler)] = 1
        every[i, : node.sockets] = (
            (1 - barred[i, : node.sockets * node.cores]).reshape(node.sockets, node.cores).sum(axis=1)
        )
    tpc = [max(1, node.cpus // (node.sockets * node.cores)) for node in nodes]
    links, link_table = _links(holders, width)
    return Hardware(
        rule=np.array(rules_of(conf, names), np.int64),
        sockets=_column(node.sockets for node in nodes),
        cores=_column(node.cores for node in nodes),
        tpc=_column(tpc),
        cpus=every.sum(axis=1, dtype=np.int32) * _column(tpc),
        memory=np.array([node.memory_mb - node.mem_spec_mb for node in nodes], np.int64),
        weight=np.array(_sets(nodes) if is_linear(conf) else [node.weight for node in nodes], np.int64),
        barred=barred,
        every=every,
        kind=_table(holders, width, lambda holder: names.kinds[holder.kind], -1),
        type=_table(holders, width, lambda holder: names.types[holder.type], 0),
        capacity=_table(holders, width, lambda holder: holder.capacity, 0),
        near=_table(holders, width, lambda holder: holder.near, 0).astype(np.int64),
        number=_table(holders, width, lambda holder: holder.index, -1),
        device=_table(holders, width, lambda holder: holder.device, -1),
        links=links,
        link_table=link_table,
        **_partitions(conf),
        **_switches(conf),
        block=_blocks(conf),
    )


def _column(values: Any) -> Any:
    return np.array(list(values), np.int32)


def _table(holders: Sequence[Sequence[Holder]], width: int, value: Any, none: int) -> Any:
    table = np.full((len(holders), width), none, np.int32)
    for i, of_node in enumerate(holders):
        table[i, : len(of_node)] = [value(holder) for holder in of_node]
    return table


def _links(holders: Sequence[Sequence[Holder]], width: int) -> tuple[Any, Any]:
    """The tables of links, each once; a node has one where all its devices say their links."""
    tables: dict[tuple[tuple[int, ...], ...], int] = {}
    which = np.full(len(holders), -1, np.int32)
    for i, of_node in enumerate(holders):
        devices = [holder for holder in of_node if holder.device < 0 and holder.index >= 0]
        if devices and all(len(holder.links) == len(devices) for holder in devices):
            which[i] = tables.setdefault(tuple(holder.links for holder in devices), len(tables))
    links = np.zeros((max(1, len(tables)), width, width), np.int64)
    for table, number in tables.items():
        for k, row in enumerate(table):
            links[number, k, : len(row)] = np.maximum(row, 0)
    return links, which


def sharing_of(partition: PartitionConf) -> int:
    """Jobs that may share a resource of a partition: its rows."""
    return max(1, partition.sharing) if partition.oversubscribe in ("YES", "FORCE") else 1


def _partitions(conf: Conf) -> dict[str, Any]:
    gang = "gang" in option(conf, "preemptmode").split(",")
    rows = [sharing_of(partition) for partition in conf.partitions]
    shared = gang or any(count > 1 for count in rows)
    tracked = [
        partition.max_cpus_per_node is not None or count > 1
        for partition, count in zip(conf.partitions, rows, strict=True)
    ]
    slots = np.cumsum(tracked) - 1 if tracked else np.zeros(0, np.int64)
    return {
        "track": _column(int(slot) if is_tracked else -1 for slot, is_tracked in zip(slots, tracked, strict=True)),
        "tier": _column(partition.priority_tier for partition in conf.partitions),
        "stays": np.array([partition.preempt_mode.lower() == "off" for partition in conf.partitions], np.int8),
        "row_part": _column(p for p, count in enumerate(rows) for _ in range(count)) if shared else _column([]),
    }


def _switches(conf: Conf) -> dict[str, Any]:
    number = {node.name: i for i, node in enumerate(conf.nodes)}
    place = {switch.name: i for i, switch in enumerate(conf.switches)}
    count = len(conf.switches)
    below = np.zeros((count, len(conf.nodes)), np.int8)
    level = np.zeros(count, np.int32)
    parent = np.arange(count, dtype=np.int32)
    away = np.full((count, count), ANY_COUNT, np.int64)
    np.fill_diagonal(away, 0)

    def fill(i: int, depth: int) -> None:
        switch = conf.switches[i]
        below[i, [number[name] for name in switch.nodes if name in number]] = 1
        for name in switch.switches:
            if name in place and depth <= count:
                fill(place[name], depth + 1)
                below[i] |= below[place[name]]
                level[i] = max(level[i], level[place[name]] + 1)
                parent[place[name]] = i
                away[i, place[name]] = away[place[name], i] = 1

    for i in range(count):
        fill(i, 0)
    for k in range(count):
        away = np.minimum(away, np.minimum(ANY_COUNT, away[:, k : k + 1] + away[k : k + 1, :]))
    return {"level": level, "parent": parent, "below": below, "distance": away}


def _blocks(conf: Conf) -> Any:
    number = {node.name: i for i, node in enumerate(conf.nodes)}
    block = np.full(len(conf.nodes), -1, np.int32)
    for b, one in enumerate(conf.blocks):
        block[[number[name] for name in one.nodes if name in number]] = b
    return block
