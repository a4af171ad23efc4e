"""How long what an attempt does takes: assumptions, stated, and to be set to what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_S = 10**9


@dataclass(frozen=True, slots=True)
class Costs:
    """The speeds of a machine, and of the user's functions. Times ns, speeds bytes a second.

    - ``start_ns``: a container and its process; ``commit_ns``: the commit of a task.
    - ``record_ns``, ``byte_ns``: for each call of a function, each byte read; ``compare_ns``: for each comparison.
    - ``disk``: one disk; ``network``: one node's link; ``connect_ns``: for each segment that is copied.
    """

    start_ns: int = _S
    commit_ns: int = 10_000_000
    record_ns: int = 1_000
    byte_ns: int = 5
    compare_ns: int = 50
    disk: int = 200_000_000
    network: int = 125_000_000
    connect_ns: int = 1_000_000

    def disk_ns(self, size: int) -> int:
        """Writing or reading so many bytes."""
        return size * _S // self.disk

    def network_ns(self, size: int) -> int:
        """Sending so many bytes."""
        return size * _S // self.network

    def read_ns(self, size: int, *, local: bool) -> int:
        """Reading input: from the own disk, or over the network if that is slower."""
        return self.disk_ns(size) if local else max(self.disk_ns(size), self.network_ns(size))

    def store_ns(self, size: int, replicas: int) -> int:
        """Writing with replicas: all are written at once, sent from one to the next; and the commit."""
        sent = self.network_ns(size) if replicas > 1 else 0
        return max(self.disk_ns(size), sent) + self.commit_ns

    def copy_ns(self, size: int) -> int:
        """Copying a segment."""
        return self.connect_ns + self.network_ns(size)

    def cpu_ns(self, calls: int, size: int) -> int:
        """Calling functions so often, on so many bytes."""
        return calls * self.record_ns + size * self.byte_ns

    def sort_ns(self, spills: Sequence[int]) -> int:
        """Sorting spills of so many records: n log2 n comparisons each.

        >>> Costs(compare_ns=1).sort_ns([8, 1])
        32
        """
        return sum(count * count.bit_length() for count in spills if count > 1) * self.compare_ns
