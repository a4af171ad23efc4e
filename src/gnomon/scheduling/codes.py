"""Names of policies and the numbers that stand for them in kernels: positions in ``World.opt`` and ``World.rate``."""

from __future__ import annotations

from typing import Final

# World.opt: which option stands where.
TENANTS: Final = 0  # how the next tenant is found
BLOCKS_ALL: Final = 1  # 1: who does not fit stops everybody behind; 0: its tenant only
BACKFILL: Final = 2
KEEP: Final = 3  # easy: the reservation's time is fixed when its holder begins to wait
EXTRA: Final = 4  # easy: narrow tasks may use what the reservation leaves over
REAL_ENDS: Final = 5  # backfill: running tasks are expected to end when they really will
REAL_CANDIDATES: Final = 6  # easy: a candidate is expected to run as long as it really will
STRICT: Final = 7  # easy: a candidate must end before the reservation, not at it
SCAN_SUBMIT: Final = 8  # easy: candidates in the order of submission, whatever the order is
FILL: Final = 9  # easy: a pass whose first unit starts lets everything in that fits
COMMITTED: Final = 10  # once first in line and waiting, a unit stays first
SINGLE: Final = 11  # one event a pass
DROP: Final = 12  # what does not start at its arrival is dropped
PLACEMENT: Final = 13
PERCENT: Final = 14  # scores are cut to whole numbers of 0..100
PREEMPT: Final = 15
ORDER_PYTHON: Final = 16  # 1: the order is a Python function, asked at each pass
USES_LINE: Final = 17
PREFER_LOW: Final = 18  # dot-product: prefer the smallest alignment
SETTLED: Final = 19  # 1: until something is given back, who was refused would be refused again (pipeline.quiet_pass)
LIMITED: Final = 20  # 1: some tenant has a limit
OPT_SIZE: Final = 24

# World.rate: real-valued options.
HALF_LIFE_NS: Final = 0
RATE_SIZE: Final = 4

# opt[TENANTS]
BY_RANK: Final = 0
BY_DOMINANT_SHARE: Final = 1
BY_DECAYED_USE: Final = 2
BY_TURN: Final = 3

# opt[BACKFILL]
NO_BACKFILL: Final = 0
EASY: Final = 1
CONSERVATIVE: Final = 2

# opt[PLACEMENT]
FIRST_FIT: Final = 0
BEST_FIT: Final = 1
WORST_FIT: Final = 2
LEAST_ALLOCATED: Final = 3
MOST_ALLOCATED: Final = 4
BALANCED: Final = 5
DOT_PRODUCT: Final = 6
RANDOM: Final = 7
GPU_PACKING: Final = 8
GPU_CLUSTERING: Final = 9
FGD: Final = 10
PYTHON: Final = 11

PLACEMENT_CODES: Final = {
    "first-fit": FIRST_FIT,
    "best-fit": BEST_FIT,
    "worst-fit": WORST_FIT,
    "least-allocated": LEAST_ALLOCATED,
    "most-allocated": MOST_ALLOCATED,
    "balanced": BALANCED,
    "dot-product": DOT_PRODUCT,
    "random": RANDOM,
    "gpu-packing": GPU_PACKING,
    "gpu-clustering": GPU_CLUSTERING,
    "fgd": FGD,
}
