"""The tasks of one attempt of a stage: who is still to be launched, in which order, what ran and what failed.

The rules are those of Spark's ``TaskSetManager``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gnomon.control.batch.plan import StagePlan


@dataclass(eq=False)
class Tasks:
    """A task set, as :class:`gnomon.scheduling.pools.TaskSet` is ordered.

    ``pending``: partitions to launch, the next one last: those that failed go before those never tried; ``tries``,
    ``failures``: attempts, and those that count, by partition; ``copies``: attempts that run, by partition; ``over``:
    nothing more of it is launched (the stage has another attempt, or is not wanted).
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
    running: int = 0
    over: bool = False
    told: bool = False

    def __post_init__(self) -> None:
        self.pending = sorted(self.pending, reverse=True)

    @property
    def stage(self) -> int:
        """The number of its stage."""
        return self.plan.number

    @property
    def idle(self) -> bool:
        """Whether it has nothing to launch now."""
        return self.over or not self.pending or not self.ready

    def enter(self, partition: int) -> None:
        """A task can be launched: it arrived, or comes back."""
        self.ready.add(partition)
        if partition not in self.pending:
            self.pending.append(partition)

    def take(self) -> int | None:
        """The next partition to launch, None if there is none."""
        for place in range(len(self.pending) - 1, -1, -1):
            partition = self.pending[place]
            if partition in self.ready:
                del self.pending[place]
                self.ready.discard(partition)
                return partition
        return None

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
