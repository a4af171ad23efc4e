"""Random jobs: what is true of the plan of any, and that a result does not depend on what the engine decides."""

from __future__ import annotations

from collections.abc import Callable
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow import Collection, Dataflow, Graph
from gnomon.dataflow.comparing import difference
from gnomon.dataflow.execute import run_plan
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import Plan, cut
from gnomon.dataflow.stage import Rule

pytestmark = pytest.mark.property

ONE: dict[str, Callable[[Collection, int], Collection]] = {
    "map": lambda pairs, n: pairs.map(lambda pair: (pair[0] % (n + 1), pair[1] + n)),
    "flat_map": lambda pairs, n: pairs.flat_map(lambda pair: [pair] * (n % 3)),
    "filter": lambda pairs, n: pairs.filter(lambda pair: pair[1] % 3 != n % 3),
    "map_values": lambda pairs, n: pairs.map_values(lambda value: value * n),
    "reduce": lambda pairs, n: pairs.reduce_by_key(add, partitions=n),
    "reduce, as many": lambda pairs, n: pairs.reduce_by_key(max),
    "group": lambda pairs, n: pairs.group_by_key(partitions=n).map_values(sum),
    "distinct": lambda pairs, n: pairs.distinct(partitions=n),
    "sort": lambda pairs, n: pairs.sort_by_key(partitions=n, ascending=n % 2 == 0),
    "repartition": lambda pairs, n: pairs.repartition(n),
    "coalesce": lambda pairs, n: pairs.coalesce(n),
    "cache": lambda pairs, n: pairs.cache(),
}
TWO: dict[str, Callable[[Collection, Collection, int], Collection]] = {
    "union": lambda left, right, n: left.union(right),
    "join": lambda left, right, n: left.join(right, partitions=n).map_values(lambda pair: pair[0] - pair[1]),
    "join, as many": lambda left, right, n: left.join(right).map_values(sum),
    "broadcast": lambda left, right, n: left.join(right, broadcast=True).map_values(sum),
    "cogroup": lambda left, right, n: left.cogroup(right).map_values(lambda sides: sum(sides[0]) - len(sides[1])),
}
STEPS = st.lists(
    st.tuples(st.sampled_from([*ONE, *TWO]), st.integers(0, 9), st.integers(0, 9), st.integers(1, 4)),
    min_size=1,
    max_size=5,
)
RULES = st.builds(Rules, partitions=st.none() | st.integers(1, 4), combine=st.booleans(), ordered=st.booleans())


def job(steps: list[tuple[str, int, int, int]], results: int) -> Graph:
    flow = Dataflow()
    made = [
        flow.source([(number % 5, number) for number in range(12)], partitions=3),
        flow.source([[(1, 1), (2, 2)], [(3, 3), (3, 4)]]),
    ]
    for name, one, other, count in steps:
        left, right = made[one % len(made)], made[other % len(made)]
        made.append(ONE[name](left, count) if name in ONE else TWO[name](left, right, count))
    for collection in made[-results:]:
        collection.collect()
    return flow.graph()


@given(STEPS, RULES, st.integers(1, 3))
def test_what_is_true_of_any_plan(steps: list[tuple[str, int, int, int]], rules: Rules, results: int) -> None:
    plan = cut(job(steps, results), rules)
    assert [stage.number for stage in plan.stages] == list(range(len(plan.stages)))
    written = [stage.writes.number for stage in plan.run if stage.writes is not None]
    assert len(written) == len(set(written)), "each shuffle is written once where nothing is lost"
    for stage in plan.stages:
        assert all(parent < stage.number and plan.stages[parent].job == stage.job for parent in stage.parents)
        writers = {plan.stages[parent].writes for parent in stage.parents}
        assert writers == set(stage.reads)
        needs = [need for index in range(stage.tasks) for need in stage.needs(index)]
        assert {exchange for exchange, _ in needs} <= set(stage.reads)
    _each_partition_is_read(plan)


def _each_partition_is_read(plan: Plan) -> None:
    for stage in plan.stages:
        for exchange in stage.reads:
            read = {part for index in range(stage.tasks) for one, part in stage.needs(index) if one == exchange}
            assert stage.tasks == 0 or read == set(range(exchange.partitions))
            assert exchange.rule != Rule.BROADCAST or read <= {0}


@given(STEPS, RULES, RULES, st.integers(0, 3), st.booleans())
def test_results_do_not_depend_on_what_the_engine_decides(
    steps: list[tuple[str, int, int, int]], one: Rules, other: Rules, times: int, backwards: bool
) -> None:
    graph = job(steps, 2)
    first = run_plan(cut(graph, one))
    again = run_plan(cut(graph, other), combines=times, backwards=backwards)
    for sink in first.partitions:
        assert difference(first.records(sink), again.records(sink)) is None
