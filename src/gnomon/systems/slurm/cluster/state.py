"""What slurmctld holds in memory: partitions, nodes, jobs, reservations, licences, and the time.

The parts of the controller are functions over this; what they want done in the world they ask of its :class:`World`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.cluster.ends import UNLIMITED, Ends
from gnomon.systems.slurm.cluster.job import Array, Job, Jobs
from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.notation.times import moment

Mask = npt.NDArray[np.bool_]
SECOND: Final = 10**9
MINUTE: Final = 60 * SECOND
YEAR_MIN: Final = 366 * 24 * 60
"""What backfill takes for no limit (``YEAR_MINUTES`` of backfill.c)."""


class World(Protocol):
    """What the controller has done for it: the machines, and the clock."""

    def at(self, time_ns: int, act: Callable[[], object]) -> int:
        """Do something at a time; a number to cancel it by."""
        ...

    def cancel(self, number: int) -> None:
        """Do it not."""
        ...

    def start(self, job: Job, cause: str) -> None:
        """A job begins on its nodes; ``end_ns`` and how it ends are worked out from its script and its limit."""
        ...

    def stop(self, job: Job, state: str) -> None:
        """A job that runs is over, in a state: its processes get their signals."""
        ...

    def wait(self, job: Job) -> None:
        """The reason of a pending job is another one."""
        ...

    def requeue(self, job: Job, state: str) -> None:
        """A job that runs is over, and goes back to the queue."""
        ...

    def drop(self, job: Job) -> None:
        """A pending job will never run."""
        ...

    def suspend(self, job: Job) -> None:
        """A running job stands still."""
        ...

    def resume(self, job: Job) -> None:
        """It goes on."""
        ...

    def relimit(self, job: Job) -> None:
        """The limit of a job that has nodes is another one."""
        ...


@dataclass(eq=False)
class Partition:
    """A partition as it is now. ``nodes``: which are in it; ``cpus``: how many they have, -1 not counted yet.
    ``failed``, ``cleared``: of the pass that goes on."""

    conf: PartitionConf
    nodes: Mask
    failed: bool = False
    cleared: bool = False
    cpus: int = -1

    @property
    def name(self) -> str:
        """Its name."""
        return self.conf.name

    @property
    def size(self) -> int:
        """How many nodes it has."""
        return int(self.nodes.sum())

    @property
    def up(self) -> bool:
        """Whether jobs in it start."""
        return self.conf.state in ("UP", "DRAIN")

    @property
    def takes_jobs(self) -> bool:
        """Whether it takes new ones."""
        return self.conf.state in ("UP", "DOWN")


@dataclass(eq=False)
class Licenses:
    """Tokens of the whole cluster: how many there are and how many are taken, by name."""

    total: dict[str, int]
    taken: dict[str, int] = field(default_factory=dict)

    def free(self, name: str) -> int:
        """How many are left."""
        return self.total.get(name, 0) - self.taken.get(name, 0)

    def have(self, job: Job) -> bool:
        """Whether there is enough for a job."""
        enough = (self.free(name) >= count for name, count in job.request.licenses)
        return any(enough) if job.request.licenses_any else all(enough)

    def take(self, job: Job, sign: int = 1) -> None:
        """A job starts (or, with -1, ends)."""
        for name, count in job.request.licenses:
            if job.request.licenses_any and sign > 0 and self.free(name) < count:
                continue
            self.taken[name] = self.taken.get(name, 0) + sign * count
            if job.request.licenses_any:
                return


@dataclass(eq=False)
class State:
    """Everything; times in ns. ``available``: nodes that are neither down nor drained, less what the pass that goes on
    has set aside; ``why_unavailable``: the reason of each node that is not; ``changed``: something has happened since
    backfill last looked; ``exclusive_users``: how many running jobs share nodes with their user's jobs only; ``power``:
    of nodes that are switched off when idle, None: none are."""

    conf: Conf
    world: World
    selector: Any
    occupancy: Any
    tree: Any
    usage: Any
    priorities: Any
    limits: Any
    partitions: dict[str, Partition]
    licenses: Licenses
    available: Mask
    down: dict[int, str] = field(default_factory=dict)
    drained: dict[int, str] = field(default_factory=dict)
    completing: dict[int, int] = field(default_factory=dict)
    reservations: dict[str, Any] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    arrays: dict[int, Array] = field(default_factory=dict)
    pending: Jobs = field(default_factory=Jobs)
    running: Jobs = field(default_factory=Jobs)
    line: Any = None
    ends: Ends = field(default_factory=Ends)
    now_ns: int = 0
    epoch: datetime = datetime(2026, 1, 1)
    next_id: int = 1
    changed: bool = True
    starts: int = 0
    exclusive_users: int = 0
    feature_masks: dict[str, list[Mask]] = field(default_factory=dict)
    power: Any = None

    @property
    def now_s(self) -> int:
        """The time as the daemon reads it, in whole seconds."""
        return self.now_ns // SECOND

    @property
    def up(self) -> Mask:
        """The nodes that are neither down nor drained."""
        mask = np.ones(len(self.conf.nodes), np.bool_)
        mask[[*self.down, *self.drained]] = False
        return mask

    @property
    def settled(self) -> Mask:
        """The nodes that no job's processes linger on."""
        mask = np.ones(len(self.conf.nodes), np.bool_)
        mask[list(self.completing)] = False
        return mask

    def moment_ns(self, text: str) -> int:
        """The time that a text means now (``now+1hour``, ``16:00``), in ns."""
        then = moment(text, self.epoch + timedelta(seconds=self.now_s))
        return int((then - self.epoch).total_seconds()) * SECOND

    def enforces(self, word: str) -> bool:
        """Whether AccountingStorageEnforce has a word, or one that implies it."""
        said = {one.strip().lower() for one in self.conf.text("accountingstorageenforce").split(",")}
        implied = {"associations": {"limits", "qos", "safe", "wckeys", "all"}, "limits": {"safe", "qos", "all"}}
        return word in said or bool(said & implied.get(word, {"all"}))

    def node(self, name: str) -> int:
        """The number of a node, -1 if there is none."""
        return self.numbers.get(name, -1)

    def __post_init__(self) -> None:
        self.numbers = {node.name: i for i, node in enumerate(self.conf.nodes)}
        self.known_features = frozenset(name for node in self.conf.nodes for name in node.features)

    def names(self, mask: Mask | list[int]) -> list[str]:
        """The names of nodes, by mask or by numbers."""
        numbers = np.flatnonzero(mask).tolist() if isinstance(mask, np.ndarray) and mask.dtype == bool else mask
        return [self.conf.nodes[int(n)].name for n in numbers]

    def set_end(self, job: Job, end_ns: int) -> None:
        """A running job's time is over at another time (0: never)."""
        job.end_ns = end_ns
        if job in self.running:
            self.ends.enter(job, end_ns // SECOND if end_ns else UNLIMITED)

    def say(self, job: Job, reason: str) -> None:
        """A pending job waits for another reason; the tasks of an array without a record of their own share it."""
        shared = [job] if job.split or job.array is None else job.array.unsplit
        for one in shared:
            if one.reason != reason:
                one.reason = reason
                self.world.wait(one)

    def part(self, job: Job) -> Partition:
        """The partition that a job was looked at for last."""
        return self.partitions[job.partition]

    def limit_min(self, job: Job, partition: Partition) -> int | None:
        """The time limit that counts for a job in a partition, None: none."""
        if job.limit_min is not None:
            return None if job.limit_min < 0 else job.limit_min
        default = partition.conf.default_time_min
        return default if default is not None else partition.conf.max_time_min

    def planned_min(self, job: Job, partition: Partition) -> int:
        """How long backfill and reservations take a job to run, in minutes."""
        limit, most = self.limit_min(job, partition), partition.conf.max_time_min
        if limit is None:
            return YEAR_MIN if most is None else most
        return limit if most is None else min(limit, most)


def is_for_one_user(job: Job, partition: Partition) -> bool:
    """Whether a job shares its nodes with jobs of its user only (--exclusive=user, ExclusiveUser)."""
    return job.request.exclusive == "user" or partition.conf.exclusive_user
