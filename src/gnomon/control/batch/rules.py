"""How task sets are offered slots, and what follows failures: all that differs between engines of bounded jobs.

Times are ns. What is not said is off, or takes no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.dataflow.fetching import FetchLimits, Penalties
from gnomon.model.resources import E4, NEVER
from gnomon.recovery.speculation import Gains, SlowTasks
from gnomon.scheduling.pools import FIFO, Pool

STAYS, FAILS, AGAIN, RECOVERS = "stays", "fails", "again", "recovers"
"""What becomes of jobs when whoever drives them is lost: they go on when it is back; they fail; all is done again; what
is done is kept, and the rest is done."""


@dataclass(frozen=True, slots=True)
class LocalityRule:
    """How long a task set waits for slots nearer to its input before it takes those of the next level: in a process,
    on a node, on a rack. ``host``, ``rack``: the labels of nodes that say where they are (one without is its own)."""

    process_ns: int = 0
    node_ns: int = 0
    rack_ns: int = 0
    host: str = "host"
    rack: str = "rack"
    offers_ns: int = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ExclusionRule:
    """Nodes that are not used after failures: for a task after ``task_node`` failures of it there (``task_host``: on
    nodes of a host), for a task set after ``set_node`` different tasks failed there (``set_host``: after so many nodes
    of the host are excluded), for all after ``all_node`` and ``all_host``, for ``timeout_ns``."""

    task_node: int = 1
    task_host: int = 2
    set_node: int = 2
    set_host: int = 2
    all_node: int = 2
    all_host: int = 2
    timeout_ns: int = 3_600_000_000_000
    unschedulable_ns: int = 120_000_000_000


@dataclass(frozen=True, slots=True)
class NodeRule:
    """When a job uses a node no more: ``failures`` of its attempts there; and when that is not heeded any more: so many
    of all nodes (1/10,000) would be left out."""

    failures: int = 3
    ignored_e4: int = 3_300


@dataclass(frozen=True, slots=True)
class AllocationRule:
    """Nodes that come and go with the work: between ``least`` and ``most``, ``initial`` at the beginning.

    When tasks have waited for ``backlog_ns`` one is asked for, then every ``sustained_ns`` twice as many as before, to
    ``ratio_e4`` of what all tasks need at most; one that had nothing to do for ``idle_ns`` goes, and one that holds
    output after ``outputs_ns`` (if that is looked at: ``keeps_outputs``). ``start_ns``: from asking until it is there.
    """

    least: int = 0
    initial: int = 0
    most: int = NEVER
    backlog_ns: int = 1_000_000_000
    sustained_ns: int = 1_000_000_000
    idle_ns: int = 60_000_000_000
    ratio_e4: int = E4
    keeps_outputs: bool = True
    outputs_ns: int = NEVER
    start_ns: int = 0


@dataclass(frozen=True, slots=True)
class ReportRule:
    """What readers of a silent node do, where they wait inside: each tries to connect for ``connect_ns``, tells of the
    failure, leaves the node alone for a penalty, and tries again; ``limits`` say how many reports fail an output."""

    connect_ns: int = 180_000_000_000
    penalties: Penalties = field(default_factory=Penalties)
    limits: FetchLimits = field(default_factory=FetchLimits)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules.

    - ``mode``, ``pools``: the order between task sets (:mod:`gnomon.scheduling.pools`).
    - ``result_ns``: from the end of a task, when its slot is free, until it is known to be done;
      ``stage_ns``: from then until the tasks of a stage that waited for it can be launched.
    - ``max_failures``: a task that failed so often in one task set fails its job.
    - ``max_stage_attempts``: so many attempts in a row of a stage that could not fetch what they read fail the job;
      ``resubmit_ns``: how long such stages wait to be submitted again.
    - ``fetch_fails_ns``: how long a reader tries to reach a node that is gone before it gives up; ``absent_ns``: where
      it is known already that what it wants is not there.
    - ``early_e4``: tasks that overlap with their parents come first, but hold no more slots than
      :func:`gnomon.scheduling.rampup.early_tasks` says with this limit (None: they come in their turn, and hold any).
    - ``room_e4``: when tasks that wait inside hold all slots that others need for them, so many of all slots are made
      free at most (and one at least).
    - ``by_beat``: slots are given when their node tells that it lives: a silent one has none to give.
    - ``outputs_survive``: outputs are served by somebody else when the node that made them is lost; ``eager``: what is
      lost of them is made again at once, not when a reader fails.
    - ``disk_full``: what an attempt says that finds its node's disk full; ``frees_disks``: what a job left on disks for
      its own tasks is removed when it ends.
    - ``driver``: what follows when the driver is lost (:data:`STAYS`, ...); ``driver_attempts``: how often it is
      started in all.
    """

    mode: str = FIFO
    pools: Mapping[str, Pool] = field(default_factory=dict)
    result_ns: int = 0
    stage_ns: int = 0
    max_failures: int = 4
    max_stage_attempts: int = 4
    resubmit_ns: int = 200_000_000
    fetch_fails_ns: int = 15_000_000_000
    absent_ns: int = 1_000_000
    by_beat: bool = False
    early_e4: int | None = None
    room_e4: int = 0
    outputs_survive: bool = False
    eager: bool = False
    disk_full: str = "no space left"
    frees_disks: bool = False
    driver: str = STAYS
    driver_attempts: int = 2
    locality: LocalityRule | None = None
    copies: SlowTasks | Gains | None = None
    exclusion: ExclusionRule | NodeRule | None = None
    allocation: AllocationRule | None = None
    reports: ReportRule | None = None
