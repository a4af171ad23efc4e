"""What a job asks: the places in a row of ``Demands.value`` and of ``Demands.gres``.

-1 is *not said* where 0 means something.
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select.columns import Demands, Trial

PARTITION: Final = 0
MIN_NODES: Final = 1
MAX_NODES: Final = 2  # of the job alone, 0 not said
MOST_NODES: Final = 3  # with the partition's limit
REQ_NODES: Final = 4
TASKS: Final = 5  # 0 not said
CPUS_PER_TASK: Final = 6
MIN_CPUS: Final = 7
NODE_CPUS: Final = 8  # at least so many on each node
TASKS_PER_NODE: Final = 9
TASKS_PER_SOCKET: Final = 10  # 0 not said
TASKS_PER_CORE: Final = 11  # 0 not said
SOCKETS: Final = 12
CORES: Final = 13
THREADS: Final = 14
OVERCOMMIT: Final = 15
MEMORY: Final = 16  # MiB, of a node or a CPU; 0: all of the node
PER_CPU: Final = 17
MEMORY_SAID: Final = 18  # by the job itself
WHOLE: Final = 19
CONTIGUOUS: Final = 20
SPREAD: Final = 21
LLN: Final = 22
PLANE: Final = 23  # its size, 0: another distribution
BLOCK_CORES: Final = 24  # sockets are filled one after the other; -1: as configured
SHARE: Final = 25
ROWS: Final = 26  # jobs that may share a resource of the partition
PART_NODE_CPUS: Final = 27  # MaxCPUsPerNode, ANY_COUNT none
SWITCHES: Final = 28  # 0 not said
BIND: Final = 29  # enforce-binding
REQUESTS: Final = 30
JOB_COUNTS: Final = 31  # some request counts over the whole job
PER_TASK: Final = 32  # some request counts for each task
GRES_NODE_CPUS: Final = 33  # CPUs that its generic resources need on a node
GRES_CPUS: Final = 34  # and in all
TASKS_PER_GPU: Final = 35
SOCKETS_EXPECTED: Final = 36  # -1 no limit
WAITED: Final = 37  # the wait for switches is over
PLAN: Final = 38  # 1: of backfill, which may prefer busy nodes
ALONE: Final = 39  # nobody else comes to its nodes
COUNT: Final = 40

# a request for a generic resource
W_KIND: Final = 0
W_TYPE: Final = 1  # 0 any
W_NODE: Final = 2
W_JOB: Final = 3
W_SOCKET: Final = 4
W_TASK: Final = 5
W_CPUS: Final = 6  # with each
W_DEFAULT_CPUS: Final = 7
W_MEMORY: Final = 8
W_DEFAULT_MEMORY: Final = 9
W_TASKS_EACH: Final = 10
W_SHARED: Final = 11
W_COUNT: Final = 12


@kernel
def load(d: Demands, j: int, t: Trial) -> None:
    """Put a demand before a trial."""
    for i in range(COUNT):
        t.ask[i] = d.value[j, i]
    for r in range(d.value[j, REQUESTS]):
        for i in range(W_COUNT):
            t.want[r, i] = d.gres[j, r, i]
