"""Spark's event logs, and jobs in Python, as scenarios: a cluster of executors, and a task for every partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.control.batch.plan import Batch, BatchPlan, Execution
from gnomon.control.batch.rules import Rules
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note, Shape, Work


def slots(number: int) -> Cluster:
    """So many slots on one executor, as the master ``local[number]`` has them."""
    return Cluster((Node("driver", Resources(cpu_milli=1000 * number)),))


def work_of(plan: BatchPlan, *, task_cpus: int = 1, notes: Sequence[Note] = (), source: str = "") -> Work:
    """A row for every partition of every stage."""
    rows = list(plan.rows())
    job_of: dict[int, int] = {}
    for number, job in sorted(plan.jobs.items()):
        for stage in plan.ancestors(job.result):
            job_of.setdefault(stage, number)
    jobs = tuple(f"job {number}" for number in sorted(plan.jobs))
    place = {number: at for at, number in enumerate(sorted(plan.jobs))}
    pools = tuple(sorted({job.pool for job in plan.jobs.values()})) or ("",)
    job_at = np.array([place[job_of[stage.number]] for _, stage, _ in rows], np.int64)
    pool_of = np.array([pools.index(plan.jobs[number].pool) for number in sorted(plan.jobs)], np.int64)
    count = len(rows)
    never, zero = np.full(count, NEVER), np.zeros(count, np.int64)
    return Work(
        ids=[f"{stage.number}.{partition}" for _, stage, partition in rows],
        shapes=(Shape(Resources(cpu_milli=1000 * task_cpus)),),
        shape=zero,
        submit_ns=never,
        duration_ns=never.copy(),
        estimate_ns=never.copy(),
        users=("",),
        user=zero.copy(),
        queues=pools,
        queue=pool_of[job_at] if count else zero.copy(),
        priority=zero.copy(),
        deadline_ns=never.copy(),
        job=job_at,
        jobs=jobs,
        recorded_wait_ns=np.full(count, -1, np.int64),
        usable=np.ones(count, np.bool_),
        notes=tuple(notes),
        source=source,
    )


def scenario_of(
    plan: BatchPlan, rules: Rules, execution: Execution, cluster: Cluster, *, work: Work, seed: int = 0
) -> Scenario:
    """The scenario in which the shared world runs jobs by Spark's rules."""
    return Scenario(
        cluster=cluster,
        work=work,
        system="spark",
        seed=seed,
        gang=False,
        kill_at_limit=False,
        native=Batch(plan, rules, execution),
    )
