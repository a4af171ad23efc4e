"""How long what an attempt does takes: assumptions, stated, and to be set to what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gnomon.dataflow.cost import Amounts, Cost

_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Costs:
    """What things cost on a ``machine`` (:class:`gnomon.dataflow.cost.Cost`; a container and its process start in a
    second), and what only a sorted shuffle costs [ns]: ``commit_ns`` of a task, ``compare_ns`` of two keys,
    ``connect_ns`` for each segment that is copied."""

    machine: Cost = field(default_factory=lambda: Cost(start_ns=_S))
    commit_ns: int = 10_000_000
    compare_ns: int = 50
    connect_ns: int = 1_000_000

    @property
    def start_ns(self) -> int:
        """A container and its process."""
        return self.machine.start_ns

    def disk_ns(self, size: int) -> int:
        """Writing or reading so many bytes."""
        return -(-size * _S // self.machine.disk)

    def network_ns(self, size: int) -> int:
        """Sending so many bytes."""
        return -(-size * _S // self.machine.network)

    def read_ns(self, size: int, *, local: bool) -> int:
        """Reading input: from the own disk, or over the network if that is slower."""
        return self.disk_ns(size) if local else max(self.disk_ns(size), self.network_ns(size))

    def store_ns(self, size: int, replicas: int) -> int:
        """Writing with replicas: all are written at once, sent from one to the next; and the commit."""
        sent = self.network_ns(size) if replicas > 1 else 0
        return max(self.disk_ns(size), sent) + self.commit_ns

    def copy_ns(self, size: int, threads: int) -> int:
        """Copying a segment: so many connect at once, and share the link."""
        return self.network_ns(size) + self.connect_ns // threads

    def cpu_ns(self, calls: int, size: int) -> int:
        """Calling functions so often, on so many bytes."""
        return self.machine.phases(Amounts(calls=calls, input=size))["compute"]

    def sort_ns(self, spills: Sequence[int]) -> int:
        """Sorting spills of so many records: n log2 n comparisons each.

        >>> Costs(compare_ns=1).sort_ns([8, 1])
        32
        """
        return sum(count * count.bit_length() for count in spills if count > 1) * self.compare_ns
