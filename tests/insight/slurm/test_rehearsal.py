"""What is explained is what is simulated: the rehearsal starts the jobs that the run starts, when it does."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import explain, simulate
from gnomon.engine.log import Kind
from gnomon.insight.slurm.rehearsal import Rehearsal
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.inputs.native import Native
from tests.insight.slurm.desk import CONF, Desk

JOB = st.tuples(
    st.integers(0, 90),
    st.integers(1, 5),
    st.sampled_from(["-n1", "-n8", "-n12", "-N2 -n16", "-N4 -n4", "-n2 --exclusive", "-a 1-5%2 -n4", "-n4 --mem=9000"]),
    st.integers(1, 90),
    st.integers(1, 60),
)


def session(jobs: list[tuple[int, int, str, int, int]]) -> str:
    lines = [
        f"@{at}s  u{user}  sbatch -J j{place} {words} -t {limit} --wrap x   # runs {run}m"
        for place, (at, user, words, limit, run) in enumerate(jobs)
    ]
    return "\n".join([*lines, "@40s  root  scontrol update NodeName=n2 State=DRAIN Reason=disk", ""])


def starts_of_run(scenario: Scenario) -> dict[int, int]:
    log = simulate(scenario).log
    rows = zip(log.subject.tolist(), log.t_ns.tolist(), log.kind.tolist(), strict=True)
    return {task: t_ns for task, t_ns, kind in rows if kind == Kind.START}


@settings(max_examples=15, deadline=None)
@given(jobs=st.lists(JOB, min_size=2, max_size=8))
def test_jobs_start_as_in_the_run(jobs: list[tuple[int, int, str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scenario = Desk(Path(folder)).scenario(session(jobs), CONF)
    assert isinstance(scenario.native, Native)
    played = Rehearsal(scenario, scenario.native)
    played.run(played.last_ns)
    played.run_while(lambda: bool(played.state.pending or played.state.running))
    assert {job.task: job.start_ns for job in played.jobs if job.stints} == starts_of_run(scenario)


@settings(max_examples=10, deadline=None)
@given(jobs=st.lists(JOB, min_size=3, max_size=7), which=st.integers(0, 6))
def test_whatever_is_asked_is_answered(jobs: list[tuple[int, int, str, int, int]], which: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scenario = Desk(Path(folder)).scenario(session(jobs), CONF)
    found = explain(f"j{which % len(jobs)}", scenario)
    assert found.summary
    assert found.native
    assert [one.cost for one in found.changes] == sorted(one.cost for one in found.changes)
    assert found.state in ("waiting", "running", "done", "failed", "killed", "rejected")
    if found.state == "waiting" and found.native == "Priority":
        assert any(one.kind == "behind" for one in found.waiting)
