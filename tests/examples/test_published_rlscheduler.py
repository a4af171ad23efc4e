"""RLScheduler's scheduler: every start against a reference of the written rules, then the published table."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import published_rlscheduler as published
from gnomon.api import Cluster, Resources, Scenario, Shape, Task, Work, simulate
from tests.shared import SHARED, needs_shared

S = 10**9
PROCESSORS = 8
LOGS = {"lublin-1": "lublin-model/lublin_256.swf.gz", "sdsc-sp2": "pwa/SDSC-SP2-1998-4.2-cln.swf.gz"}


@dataclass
class Job:
    submit: int
    run: int
    size: int
    estimate: int
    start: int = -1


SCORES: dict[str, Callable[[Job], tuple[float, ...]]] = {
    "FCFS": lambda job: (job.submit,),
    "SJF": lambda job: (job.estimate, job.submit),
    "F1": lambda job: (math.log10(job.estimate) * job.size + 870 * math.log10(job.submit),),
}


def reference(jobs: list[Job], score: Callable[[Job], tuple[float, ...]], *, backfill: bool) -> None:
    """Set the starts. ``jobs`` are in the order of submission."""
    coming, queue, running, now = list(jobs), list[Job](), list[Job](), 0

    def free() -> int:
        return PROCESSORS - sum(job.size for job in running)

    def next_event() -> None:
        nonlocal now
        ends = [job.start + job.run for job in running]
        if coming and (not ends or coming[0].submit <= min(ends)):
            queue.append(coming.pop(0))
            now = queue[-1].submit
        else:
            now = min(ends)
            running.pop(ends.index(now))

    def begin(job: Job) -> None:
        job.start = now
        queue.remove(job)
        running.append(job)

    while coming or queue:
        if not queue:
            next_event()
            continue
        chosen = min(queue, key=score)
        deadline, room = math.inf, free()
        for job in sorted(running, key=lambda job: job.start + job.estimate):
            if room < chosen.size:
                room += job.size
                deadline = job.start + job.estimate
        while free() < chosen.size:
            for job in [job for job in queue if backfill and job is not chosen]:
                if job.size <= free() and now + job.estimate < deadline:
                    begin(job)
            next_event()
        begin(chosen)


def work_of(jobs: list[Job]) -> Work:
    tasks = [
        Task(
            str(number),
            Shape(Resources(cpu_milli=1000 * job.size)),
            submit_ns=job.submit * S,
            duration_ns=job.run * S,
            estimate_ns=job.estimate * S,
        )
        for number, job in enumerate(jobs)
    ]
    return Work.from_tasks(tasks)


some_jobs = st.lists(
    st.builds(Job, st.integers(1, 40), st.integers(1, 12), st.integers(1, PROCESSORS), st.integers(1, 12)),
    min_size=1,
    max_size=25,
)


@pytest.mark.property
@pytest.mark.parametrize("backfill", [False, True])
@pytest.mark.parametrize("name", list(SCORES))
@given(jobs=some_jobs)
def test_every_start_is_that_of_the_written_rules(name: str, backfill: bool, jobs: list[Job]) -> None:
    jobs.sort(key=lambda job: job.submit)
    reference(jobs, SCORES[name], backfill=backfill)
    policy = published.policy(name, backfill=backfill)
    scenario = Scenario(Cluster.of_processors(PROCESSORS), work_of(jobs), policy, kill_at_limit=False)
    run = simulate(scenario, invariants=True)
    assert (run.outcome.start_ns // S).tolist() == [job.start for job in jobs]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("log", list(LOGS))
def test_the_published_table_and_every_window(log: str) -> None:
    assert SHARED
    work = published.jobs(str(SHARED / "traces" / LOGS[log]))
    with (SHARED / "traces" / "rlscheduler-windows" / f"{log}.csv").open() as lines:
        rows = {(row["policy"], bool(int(row["backfill"])), int(row["window"])): row for row in csv.DictReader(lines)}
    for name, table in published.PUBLISHED[work.processors or 0].items():
        for backfill in (False, True):
            slowdowns = []
            for window, run in enumerate(published.windows(work, published.policy(name, backfill=backfill))):
                row, metrics = rows[name, backfill, window], run.metrics()
                assert run.scenario.work.id(0) == row["first_job_id"]
                assert metrics["wait_s"]["mean"] == pytest.approx(float(row["avg_wait_s"]), abs=6e-4)
                slowdowns.append(metrics["bounded_slowdown"]["mean"])
                assert slowdowns[-1] == pytest.approx(float(row["avg_bounded_slowdown"]), abs=6e-7)
            assert round(float(np.mean(slowdowns)), 2) == table[backfill]
