"""Why no node can ever take a job, in the words that are printed when it is submitted.

Source: ``_build_node_list`` of ``src/slurmctld/node_scheduler.c``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from gnomon.systems.slurm.config.conf import NodeConf
from gnomon.systems.slurm.select import ask
from gnomon.systems.slurm.select.demand import Demand

NEVER = "Requested node configuration is not available"


class Shortfall(Enum):
    """What no node has enough of. The value is what sbatch prints."""

    CPUS = "CPU count per node can not be satisfied"
    MEMORY = "Memory specification can not be satisfied"
    DISK = "Temporary disk specification can not be satisfied"
    LAYOUT = "Socket, core and/or thread specification can not be satisfied"
    GRES = "Invalid generic resource (gres) specification"


def shortfall_of(demand: Demand, nodes: Sequence[NodeConf]) -> Shortfall | None:
    """What none of the nodes has enough of, None: each has enough somewhere.

    >>> shortfall_of(Demand(tuple([0] * ask.COUNT), (), (1, True), tmp_mb=5), [NodeConf("n")])
    <Shortfall.DISK: 'Temporary disk specification can not be satisfied'>
    """
    if not any(demand[ask.NODE_CPUS] <= node.cpus for node in nodes):
        return Shortfall.CPUS
    memory = demand[ask.MEMORY] * (max(1, demand[ask.NODE_CPUS]) if demand[ask.PER_CPU] else 1)
    if demand.too_much_memory or not any(memory <= node.memory_mb - node.mem_spec_mb for node in nodes):
        return Shortfall.MEMORY
    if not any(demand.tmp_mb <= node.tmp_mb for node in nodes):
        return Shortfall.DISK
    if not any(
        demand[ask.SOCKETS] <= node.sockets
        and demand[ask.CORES] <= node.cores
        and demand[ask.THREADS] <= max(node.threads, 1)
        for node in nodes
    ):
        return Shortfall.LAYOUT
    return Shortfall.GRES if demand.unknown_gres else None
