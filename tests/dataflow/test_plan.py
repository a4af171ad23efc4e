"""Cutting into stages, against what the real scheduler did (recorded sleeping DAGs) and what its source says."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import add
from typing import Any

import pytest

from gnomon.dataflow import Collection, Dataflow
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import Plan, cut
from gnomon.model.errors import InputError
from tests.shared import ROOT

CASES = "diamond heavy-tail jobs-reuse join random straggler-last three-parents two-stages uniform".split()


def recorded(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "spark" / f"spark-predict-{name}.json").read_text())
    return case


def sleeping(case: dict[str, Any]) -> Dataflow:
    """The job that the recording program builds: each parent is shuffled anew by key into the child's partitions."""
    flow, built = Dataflow(case["name"]), dict[str, Collection]()

    def stage(name: str) -> Collection:
        if name not in built:
            said = case["input"]["stages"][name]
            count = len(said["seconds"])
            parents = [stage(parent).map(lambda value: (value, 1)) for parent in said.get("parents", ())]
            if not parents:
                start = flow.source(range(2 * count), partitions=count)
            elif len(parents) == 1:
                start = parents[0].repartition(count, partitioner="java").keys()
            else:
                start = parents[0].cogroup(*parents[1:], partitions=count).keys()
            built[name] = start.map_partitions(list, name=name)
        return built[name]

    for number, job in enumerate(case["input"]["jobs"]):
        stage(job["stage"]).collect(name=f"job {number}")
    return flow


@pytest.mark.parametrize("name", CASES)
def test_stages_are_numbered_and_sized_as_recorded(name: str) -> None:
    case = recorded(name)
    plan = cut(sleeping(case).graph(), Rules(hash="java"))
    ran: dict[int, int] = {}
    for task in case["outcome"]["by_slots"]["1"]["tasks"]:
        ran[task["stage"]] = ran.get(task["stage"], 0) + 1
    mine = {stage.number: stage.tasks for stage in plan.run}
    assert set(mine) == set(ran)
    # Which of several parents comes first the engine leaves to the order of a hash set of objects.
    assert sorted(mine.values()) == sorted(ran.values())
    if name in ("jobs-reuse", "two-stages", "uniform"):
        assert mine == ran


def test_a_parent_with_two_children_runs_once_for_each_shuffle() -> None:
    plan = cut(sleeping(recorded("diamond")).graph())
    assert [(stage.name, stage.parents) for stage in plan.stages] == [
        ("map", ()),
        ("map-2", (0,)),
        ("map-3", ()),
        ("map-4", (2,)),
        ("job 0", (1, 3)),
    ]
    assert [[plan.layout.stages[one].name for one in stage.chain][-2] for stage in plan.stages[:2]] == ["A", "B"]


def test_a_shuffle_that_is_there_is_skipped_by_a_later_job() -> None:
    plan = cut(sleeping(recorded("jobs-reuse")).graph())
    assert [job.stages for job in plan.jobs] == [(0, 1), (2, 3), (4, 5)]
    assert [stage.number for stage in plan.stages if stage.skipped] == [4]


def words(flow: Dataflow, partitions: int = 3) -> Collection:
    return flow.source(["a b", "b c", "c d"], partitions=partitions).flat_map(str.split).map(lambda word: (word, 1))


def cut_of(build: Callable[[Dataflow], Collection], rules: Rules | None = None) -> Plan:
    flow = Dataflow()
    build(flow).collect()
    return cut(flow.graph(), rules)


def tasks(plan: Plan) -> list[int]:
    return [stage.tasks for stage in plan.stages]


def test_narrow_operators_stay_in_one_stage() -> None:
    plan = cut_of(lambda flow: words(flow).filter(bool).map_values(str).key_by(len))
    assert len(plan.stages) == 1
    assert tasks(plan) == [3]


def test_what_is_parted_by_the_same_function_already_does_not_cross_again() -> None:
    plan = cut_of(lambda flow: words(flow).reduce_by_key(add, partitions=4).map_values(str).group_by_key())
    assert tasks(plan) == [3, 4]
    again = cut_of(lambda flow: words(flow).reduce_by_key(add, partitions=4).map(lambda pair: pair).group_by_key())
    assert tasks(again) == [3, 4, 4]


