"""Advance reservations: nodes or cores that are kept for users or accounts from one time to another.

``job_test_resv`` and ``_select_nodes`` of ``src/slurmctld/reservation.c``; scontrol(1). Without MAINT and the like, a
job may start on reserved nodes if it ends, by its limit, before the reservation begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gnomon.systems.slurm.job import Job
from gnomon.systems.slurm.state import MINUTE, Mask, State

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

    @property
    def is_maintenance(self) -> bool:
        """Whether its nodes are taken for maintenance."""
        return "MAINT" in self.flags


@dataclass(slots=True)
class Verdict:
    """``usable``: the nodes that reservations leave to a job; ``occupancy``: what is taken, with the cores kept for
    others; ``reason``: why it may not run at all now; ``maintenance``: whether maintenance takes some of its nodes;
    ``later_ns``: when the next reservation in its way ends (0: none is)."""

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
        if not own.start_ns <= when_ns < own.end_ns:
            verdict.reason, verdict.later_ns = "Reservation", own.start_ns
            return verdict
        if "ANY_NODES" not in own.flags and "FLEX" not in own.flags:
            verdict.usable &= own.nodes
    for other in state.reservations.values():
        if other is own or not (other.start_ns < end_ns and when_ns < other.end_ns):
            continue
        _keep_off(state, verdict, other, partition.nodes)
    if own is not None and own.cores:
        rest = {n: tuple(c for c in range(state.selector.cores(n)) if c not in own.cores[n]) for n in own.cores}
        verdict.occupancy = _without(verdict.occupancy, rest)
    return verdict


def _keep_off(state: State, verdict: Verdict, other: Reservation, mine: Mask) -> None:
    """Somebody else's reservation: its nodes or cores are not for the job."""
    if not (other.nodes & mine).any():
        return
    verdict.later_ns = min(verdict.later_ns or other.end_ns, other.end_ns)
    verdict.maintenance |= other.is_maintenance
    if other.cores:
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
