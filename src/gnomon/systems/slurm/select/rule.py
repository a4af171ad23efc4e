"""What the configuration says for all nodes: the places in ``Hardware.rule``, and the codes that stand there."""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import small_kernel
from gnomon.systems.slurm.select.columns import Hardware

UNIT: Final = 0  # Unit
MEMORY: Final = 1  # memory is consumed
ONE_TASK_PER_CORE: Final = 2
LLN: Final = 3
BLOCK_CORES: Final = 4  # CR_CORE_DEFAULT_DIST_BLOCK
SERIAL_AT_END: Final = 5
BUSY_NODES: Final = 6  # bf_busy_nodes, in plans
WINDOW_STEP_S: Final = 7  # bf_window_linear
GANG: Final = 8
LINEAR: Final = 9  # select/linear
TREE: Final = 10  # 0 no topology/tree, 1 always, 2 only where --switches asks for it (TopoOptional)
SHARES_OF_MANY: Final = 11  # MULTIPLE_SHARING_GRES_PJ
BY_PARTITION: Final = 12  # preempt/partition_prio
BY_QOS: Final = 13
GPU: Final = 14  # the number of the kind "gpu"
VERSION: Final = 15  # 2205 to 2505
KILL_WAIT_S: Final = 16
OVER_LIMIT_S: Final = 17  # OverTimeLimit, -1 none
BLOCKS: Final = 18
LIGHTEST: Final = 19  # the least weight of a node
HEAVIEST: Final = 20
COUNT: Final = 21

# UNIT: what is given out
CPU: Final = 0
CORE: Final = 1
SOCKET: Final = 2
NOTHING: Final = 3  # memory alone

# how a job may share nodes (``NODE_CR_…``)
AVAILABLE: Final = 0
ONE_ROW: Final = 1
RESERVED: Final = 64


@small_kernel
def gives_cores(h: Hardware) -> bool:
    """Whether whole cores or sockets are given out, so that CPUs are rounded up to them."""
    return bool(h.rule[UNIT] == CORE or h.rule[UNIT] == SOCKET)
