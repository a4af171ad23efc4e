"""FIFO and backfilling of whole logs: every start against a reference of the written rules, then the figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import published_whole_logs as published
from gnomon.api import Cluster, Resources, Scenario, Shape, Task, Work, parse_policy, simulate
from tests.shared import SHARED, needs_shared

S = 10**9
PROCESSORS = 8
LOGS = {128: "SDSC-SP2-1998-4.2-cln.swf.gz", 240: "HPC2N-2002-2.2-cln.swf.gz"}


@dataclass
class Job:
    submit: int
    run: int
    size: int
    estimate: int
    start: int = -1

    @property
    def end(self) -> int:
        return self.start + self.run


def reference(jobs: list[Job], name: str) -> None:
    """Set the starts: at each time completions, submissions, then one pass over the queue."""
    sign = {"SJF (A)": 1, "LJF (A)": -1}.get(name, 0)
    order, now = sorted(jobs, key=lambda job: (sign * job.estimate, job.submit)), 0
    while any(job.start < 0 for job in jobs):
        running = [job for job in jobs if job.start >= 0 and job.end > now]
        queue = [job for job in order if job.submit <= now and job.start < 0]
        begun = pass_of_slots(running, queue, now) if name == "Conservative" else one_pass(running, queue, now, name)
        for job in begun:
            job.start = now
        now = min([job.submit for job in jobs if job.submit > now] + [job.end for job in running + begun])


def one_pass(running: list[Job], queue: list[Job], now: int, name: str) -> list[Job]:
    """Who starts now, with one reservation at most."""
    free = PROCESSORS - sum(job.size for job in running)
    begun: list[Job] = []
    reservation: float = math.inf
    if not (name.endswith("(A)") and queue and queue[0].size <= free):
        while queue and queue[0].size <= free:
            free -= queue[0].size
            begun.append(queue.pop(0))
        ends = [(job.end, job.size) for job in running] + [(now + job.run, job.size) for job in begun]
        room = free
        for end, size in sorted(ends):
            if queue and room < queue[0].size:
                room += size
                reservation = end
        queue = queue[1:]
    for job in queue if name != "FIFO" else []:
        length = job.run if name == "EASY (B)" else job.estimate
        if job.size <= free and now + length <= reservation:
            free -= job.size
            begun.append(job)
    return begun


def pass_of_slots(running: list[Job], queue: list[Job], now: int) -> list[Job]:
    """Who starts now, when everybody gets the earliest slot."""
    booked = [(now, job.end, job.size) for job in running]
    begun = []
    for job in queue:
        for begin in sorted({now, *(end for _, end, _ in booked)}):
            seconds = range(begin, begin + job.estimate)
            if all(job.size + sum(z for a, b, z in booked if a <= second < b) <= PROCESSORS for second in seconds):
                booked.append((begin, begin + job.estimate, job.size))
                begun += [job] if begin == now else []
                break
    return begun


some_jobs = st.lists(
    st.builds(Job, st.integers(0, 40), st.integers(1, 12), st.integers(1, PROCESSORS), st.integers(1, 12)),
    min_size=1,
    max_size=25,
)


@pytest.mark.property
@pytest.mark.parametrize("name", list(published.POLICIES))
@given(jobs=some_jobs)
def test_every_start_is_that_of_the_written_rules(name: str, jobs: list[Job]) -> None:
    jobs.sort(key=lambda job: job.submit)
    reference(jobs, name)
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
    policy = parse_policy(published.POLICIES[name])
    scenario = Scenario(Cluster.of_processors(PROCESSORS), Work.from_tasks(tasks), policy, kill_at_limit=False)
    assert (simulate(scenario, invariants=True).outcome.start_ns // S).tolist() == [job.start for job in jobs]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("processors", list(published.PUBLISHED))
def test_the_published_figures(processors: int) -> None:
    assert SHARED
    work = published.jobs(str(SHARED / "traces" / "pwa" / LOGS[processors]))
    for name, figures in published.PUBLISHED[processors].items():
        own = published.figures(published.replay(work, name))
        assert [mine if theirs else "" for mine, theirs in zip(own, figures, strict=True)] == list(figures), name
