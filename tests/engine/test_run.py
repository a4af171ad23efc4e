"""The run loop: limits end a run with a stated result, and room is made where it is short."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.api import Cluster, Kind, Limits, Reason, Resources, Scenario, Shape, Task, Work, parse_policy, simulate
from gnomon.engine.run import Ports, log_of, run
from gnomon.engine.streams import stream
from gnomon.scheduling.compose import compose

pytestmark = pytest.mark.unit

S = 10**9


def tasks(count: int, *, length_s: int = 10, gap_s: int = 1) -> Work:
    one = Shape(Resources(cpu_milli=1000))
    return Work.from_tasks([Task(str(i), one, i * gap_s * S, length_s * S) for i in range(count)])


def test_the_horizon_ends_a_run_and_is_the_last_row() -> None:
    done = simulate(Scenario(Cluster.of_processors(1), tasks(3), limits=Limits(until_ns=15 * S)))
    assert done.stopped is Reason.LIMIT_TIME
    assert (Kind(done.log.kind[-1]), Reason(done.log.reason[-1]), done.log.t_ns[-1]) == (
        Kind.STOP,
        Reason.LIMIT_TIME,
        15 * S,
    )
    assert [row["state"] for row in done.tasks().to_pylist()] == ["done", "running", "waiting"]


def test_the_limit_of_events_ends_a_run() -> None:
    done = simulate(Scenario(Cluster.of_processors(1), tasks(50), limits=Limits(events=20)))
    assert done.stopped is Reason.LIMIT_EVENTS
    assert 20 <= len(done.log) < 30


def test_passes_without_end_at_one_time_are_stopped() -> None:
    instant = tasks(30, length_s=0, gap_s=0)
    done = simulate(Scenario(Cluster.of_processors(1), instant, limits=Limits(repeats=10)))
    assert done.stopped is Reason.LIMIT_REPEATS
    assert simulate(Scenario(Cluster.of_processors(1), instant)).stopped is Reason.NONE


def test_a_run_that_ends_by_itself_says_nothing() -> None:
    done = simulate(Scenario(Cluster.of_processors(1), tasks(3)))
    assert done.stopped is Reason.NONE
    assert Kind.STOP not in done.log.kind


def test_progress_can_stop_a_run() -> None:
    calls = list[tuple[int, int, int]]()

    def once(done: int, total: int, now_ns: int) -> bool:
        calls.append((done, total, now_ns))
        return False

    scenario = Scenario(Cluster.of_processors(1), tasks(40_000, length_s=1, gap_s=2))
    stopped = simulate(scenario, progress=once, compiled=True)
    assert stopped.stopped is Reason.INTERRUPTED
    assert len(calls) == 1
    assert 0 < calls[0][0] < 40_000
    assert stopped.metrics()["jobs"] == 40_000, "what was simulated is there"


def test_a_log_that_outgrows_its_room_loses_nothing() -> None:
    scenario = Scenario(Cluster.of_processors(2), tasks(200), parse_policy("conservative"))
    whole = simulate(scenario, compiled=False).log
    parts = compose(scenario)
    names = [name for name in parts.world._fields if name.startswith(("log_", "step_"))]
    small = parts.world._replace(**{name: np.empty_like(getattr(parts.world, name)[:80]) for name in names})
    world, _ = run(small, parts.advance, scenario.limits, Ports(parts.next_time))
    assert log_of(world).canonical_bytes() == whole.canonical_bytes()


def test_streams_are_apart_by_name_and_alike_by_seed() -> None:
    assert stream(1, "arrivals").random() == stream(1, "arrivals").random()
    assert stream(1, "arrivals").random() != stream(1, "faults").random()
    assert stream(1, "arrivals").random() != stream(2, "arrivals").random()
