"""How a cluster is run after placement: how use is enforced, silence noticed, nodes given up, decisions made.

Everything is off, or at once, unless it is said: a system's profile sets what its sheet says.
"""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.model.resources import NEVER


@dataclass(frozen=True, slots=True)
class Pressure:
    """What is done when a node has too little of ``resource`` ("memory", "disk") left.

    Looked at every ``check_ns`` (0: at the moment it happens); below ``below`` bytes left, one victim after the other
    goes, chosen by ``order`` (a name in :data:`gnomon.resources.victims.ORDERS`); each has ``grace_ns`` to end.
    The node takes no new work until ``calm_ns`` after the pressure has gone.
    """

    resource: str = "memory"
    below: int = 0
    check_ns: int = 0
    order: str = "over-request"
    grace_ns: int = 0
    calm_ns: int = 0


@dataclass(frozen=True, slots=True)
class Pauses:
    """A task pauses (collects garbage) the more, the fuller its memory is: not at all up to ``above_e4`` of its limit
    (of its request without one), for ``at_full_e4`` of its time when it is full, in proportion between."""

    above_e4: int = 8_000
    at_full_e4: int = 5_000


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What holds use to what was asked for.

    - ``cpu``: "shares" (who wants more than there is gets it by the weight of his request, what is unused is free to
      all), "pinned" (never more than the request), "none" (all share alike). ``quota``: limits of cpu cap as well.
    - ``memory``: "kill" (over its limit an attempt dies) or "none"; looked at every ``memory_check_ns`` (0: at once).
      More than the node has is always fatal for someone: ``pressures`` say for whom; without one, ``out_of_memory``.
    - ``out_of_memory``: the order of victims when a node's memory is used up.
    - ``disk_fails_below_e4``: an attempt whose disk throughput falls below this part of what it wants fails (0: never).
    - ``spill_rate``: bytes/s at which a full object store makes room on disk (0: it cannot, and whoever adds fails).
    """

    cpu: str = "shares"
    quota: bool = True
    memory: str = "kill"
    memory_check_ns: int = 0
    pressures: tuple[Pressure, ...] = ()
    out_of_memory: str = "oom-score"
    disk_fails_below_e4: int = 0
    spill_rate: int = 0
    pauses: Pauses | None = None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A node gives a sign of life every ``beat_ns``; the control plane looks every ``check_ns`` (0: all the time) and
    gives it up after more than ``grace_ns`` of silence. ``since``: silence counts from the last sign itself
    ("beat"), or from the look that first saw it ("seen"). ``lag``: a look knows the state of so many looks before."""

    beat_ns: int = 0
    check_ns: int = 0
    grace_ns: int = 0
    since: str = "beat"
    lag: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """The control plane asks a node every ``period_ns`` and waits ``timeout_ns`` for the answer; ``misses`` failures in
    a row, and it is given up. A node that is there but has no such process refuses at once, without the timeout."""

    period_ns: int
    timeout_ns: int = 0
    misses: int = 1


@dataclass(frozen=True, slots=True)
class Eviction:
    """How the tasks of a lost node are given up: ``after_ns`` after the loss was noticed, in each zone one node every
    ``every_ns`` (0: all at once).

    ``zone``: the label that tells zones apart (empty: one zone). When at least ``partial_e4`` of a zone, and more
    than ``partial_more`` nodes, are lost, the zone goes by ``partial_every_ns`` if it has more than ``large`` nodes,
    and stops if not (``partial_e4`` 0: no such rule). ``all_stop``: with every zone lost whole, the control plane takes
    itself for the one that is cut off and gives up nothing.
    """

    after_ns: int = 0
    every_ns: int = 0
    zone: str = ""
    partial_e4: int = 0
    partial_more: int = 2
    large: int = 50
    partial_every_ns: int = NEVER
    all_stop: bool = False


@dataclass(frozen=True, slots=True)
class Speculation:
    """Second copies of slow tasks: every ``check_ns``, when ``quantile_e4`` of a job's tasks are done, one that has run
    for more than ``multiplier_e4`` / 10,000 times their median (and at least ``least_ns``) gets a copy on another node
    that has room; the first result wins."""

    check_ns: int
    multiplier_e4: int = 15_000
    quantile_e4: int = 7_500
    least_ns: int = 0


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """Who decides: ``members`` that elect a leader by majority. Without one nothing is placed, noticed or given up.

    ``lease_ns``: how long after the last leader was lost the next one begins; ``step_down_ns``: how long a leader goes
    on that has lost the majority. ``quorum``: off, each member that is cut off leads its own side (a model of a
    control plane without consensus)."""

    members: int = 1
    lease_ns: int = 0
    step_down_ns: int = 0
    quorum: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """At most ``unavailable`` tasks of the job (``*``: of each job) may be away at a time for a drain's sake."""

    job: str
    unavailable: int


@dataclass(frozen=True, slots=True)
class Operation:
    """How the cluster is run.

    - ``detection``: how a silent node is noticed (at once, unless said); ``eviction``: what follows.
    - ``orphans``: what is done for tasks of a node that was given up: "replace" them at once, or "wait" until it is
      known that they have stopped: when the node is heard of again, they are stopped, and then replaced.
    - ``fence_ns``: a node that has heard nothing for so long stops its tasks itself (NEVER: it lets them run on).
    - ``message_ns``: how long a command takes to reach a node.
    """

    enforcement: Enforcement = Enforcement()
    detection: Heartbeat | Probe = Heartbeat()
    eviction: Eviction = Eviction()
    orphans: str = "replace"
    fence_ns: int = NEVER
    message_ns: int = 0
    speculation: Speculation | None = None
    control: ControlPlane = ControlPlane()
    budgets: tuple[Budget, ...] = ()
