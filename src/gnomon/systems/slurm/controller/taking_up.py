"""The jobs and reservations of a snapshot, taken up by a controller: who runs has its nodes, who waits is as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import MAIN, Job
from gnomon.systems.slurm.cluster.reservations import Reservation
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND, State
from gnomon.systems.slurm.inputs.present import WAITING, Present
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.read.asked import gres_of
from gnomon.systems.slurm.read.jobs import SeenJob
from gnomon.systems.slurm.read.nodes import SeenReservation
from gnomon.systems.slurm.read.words import NO_TIME
from gnomon.systems.slurm.sbatch.dependencies import dependencies
from gnomon.systems.slurm.sbatch.refusals import RefusedError
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.schedulers.choosing import demand_of
from gnomon.systems.slurm.schedulers.eligible import Condition


def set_up(job: Job, then: Present) -> None:
    """A job that has just been submitted anew is made what it was: since when it waits, at which priority, why."""
    seen = then.seen
    job.submit_ns = job.submitted_ns = then.submit_ns
    if then.eligible_ns is not None:
        if then.eligible_ns > 0:
            job.begin_ns = then.eligible_ns
        else:
            job.eligible_ns = then.eligible_ns
    job.dependencies = list(_conditions(seen))
    job.request = replace(job.request, any_dependency="?" in seen.dependency)
    if seen.state in WAITING:
        job.priority = job.priority if seen.priority is None else seen.priority
        job.by_partition = {}
        job.reason = seen.reason


def _conditions(seen: SeenJob) -> Iterator[Condition]:
    """What it depends on; a condition that can never be met stays one."""
    for part in re.split("[,?]", seen.dependency):
        try:
            found, _ = dependencies(part)
        except RefusedError as error:
            raise InputError("not a dependency", field=f"job {seen.shown}", found=part) from error
        for what in found:
            yield Condition(what, never=part.endswith("(failed)"))


def take_up(state: State, job: Job, then: Present) -> str:
    """A running job gets its nodes again; what is wrong with that, if they cannot be what was told, else ""."""
    seen = then.seen
    if seen.partitions and seen.partitions[0] in state.partitions:
        job.partition = seen.partitions[0]
    numbers = [state.node(name) for name in expand(seen.nodes)]
    if not numbers or min(numbers) < 0:
        return f"job {seen.shown} runs on nodes that are not there: it waits"
    mask = np.zeros(len(state.conf.nodes), np.bool_)
    mask[numbers] = True
    allocation = _allocation(state, job, mask, seen)
    if allocation is None:
        return f"job {seen.shown} does not fit on {seen.nodes} by the model: it waits"
    now, limit = state.now_ns, state.limit_min(job, state.part(job))
    start = now if then.start_ns is None else min(then.start_ns, now)
    if limit is not None:
        start = max(start, now - limit * MINUTE + SECOND)  # one that is past its limit ends at the next check
    state.now_ns = start
    try:
        lifecycle.start(state, job, allocation, MAIN)
    finally:
        state.now_ns = now
    job.turn_ns = start
    if seen.state == "SUSPENDED":
        lifecycle.suspend(state, job)
    return ""


def _allocation(state: State, job: Job, mask: Any, seen: SeenJob) -> Any:
    """What a job has on exactly these nodes: by what it asked for, else by the CPUs and the memory that it has."""
    partition = state.part(job)
    found = state.selector.select(state.occupancy, demand_of(state, job, partition), mask, mask)
    if found is not None and set(found.nodes) == set(np.flatnonzero(mask).tolist()):
        return found
    count = int(mask.sum())
    cpus = seen.held.get("cpu") or seen.num_cpus or count
    request = JobRequest(
        nodes_min=count,
        nodes_max=count,
        tasks=max(cpus, count),
        cpus_min=max(cpus, count),
        mem_per_node_mb=seen.held.get("mem", 0) // count or None,
        gres=gres_of(seen.held, count),
    )
    return state.selector.select(state.occupancy, state.selector.demand_of(request, partition.conf), mask, mask)


def usage_as_told(state: State, usage: Mapping[tuple[str, str, str], float]) -> None:
    """The usage of associations as sshare told it, which has what running jobs used so far in it."""
    state.usage.period(state.now_s)
    if usage:
        state.usage.raw[:] = 0.0
        state.usage.set_raw(usage)


def arrange(state: State, reservations: Sequence[SeenReservation]) -> None:
    """The reservations that there are; one of some cores of its nodes keeps the nodes."""
    epoch_s = int((state.epoch - datetime(1970, 1, 1)).total_seconds())
    for one in reservations:
        mask = np.zeros(len(state.conf.nodes), np.bool_)
        mask[[number for name in expand(one.nodes) if (number := state.node(name)) >= 0]] = True
        state.reservations[one.name] = Reservation(
            one.name,
            (one.start_s - epoch_s) * SECOND,
            (one.end_s - epoch_s) * SECOND if one.end_s != NO_TIME else NEVER,
            mask,
            users=one.users,
            accounts=one.accounts,
            flags=one.flags,
            partition=one.partition,
        )
