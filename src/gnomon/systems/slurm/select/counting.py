"""Trackable resources (TRES) of an allocation, of a demand, of nodes; and an allocation as scontrol shows it.

Source: ``job_set_alloc_tres``, ``job_set_req_tres`` of ``src/slurmctld/job_mgr.c``, ``assoc_mgr_tres_weighted`` of
``src/common/assoc_mgr.c``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.select import ask
from gnomon.systems.slurm.select.allocation import Allocation, ranges
from gnomon.systems.slurm.select.columns import Hardware
from gnomon.systems.slurm.select.demand import Demand
from gnomon.systems.slurm.select.hardware import Holder, Names, option


class Node(NamedTuple):
    """A node by name, with its holders in the order of the columns."""

    name: str
    holders: Sequence[Holder]


def _add(tres: dict[str, int], kind: str, of_type: str, count: int) -> None:
    if count > 0:
        tres[f"gres/{kind}"] = tres.get(f"gres/{kind}", 0) + count
        if of_type:
            name = f"gres/{kind}:{of_type}"
            tres[name] = tres.get(name, 0) + count


def _billing(tres: Mapping[str, int], partition: PartitionConf, conf: Conf) -> int:
    """The sum of counts times weights, or, with MAX_TRES, the largest of a node's and the sum of the others; CPUs where
    nothing is weighed."""
    if not partition.billing:
        return tres.get("cpu", 0)
    parts = {name.lower(): tres.get(name.lower(), 0) * weight for name, weight in partition.billing.items()}
    flags = option(conf, "priorityflags").split(",")
    if "max_tres" not in flags and "max_tres_gres" not in flags:
        return int(sum(parts.values()))
    apart = ("license/", "bb/", "fs/") + (("gres/",) if "max_tres_gres" in flags else ())
    own = [value for name, value in parts.items() if not name.startswith(apart)]
    return int(max(own, default=0) + sum(value for name, value in parts.items() if name.startswith(apart)))


def tres_of(allocation: Allocation, nodes: Sequence[Node], partition: PartitionConf, conf: Conf) -> dict[str, int]:
    """What an allocation counts."""
    tres = {
        "cpu": allocation.total_cpus,
        "mem": sum(allocation.memory_mb),
        "node": len(allocation.nodes),
        "billing": 0,
    }
    for node, counts in zip(allocation.nodes, allocation.devices.tolist(), strict=True):
        for holder, count in zip(nodes[node].holders, counts, strict=False):
            _add(tres, holder.kind, holder.type, count)
    tres["billing"] = _billing(tres, partition, conf)
    return tres


def requested_of(demand: Demand, names: Names, partition: PartitionConf, conf: Conf) -> dict[str, int]:
    """What a demand counts before it has nodes: the least of each."""
    nodes = max(demand[ask.MIN_NODES], 1)
    cpus = max(demand[ask.MIN_CPUS], demand[ask.GRES_CPUS])
    memory = max(0, demand[ask.MEMORY]) * (cpus if demand[ask.PER_CPU] else nodes)
    tres = {"cpu": cpus, "mem": memory, "node": nodes, "billing": 0}
    kinds = {number: name for name, number in names.kinds.items()}
    types = {number: name for name, number in names.types.items()}
    for wanted in demand.gres:
        count = (
            wanted[ask.W_JOB]
            or wanted[ask.W_NODE] * nodes
            or wanted[ask.W_SOCKET] * nodes * max(1, demand[ask.SOCKETS])
            or wanted[ask.W_TASK] * max(1, demand[ask.TASKS])
        )
        kind = kinds.get(wanted[ask.W_KIND])
        if kind is not None:
            _add(tres, kind, types.get(wanted[ask.W_TYPE], ""), count)
    tres["billing"] = _billing(tres, partition, conf)
    return tres


def capacity_of(numbers: Sequence[int], h: Hardware, nodes: Sequence[Node]) -> dict[str, int]:
    """What nodes have."""
    tres = {
        "cpu": int(h.cpus[numbers].sum()),
        "mem": int(h.memory[numbers].sum()),
        "node": len(numbers),
    }
    for number in numbers:
        for holder in nodes[number].holders:
            _add(tres, holder.kind, holder.type, holder.capacity)
    return tres


def per_node_of(allocation: Allocation, h: Hardware, nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Nodes with CPU ids (of Slurm's own numbering: all threads of core 0, of core 1, …), memory and devices."""

    def shown(i: int) -> tuple[str, int, str]:
        node = allocation.nodes[i]
        threads = int(h.tpc[node])
        cpus = [core * threads + thread for core in allocation.cores[i] for thread in range(threads)]
        return ranges(cpus), allocation.memory_mb[i], _gres(nodes[node].holders, allocation.devices[i].tolist())

    groups = []
    for (cpus, memory, gres), places in groupby(range(len(allocation.nodes)), shown):
        names = [nodes[allocation.nodes[i]].name for i in places]
        groups.append({"nodes": names, "cpu_ids": cpus, "mem_mb": memory, "gres": gres})
    return groups


def _gres(holders: Sequence[Holder], counts: Sequence[int]) -> str:
    """Devices as ``gpu:a100:2(IDX:0-1)``."""
    found: dict[tuple[str, str], tuple[int, list[int]]] = {}
    for holder, count in zip(holders, counts, strict=False):
        if count > 0:
            so_far, indexes = found.get((holder.kind, holder.type), (0, []))
            mine = [holder.index] if holder.index >= 0 else []
            found[holder.kind, holder.type] = so_far + count, [*indexes, *mine]
    parts = []
    for (kind, of_type), (count, indexes) in found.items():
        name = f"{kind}:{of_type}" if of_type else kind
        parts.append(f"{name}:{count}" + (f"(IDX:{ranges(indexes)})" if indexes else ""))
    return ",".join(parts)
