"""The components of a heterogeneous job start together (``_het_job_start_now`` of ``sched/backfill/backfill.c``)."""

from __future__ import annotations

import numpy as np

from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import BACKFILL
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.schedulers.choosing import Code, choose


def start_het_jobs(state: State) -> int:
    """Start those whose components were all found nodes for now, no two on one node; how many components that were."""
    seen: set[int] = set()
    starts = 0
    for job in list(state.pending):
        if job.het is None or job.het.id in seen:
            continue
        seen.add(job.het.id)
        parts = job.het.components
        if not all(one.pends and 0 <= one.planned_ns <= state.now_ns for one in parts):
            continue
        others, found = np.ones(len(state.conf.nodes), np.bool_), []
        for one in parts:
            outcome = choose(state, one, usable=others)
            if outcome.code is not Code.OK or outcome.victims:
                break
            others[list(outcome.allocation.nodes)] = False
            found.append(outcome.allocation)
        if len(found) == len(parts):
            for one, allocation in zip(parts, found, strict=True):
                lifecycle.start(state, one, allocation, BACKFILL)
            starts += len(parts)
    return starts
