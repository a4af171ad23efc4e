"""Priorities over time: what lasts is kept, and periods that nobody looked at are caught up with."""

import random
from pathlib import Path

import pytest

from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.select import Selector
from tests.systems.slurm.machines import machine

pytestmark = pytest.mark.unit

FAIR = (
    "PriorityType=priority/multifactor",
    "PriorityWeightAge=1000",
    "PriorityWeightFairshare=10000",
    "PriorityWeightJobSize=500",
    "PriorityMaxAge=1-0",
    "PriorityDecayHalfLife=1:00:00",
)


@pytest.mark.parametrize("seed", range(4))
def test_catching_up_late_is_the_same_as_at_each_period(seed: int, tmp_path: Path) -> None:
    """One machine is looked at each 300 s, the other every few hours: priorities and usage are the same."""
    draw = random.Random(seed)
    pair = machine(tmp_path, *FAIR), machine(tmp_path, *FAIR)
    at = 0
    for _ in range(6):
        at += draw.randint(100, 9000)
        request = JobRequest(user=draw.choice("ab"), tasks=draw.choice((8, 16, 32)), time_min=600, run_s=20000.0)
        for one in pair:
            one.submit(request, at)
    for step in range(at // 300 + 20):
        pair[0].run_to(300 * step)
    pair[1].run_to(300 * (at // 300 + 19))
    (first, second) = (one.state for one in pair)
    assert [job.priority for job in first.pending] == [job.priority for job in second.pending]
    assert len(first.pending) > 0
    assert first.usage.raw.tolist() == pytest.approx(second.usage.raw.tolist(), rel=1e-12)
    assert [(job.id, job.start_ns) for job in first.running] == [(job.id, job.start_ns) for job in second.running]


def test_age_grows_only_at_the_periods(tmp_path: Path) -> None:
    """PriorityCalcPeriod is 300 s; a day of waiting is the whole age."""
    one = machine(tmp_path, FAIR[0], "PriorityWeightAge=100000", "PriorityMaxAge=1-0")
    one.submit(JobRequest(user="a", tasks=32, time_min=6000, run_s=90000.0), 10)
    one.submit(JobRequest(user="b", tasks=32, time_min=6000, run_s=90000.0), 11)
    one.run_to(299)
    (job,) = one.state.pending
    before = job.priority
    one.run_to(300)
    aged = int(100_000 * (300 - job.eligible_ns // SECOND) / 86400)
    assert (before, job.priority) == (1, aged)
    one.run_to(599)
    assert job.priority == aged


def test_with_incr_only_a_priority_never_falls(tmp_path: Path) -> None:
    """a uses all there is, so that her fair share falls at the first period, and her priority but for the flag."""
    after = {}
    for flags in ((), ("PriorityFlags=INCR_ONLY",)):
        one = machine(tmp_path, *FAIR, *flags)
        one.submit(JobRequest(user="a", tasks=32, time_min=600, run_s=20000.0), 0)
        one.submit(JobRequest(user="a", tasks=32, time_min=600, run_s=20000.0), 1)
        (job,) = (job for job in one.state.pending if job.id == 2)
        before = job.priority
        one.run_to(600)
        after[flags] = job.priority - before
    assert after[()] < -5000
    assert after["PriorityFlags=INCR_ONLY",] >= 0


def test_the_order_changes_with_the_priorities(tmp_path: Path) -> None:
    """a's big job was first; her usage grows while b has none: after a period b goes first."""
    one = machine(tmp_path, *FAIR)
    one.submit(JobRequest(user="a", tasks=32, time_min=600, run_s=1000.0), 0)
    one.submit(JobRequest(user="a", tasks=32, time_min=600, run_s=1000.0), 10)
    one.submit(JobRequest(user="b", tasks=32, time_min=600, run_s=1000.0), 20)
    one.run_to(900)
    assert [entry.job.user for entry in one.state.line.ready] == ["b", "a"]
    one.run_to(1100)
    (running,) = one.state.running
    assert running.user == "b"


@pytest.mark.parametrize("seed", range(6))
def test_the_line_is_what_sorting_anew_gives(seed: int, tmp_path: Path) -> None:
    """Jobs come, are held, released, reniced and end: the entries stay in order, each in it once."""
    draw = random.Random(seed)
    one = machine(tmp_path, *draw.choice(((), FAIR)))
    for i in range(25):
        request = JobRequest(
            user=draw.choice("abc"),
            tasks=draw.randint(1, 32),
            time_min=draw.randint(1, 60),
            run_s=float(draw.randint(1, 600)),
            hold=draw.random() < 0.2,
            nice=draw.choice((0, 0, 100)),
        )
        one.submit(request, 40 * i)
        if draw.random() < 0.4 and one.state.pending:
            job = draw.choice(list(one.state.pending))
            one.command(
                *draw.choice(
                    (("hold", str(job.id)), ("release", str(job.id)), ("update", f"JobId={job.id}", "Nice=50"))
                )
            )
        entries = list(one.state.line.entries(backfill=False))
        assert [entry.key for entry in entries] == sorted(entry.key for entry in entries)
        assert {entry.job for entry in entries} == {job for job in one.state.pending if job.priority}
        assert len({entry.job for entry in entries}) == len(entries)


def test_what_fits_on_empty_nodes_is_remembered_as_it_is(tmp_path: Path) -> None:
    one = machine(tmp_path)
    selector: Selector = one.state.selector
    partition = next(iter(one.state.partitions.values()))
    everywhere, nowhere = partition.nodes, ~partition.nodes
    for tasks in (1, 32, 33):
        demand = selector.demand_of(JobRequest(tasks=tasks), partition.conf)
        for _ in range(2):
            assert selector.fits_ever(demand, everywhere, nowhere) == (tasks <= 32)
            assert not selector.fits_ever(demand, nowhere, nowhere)