def test_a_join_of_sides_that_are_parted_alike_is_narrow() -> None:
    def build(flow: Dataflow) -> Collection:
        left, right = (words(flow).reduce_by_key(add, partitions=2) for _ in range(2))
        return left.join(right)

    plan = cut_of(build)
    assert tasks(plan) == [3, 3, 2]
    assert len(plan.exchanges) == 2


def test_a_broadcast_leaves_the_large_side_where_it_is() -> None:
    plan = cut_of(lambda flow: words(flow, 5).join(words(flow, 2), broadcast=True))
    assert tasks(plan) == [2, 5]
    assert [exchange.partitioner for exchange in plan.exchanges] == ["broadcast"]
    assert [[part for _, part in plan.stages[1].needs(index)] for index in range(5)] == [[0]] * 5


def test_coalesce_makes_the_chain_before_it_run_in_fewer_tasks_and_repartition_does_not() -> None:
    # "coalesce(1) after a 100-partition map runs the map in 1 task; repartition(1) keeps 100 map tasks"
    data = [[number] for number in range(100)]
    assert tasks(cut_of(lambda flow: flow.source(data).map(abs).coalesce(1))) == [1]
    assert tasks(cut_of(lambda flow: flow.source(data).map(abs).repartition(1))) == [100, 1]


def test_a_union_reads_its_partitions_side_by_side_each_from_its_own_shuffle() -> None:
    def build(flow: Dataflow) -> Collection:
        left = words(flow).reduce_by_key(add, partitions=2)
        return left.union(words(flow).reduce_by_key(add, partitions=3))

    result = cut_of(build).stages[-1]
    assert result.tasks == 5
    needs = [[(exchange.number, part) for exchange, part in result.needs(index)] for index in range(5)]
    assert needs == [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)], [(1, 2)]]


def test_a_sort_by_range_has_a_job_before_it_that_samples() -> None:
    plan = cut_of(lambda flow: words(flow).sort_by_key(partitions=2))
    assert [job.stages for job in plan.jobs] == [(0,), (1, 2)]
    assert plan.stages[0].samples == plan.exchanges[0]
    assert len(cut_of(lambda flow: words(flow).sort_by_key(partitions=1)).jobs) == 1


def test_a_kept_collection_is_not_made_again_by_a_later_job() -> None:
    flow = Dataflow()
    kept = words(flow).reduce_by_key(add).map_values(str).cache()
    kept.collect(name="first")
    kept.map(str).repartition(2).collect(name="second")
    plan = cut(flow.graph())
    assert [(stage.number, stage.skipped) for stage in plan.stages] == [
        (0, False),
        (1, False),
        (2, True),
        (3, False),
        (4, False),
    ]


def test_a_union_of_what_is_parted_alike_keeps_its_partitions() -> None:
    def build(flow: Dataflow) -> Collection:
        left, right = (words(flow).reduce_by_key(add, partitions=2) for _ in range(2))
        return left.union(right).group_by_key()

    assert tasks(cut_of(build)) == [3, 3, 2]


def test_a_loop_of_shuffles_may_be_long_and_a_chain_without_one_may_not() -> None:
    def looped(flow: Dataflow) -> Collection:
        pairs = words(flow)
        for _ in range(1_000):
            pairs = pairs.reduce_by_key(add, partitions=1).map(lambda pair: pair)
        return pairs

    def chained(flow: Dataflow) -> Collection:
        numbers = flow.source([[1]])
        for _ in range(1_000):
            numbers = numbers.map(abs)
        return numbers

    assert len(cut_of(looped).stages) == 1_001
    with pytest.raises(InputError, match="map-500: a task of too many operators"):
        cut_of(chained)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [((3, 7), 7), ((4, 4), 4)],
    ids=["as many as the widest input", "the same of both"],
)
def test_partitions_where_the_job_says_nothing(inputs: tuple[int, int], expected: int) -> None:
    plan = cut_of(lambda flow: words(flow, inputs[0]).join(words(flow, inputs[1])))
    assert plan.stages[-1].tasks == expected
    assert cut_of(lambda flow: words(flow).group_by_key(), Rules(partitions=9)).stages[-1].tasks == 9
