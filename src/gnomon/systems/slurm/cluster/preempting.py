"""Who gives way to whom, and how: preempt/qos and preempt/partition_prio.

Sources: ``src/plugins/preempt``, ``src/slurmctld/preempt.c``, ``_run_now`` of ``cons_tres/job_test.c``, of Slurm 22.05
to 25.05. Candidates are ordered by the priority of their QOS (or the tier of their partition), smaller jobs first.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gnomon.systems.slurm.accounting.accounts import Qos
from gnomon.systems.slurm.cluster.job import RUNNING, Job
from gnomon.systems.slurm.cluster.state import SECOND, Mask, Partition, State

MOST_NODES: Final = 65535
Entry = tuple[Job, Partition]


def is_on(state: State) -> bool:
    """Whether jobs give way at all."""
    return kind(state) != "none" and "OFF" not in cluster_modes(state)


def kind(state: State) -> str:
    """``qos``, ``partition_prio`` or ``none``."""
    return state.conf.text("preempttype").rpartition("/")[2] or "none"


def qos_of(state: State, job: Job) -> Qos:
    """The QOS of a job."""
    entry = state.tree.qos.get(job.qos)
    return entry.record if entry is not None else Qos(job.qos)


def cluster_modes(state: State) -> set[str]:
    """PreemptMode of the cluster, its words in upper case."""
    return {word.strip().upper() for word in (state.conf.text("preemptmode") or "OFF").split(",")}


def mode_of(state: State, job: Job) -> str:
    """How a job gives way: as its QOS says, else its partition, else the cluster."""
    said = ""
    if kind(state) == "qos":
        said = qos_of(state, job).preempt_mode.upper()
    elif kind(state) == "partition_prio":
        said = state.part(job).conf.preempt_mode.upper()
    modes = {said} if said and said != "CLUSTER" else cluster_modes(state) - {"GANG", "WITHIN"}
    mode = next((one for one in ("SUSPEND", "REQUEUE", "CANCEL") if one in modes), "OFF")
    requeues = state.conf.flag("jobrequeue") if job.request.requeue is None else job.request.requeue
    return "CANCEL" if mode == "REQUEUE" and not requeues else mode


def gives_way(state: State, job: Job) -> bool:
    """Whether a job is sent away at all for the sake of others."""
    return is_on(state) and mode_of(state, job) != "OFF"


def may_take(state: State, job: Job, other: Job) -> bool:
    """Whether a job may have another sent away, apart from how long that has run."""
    return may_take_in(state, (job, state.part(job)), (other, state.part(other)))


def may_take_in(state: State, mine: Entry, theirs: Entry) -> bool:
    """The same of two jobs, each in a partition."""
    (job, here), (other, there) = mine, theirs
    if kind(state) == "qos":
        own, others = qos_of(state, job), qos_of(state, other)
        within = job.qos == other.qos and "WITHIN" in cluster_modes(state) and job.priority > other.priority
        return others.name in own.preempt or within
    if kind(state) == "partition_prio":
        return here.conf.priority_tier > there.conf.priority_tier
    return False


def exempt_s(state: State, job: Job) -> int:
    """How long a job runs before it has to give way (PreemptExemptTime)."""
    own = qos_of(state, job).exempt_s
    if own is not None and own >= 0:
        return int(own)
    return max(0, state.conf.seconds("preemptexempttime") or 0)


def grace_s(state: State, job: Job) -> int:
    """How long a job may run on after it was told (GraceTime)."""
    if kind(state) == "qos":
        return qos_of(state, job).grace_s
    return state.part(job).conf.grace_s


def is_at_work(state: State, job: Job) -> bool:
    """Whether others are still on their way out for the sake of a job: for a while after the first of them was told
    (KillWait and MessageTimeout), nobody else is."""
    patience_s = (state.conf.seconds("killwait") or 30) + (state.conf.seconds("messagetimeout") or 10)
    return bool(job.preempted_ns) and job.preempted_ns > state.now_ns - patience_s * SECOND


def candidates(state: State, job: Job) -> list[Job]:
    """Who could give way, in the order in which they are tried."""
    found = [other for other in state.running if other.state == RUNNING and _gives_way(state, job, other)]
    found.sort(key=lambda other: other.id)  # as the list of all jobs has them
    if "youngest_first" in {name.removeprefix("preempt_") for name in state.conf.scheduler}:
        return sorted(found, key=lambda other: -other.start_ns)
    return sorted(found, key=lambda other: _rank(state, other))


def _gives_way(state: State, job: Job, other: Job) -> bool:
    if not may_take(state, job, other) or mode_of(state, other) == "OFF" or other.preempting:
        return False
    return state.now_ns - other.start_ns >= exempt_s(state, other) * SECOND


def _rank(state: State, other: Job) -> tuple[int, int]:
    if kind(state) == "qos":
        priority = qos_of(state, other).priority
    else:
        priority = state.part(other).conf.priority_tier
    return priority, min(len(other.allocation.nodes), MOST_NODES)


def make_room(
    state: State, job: Job, demand: Any, usable: Mask, required: Mask, occupancy: Any
) -> tuple[Any, tuple[Job, ...]] | None:
    """The allocation that a job would have if others gave way, and who has to; None: nobody may, or it is no use."""
    if not is_on(state):
        return None
    line = candidates(state, job)
    strict = "preempt_strict_order" in state.conf.scheduler
    again = int(state.conf.scheduler.get("preempt_reorder_count") or 1)
    for tried in range(1, len(line) + 1):
        found = _removed(state, line, demand, usable, required, occupancy)
        if found is None:
            return None
        allocation, gone = found
        if tried > again + 1 or len(line) <= tried:
            break
        line = _reordered(line, allocation, gone, strict=strict)
    else:
        return None
    taken = np.zeros(len(usable), np.bool_)
    taken[list(allocation.nodes)] = True
    return allocation, tuple(other for other in gone if taken[list(other.allocation.nodes)].any())


def _removed(
    state: State, line: list[Job], demand: Any, usable: Mask, required: Mask, occupancy: Any
) -> tuple[Any, list[Job]] | None:
    """What a job gets when those in line go one after the other, and who they are then; None: nothing whoever goes."""
    trial, gone = occupancy.copy(), []
    for other in line:
        if not usable[list(other.allocation.nodes)].any():
            continue
        if mode_of(state, other) == "SUSPEND":
            trial.suspend(other.allocation)
        else:
            trial.give(other.allocation)
        gone.append(other)
        allocation = state.selector.select(trial, demand, usable, required)
        if allocation is not None:
            return allocation, gone
    return None


def _reordered(line: list[Job], allocation: Any, gone: list[Job], *, strict: bool) -> list[Job]:
    """Who made room last is asked first, then who is on most of the nodes: fewer may do."""
    last = gone[-1]
    if strict:
        return [last, *(other for other in line if other is not last)]
    before = line[: line.index(last)]
    nodes = set(allocation.nodes)
    shared = {id(other): len(nodes.intersection(other.allocation.nodes)) for other in before}
    return [last, *sorted((other for other in line if other is not last), key=lambda other: -shared.get(id(other), 0))]
