"""The numbers behind a loss, from the row where it was decided and the situation just before it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import Kind
from gnomon.insight.explain.crowd import at, crowd, peak
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.ordeals import delay_ns, duplicates, slowest
from gnomon.insight.history import history
from gnomon.model.usage import Profile
from tests.insight.explain.documents import explain, run

GI = 2**30
S = 10**9

NODE_MEMORY = """
    cluster: {nodes: [{name: n4, cpu: 8, memory: 16Gi}]}
    work:
      - id: a
        cpu: 1
        memory: 2Gi
        limits: {memory: 8Gi}
        duration: 1h
        usage: {memory: {from: 2Gi, to: 8Gi, over: 1h}}
      - {id: b, cpu: 1, memory: 4Gi, limits: {memory: 12Gi}, duration: 1h, usage: {memory: 10Gi}}
      - {id: c, cpu: 1, memory: 2Gi, duration: 1h}
    """


def ground_of(text: str) -> Ground:
    done = run(text)
    return Ground(history(done.scenario, done.log))


@pytest.mark.property
@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 100)), min_size=1, max_size=5),
    st.integers(0, 300),
    st.booleans(),
)
def test_a_profile_is_linear_between_its_points(steps: list[tuple[int, int]], t: int, repeats: bool) -> None:
    times = np.cumsum([0, *(length for length, _ in steps)]).tolist()
    amounts = [0, *(amount for _, amount in steps)]
    every = times[-1] if repeats else 0
    profile = Profile(tuple(zip(times, amounts, strict=True)), every)
    wanted = np.interp(t % every if every else t, times, amounts)
    assert abs(at(profile, t) - wanted) <= 1


@pytest.mark.unit
def test_overcommitment_is_of_limits_and_not_of_requests() -> None:
    """a uses 16 - 10 - 2 = 4Gi when the node is full, of 16Gi; asked for are 8Gi, limits are 20Gi, and c has none."""
    ground = ground_of(NODE_MEMORY)
    row = int(np.flatnonzero(ground.past.log.kind == Kind.FAIL)[0])
    those = crowd(ground, 0, row)
    assert [ground.work.id(task) for task in those.tasks] == ["a", "b", "c"]
    assert (those.asked, those.limits, those.unlimited, those.allocatable) == (8 * GI, 20 * GI, 1, 16 * GI)
    assert those.overcommit == 1.25
    assert sum(those.used) == pytest.approx(16 * GI, abs=2**21)
    killed = ground.work.id(int(ground.past.log.subject[row]))
    summary = explain(killed, NODE_MEMORY).summary
    assert "placed by the 8Gi that they asked for in all" in summary
    assert "their limits add up to 20Gi = 1.2x, without those of 1 that have none" in summary


@pytest.mark.unit
def test_the_most_that_is_used_ends_with_the_task() -> None:
    ground = ground_of(
        """
        cluster: {nodes: [{name: n, cpu: 8, memory: 64Gi}]}
        work: [{id: a, cpu: 1, memory: 2Gi, duration: 10s, usage: {memory: {from: 1Gi, leak: 1Gi}, cpu: 2}}]
        """
    )
    assert peak(ground, 0, "memory") == 11 * GI
    assert peak(ground, 0, "cpu") == 2000


@pytest.mark.unit
def test_slowness_is_what_was_lost_to_it() -> None:
    """Half speed for a minute and 40 s costs 50 s, whoever says so at the end of it."""
    ground = ground_of(
        """
        cluster: {nodes: [{name: n, cpu: 8, memory: 64Gi}]}
        work: [{id: a, cpu: 1, duration: 1000s}]
        faults: [{at: 100s, slow: node/n, speed: 0.5, for: 100s}]
        """
    )
    row, cost = slowest(ground, 0)
    assert ground.past.log.kind[row] == Kind.SPEED
    assert (cost, delay_ns(ground, 0)) == (50 * S, 50 * S)


@pytest.mark.unit
def test_a_task_that_ends_behind_a_partition_and_again_has_run_twice_one_after_the_other() -> None:
    text = """
    cluster: {nodes: [{name: n, cpu: 4, count: 2}]}
    work: [{id: t, cpu: 4, duration: 2m}]
    operation: {detection: {beat: 10s, grace: 50s}, eviction: {after: 5m}}
    faults: [{at: 1m, partition: node/n-0, for: 1h}]
    """
    ground = ground_of(text)
    (found,) = duplicates(ground, 0)
    assert found[1] == found[2]
    summary = explain("t", text).summary
    assert "its copy on n-0, which had been given up, ran to its end, so that its effects are there twice" in summary
