"""Graphs that are no plain chain of shuffles: the records are those of the same plan run without a cluster."""

from collections.abc import Callable
from operator import add
from typing import Any

import pytest

from gnomon.dataflow import Collection, Dataflow
from gnomon.dataflow.execute import run_plan
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import cut
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from tests.systems.mapreduce.simulated import S, simulated

RULES = Rules(partitions=1, hash="writable", combine=False, ordered=True)

GRAPHS: dict[str, Callable[[Collection], Collection]] = {
    "coalesced after a shuffle": lambda pairs: pairs.reduce_by_key(add, partitions=5).coalesce(2),
    "coalesced, and shuffled again": lambda pairs: (
        pairs.reduce_by_key(add, partitions=5).coalesce(2).group_by_key(partitions=3)
    ),
    "two shuffles side by side": lambda pairs: pairs.reduce_by_key(add, partitions=2).union(
        pairs.reduce_by_key(max, partitions=3)
    ),
    "shuffled beside what is not": lambda pairs: (
        pairs.reduce_by_key(add, partitions=2).union(pairs).group_by_key(partitions=3)
    ),
    "sorted after a shuffle": lambda pairs: pairs.reduce_by_key(add, partitions=3).sort_by_key(partitions=2),
    "a broadcast in a reduce": lambda pairs: pairs.reduce_by_key(add, partitions=5).join(
        pairs.map_values(str), broadcast=True
    ),
    "a broadcast of what was shuffled": lambda pairs: pairs.reduce_by_key(add, partitions=5).join(
        pairs.reduce_by_key(max, partitions=2), broadcast=True
    ),
}


def pairs_of(flow: Dataflow) -> Collection:
    return flow.source([list(range(start, 40, 4)) for start in range(4)]).map(lambda number: (number % 10, number))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("lost", [False, True])
def test_the_records_are_those_of_the_plan(graph: str, lost: bool) -> None:
    flow = Dataflow()
    GRAPHS[graph](pairs_of(flow)).sink("out")
    wanted = run_plan(cut(flow.graph(), RULES)).partitions["out"]
    faults = [Failure(Fault.CRASH, at * S, NEVER, (f"node/worker-{node}",)) for node, at in ((2, 13), (3, 40))]
    assert simulated(flow, faults=faults if lost else ()).tasks.records("out") == wanted


def test_what_is_coalesced_is_there_once() -> None:
    """By hand: the keys 0 to 9 with four numbers each, key + 0, 10, 20, 30."""
    flow = Dataflow()
    pairs_of(flow).reduce_by_key(add, partitions=5).coalesce(2).sink("out")
    found: list[Any] = [record for part in simulated(flow).tasks.records("out") for record in part]
    assert sorted(found) == [(key, 4 * key + 60) for key in range(10)]
