"""The tasks of one attempt of a stage: who is still to be launched, in which order, what ran and what failed.

The rules are those of Spark's ``TaskSetManager``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gnomon.control.batch.locality import Waits
from gnomon.control.batch.plan import StagePlan


@dataclass(eq=False)
class Tasks:
    """A task set, as :class:`gnomon.scheduling.pools.TaskSet` is ordered.

    ``pending``: partitions to launch, the next one last: those that failed go before those never tried; ``tries``,
    ``failures``: attempts, and those that count, by partition; ``copies``: attempts that run, by partition;
    ``lengths``, ``rates``: of the done ones (ns, records a second); ``slow``: partitions that deserve a second copy,
    with the node (of the cluster) of the first; ``over``: nothing more of it is launched;
    ``room_made``: others gave up slots for it.
    """

    plan: StagePlan
    attempt: int
    job: int
    pool: str
    pending: list[int]
    row: int
    ready: set[int] = field(default_factory=set)
    tries: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    rates: dict[int, int] = field(default_factory=dict)
    slow: dict[int, int] = field(default_factory=dict)
    running: int = 0
    over: bool = False
    told: bool = False
    room_made: bool = False
    waits: Waits | None = None

    def __post_init__(self) -> None:
        self.pending = sorted(self.pending, reverse=True)
        self._queued = set(self.pending)

    @property
    def stage(self) -> int:
        """The number of its stage."""
        return self.plan.number

    @property
    def idle(self) -> bool:
        """Whether it has nothing to launch now."""
        return self.over or not (self.ready or self.slow)

    def add(self, partition: int) -> None:
        """A task is to be launched again, before those that never were."""
        if partition not in self._queued:
            self._queued.add(partition)
            self.pending.append(partition)

    def enter(self, partition: int) -> None:
        """A task can be launched: it arrived, or comes back."""
        self.ready.add(partition)
        self.add(partition)

    def drop(self, partition: int) -> None:
        """A task need not be launched: it is done."""
        self.slow.pop(partition, None)
        if partition in self._queued:
            self.claim(partition)

    def take(self, allows: Callable[[int], bool] | None = None) -> int | None:
        """The next partition to launch, of those that are allowed; None if there is none."""
        for partition in reversed(self.pending):
            if partition in self.ready and (allows is None or allows(partition)):
                self.claim(partition)
                return partition
        return None

    def claim(self, partition: int) -> None:
        """A partition is launched now."""
        place = next(at for at in range(len(self.pending) - 1, -1, -1) if self.pending[at] == partition)
        del self.pending[place]
        self._queued.discard(partition)
        self.ready.discard(partition)

    def launched(self, partition: int) -> int:
        """An attempt starts; its number."""
        number = self.tries.get(partition, 0)
        self.tries[partition] = number + 1
        self.copies[partition] = self.copies.get(partition, 0) + 1
        self.running += 1
        return number

    def stopped(self, partition: int) -> None:
        """An attempt is over."""
        self.running -= 1
        self.copies[partition] -= 1
        if not self.copies[partition]:
            del self.copies[partition]
