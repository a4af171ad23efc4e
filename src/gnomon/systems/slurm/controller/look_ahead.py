"""When would a job start? ``sbatch --test-only``, and the start that squeue --start tells of (``job_start_data``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.lifecycle import new_id
from gnomon.systems.slurm.cluster.reservations import usable_nodes
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.controller.submitting import NOT_AVAILABLE, Reply
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.schedulers.choosing import (
    alternatives,
    demand_of,
    exceeds,
    expected_ends,
    possible_nodes,
    required_nodes,
)


def test_only(state: State, requests: Sequence[JobRequest]) -> Reply:
    """The answer to ``--test-only``: when, how many processors, which nodes, in which partition."""
    request = requests[0]
    names = request.partitions or tuple(p.name for p in state.partitions.values() if p.conf.default)[:1]
    job = Job(-1, request, user=request.user, partitions=names, submit_ns=state.now_ns, limit_min=request.time_min)
    best: tuple[int, str, Any] | None = None
    for name in names:
        if name not in state.partitions:
            continue
        job.partition = name
        found = expected(state, job)
        if found is not None and (best is None or found[0] < best[0]):
            best = found[0], name, found[1]
    if best is None:
        return Reply(f"allocation failure: {NOT_AVAILABLE}", 1)
    start_ns, partition, allocation = best
    where = compress(state.names(list(allocation.nodes)))
    text = (
        f"sbatch: Job {new_id(state)} to start at {shown(start_ns)} using {allocation.total_cpus} processors "
        f"on nodes {where} in partition {partition}"
    )
    return Reply(text, 0)


test_only.__test__ = False  # type: ignore[attr-defined]


def shown(time_ns: int) -> str:
    """A time as the recordings write it: seconds after their time 0."""
    return f"@{time_ns // SECOND:+d}s"


def expected(state: State, job: Job) -> tuple[int, Any] | None:
    """When a job could start if nobody else was before it, and with what; None: never."""
    partition = state.part(job)
    if exceeds(state, job, partition):
        return None
    verdict = usable_nodes(state, job, state.now_ns)
    usable = possible_nodes(state, job, partition) & state.up & verdict.usable
    required, demand = required_nodes(state, job), demand_of(state, job, partition)
    for feature in alternatives(state, job):
        found: tuple[int, Any] | None = state.selector.will_run(
            verdict.occupancy, demand, usable & feature, required, expected_ends(state), now=state.now_s
        )
        if found is not None:
            return found[0] * SECOND, found[1]
    return None
