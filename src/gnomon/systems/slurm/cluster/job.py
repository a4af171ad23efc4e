"""A job as the controller knows it: what it asked for, where it stands, and what it had.

States and their names: ``src/common/slurm_protocol_defs.c`` (``job_state_string``). A pending job has a reason; a text
takes the reason's place where Slurm says more than a word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from gnomon.systems.slurm.sbatch.request import JobRequest

PENDING: Final = "PENDING"
RUNNING: Final = "RUNNING"
SUSPENDED: Final = "SUSPENDED"
COMPLETED: Final = "COMPLETED"
CANCELLED: Final = "CANCELLED"
FAILED: Final = "FAILED"
TIMEOUT: Final = "TIMEOUT"
NODE_FAIL: Final = "NODE_FAIL"
PREEMPTED: Final = "PREEMPTED"
DEADLINE: Final = "DEADLINE"
OUT_OF_MEMORY: Final = "OUT_OF_MEMORY"
BOOT_FAIL: Final = "BOOT_FAIL"
OVER: Final = frozenset(
    (COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL, PREEMPTED, DEADLINE, OUT_OF_MEMORY, BOOT_FAIL)
)

MAIN, BACKFILL = "main", "backfill"


@dataclass(slots=True)
class Stint:
    """One time that a job ran: from when to when (ns, -1 not ended), on which nodes, how it ended, started by which
    scheduler, and what it had."""

    start_ns: int
    end_ns: int
    state: str
    allocation: Any
    scheduler: str
    exit_code: str = "0:0"


@dataclass(slots=True, eq=False)
class Array:
    """What the tasks of a job array share: its id, how many may run at once, and those not yet split off."""

    id: int
    limit: int | None
    tasks: list[Job] = field(default_factory=list)

    @property
    def running(self) -> int:
        """How many of its tasks run now."""
        return sum(1 for job in self.tasks if job.state in (RUNNING, SUSPENDED))

    @property
    def unsplit(self) -> list[Job]:
        """Its tasks that have no record of their own yet, in order."""
        return [job for job in self.tasks if not job.split and job.state == PENDING]


@dataclass(slots=True, eq=False)
class HetJob:
    """What the components of a heterogeneous job share: its id."""

    id: int
    components: list[Job] = field(default_factory=list)


class Jobs(dict["Job", None]):
    """Jobs in the order in which they came. ``came``, ``gone``: since somebody last took note."""

    def __init__(self) -> None:
        super().__init__()
        self.came: list[Job] = []
        self.gone: list[Job] = []

    def append(self, job: Job) -> None:
        """One more."""
        self[job] = None
        self.came.append(job)

    def remove(self, job: Job) -> None:
        """One less."""
        del self[job]
        self.gone.append(job)


@dataclass(slots=True, eq=False)
class Job:
    """One job, task of an array, or component of a heterogeneous job.

    - ``task``: its number in the simulated work; ``id``: of its record (of a task not split off: that of the array).
    - ``partitions``: those that it may run in; ``partition``: the one looked at last, or that it has.
    - ``limit_min``: its time limit, None not said; ``reason``: why it waits, or why it ended so.
    - ``begin_ns``: not before; ``eligible_ns``: since when it could run; ``deadline_ns``: 0 none.
    - ``priority``: 0 is held; ``fixed``: set directly, so that the formula does not count.
    - ``allocation``: what it has or had last; ``end_ns``: when its limit ends, while it runs.
    - ``planned_ns``: when the backfill expects it to start (-1: it does not know).
    - ``configuring``: it has its nodes, and waits until they are switched on.
    """

    task: int
    request: JobRequest
    id: int = 0
    user: str = ""
    account: str = ""
    qos: str = ""
    partitions: tuple[str, ...] = ()
    partition: str = ""
    array: Array | None = None
    array_task: int = -1
    split: bool = True
    het: HetJob | None = None
    het_offset: int = 0
    state: str = PENDING
    reason: str = "None"
    exit_code: str = "0:0"
    submit_ns: int = 0
    begin_ns: int = 0
    eligible_ns: int = -1
    deadline_ns: int = 0
    limit_min: int | None = None
    priority: int = 0
    nice: int = 0
    fixed: bool = False
    by_partition: dict[str, int] = field(default_factory=dict)
    submitted_ns: int = 0
    dependencies: list[Any] = field(default_factory=list)
    never: bool = False
    start_ns: int = -1
    end_ns: int = -1
    ended_ns: int = -1
    allocation: Any = None
    scheduler: str = ""
    planned_ns: int = -1
    planned_nodes: tuple[int, ...] = ()
    preempting: bool = False
    preempted_ns: int = 0
    configuring: bool = False
    turn_ns: int = 0
    restarts: int = 0
    stints: list[Stint] = field(default_factory=list)
    demand: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """As it is shown: ``5``, ``5_1`` or ``5+1``."""
        if self.array is not None:
            return f"{self.array.id}_{self.array_task}"
        return f"{self.het.id}+{self.het_offset}" if self.het is not None else str(self.id)

    @property
    def order_id(self) -> int:
        """The id that orders jobs of equal priority: of an array's task that of the array."""
        return self.array.id if self.array is not None else self.id

    @property
    def shown_priority(self) -> int:
        """Its priority when it waited last."""
        return self.priority

    @property
    def pends(self) -> bool:
        """Whether it waits."""
        return self.state == PENDING

    @property
    def runs(self) -> bool:
        """Whether it has its resources."""
        return self.state in (RUNNING, SUSPENDED)
