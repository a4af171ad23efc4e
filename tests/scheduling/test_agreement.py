"""Job by job the same starts as references that share no code with Gnomon."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import Cluster, Scenario, Work, parse_policy, simulate
from gnomon.model.resources import NEVER
from gnomon.traces import swf, synthetic
from tests.builders import S, run, starts, task
from tests.scheduling import reference
from tests.scheduling.reference import Job
from tests.shared import SHARED, needs_shared

LOGS = (
    "pwa/KTH-SP2-1996-2.1-cln",
    "pwa/SDSC-SP2-1998-4.2-cln",
    "pwa/NASA-iPSC-1993-3.1-cln",
    "pwa/LANL-CM5-1994-4.1-cln",
    "pwa/HPC2N-2002-2.2-cln",
    "lublin-model/lublin_256",
)


@st.composite
def workloads(draw: st.DrawFn, *, honest: bool = False) -> tuple[int, list[Job]]:
    """A small pool and jobs with many ties: of no length, of equal size, too large, estimates below and above."""
    processors = draw(st.integers(1, 6))
    jobs = []
    for _ in range(draw(st.integers(0, 14))):
        length = draw(st.integers(0, 6))
        estimate = length + draw(st.sampled_from((0, 0, 1, 3) if honest else (0, 0, 1, 3, -2)))
        jobs.append(Job(draw(st.integers(0, 8)), draw(st.integers(1, processors + 1)), length, max(estimate, 0)))
    return processors, jobs


def simulated(processors: int, jobs: list[Job], policy: str, **facts: Any) -> list[float | None]:
    tasks = [task(str(i), job.size, job.run, at=job.submit, estimate=job.estimate) for i, job in enumerate(jobs)]
    return list(starts(run(tasks, processors, policy, **facts)).values())


@pytest.mark.property
@pytest.mark.parametrize("kill", [True, False], ids=["killed at the estimate", "runs on"])
@pytest.mark.parametrize("policy", ["fcfs", "easy"])
@settings(max_examples=150)
@given(workload=workloads())
def test_small_workloads(policy: str, kill: bool, workload: tuple[int, list[Job]]) -> None:
    processors, jobs = workload
    assert simulated(*workload, policy, kill_at_limit=kill) == reference.starts(jobs, processors, policy, kill=kill)


@pytest.mark.property
@settings(max_examples=150)
@given(workload=workloads())
def test_small_workloads_conservatively(workload: tuple[int, list[Job]]) -> None:
    processors, jobs = workload
    assert simulated(*workload, "conservative") == reference.starts(jobs, processors, "conservative")


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "jobs"), [("fcfs", 10_000), ("easy", 10_000), ("conservative", 200)])
def test_the_common_workload(policy: str, jobs: int) -> None:
    work = synthetic.common(jobs)
    assert start_seconds(work, 1024, policy) == reference.starts(jobs_of(work), 1024, policy)


@pytest.mark.slow
def test_the_common_workload_has_the_published_waits() -> None:
    """Mean waits on the 10k workload that the yardstick's page states for both policies."""
    work = synthetic.common(10_000)
    submits = work.submit_ns // S
    for policy, mean_wait in (("fcfs", 27_868.241), ("easy", 3_607.810)):
        waits = np.array(start_seconds(work, 1024, policy)) - submits
        assert waits.mean() == pytest.approx(mean_wait, abs=5e-4)


@needs_shared
@pytest.mark.slow
@pytest.mark.golden
@pytest.mark.parametrize("policy", ["fcfs", "easy"])
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.partition("/")[2])
def test_whole_logs(log: str, policy: str, tmp_path: Path) -> None:
    assert SHARED is not None
    packed = SHARED / "traces" / f"{log}.swf.gz"
    plain = tmp_path / "log.swf"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    work = swf.read(packed)
    assert work.processors is not None
    yardstick = _yardstick()
    expected, _, _ = yardstick.simulate(yardstick.read_swf(plain), work.processors, policy)
    assert start_seconds(work, work.processors, policy) == expected


def jobs_of(work: Work) -> list[Job]:
    sizes = np.array([shape.request.cpu_milli // 1000 for shape in work.shapes])[work.shape]
    columns = (work.submit_ns // S, sizes, work.duration_ns // S, work.estimate_ns // S)
    return [Job(*(int(value) for value in row)) for row in zip(*columns, strict=True)]


def start_seconds(work: Work, processors: int, policy: str) -> list[int | None]:
    """What the compiled simulation makes of it."""
    done = simulate(Scenario(Cluster.of_processors(processors), work, parse_policy(policy)), compiled=True)
    return [None if start >= NEVER else start // S for start in done.outcome.start_ns.tolist()]


@cache
def _yardstick() -> Any:
    """The reference beside the repository, loaded from its file."""
    assert SHARED is not None
    spec = spec_from_file_location("reference_easy", SHARED / "oracles" / "easy" / "reference_easy.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
