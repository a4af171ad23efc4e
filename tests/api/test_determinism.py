"""The same scenario, the same log: in other processes, under other hash seeds, compiled or not, watched or not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from gnomon.api import Cluster, Node, Scenario, Tenant, compare, parse_policy, simulate
from gnomon.traces import synthetic
from tests.builders import amount, scenario, task
from tests.shared import ROOT

pytestmark = [pytest.mark.unit, pytest.mark.slow]

POLICIES = (
    "fcfs",
    "sjf+easy",
    "conservative",
    "fair-share+random",
    "drf+gpu-clustering",
    "round-robin+easy+best-fit:ties=shuffled",
    "priority+fgd",
)


def various(policy: str) -> Scenario:
    """Many users, labels, kinds and named resources: all that could end up in a set or a dictionary."""
    cluster = Cluster(
        tuple(
            Node(f"n{i}", amount(8, memory=32, gpus=i % 3, licence=i % 2), f"k{i % 3}", ((f"rack{i % 2}", "yes"),))
            for i in range(9)
        )
    )
    tasks = [
        task(
            f"t{i}",
            1 + i % 5,
            1 + i * 7 % 40,
            at=i // 3,
            estimate=50,
            user=f"u{i % 11}",
            queue=f"q{i % 4}",
            priority=i % 3,
            gpus=i % 2,
            kinds=["k1", "k2"] if i % 4 == 1 else (),
            job=f"j{i // 2}" if i % 20 < 2 else "",
        )
        for i in range(60)
    ]
    made = replace(scenario(tasks, cluster, policy), preempt="conservative" not in policy, seed=5)
    return replace(made, tenants=[Tenant(f"u{i}", weight=1 + i, max_running=9 - i) for i in range(5)])


def digests() -> list[str]:
    return [simulate(various(policy), compiled=False).log.digest() for policy in POLICIES]


SCRIPT = "from tests.api.test_determinism import digests; print(*digests(), sep='\\n')"


def test_hash_seeds_and_processes() -> None:
    expected = digests()
    for seed in ("0", "1", "4294967295"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        }
        ended = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert ended.stdout.split() == expected, ended.stderr


def test_processes_side_by_side() -> None:
    runs = compare([various(policy) for policy in POLICIES], workers=2)
    assert [run.log.digest() for run in runs] == digests()


def test_twice_compiled_and_not() -> None:
    for policy in POLICIES:
        logs = [simulate(various(policy), compiled=compiled).log.digest() for compiled in (True, False, True)]
        assert len(set(logs)) == 1


def test_the_seed_decides_what_is_drawn() -> None:
    random = various("fair-share+random")
    assert len({simulate(replace(random, seed=seed), compiled=False).log.digest() for seed in (1, 2)}) == 2


def test_progress_does_not_change_what_happens() -> None:
    work = synthetic.common(60_000)
    made = Scenario(Cluster.of_processors(1024), work, parse_policy("easy"))
    told: list[tuple[int, int]] = []

    def note(done: int, total: int, now_ns: int) -> bool:
        told.append((done, total))
        return True

    watched = simulate(made, progress=note)
    assert watched.log.digest() == simulate(made).log.digest()
    assert told == sorted(told)
    assert {total for _, total in told} == {60_000}
