"""Partitions that executors keep in memory (``cache()``), and those that are saved for good (``checkpoint()``).

The rules are those of ``MemoryStore`` and ``BlockManager`` (level ``MEMORY_ONLY``): a block stays where it was made.
Where there is no room the blocks go that were not used for the longest time, but none of the same collection; what does
not fit is not kept, and is computed again. A block on another executor is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.dataflow.layout import Layout
from gnomon.dataflow.serialise import estimated

Place = tuple[int, int]
"""A stage of the graph, and a partition of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Records, their bytes, and the executor that has them."""

    records: list[Any]
    size: int
    node: int


@dataclass
class Blocks:
    """What is kept. ``room``: bytes that an executor has for it (execution takes its part of the same memory, which is
    left out); ``held``: the one that was used last comes last; ``saved``: in a file system that no executor loses."""

    layout: Layout
    room: int
    held: dict[Place, Block] = field(default_factory=dict)
    saved: dict[Place, Block] = field(default_factory=dict)

    def lose(self, node: int) -> None:
        """An executor is gone, with its memory."""
        self.held = {place: block for place, block in self.held.items() if block.node != node}

    def nodes(self, chain: Sequence[int], partition: int) -> list[int]:
        """The executors that have a partition of a stage of a chain, where it is the same partition."""
        found = [self.held[number, partition].node for number in chain if (number, partition) in self.held]
        return sorted(set(found))

    def keep(self, made: dict[Place, list[Any]], node: int) -> int:
        """What a task computed that counts; how many blocks were evicted for it."""
        evicted = 0
        for place, records in made.items():
            block = Block(records, estimated(records), node)
            if self.layout.stages[place[0]].checkpointed:
                self.saved.setdefault(place, block)
            elif place not in self.held:
                evicted += self._keep(place, block)
        return evicted

    def _keep(self, place: Place, block: Block) -> int:
        mine = {other: one for other, one in self.held.items() if one.node == block.node}
        missing = sum(one.size for one in mine.values()) + block.size - self.room
        going: list[Place] = []
        for other, one in mine.items():
            if missing <= 0:
                break
            if other[0] != place[0]:
                going.append(other)
                missing -= one.size
        if missing > 0:
            return 0
        for other in going:
            del self.held[other]
        self.held[place] = block
        return len(going)


@dataclass
class View:
    """What an attempt on an executor finds, and makes. Bytes: ``remote`` from other executors, ``read`` of what was
    saved."""

    blocks: Blocks
    node: int
    remote: int = 0
    read: int = 0
    made: dict[Place, list[Any]] = field(default_factory=dict)

    def get(self, number: int, partition: int) -> list[Any] | None:
        """The records of a partition; None: they have to be computed."""
        place = number, partition
        if place in self.made:
            return self.made[place]
        held = self.blocks.held
        if place in held:
            block = held[place] = held.pop(place)  # used last
            self.remote += block.size if block.node != self.node else 0
            return block.records
        if place in self.blocks.saved:
            self.read += self.blocks.saved[place].size
            return self.blocks.saved[place].records
        return None

    def put(self, number: int, partition: int, records: list[Any]) -> None:
        """Computed."""
        self.made[number, partition] = records
