"""What a job got: nodes, and on each its tasks, CPUs, cores, memory and devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from gnomon.systems.slurm.select.columns import BITS


@dataclass(eq=False)
class Allocation:
    """The nodes (numbers, in order) and what of each: ``cpus``, ``tasks``, ``memory_mb``; ``words``: the cores as bits,
    32 a word; ``devices``: how much of each holder of the node. ``total_cpus`` is what is accounted for.

    ``slot``: where it stands among the running ones, -1 while it has been taken nowhere.
    """

    nodes: tuple[int, ...]
    cpus: tuple[int, ...]
    tasks: tuple[int, ...]
    memory_mb: tuple[int, ...]
    words: Any
    devices: Any
    total_cpus: int
    partition: int
    whole: bool
    share: int
    slot: int = -1

    @property
    def total_tasks(self) -> int:
        """Tasks on all nodes."""
        return sum(self.tasks)

    @cached_property
    def cores(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the cores on each node."""
        bits = (self.words[:, :, None] >> np.arange(BITS)) & 1
        flat = bits.reshape(len(self.nodes), -1)
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in flat)

    @property
    def core_set(self) -> frozenset[tuple[int, int]]:
        """All cores, as (node, core)."""
        return frozenset((node, core) for node, cores in zip(self.nodes, self.cores, strict=True) for core in cores)

    def same(self, other: Allocation) -> bool:
        """Whether another one is the same in all that it gives."""
        mine = (self.nodes, self.cpus, self.tasks, self.memory_mb, self.total_cpus, self.cores)
        theirs = (other.nodes, other.cpus, other.tasks, other.memory_mb, other.total_cpus, other.cores)
        return mine == theirs and bool(np.array_equal(self.devices, other.devices))


def ranges(numbers: tuple[int, ...] | list[int]) -> str:
    """Numbers as Slurm prints sets of CPUs.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2,5,7-8'
    """
    found = []
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        found.append(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]))
    return ",".join(found)
