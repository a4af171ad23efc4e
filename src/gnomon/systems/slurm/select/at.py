"""The places in ``Trial.at``, ``Trial.sock`` and ``Trial.run``: what changes while a trial goes on."""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select.columns import Trial

NODES_LEFT: Final = 0  # nodes still wanted (rem_nodes)
LEAST_LEFT: Final = 1  # nodes still needed (min_rem_nodes)
CPUS_LEFT: Final = 2
MOST_CPUS_LEFT: Final = 3
MOST_NODES_LEFT: Final = 4
MIN_NODES: Final = 5
FIRST_PASS: Final = 6
EMPTY: Final = 7  # nothing is taken: could it ever run?
STEP: Final = 8  # Step
RUNS: Final = 9
MIN_TASKS: Final = 10
MAX_TASKS: Final = 11
CPUS: Final = 12  # a result
BASE: Final = 13  # of all cores of the job
ROWS_BUSY: Final = 14
COUNT_NODES: Final = 15  # the answer: how many nodes
TOTAL_CPUS: Final = 16
FEWER_SWITCHES: Final = 17  # it would fit, but on more switches than asked
USED_CPUS: Final = 18
PLACE: Final = 19  # of a plan: the next running job in the order
LAST: Final = 20  # and the last one that was taken out, -1 none
PLAIN: Final = 21  # offers can be told from counts of free cores alone
REQUIRED: Final = 22  # how many nodes are required
OPEN: Final = 23  # how many nodes are listed as open
PLANS: Final = 24  # asked by backfill
SIZE: Final = 25

# STEP: which cores count as free (``_job_test``)
IDLE: Final = 1
ROWS: Final = 2

# a number for each socket of the node at hand
S_FREE: Final = 0
S_CPUS: Final = 1
S_NEEDED: Final = 2
S_ORDER: Final = 3
S_COUNT: Final = 4
S_AVOID: Final = 5
S_USED: Final = 6
S_TASKS: Final = 7
S_ALL: Final = 8  # free cores, whether they can be used or not
S_SIZE: Final = 9

# consecutive usable nodes
R_CPUS: Final = 0
R_NODES: Final = 1
R_FIRST: Final = 2
R_LAST: Final = 3
R_REQUIRED: Final = 4
R_WEIGHT: Final = 5
R_SIZE: Final = 6


@kernel
def reset(t: Trial) -> None:
    """Forget the last trial."""
    for i in range(SIZE):
        t.at[i] = 0
