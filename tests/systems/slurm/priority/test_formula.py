"""Priorities: the formula's examples, recorded values, columns against single jobs."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.slurm.priority.formula import (
    Basic,
    Lasting,
    Size,
    Standing,
    Weights,
    factors,
    size_factor,
)
from tests.systems.slurm.accounting.recorded import recorded, text

DAY = 86400


def test_example_e3_age() -> None:
    assert factors(Weights(age=1000), Size(4, 32), Standing(accrue_s=0), int(3.5 * DAY)).priority == 500


def test_age_ends_at_the_maximum_and_needs_a_start() -> None:
    weights = Weights(age=1000, max_age_s=60)
    assert [factors(weights, Size(1, 1), Standing(accrue_s=100), now).priority for now in (90, 130, 500)] == [
        1,
        500,
        1000,
    ]
    assert factors(weights, Size(1, 1), Standing(), 500).priority == 1


@pytest.mark.parametrize("case", ["mf-jobsize-big-first", "mf-jobsize-small-first"])
def test_recorded_priorities_by_size(case: str) -> None:
    found = recorded(case)
    weights = Weights(jobsize=1000, favor_small="PriorityFavorSmall=YES" in found["slurm_conf"])
    asked = {job["name"]: step["args"] for job, step in zip(found["jobs"], found["steps"], strict=False)}
    for job in found["jobs"]:
        args = " ".join(asked[job["name"]])
        cpus, nodes = re.search(r"-n(\d+)", args), re.search(r"-N(\d+)", args)
        assert cpus is not None
        standing = Standing(cpus=int(cpus[1]), nodes=int(nodes[1]) if nodes else 1)
        assert factors(weights, Size(4, 32), standing, 0).priority == job["priority"]


def test_recorded_priorities_of_partition_qos_size_and_nice_together() -> None:
    weights = Weights(age=100, jobsize=200, partition=300, qos=1000, max_age_s=DAY)
    lo, hi, size = 1 / 10, 10 / 10, Size(2, 16)
    jobs = {
        "filler": Standing(partition=lo, nodes=2, cpus=16),
        "a": Standing(partition=lo, cpus=8),
        "b": Standing(partition=hi, cpus=4),
        "c": Standing(partition=lo, cpus=4, qos=100 / 100),
        "d": Standing(partition=hi, cpus=16, qos=100 / 100, nice=500),
        "e": Standing(partition=lo, cpus=16),
    }
    for job in recorded("mf-combined-nice")["jobs"]:
        assert factors(weights, size, jobs[job["name"]], 0).priority == job["priority"]


def shown(name: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split() for line in text(name).splitlines()[1:]}


def test_recorded_factors_of_a_cluster_with_resources_weighed() -> None:
    """The cluster: 16 nodes, 336 CPUs; the partitions' factors are of 100 at most, their resources as configured."""
    weights = Weights(
        age=1000,
        fairshare=10000,
        jobsize=500,
        partition=2000,
        qos=5000,
        tres={"cpu": 500.0, "mem": 250.0, "gres/gpu": 3000.0},
    )
    bigmem = {"cpu": 8 / 32, "mem": 512000 / 1000000}
    debug = {"cpu": 4 / 32, "mem": 4000 / 128000}
    jobs = {
        "78": Standing(accrue_s=0, fairshare=1.0, partition=20 / 100, nodes=1, cpus=8, tres=bigmem),
        "82": Standing(accrue_s=0, fairshare=1.0, partition=100 / 100, qos=200 / 200, nodes=1, cpus=4, tres=debug),
    }
    for number, standing in jobs.items():
        found = factors(weights, Size(16, 336), standing, 0)
        row, normal = shown("sprio-l.txt")[number], shown("sprio-n.txt")[number]
        assert found.priority == int(row[3])
        assert f"{found.jobsize:.0f}" == row[8]
        assert f"{found.jobsize / 500:.7f}" == normal[7]
        assert ",".join(f"{name}={value:.0f}" for name, value in found.tres.items() if value) == row[12]


def test_fair_share_of_the_recorded_case() -> None:
    ranks = {"w-alice": 0.6, "w-carol": 0.2, "w-bob": 0.8, "w-dave": 0.4}
    for job in recorded("fairtree-two-accounts")["jobs"]:
        if job["name"] in ranks:
            found = factors(Weights(fairshare=10000), Size(4, 32), Standing(fairshare=ranks[job["name"]]), 0)
            assert found.priority == job["priority"]


def test_small_relative_to_time() -> None:
    weights = Weights(jobsize=1, flags=frozenset({"SMALL_RELATIVE_TO_TIME"}))
    # two nodes are worth 2 * 32/4 CPUs, more than the 10 asked for; a tenth of that a minute, of 32
    assert size_factor(weights, Size(4, 32), Standing(nodes=2, cpus=10, limit_min=10)) == 16 / 10 / 32
    small = Weights(jobsize=1, favor_small=True, flags=weights.flags)
    assert size_factor(small, Size(4, 32), Standing(nodes=2, cpus=10, limit_min=10)) == 1 - 16 / 10 / 32
    assert size_factor(weights, Size(4, 32), Standing(cpus=8, limit_min=2**32 - 1)) == pytest.approx(0, abs=1e-9)


def test_priorities_stay_between_1_and_32_bits() -> None:
    assert factors(Weights(), Size(1, 1), Standing(nice=1000), 0).priority == 1
    assert factors(Weights(), Size(1, 1), Standing(site=2**31, nice=-(2**31)), 0).priority == 2**32 - 1


def test_recorded_priorities_of_the_basic_plugin() -> None:
    basic = Basic()
    nice = {"b-nice": 100, "d-nice2": 2}
    for job in recorded("fifo-nice-basic")["jobs"]:
        assert basic.next(nice.get(job["name"], 0)) == job["priority"]


parts = st.floats(0, 1)
standings = st.builds(
    Standing,
    accrue_s=st.none() | st.integers(0, 10**6),
    fairshare=parts,
    assoc=parts,
    partition=parts,
    qos=parts,
    nodes=st.integers(1, 64),
    cpus=st.integers(0, 2000),
    limit_min=st.none() | st.integers(1, 10000),
    tres=st.dictionaries(st.sampled_from(["cpu", "mem", "gres/gpu"]), parts),
    site=st.integers(-1000, 1000),
    nice=st.integers(-(10**6), 10**6),
)
weightings = st.builds(
    Weights,
    age=st.integers(0, 10**6),
    assoc=st.integers(0, 1000),
    fairshare=st.integers(0, 10**6),
    jobsize=st.integers(0, 1000),
    partition=st.integers(0, 1000),
    qos=st.integers(0, 10**6),
    tres=st.sampled_from([{}, {"cpu": 100.0, "mem": 0.5, "gres/gpu": 3000.0}]),
    max_age_s=st.integers(1, 10**6),
    favor_small=st.booleans(),
    flags=st.sampled_from([frozenset(), frozenset({"SMALL_RELATIVE_TO_TIME"})]),
)


@given(weightings, standings, st.integers(0, 2 * 10**6))
def test_what_lasts_with_age_and_fair_share_is_the_priority(weights: Weights, one: Standing, now: int) -> None:
    size = Size(64, 1024)
    lasting = Lasting.of(weights, size, replace(one, accrue_s=None, fairshare=0.123))
    assert lasting.priority(weights, one.accrue_s, one.fairshare, now) == factors(weights, size, one, now).priority
