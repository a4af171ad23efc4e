"""U64: reduces hold every container, a lost map cannot run again (MAPREDUCE-5844)."""

from dataclasses import replace
from functools import cache

import pytest

from gnomon.control.batch.rules import Rules
from gnomon.dataflow import Dataflow
from gnomon.dataflow.cost import Cost
from gnomon.engine.log import Kind
from gnomon.model.cluster import Cluster, Node
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER, Resources
from gnomon.systems.mapreduce.costs import Costs
from gnomon.systems.mapreduce.settings import Settings
from tests.systems.mapreduce.simulated import S, Simulated, simulated

NODES, SLOTS = 5, 2
CONTAINERS = NODES * SLOTS
MAPS, REDUCES = 40, 10

COSTS = Costs(Cost(start_ns=0, record_ns=S, byte_ns_e3=0), commit_ns=0, compare_ns=0, connect_ns=0)
"""A map of twenty records takes 60 s: each is read, passed on and looked at."""


def job() -> Dataflow:
    flow = Dataflow("U64")
    maps = flow.source([[(key, 1) for key in range(20)] for _ in range(MAPS)])
    pairs = maps.map(lambda pair: pair, name="work").filter(lambda pair: pair[0] < REDUCES, name="few")
    pairs.group_by_key(partitions=REDUCES, partitioner=lambda key: key).map_values(sum).sink("out")
    return flow


def run(slowstart: float, faults: tuple[Failure, ...] = ()) -> Simulated:
    cluster = Cluster(tuple(Node(f"n{number}", Resources(cpu_milli=1000 * SLOTS)) for number in range(NODES)))
    settings = Settings(slowstart_e4=int(slowstart * 10_000), map_speculative=False, reduce_speculative=False)
    settings = replace(settings, node_expiry_ns=10 * S)
    return simulated(job(), cluster=cluster, settings=settings, costs=COSTS, faults=faults)


@cache
def calm(slowstart: float) -> Simulated:
    return run(slowstart)


@cache
def lost(slowstart: float) -> Simulated:
    """At the moment the last map finishes a node with finished map outputs dies."""
    last = max(t for t, task in calm(slowstart).rows(Kind.END) if "_m_" in task)
    return run(slowstart, (Failure(Fault.CRASH, last, NEVER, ("node/n0",)),))


def waiting_s(one: Simulated) -> int:
    """Seconds that reduces held a container and waited for maps."""
    last = max(t for t, task in one.rows(Kind.END) if "_m_" in task)
    first = {task: t for t, task in reversed(one.rows(Kind.START)) if "_r_" in task}
    return sum(max(last - t, 0) for t in first.values()) // S


def test_a_map_takes_a_minute() -> None:
    assert calm(1.0).facts("0001_m_000000")["map_ns"] == 60 * S


@pytest.mark.parametrize("slowstart", [0.05, 0.8, 1.0])
def test_the_lost_maps_run_again_and_the_job_ends(slowstart: float) -> None:
    found = lost(slowstart)
    assert found.output == calm(slowstart).output
    undone = found.of(Kind.UNDO)
    assert len(undone) >= 4
    assert all("_m_" in task for task in undone)


def test_the_later_reduces_start_the_less_they_wait() -> None:
    waited = [waiting_s(calm(slowstart)) for slowstart in (0.05, 0.8, 1.0)]
    assert waited[0] > waited[1] >= waited[2] == 0


def test_while_maps_wait_reduces_hold_half_of_the_containers_at_most() -> None:
    found = calm(0.05)
    ends = sorted(t for t, task in found.rows(Kind.END) if "_m_" in task)
    last_start = max(t for t, task in found.rows(Kind.START) if "_m_" in task)
    early = [t for t, task in found.rows(Kind.START) if "_r_" in task and t < last_start]
    assert 0 < len(early) <= CONTAINERS // 2
    assert min(early) >= ends[1], "two of forty maps are a twentieth"


def test_reduces_that_hold_every_container_make_room_for_lost_maps() -> None:
    found = lost(1.0)
    room = [facts for facts in found.run.log.details.values() if facts.get("message") == "makes room"]
    assert len(room) == CONTAINERS // 2 - 1, "half of the eight that are left"
    assert found.of(Kind.FAIL) == [task for task in found.of(Kind.FAIL) if "_r_" in task]
    assert found.said("JobFailed") == [], "a reduce that was killed has not failed"


def test_without_a_ramp_every_reduce_starts_as_soon_as_there_is_a_slot() -> None:
    assert Rules().early_e4 is None
