"""Jobs through a sorted shuffle: the same results as without, the counters of the measured word count."""

from collections.abc import Iterable
from operator import add
from typing import Any

import pytest

from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import run_plan
from gnomon.dataflow.failing import UserError
from gnomon.dataflow.fetching import Fetching
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.partition import Bounds
from gnomon.dataflow.plan import Plan, cut
from gnomon.dataflow.sampling import bounds_of
from gnomon.dataflow.sorted_shuffle import Mapped, Reduced, map_task, reduce_task
from gnomon.dataflow.spill_buffer import Sorting

RULES = Rules(hash="writable", ordered=True, combine=False)
PLENTY = Sorting()
LINES = [["the quick fox", "the fox"], ["the hello", "quick b"]]


def counting(lines: list[list[str]], *, combine: bool = False) -> Dataflow:
    flow = Dataflow("wordcount")
    pairs = flow.source(lines).flat_map(str.split).map(lambda word: (word, 1))
    pairs.reduce_by_key(add, partitions=2, combine=combine).sink("out")
    return flow


def none(exchange: int, partition: int) -> Iterable[Any]:
    return ()


def run(plan: Plan, sorting: Sorting = PLENTY, *, combining: bool = True) -> tuple[list[Mapped], list[Reduced]]:
    """All tasks of a plan with one level of shuffles, one after another."""
    maps: dict[int, list[Mapped]] = {}
    reduces: list[Reduced] = []
    bounds: dict[int, list[Any]] = {}
    for stage in plan.run:
        if stage.samples is not None:
            sampled = run_plan(Plan(plan.name, plan.jobs[:1], (stage,), plan.layout))
            sketches = [one.records[0] for one in sampled.attempts if one.records]
            bounds[stage.samples.number] = bounds_of(stage.samples, sketches)
        elif stage.writes is not None:
            given: Bounds = bounds
            made = [
                map_task(stage, index, none, sorting, bounds=given, combining=combining) for index in range(stage.tasks)
            ]
            maps[stage.writes.number] = made
        else:
            for index in range(stage.tasks):
                copied = {
                    (exchange.number, index): [one.output.segments[index] for one in maps[exchange.number]]
                    for exchange in stage.reads
                }
                reduces.append(reduce_task(stage, index, copied, Fetching(), combining=combining))
    return [one for made in maps.values() for one in made], reduces


def records(reduces: list[Reduced]) -> list[Any]:
    return [one.produced.records for one in reduces]


@pytest.mark.parametrize("combine", [False, True])
def test_the_measured_word_count(combine: bool) -> None:
    maps, reduces = run(cut(counting(LINES, combine=combine).graph(), RULES))
    assert records(reduces) == [[("fox", 2), ("quick", 2), ("the", 3)], [("b", 1), ("hello", 1)]]
    outputs = [one.output.counts for one in maps]
    assert sum(one.produced.read for one in maps) == 4
    assert (sum(one.records for one in outputs), sum(one.bytes for one in outputs)) == (9, 76)
    assert sum(one.combine_input for one in outputs) == (9 if combine else 0)
    assert sum(one.combine_output for one in outputs) == (7 if combine else 0)
    assert sum(one.materialised for one in outputs) == (98 if combine else 118)
    assert [one.groups for one in reduces] == [3, 2]
    assert sum(one.produced.read for one in reduces) == (7 if combine else 9)


def test_a_key_on_both_sides_of_a_join_is_one_group() -> None:
    """A join is one job whose reduce is called once a key, with the values of both sides: a, b, c and d."""
    flow = Dataflow("join")
    left, right = flow.source([[("a", 1), ("b", 2)], [("a", 3), ("c", 4)]]), flow.source([[("a", 5), ("d", 6)]])
    left.join(right, partitions=1).sink("out")
    _, (reduced,) = run(cut(flow.graph(), RULES))
    assert (reduced.groups, reduced.produced.read, reduced.produced.written) == (4, 6, 2)


def test_both_everyone_meet_in_one_reducer() -> None:
    _, reduces = run(cut(counting([["welcome everyone"], ["hello everyone"]]).graph(), RULES))
    assert sorted(record for one in records(reduces) for record in one) == [
        ("everyone", 2),
        ("hello", 1),
        ("welcome", 1),
    ]


@pytest.mark.parametrize("buffer", [96, 200, 2**20])
def test_the_combiner_run_never_once_or_often_changes_nothing(buffer: int) -> None:
    plan = cut(counting([["a b a c a b"] * 20, ["b b c"] * 10], combine=True).graph(), RULES)
    maps, with_it = run(plan, Sorting(buffer))
    without = run(plan, Sorting(buffer), combining=False)[1]
    assert records(with_it) == records(without)
    assert (len(maps[0].output.spills) > 3) is (buffer < 1_000)


def every_operator() -> Dataflow:
    flow = Dataflow("all")
    left = flow.source([[("a", 1), ("b", 2)], [("a", 3)]])
    right = flow.source([[("a", "x")], [("c", "y"), ("a", "z")]])
    left.join(right, how="full", partitions=2).sink("joined")
    left.group_by_key(partitions=2).sink("grouped")
    left.group_by_key(partitions=2, combine=lambda key, values: [sum(values)]).sink("combined")
    left.aggregate(0, add, add, partitions=2, combine=True).sink("aggregated")
    left.keys().distinct(partitions=2).sink("unique")
    left.repartition(3).sink("dealt")
    left.cogroup(right, partitions=1).sink("together")
    return flow


def test_every_operator_gives_what_it_gives_without_sorting() -> None:
    plan = cut(every_operator().graph(), RULES)
    plain = run_plan(plan)
    _, reduces = run(plan)
    by_stage: dict[int, list[Any]] = {}
    for one in reduces:
        by_stage.setdefault(one.produced.stage, []).extend(one.produced.records or [])
    names = {stage.number: stage.name for stage in plan.stages}
    for number, found in by_stage.items():
        wanted = plain.records(names[number])
        assert sorted(map(repr, found)) == sorted(map(repr, wanted)), names[number]


@pytest.mark.parametrize("ascending", [True, False])
def test_a_sort_is_in_order_over_all_reducers(ascending: bool) -> None:
    flow = Dataflow("sort")
    numbers = [[5, 3, 9, 1], [8, 2, 7], [6, 4]]
    flow.source(numbers).sort_by(lambda number: number, ascending=ascending, partitions=3).sink("out")
    _, reduces = run(cut(flow.graph(), RULES))
    found = [record for one in records(reduces) for record in one]
    assert found == sorted(range(1, 10), reverse=not ascending)


def test_a_combiner_that_raises_is_named_with_its_record() -> None:
    def wrong(key: str, values: list[int]) -> list[int]:
        raise ZeroDivisionError(key)

    flow = Dataflow("bad")
    flow.source([[("a", 1), ("a", 2)]]).group_by_key(combine=wrong).sink("out")
    with pytest.raises(UserError, match="wrong"):
        run(cut(flow.graph(), RULES))
