"""What is folded from the log, against the state of the simulated world itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import simulate
from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.engine.run import Ports, log_of
from gnomon.engine.run import run as run_world
from gnomon.engine.world import World
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.outlook import first_opening
from gnomon.insight.explain.queues import is_fair, overtaken_by, place_in_queue
from gnomon.insight.explain.situation import Situation
from gnomon.insight.history import history
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.scheduling.compose import compose
from tests.insight.explain.documents import run, scenario
from tests.insight.explain.scenarios import S, scenarios


def world_at(what: Scenario, t_ns: int) -> tuple[World, Log]:
    """The world as it is at a time, and its log up to then."""
    parts = compose(what)
    limits = replace(what.limits, until_ns=min(t_ns, what.limits.until_ns))
    world, _ = run_world(parts.world, parts.advance, limits, Ports(parts.next_time))
    return world, log_of(world)


def situation_at(what: Scenario, log: Log, t_ns: int) -> Situation:
    """The same, folded from the log of the whole run."""
    rows = int(np.searchsorted(log.t_ns, t_ns, side="right"))
    if rows and log.kind[rows - 1] == Kind.STOP:
        rows -= 1
    return Situation(Ground(history(what, log)), rows, t_ns)


@pytest.mark.property
@given(scenarios(), st.integers(0, 30))
def test_what_is_free_and_who_waits_is_what_the_world_says(what: Scenario, second: int) -> None:
    world, _ = world_at(what, second * S)
    here = situation_at(what, simulate(what, compiled=False).log, second * S)
    assert np.array_equal(here.free, world.free)
    assert here.waiting.tolist() == np.flatnonzero(world.state == State.WAITING).tolist()
    assert sorted(here.holders.tolist()) == np.flatnonzero(np.isin(world.state, (State.HELD, State.RUNNING))).tolist()


@pytest.mark.property
@given(scenarios(("easy", "priority+easy", "easy+best-fit")))
def test_the_first_opening_is_the_start_that_backfilling_promises(what: Scenario) -> None:
    log = simulate(what, compiled=False).log
    ground = Ground(history(what, log))
    promised = (log.kind == Kind.WAIT) & np.isin(log.reason, (Reason.RESOURCES, Reason.RESERVED)) & (log.value >= 0)
    for row in np.flatnonzero(promised).tolist():
        here = Situation(ground, row, int(log.t_ns[row]))
        opening = first_opening(here, ground.unit(int(log.subject[row])))
        assert opening.t_ns == min(int(log.value[row]), NEVER)


@pytest.mark.property
@given(scenarios(("fcfs", "sjf", "priority", "edf", "largest", "fair-share", "easy")), st.integers(0, 30))
def test_the_place_in_the_queue_is_that_of_the_world(what: Scenario, second: int) -> None:
    world, _ = world_at(what, second * S)
    here = situation_at(what, simulate(what, compiled=False).log, second * S)
    waiting = np.flatnonzero(world.state == State.WAITING).tolist()
    for task in waiting:
        unit, same = int(world.unit[task]), here.ground.tenant
        fair = is_fair(what.policy.order)
        others = {int(world.unit[one]) for one in waiting if not fair or same[one] == same[task]}
        ahead = sum(world.rank[other] < world.rank[unit] for other in others)
        assert place_in_queue(here, task).position == ahead + 1


@pytest.mark.unit
def test_a_task_is_overtaken_by_those_that_came_later_and_started_earlier() -> None:
    done = run(
        """
        cluster: 2
        work:
          - {id: a, cpu: 1, duration: 1h}
          - {id: wide, cpu: 2, submit: 1m, duration: 1h}
          - {id: b, cpu: 1, submit: 2m, duration: 1m}
          - {id: c, cpu: 1, submit: 3m, duration: 1m}
          - {id: d, cpu: 1, submit: 4m, duration: 2h}
        policy: easy
        """
    )
    assert [overtaken_by(done.past, task) for task in range(5)] == [0, 2, 0, 0, 0]


@pytest.mark.unit
def test_places_count_devices_one_by_one() -> None:
    what = scenario(
        """
        cluster: {nodes: [{name: g, cpu: 8, gpus: 2}]}
        work:
          - {id: half, gpu_share: 0.5, duration: 1h}
          - {id: more, gpu_share: 0.6, duration: 1h}
          - {id: both, gpus: 2, duration: 1h}
          - {id: cpus, cpu: 3, duration: 1h}
        """
    )
    ground = Ground(history(what, simulate(what, compiled=False).log))
    rows = np.array([[8000, 10_000, 10_000], [8000, 4_000, 6_000], [2000, 10_000, 9_999]], np.int64)
    assert [ground.places(rows, task).tolist() for task in range(4)] == [
        [4, 1, 3],
        [2, 1, 2],
        [1, 0, 0],
        [2, 2, 0],
    ]
