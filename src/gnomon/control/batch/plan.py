"""What the placer of bounded jobs is given: jobs and stages, rules, and what says how long attempts take.

Times are ns. A task is a row of the world's work: partition ``p`` of a stage is row ``first + p``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from gnomon.control.batch.rules import Rules
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Scenario
from gnomon.scheduling.pools import DEFAULT


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage: ``tasks`` alike ones, one a partition, from row ``first`` of the work on.

    - ``parents``: numbers of the stages whose output it reads; it starts when all of that is there.
    - ``writes``: its output stays where it was made, for others to fetch (not the last stage of a job).
    - ``deterministic``: a task run again gives the same records in the same order.
    - ``copies``: slow tasks may get a second copy.
    - ``attempts``: a task that failed so often fails the job (0: as the rules say).
    - ``overlaps_e4``: its tasks may start when so much of its parents is done (10,000: all), and then wait inside.
    """

    number: int
    name: str
    first: int
    tasks: int
    parents: tuple[int, ...] = ()
    writes: bool = False
    deterministic: bool = True
    barrier: bool = False
    copies: bool = True
    attempts: int = 0
    overlaps_e4: int = E4

    @property
    def overlaps(self) -> bool:
        """Whether its tasks may start before its parents are done."""
        return self.overlaps_e4 < E4


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job: what its ``result`` stage needs, in time. It is submitted at ``at_ns``, or so long after job ``after`` has
    ended; its stages are looked at ``setup_ns`` later; ``teardown_ns``: from the last task to its end."""

    number: int
    name: str
    result: int
    at_ns: int = 0
    after: int | None = None
    pool: str = DEFAULT
    setup_ns: int = 0
    teardown_ns: int = 0


@dataclass(frozen=True)
class BatchPlan:
    """All jobs of an application and their stages, by number."""

    jobs: Mapping[int, JobPlan]
    stages: Mapping[int, StagePlan]

    def ancestors(self, stage: int) -> list[int]:
        """A stage and all that it reads of, directly or not, parents first, by number."""
        seen: set[int] = set()
        todo = [stage]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += self.stages[one].parents
        return sorted(seen)

    def rows(self) -> Iterator[tuple[int, StagePlan, int]]:
        """Each row with its stage and partition."""
        for stage in self.stages.values():
            for partition in range(stage.tasks):
                yield stage.first + partition, stage, partition


@dataclass(frozen=True, slots=True)
class Where:
    """An attempt that is about to start: ``number`` counts the attempts of the task from 0, ``node`` is one of the
    cluster; ``level``: how near its input is (-1: it does not say)."""

    stage: StagePlan
    partition: int
    stage_attempt: int
    number: int
    node: int
    level: int = -1
    copy: bool = False

    @property
    def key(self) -> tuple[int, int, int, int]:
        """What tells it from all others: stage, partition, attempt of the stage, number."""
        return self.stage.number, self.partition, self.stage_attempt, self.number


@dataclass(frozen=True, slots=True)
class Course:
    """How an attempt goes. ``length_ns``: how long it takes at full speed (NEVER: until somebody says); ``fails``: what
    is said of an attempt that fails at its end, empty for one that succeeds; ``fatal``: trying again is of no use;
    ``reads_ns``: how long of that it still fetches what its stage reads; ``records``: how many it reads in all;
    ``writes``: bytes that it needs on its node's disk in the last ``writes_ns``, of which ``keeps`` stay for others;
    ``details``: what the log tells of its start."""

    length_ns: int = NEVER
    fails: str = ""
    fatal: bool = False
    reads_ns: int = 0
    records: int = 0
    writes: int = 0
    writes_ns: int = 0
    keeps: int = 0
    details: Mapping[str, int | str] = field(default_factory=dict)


class Execution(Protocol):
    """What attempts do, and how long that takes: a recorded run, or functions on records with a model of costs."""

    # What follows has an answer of its own for one that holds no state: inherit it.

    has_functions: bool = True
    """Whether functions of the user are in it, which no other process has."""

    def start(self, now: Callable[[], int]) -> Execution:
        """A run begins, whose time ``now`` tells: what holds its state. (A scenario may be run often.)"""
        return self

    def reach(self, node: int, up: bool) -> None:
        """Nobody can read from a node (of the cluster) from now on, or everybody can again."""
        return None

    def lacks(self, where: Where) -> Sequence[tuple[int, int]] | None:
        """The outputs (stage, partition) that an attempt still has to read and that are not there, or cannot be
        reached; None: it does not know what its attempts have read."""
        return None

    def progress_e4(self, where: Where, ran_ns: int, length_ns: int) -> int:
        """How far an attempt says that it is that has done ``ran_ns`` of ``length_ns``, at full speed."""
        return 0 if length_ns >= NEVER else ran_ns * E4 // max(length_ns, 1)

    def joined(self, stage: StagePlan) -> Mapping[int, int]:
        """A stage is submitted for the first time: its partitions whose work another one is to do as well, and which,
        now that it is known how large they are."""
        return {}

    # What follows has not.

    def prefers(self, stage: StagePlan, partition: int) -> Sequence[tuple[int, int]]:
        """The nodes (of the cluster) where the input of a task is, each with how near that is: 0 in the memory of the
        process there, 1 on the node."""
        ...

    def begin(self, where: Where) -> Course:
        """An attempt starts. One that overlaps with its parents is given an end by :meth:`resume`."""
        ...

    def resume(self, where: Where, ran_ns: int) -> Course:
        """How an attempt whose length was not known goes on, when all is there that it reads."""
        ...

    def done(self, where: Where) -> Mapping[str, int | str]:
        """An attempt is done, and is the one that counts. What the log tells of that."""
        ...

    def lost(self, stage: StagePlan, partition: int) -> None:
        """The output of a task is lost."""
        ...


@dataclass(frozen=True)
class Batch:
    """What a scenario of bounded jobs carries besides cluster and work."""

    plan: BatchPlan
    rules: Rules
    execution: Execution


@runtime_checkable
class Batched(Protocol):
    """What a system carries that has more than a :class:`Batch`."""

    @property
    def batch(self) -> Batch:
        """The jobs."""
        ...


def batch_of(scenario: Scenario) -> Batch | None:
    """The bounded jobs of a scenario; None where it has none."""
    native = scenario.native
    if isinstance(native, Batch):
        return native
    return native.batch if isinstance(native, Batched) and isinstance(native.batch, Batch) else None
