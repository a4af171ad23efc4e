"""Whole runs: chances against formulas, the same log however it is computed, when a run is over."""

import os
import subprocess
import sys
from dataclasses import replace
from math import exp, lgamma, log, log1p
from pathlib import Path

import numpy as np
import pytest

from gnomon.api import NEVER, Cluster, Kind, Reason, Scenario, Shape, State, Task, Work, simulate
from gnomon.control import control
from gnomon.engine.log import COLUMNS
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.operation import Operation, Speculation
from gnomon.model.recovery import Checkpoint, Recovery, Retry
from gnomon.model.resources import Resources
from gnomon.recovery.arithmetic import expected_attempts, retry_survival
from tests.builders import S, nodes, task
from tests.control.plots import rich
from tests.control.reading import crash, fault, play, plot, times

HERE = Path(__file__).parents[2]


def binomial_interval(n: int, p: float, chance: float) -> tuple[int, int]:
    """The least and most successes of ``n`` trials such that fewer, and more, have together at most 1 - ``chance``."""
    tail, total, low, found = (1 - chance) / 2, 0.0, -1, range(n + 1)
    for k in found:
        total += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
        if low < 0 and total > tail:
            low = k
        if total >= 1 - tail:
            return low, k
    return low, n


# ------------------------------------------------------------------ chances


def test_three_retries_of_what_fails_one_time_in_ten_leave_one_in_ten_thousand() -> None:
    tasks, chance = 100_000, 1_000
    shape, recovery = Shape(Resources(cpu_milli=1_000)), Recovery((Retry(("exit",), 3),))
    work = Work.from_tasks(Task(f"t{i}", shape, i * S, 100 * S, recovery=recovery) for i in range(tasks))
    run = simulate(
        Scenario(Cluster.of_processors(200), work, faults=(Failure(Fault.FAIL, targets=("task/*",), amount=chance),))
    )
    lost = tasks - int((run.outcome.state == State.DONE).sum())
    low, high = binomial_interval(tasks, 1 - retry_survival(0.9, 3), 0.999)
    assert low <= lost <= high
    starts = int((run.log.kind == Kind.START).sum())
    spread = 4 * (0.1 * tasks) ** 0.5
    assert abs(starts - expected_attempts(0.1, 4) * tasks) < spread


def test_a_task_that_fails_does_so_at_an_even_moment_of_its_run() -> None:
    tasks = [task(f"t{i}", 0, 100) for i in range(2_000)]
    run = simulate(plot(tasks, [fault(Fault.FAIL, 0, NEVER, "task/*", amount=10_000)]))
    moments = np.array(times(run, Kind.FAIL))
    assert abs(moments.mean() - 50) < 4 * (100 / 12**0.5) / 2_000**0.5


def test_whether_a_task_fails_hangs_on_seed_and_fault_alone() -> None:
    doomed = fault(Fault.FAIL, 0, NEVER, "task/*", amount=5_000)
    tasks = [task(f"t{i}", 1, 10) for i in range(50)]
    few = play(tasks, [doomed], cluster=nodes(4))
    many = play(tasks, [doomed, crash(30, 5, "n1")], cluster=nodes(50, 50))
    assert list(few.outcome.state) == list(many.outcome.state)


# ------------------------------------------------------------------ determinism


@pytest.mark.parametrize("seed", range(6))
def test_compiled_or_not_the_log_is_the_same(seed: int) -> None:
    plain = simulate(rich(seed), compiled=False, invariants=True)
    assert simulate(rich(seed), compiled=True).log.digest() == plain.log.digest()


def test_the_log_does_not_hang_on_how_the_process_hashes() -> None:
    code = "from tests.control.plots import *; from gnomon.api import simulate; print(simulate(rich(3)).log.digest())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=HERE,
            env={**os.environ, "PYTHONHASHSEED": str(number), "PYTHONPATH": os.pathsep.join(["src", "."])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in range(3)
    }
    assert digests == {simulate(rich(3)).log.digest() + "\n"}


# ------------------------------------------------------------------ when it is over


