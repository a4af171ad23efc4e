"""Advance reservations: nodes or cores that are kept for users or accounts from one time to another.

``job_test_resv`` and ``_select_nodes`` of ``src/slurmctld/reservation.c``; scontrol(1). Without MAINT and the like, a
job may start on reserved nodes if it ends, by its limit, before the reservation begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import MINUTE, Mask, Partition, State

FOREVER: Final = 365 * 24 * 60 * MINUTE


@dataclass(eq=False)
class Reservation:
    """One reservation. ``cores``: numbers of the cores kept on each node (empty: whole nodes); ``users`` and
    ``accounts`` empty: nobody but those named by the other; a name with ``-`` before it is kept out."""

    name: str
    start_ns: int
    end_ns: int
    nodes: Mask
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    partition: str = ""
    cores: dict[int, tuple[int, ...]] = field(default_factory=dict)
    licenses: dict[str, int] = field(default_factory=dict)
    failed: bool = False

    def admits(self, job: Job) -> bool:
        """Whether a job's user or account may use it."""

        def says(names: tuple[str, ...], name: str) -> bool:
            kept_out = [one[1:] for one in names if one.startswith("-")]
            return name not in kept_out if kept_out else name in names

        return says(self.users, job.user) if self.users else says(self.accounts, job.account)

    def is_on(self, when_ns: int) -> bool:
        """Whether jobs in it may run at a time; one that is flexible binds nobody to its own."""
        return "FLEX" in self.flags or self.start_ns <= when_ns < self.end_ns

    def overlooks(self, other: Reservation) -> bool:
        """Whether jobs in it may use nodes that another one has too."""
        mine = "MAINT" in self.flags or ("OVERLAP" in self.flags and not other.is_maintenance)
        return mine or bool(other.cores)

    @property
    def is_maintenance(self) -> bool:
        """Whether its nodes are taken for maintenance."""
        return "MAINT" in self.flags


@dataclass(slots=True)
class Verdict:
    """``usable``: the nodes that reservations leave to a job; ``occupancy``: what is taken, with the cores kept for
    others; ``reason``: why it may not run at all now; ``maintenance``: whether all nodes are kept from it (which Slurm
    calls maintenance, whatever it is for); ``later_ns``: when the next reservation in its way ends (0: none is)."""

    usable: Mask
    occupancy: Any
    reason: str = ""
    maintenance: bool = False
    later_ns: int = 0


def usable_nodes(state: State, job: Job, when_ns: int, minutes: int | None = None) -> Verdict:
    """What reservations leave to a job that would start at a time and run so long (None: by its time limit)."""
    if not state.reservations:
        return Verdict(np.ones(len(state.available), np.bool_), state.occupancy)
    partition = state.part(job)
    end_ns = when_ns + (state.planned_min(job, partition) if minutes is None else minutes) * MINUTE
    verdict = Verdict(np.ones(len(state.available), np.bool_), state.occupancy)
    own = state.reservations.get(job.request.reservation)
    if job.request.reservation:
        if own is None:
            verdict.reason = "ReservationDeleted"
            return verdict
        if not own.is_on(when_ns):
            verdict.reason, verdict.later_ns = "Reservation", own.start_ns
            return verdict
        if "ANY_NODES" not in own.flags and "FLEX" not in own.flags:
            verdict.usable &= own.nodes
    for other in state.reservations.values():
        if other is own or not (other.start_ns < end_ns and when_ns < other.end_ns):
            continue
        if own is not None:
            if not own.overlooks(other):
                verdict.usable &= ~other.nodes
        elif _takes_all(state, verdict, other, job, partition):
            break
        else:
            _keep_off(verdict, other, partition.nodes, whole=job.request.exclusive == "node")
    if own is not None and own.cores:
        rest = {n: tuple(c for c in range(state.selector.cores(n)) if c not in own.cores[n]) for n in own.cores}
        verdict.occupancy = _without(verdict.occupancy, rest)
    return verdict


def _takes_all(state: State, verdict: Verdict, other: Reservation, job: Job, partition: Partition) -> bool:
    """Whether a reservation keeps a job from all nodes: one of all nodes, or maintenance of all of its partition's; or
    one of nodes that it named."""
    whole = bool("ALL_NODES" in other.flags)
    whole |= "PART_NODES" in other.flags and other.partition == partition.name
    whole |= other.is_maintenance and not partition.nodes[~other.nodes].any()
    named = [state.node(name) for name in job.request.node_list]
    if not whole and (not other.nodes[named].any() or (other.cores and job.request.exclusive != "node")):
        return False
    verdict.usable[:] = False
    verdict.maintenance |= whole
    verdict.later_ns = other.end_ns
    return True


def _keep_off(verdict: Verdict, other: Reservation, mine: Mask, *, whole: bool) -> None:
    """Somebody else's reservation: its nodes or cores are not for the job. ``whole``: it wants no core of its nodes
    taken."""
    if not (other.nodes & mine).any():
        return
    verdict.later_ns = min(verdict.later_ns or other.end_ns, other.end_ns)
    if other.cores and not whole:
        verdict.occupancy = _without(verdict.occupancy, other.cores)
    else:
        verdict.usable &= ~other.nodes


def _without(occupancy: Any, cores: Mapping[int, Sequence[int]]) -> Any:
    """An occupancy in which some cores are taken."""
    other = occupancy.copy()
    other.hold(cores)
    return other


def next_change_ns(state: State) -> int:
    """When the next reservation begins or ends, 0: none does."""
    times = [t for one in state.reservations.values() for t in (one.start_ns, one.end_ns) if t > state.now_ns]
    return min(times, default=0)


def choose_nodes(state: State, pool: Mask, count: int) -> Mask:
    """The nodes of a reservation that asks for a number: idle ones first, in their order, lowest weight before."""
    busy = state.occupancy.busy_nodes()
    order = sorted(np.flatnonzero(pool).tolist(), key=lambda n: (bool(busy[n]), state.conf.nodes[n].weight, n))
    mask = np.zeros(len(pool), np.bool_)
    mask[order[:count]] = True
    return mask
