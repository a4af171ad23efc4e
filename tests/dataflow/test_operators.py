"""What operators mean, against the plainest Python that says the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow import Collection, Dataflow
from gnomon.dataflow.execute import collect, run_plan
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import cut

Parts = list[list[Any]]
PAIRS = st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(-9, 9)), max_size=8), min_size=0, max_size=4)
RULES = st.builds(
    Rules,
    partitions=st.none() | st.integers(1, 5),
    hash=st.sampled_from(["portable", "java", "writable", "murmur3"]),
    combine=st.booleans(),
    ordered=st.booleans(),
)
TIMES = st.integers(0, 4)


def result(build: Callable[[Dataflow], Collection], rules: Rules | None = None, combines: int = 1) -> list[Any]:
    flow = Dataflow()
    build(flow).collect()
    return collect(flow, rules=rules, combines=combines)


def flat(parts: Parts) -> list[Any]:
    return [record for part in parts for record in part]


def by_key(parts: Parts) -> dict[Any, list[Any]]:
    groups = defaultdict(list)
    for key, value in flat(parts):
        groups[key].append(value)
    return dict(groups)


@pytest.mark.property
@given(PAIRS, RULES, TIMES)
def test_reduce_by_key_sums_whatever_the_engine_combines(parts: Parts, rules: Rules, times: int) -> None:
    found = result(lambda flow: flow.source(parts).reduce_by_key(add), rules, times)
    assert dict(found) == {key: sum(values) for key, values in by_key(parts).items()}
    assert len(found) == len(by_key(parts))


@pytest.mark.property
@given(PAIRS, RULES, TIMES)
def test_an_aggregate_with_another_type_of_result(parts: Parts, rules: Rules, times: int) -> None:
    def build(flow: Dataflow) -> Collection:
        return flow.source(parts).aggregate(
            (0, 0), lambda got, value: (got[0] + value, got[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1])
        )

    expected = {key: (sum(values), len(values)) for key, values in by_key(parts).items()}
    assert dict(result(build, rules, times)) == expected


@pytest.mark.property
@given(PAIRS, RULES)
def test_groups_hold_the_values_of_a_key_in_the_order_of_the_input(parts: Parts, rules: Rules) -> None:
    assert dict(result(lambda flow: flow.source(parts).group_by_key(), rules)) == by_key(parts)


@pytest.mark.property
@given(PAIRS, RULES, TIMES)
def test_distinct(parts: Parts, rules: Rules, times: int) -> None:
    found = result(lambda flow: flow.source(parts).distinct(), rules, times)
    assert Counter(found) == Counter(set(flat(parts)))


@pytest.mark.property
@given(PAIRS, PAIRS, RULES, st.sampled_from(["inner", "left", "right", "full"]))
def test_joins(left: Parts, right: Parts, rules: Rules, how: str) -> None:
    found = result(lambda flow: flow.source(left).join(flow.source(right), how=how), rules)
    pairs = [(key, (one, other)) for key, one in flat(left) for again, other in flat(right) if key == again]
    if how in ("left", "full"):
        pairs += [(key, (one, None)) for key, one in flat(left) if key not in by_key(right)]
    if how in ("right", "full"):
        pairs += [(key, (None, other)) for key, other in flat(right) if key not in by_key(left)]
    assert Counter(found) == Counter(pairs)


@pytest.mark.property
@given(PAIRS, PAIRS, st.sampled_from(["inner", "left"]))
def test_a_broadcast_join_gives_the_same_as_a_shuffled_one(left: Parts, right: Parts, how: str) -> None:
    shuffled = result(lambda flow: flow.source(left).join(flow.source(right), how=how))
    assert Counter(result(lambda flow: flow.source(left).join(flow.source(right), how=how, broadcast=True))) == Counter(
        shuffled
    )


@pytest.mark.property
@given(PAIRS, PAIRS, PAIRS, RULES)
def test_cogroup_has_a_list_for_each_side(one: Parts, two: Parts, three: Parts, rules: Rules) -> None:
    found = result(lambda flow: flow.source(one).cogroup(flow.source(two), flow.source(three)), rules)
    sides = [by_key(parts) for parts in (one, two, three)]
    assert dict(found) == {
        key: tuple(side.get(key, []) for side in sides) for key in {k for side in sides for k in side}
    }


@pytest.mark.property
@given(PAIRS, st.integers(1, 6))
def test_moving_records_loses_and_doubles_none(parts: Parts, count: int) -> None:
    def moved(flow: Dataflow) -> Collection:
        start = flow.source(parts)
        return start.union(start).repartition(count).coalesce(2).repartition(count, partitioner="java")

    assert Counter(result(moved)) == Counter(flat(parts) * 2)


def test_repartition_deals_out_evenly() -> None:
    flow = Dataflow()
    flow.source(range(1_000), partitions=3).repartition(7).sink("out")
    sizes = [len(part) for part in run_plan(cut(flow.graph())).partitions["out"]]
    assert max(sizes) - min(sizes) <= 3


def test_narrow_operators() -> None:
    parts = [["b a", "c"], [], ["a"]]
    assert result(lambda flow: flow.source(parts).flat_map(str.split)) == ["b", "a", "c", "a"]
    assert result(lambda flow: flow.source(parts).filter(lambda text: " " in text)) == ["b a"]
    assert result(lambda flow: flow.source(parts).key_by(len)) == [(3, "b a"), (1, "c"), (1, "a")]
    assert result(lambda flow: flow.source(parts).key_by(len).map_values(str.upper).values()) == ["B A", "C", "A"]
    assert result(lambda flow: flow.source(parts).key_by(len).flat_map_values(str.split).keys()) == [3, 3, 1, 1]
    assert result(lambda flow: flow.source(parts).map_partitions(lambda given: [len(list(given))])) == [2, 0, 1]
    indexed = result(lambda flow: flow.source(parts).map_partitions(lambda i, given: [(i, *given)], indexed=True))
    assert indexed == [(0, "b a", "c"), (1,), (2, "a")]


def test_a_custom_partitioner_decides_and_is_told_when_it_gives_no_integer() -> None:
    flow = Dataflow()
    flow.source([[(key, key) for key in range(6)]]).group_by_key(partitions=3, partitioner=lambda key: -key).sink("out")
    parts = run_plan(cut(flow.graph())).partitions["out"]
    assert [[key for key, _ in part] for part in parts] == [[0, 3], [2, 5], [1, 4]]
    with pytest.raises(Exception, match="the partitioner str gave no integer for the key 0, found '0'"):
        result(lambda flow: flow.source([[(0, 0)]]).group_by_key(partitions=2, partitioner=str))


def test_counts_of_a_task() -> None:
    flow = Dataflow()
    lines = flow.source([["a b", "b c"]])
    lines.flat_map(str.split).map(lambda word: (word, 1)).reduce_by_key(add, partitions=2).collect()
    attempts = run_plan(cut(flow.graph()), size=lambda record: len(record[0]) + 4).attempts
    assert attempts[0].calls == {0: 2, 1: 2, 2: 4}
    assert (attempts[0].read, attempts[0].combine_in, attempts[0].combine_out, attempts[0].written) == (2, 4, 3, 3)
    assert sum(attempts[0].sizes) == 15
    assert sum(one.read for one in attempts[1:]) == 3


@pytest.mark.parametrize("parts", [[], [[]], [[], []]], ids=["no partitions", "an empty one", "two empty ones"])
def test_an_empty_input_gives_an_empty_result(parts: Parts) -> None:
    assert result(lambda flow: flow.source(parts).reduce_by_key(add)) == []
    assert result(lambda flow: flow.source(parts).sort_by_key(partitions=3)) == []
    assert result(lambda flow: flow.source(parts).repartition(2)) == []
