"""What holds whatever is asked: nothing is given twice, what is given back is free again, both speeds agree."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.systems.slurm.select import Allocation, rule
from tests.shared import ROOT
from tests.systems.slurm.select.replaying import Cluster, conf_in

pytestmark = pytest.mark.property

DATA = ROOT / "tests" / "data" / "slurm" / "select"
CLUSTERS = ("mixed", "gpu", "tree", "lln", "linear", "socket", "maxmem")
CASES: dict[str, Any] = {name: json.loads((DATA / f"{name}.json").read_text()) for name in CLUSTERS}

options = st.tuples(
    st.integers(1, 20).map("-n{}".format),
    st.sampled_from(["", "-N1", "-N2", "-N1-3", "-N3"]),
    st.sampled_from(["", "-c2", "-c3", "--ntasks-per-node=2", "--ntasks-per-socket=2", "--ntasks-per-core=1"]),
    st.sampled_from(["", "--mem=2000", "--mem-per-cpu=300", "--mem=0"]),
    st.sampled_from(["", "", "--exclusive", "--contiguous", "--spread-job", "-O", "-mplane=2", "--hint=nomultithread"]),
)
gpus = st.sampled_from(["", "--gpus=2", "--gres=gpu:1", "--gpus-per-node=2", "--gpus-per-task=1", "--gres=gpu:b:1"])


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, list[str | int]]:
    """A cluster, and what happens: a line is submitted, or the job that started so many jobs ago ends."""
    name = draw(st.sampled_from(CLUSTERS))
    lines = options.map(" ".join)
    if name == "gpu":
        lines = st.tuples(lines, gpus).map(" ".join)
    return name, draw(st.lists(st.one_of(lines, lines, st.integers(0, 5)), max_size=25))


def follow(cluster: Cluster, events: list[str | int]) -> list[Allocation]:
    """The jobs that run in the end."""
    running: list[Allocation] = []
    for event in events:
        if isinstance(event, int):
            if event < len(running):
                cluster.occupancy.give(running.pop(-1 - event))
            continue
        found = cluster.ask(event)
        if found is not None:
            cluster.occupancy.take(found)
            running.append(found)
        check(cluster, running)
    return running


def check(cluster: Cluster, running: list[Allocation]) -> None:
    """Count what the jobs have, job by job, and compare with what there is."""
    hardware = cluster.selector.hardware
    for n, node in enumerate(cluster.conf.nodes):
        shares = [(job, job.nodes.index(n)) for job in running if n in job.nodes]
        cores = [core for job, i in shares for core in job.cores[i]]
        assert len(cores) == len(set(cores))
        assert all(core < node.sockets * node.cores for core in cores)
        assert sum(job.memory_mb[i] for job, i in shares) <= node.memory_mb or not hardware.rule[rule.MEMORY]
        devices = sum((job.devices[i] for job, i in shares), np.zeros(hardware.kind.shape[1], np.int32))
        assert (devices <= hardware.capacity[n]).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_nothing_is_given_twice(history: tuple[str, list[str | int]]) -> None:
    name, events = history
    follow(Cluster(conf_in(CASES[name])), events)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_what_is_given_back_is_free_again(history: tuple[str, list[str | int]]) -> None:
    name, events = history
    cluster = Cluster(conf_in(CASES[name]))
    empty = cluster.occupancy.copy()
    running = follow(cluster, events)
    other = cluster.occupancy.copy()
    for job in running:
        cluster.occupancy.give(job)
    assert same(empty.columns.columns, cluster.occupancy.columns.columns)
    for job in reversed(running):
        cluster.occupancy.take(job)
    assert same(other.columns.columns, cluster.occupancy.columns.columns)


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(before, after) for before, after in zip(one, other, strict=True))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_both_speeds_agree(history: tuple[str, list[str | int]]) -> None:
    name, events = history
    plain, fast = (Cluster(conf_in(CASES[name]), compiled=compiled) for compiled in (False, True))
    one, other = follow(plain, events), follow(fast, events)
    assert len(one) == len(other)
    assert all(mine.same(theirs) for mine, theirs in zip(one, other, strict=True))