def test_a_run_is_over_when_all_is_done_whatever_faults_would_come() -> None:
    process = FailureProcess(Fault.CRASH, ("node/*",), 1_000 * S, 10 * S)
    run = play([task("t", 1, 50)], [process])
    assert run.stopped is Reason.NONE
    assert int(run.log.t_ns[-1]) == 50 * S


def test_a_run_waits_for_a_retry_that_is_due() -> None:
    recovery = Recovery((Retry(("killed",), 1),))
    run = play([task("t", 1, 50, recovery=recovery)], [fault(Fault.KILL, 10, 0, "task/t")])
    assert times(run, Kind.END) == [60]


def test_a_run_of_which_the_faults_let_nothing_go_on_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "FRUITLESS_MAX", 1_000)
    process = FailureProcess(Fault.SLOW, ("node/n0",), 10 * S, 10 * S, amount=5_000)
    run = play([task("t", 9, 5), task("u", 1, NEVER, at=1)], [crash(2, NEVER, "n0"), process], cluster=nodes(4))
    assert run.stopped is Reason.LIMIT_REPEATS
    assert 300 < len(times(run, Kind.FAULT)) <= 1_000


def test_a_run_in_which_attempts_only_fail_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no horizon and fails for ever; with one that saves its work it is done after ten failures."""
    monkeypatch.setattr(control, "FRUITLESS_MAX", 1_000)
    always = Recovery((Retry(("exit", "node")),))
    run = play([task("t", 1, 50, recovery=always)], [fault(Fault.FAIL, 0, NEVER, "task/t", amount=10_000)])
    assert run.stopped is Reason.LIMIT_REPEATS
    assert 300 < len(times(run, Kind.FAIL)) <= 1_001
    monkeypatch.setattr(control, "FRUITLESS_MAX", 5)
    process = FailureProcess(Fault.CRASH, ("node/n0",), 6 * S, law=Law.FIXED)
    saving = replace(always, checkpoint=Checkpoint(5 * S))
    run = play([task("t", 1, 50, recovery=saving)], [process], cluster=nodes(4))
    assert (run.stopped, len(times(run, Kind.FAIL)), times(run, Kind.END)) == (Reason.NONE, 9, [59])
    run = play([task("t", 1, 50, recovery=always)], [process], cluster=nodes(4))
    assert (run.stopped, times(run, Kind.END)) == (Reason.LIMIT_REPEATS, [])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_run_with_many_faults_can_be_interrupted(compiled: bool) -> None:
    """The first time that it is asked, after a thousand calls or a few more; a run to its end has ten thousand."""
    process = FailureProcess(Fault.CORDON, ("node/n2",), S, S, Law.FIXED, repair_law=Law.FIXED)
    scenario = plot([task("t", 1, 10_000)], [process])
    run = simulate(scenario, compiled=compiled, progress=lambda done, total, now: False)
    assert run.stopped is Reason.INTERRUPTED
    assert 300 < len(run.log) < 5_000


def test_conservative_backfill_and_faults_are_not_modelled_together() -> None:
    with pytest.raises(InputError, match="conservative backfill and faults"):
        simulate(plot([task("t", 1, 5)], [crash(1, 1, "n0")], policy="fcfs+conservative"))


@pytest.mark.parametrize("policy", ["fcfs", "sjf+easy", "drf", "fcfs+easy:ends=actual"])
def test_without_faults_a_controlled_run_is_the_plain_one(policy: str) -> None:
    tasks = [task(f"t{i}", 1 + i % 3, 5 + i % 7, at=i, estimate=8) for i in range(60)]
    plain = simulate(plot(tasks, policy=policy), compiled=False)
    far = plot(tasks, [fault(Fault.CORDON, 10_000, 1, "n0")], policy=policy)
    controlled = simulate(far, compiled=False, invariants=True)
    for column in COLUMNS:
        assert list(getattr(controlled.log, column)[: len(plain.log)]) == list(getattr(plain.log, column))


def test_looks_for_slow_tasks_do_not_keep_a_run_alive_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "FRUITLESS_MAX", 100)
    tasks = [task("a", 1, 10, job="bag"), task("b", 1, NEVER, job="bag")]
    run = play(tasks, (), Operation(speculation=Speculation(S, 15_000, 10_000)), gang=False)
    assert run.stopped is Reason.LIMIT_REPEATS
