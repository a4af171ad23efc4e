"""How Spark divides the memory of an executor (UnifiedMemoryManager, ResourceProfile)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gnomon.model.resources import E4
from gnomon.systems.spark.conf import Conf

MIB: Final = 2**20
RESERVED: Final = 300 * MIB
"""Set aside of every heap (``RESERVED_SYSTEM_MEMORY_BYTES``)."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes. ``container``: what is asked of the cluster; ``unified``: for execution and storage together; ``storage``:
    the part of it that execution may not take from cached blocks."""

    heap: int
    overhead: int
    container: int
    unified: int
    storage: int

    def task_share(self, active: int) -> tuple[int, int]:
        """The least and the most that a task gets for execution, of so many active ones, where nothing is cached.

        >>> Memory(0, 0, 0, 800, 400).task_share(4)
        (100, 200)
        """
        return self.unified // (2 * active), self.unified // active


def memory_of(conf: Conf) -> Memory:
    """The memory of an executor.

    >>> found = memory_of(Conf())
    >>> found.container // MIB, round(found.unified / MIB, 1), round(found.storage / MIB, 1)
    (1408, 434.4, 217.2)
    """
    heap = conf.size("spark.executor.memory")
    if conf.is_set("spark.executor.memoryOverhead"):
        overhead = conf.size("spark.executor.memoryOverhead")
    else:
        share = heap * conf.part_e4("spark.executor.memoryOverheadFactor") // E4
        overhead = max(share, conf.size("spark.executor.minMemoryOverhead"))
    outside = conf.size("spark.memory.offHeap.size", "b") if conf.truth("spark.memory.offHeap.enabled") else 0
    python = conf.size("spark.executor.pyspark.memory")
    unified = max(heap - RESERVED, 0) * conf.part_e4("spark.memory.fraction") // E4
    storage = unified * conf.part_e4("spark.memory.storageFraction") // E4
    return Memory(heap, overhead, heap + overhead + outside + python, unified, storage)
