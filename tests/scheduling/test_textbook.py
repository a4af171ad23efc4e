"""Worked examples from papers and courses, with their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.api import Reason, Task
from tests.builders import amount, by_id, nodes, run, starts, task

pytestmark = pytest.mark.unit

IN_INDEX_ORDER = tuple(range(12))
LARGEST_FIRST = (1, 5, 11, 7, 10, 2, 4, 3, 6, 0, 9, 8)  # ties as numpy's default sort left them
ANOTHER = (9, 2, 7, 4, 5, 11, 0, 3, 6, 10, 8, 1)


def twelve_tasks() -> list[Task]:
    """A course's example: drawn in this order, all there at 0."""
    random = np.random.default_rng(42)
    cpus, gpus, lengths = random.integers(1, 5, 12), random.integers(0, 2, 12), random.uniform(1, 5, 12)
    return [
        task(str(i), int(cpu), float(length), gpus=int(gpu))
        for i, (cpu, gpu, length) in enumerate(zip(cpus, gpus, lengths, strict=True))
    ]


@pytest.mark.parametrize(
    ("order", "gpus", "makespan_s", "cpu_percent"),
    [
        (IN_INDEX_ORDER, 1, 28.68, 43.0),
        (IN_INDEX_ORDER, 2, 16.41, 75.1),
        (LARGEST_FIRST, 1, 28.68, 43.0),
        (LARGEST_FIRST, 2, 19.38, 63.6),
        (ANOTHER, 1, 28.68, 43.0),
        (ANOTHER, 2, 17.96, 68.7),
    ],
)
def test_one_node_and_a_given_order(order: tuple[int, ...], gpus: int, makespan_s: float, cpu_percent: float) -> None:
    tasks = twelve_tasks()
    metrics = run([tasks[i] for i in order], nodes(amount(8, gpus=gpus))).metrics()
    assert metrics["makespan_s"] == pytest.approx(makespan_s, abs=0.005)
    assert 100 * metrics["utilisation"]["cpu"] == pytest.approx(cpu_percent, abs=0.05)


@pytest.mark.parametrize(("gpus", "makespan_s", "cpu_percent"), [(1, 28.68, 43.0), (2, 16.96, 72.7)])
def test_largest_first_with_ties_in_input_order(gpus: int, makespan_s: float, cpu_percent: float) -> None:
    """14 % less than with the same sizes in the order in which an unstable sort left the ties: 19.38 s."""
    metrics = run(twelve_tasks(), nodes(amount(8, gpus=gpus)), "largest").metrics()
    assert metrics["makespan_s"] == pytest.approx(makespan_s, abs=0.005)
    assert 100 * metrics["utilisation"]["cpu"] == pytest.approx(cpu_percent, abs=0.05)


def test_two_jobs_that_do_not_fit_together_run_one_after_the_other() -> None:
    done = run([task("a", 6, 10), task("b", 6, 10)], nodes(8))
    assert starts(done) == {"a": 0, "b": 10}
    assert done.metrics()["utilisation"]["cpu"] == 0.75


@pytest.mark.parametrize(
    ("cluster", "of_a", "of_b", "started"),
    [
        # Both then have a dominant share of 2/3: A 12 of 18 GPUs, B 6 of 9 CPUs.
        (amount(9, gpus=18), {"cpu": 1, "gpus": 4}, {"cpu": 3, "gpus": 1}, {"A": 3, "B": 2}),
        # A 24 of 36 GiB, B 12 of 18 CPUs.
        (amount(18, memory=36), {"cpu": 2, "memory": 8}, {"cpu": 6, "memory": 2}, {"A": 3, "B": 2}),
        # The paper's own example (NSDI 2011, figure 2): 9 CPUs and 18 GB.
        (amount(9, memory=18), {"cpu": 1, "memory": 4}, {"cpu": 3, "memory": 1}, {"A": 3, "B": 2}),
    ],
)
def test_dominant_resource_fairness(
    cluster: object, of_a: dict[str, int], of_b: dict[str, int], started: dict[str, int]
) -> None:
    tasks = [task(f"a{i}", user="A", run=100, **of_a) for i in range(10)]
    tasks += [task(f"b{i}", user="B", run=100, **of_b) for i in range(10)]
    at_first = [name for name, start in starts(run(tasks, nodes(cluster), "drf")).items() if start == 0]  # type: ignore[arg-type]
    assert {user: sum(name.startswith(user.lower()) for name in at_first) for user in "AB"} == started


def test_half_devices_share_one_and_larger_parts_do_not() -> None:
    def both(share: float) -> dict[str, float | None]:
        return starts(run([task("a", gpus=1, share=share), task("b", gpus=1, share=share)], nodes(amount(8, gpus=1))))

    assert both(0.5) == {"a": 0, "b": 0}
    assert both(0.6) == {"a": 0, "b": 1}


def test_two_devices_with_little_left_do_not_make_a_whole_one() -> None:
    tasks = [task(f"share{i}", gpus=1, share=0.6, run=10) for i in range(2)]
    done = run([*tasks, task("whole", gpus=1)], nodes(amount(8, gpus=2)))
    assert starts(done) == {"share0": 0, "share1": 0, "whole": 10}


class TestGangOfEightWithFourDevicesFree:
    busy = task("busy", gpus=4, run=10)

    def test_takes_nothing(self) -> None:
        gang = [task(f"w{i}", gpus=1, run=5, job="train") for i in range(8)]
        done = run([self.busy, *gang, task("late", gpus=4, at=1)], nodes(*[amount(8, gpus=4)] * 2), "easy")
        assert starts(done) == {"busy": 0, "late": 1} | {f"w{i}": 10 for i in range(8)}

    def test_without_gangs_two_half_placed_ones_deadlock_and_the_run_says_so(self) -> None:
        gangs = [task(f"{job}{i}", gpus=1, run=5, user=job, job=job, at=1) for i in range(8) for job in "ab"]
        done = run([self.busy, *gangs], nodes(*[amount(8, gpus=4)] * 2), "round-robin", gang=False)
        assert done.stopped is Reason.DEADLOCK
        assert list(by_id(done, "reason").values()).count(Reason.PEERS) == 8
        assert starts(done) == {"busy": 0} | {f"{job}{i}": None for i in range(8) for job in "ab"}
