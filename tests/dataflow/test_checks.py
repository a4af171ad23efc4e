"""Checks of functions: what each kind of mistake looks like, and that sound functions are left alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from operator import add, sub
from typing import Any

import pytest

from gnomon.dataflow import Collection, Dataflow
from gnomon.dataflow.checks import check_plan
from gnomon.dataflow.findings import Finding, Level
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import cut

PAIRS = [("a", 1), ("b", 2), ("a", 3), ("a", 5), ("b", 7), ("c", 11)]


def found(build: Callable[[Collection], Collection], records: Any = PAIRS, *, partitions: int = 3) -> list[Finding]:
    flow = Dataflow()
    build(flow.source(records, partitions=partitions)).collect()
    return check_plan(cut(flow.graph(), Rules(partitions=2)))


def only(findings: list[Finding], rule: str) -> Finding:
    assert [one.rule for one in findings] == [rule], findings
    return findings[0]


# ---------------------------------------------------------------------- combiners


@pytest.mark.parametrize(
    ("function", "problem", "alternatives"),
    [
        (sub, "sub is not commutative", ("sub(1, 3) = -2", "sub(3, 1) = 2")),
        (lambda one, other: (one + other) / 2, "lambda is not associative", ()),
        (lambda one, other: one, "lambda is not commutative", ("lambda(1, 3) = 1", "lambda(3, 1) = 3")),
    ],
    ids=["a difference", "a mean of two", "the first one"],
)
def test_a_function_that_is_no_reduction(
    function: Callable[[Any, Any], Any], problem: str, alternatives: tuple[str, ...]
) -> None:
    finding = only(found(lambda pairs: pairs.reduce_by_key(function, name="wrong")), "combiner")
    assert (finding.level, finding.stage, finding.record) == (Level.ERROR, "wrong", "key 'a'")
    assert finding.problem.startswith(problem)
    assert not alternatives or finding.alternatives == alternatives


def test_a_mean_of_means_is_found_by_running_the_combiner_never_once_and_three_times() -> None:
    def mean(key: str, values: list[float]) -> list[float]:
        return [sum(values) / len(values)]

    records = [("a", 10), ("a", 20), ("a", 60), ("b", 1)]
    finding = only(
        found(lambda pairs: pairs.group_by_key(combine=mean).map_values(sum), records, partitions=2), "combiner"
    )
    # once: the tasks give 15 and 60; never: 10 + 20 + 60
    assert finding.alternatives[:2] == ("run once: ('a', 75.0)", "run never: ('a', 90)")


def test_add_and_merge_that_do_not_agree() -> None:
    finding = only(found(lambda pairs: pairs.aggregate(0, lambda got, _: got + 1, max)), "combiner")
    assert "add and merge do not agree" in finding.problem


def test_a_zero_that_is_not_neutral_is_counted_once_a_task() -> None:
    finding = only(found(lambda pairs: pairs.aggregate(100, add, add)), "combiner")
    assert finding.alternatives == ("add(101, 3) = 104", "add(101, 103) = 204")


@pytest.mark.parametrize(
    "build",
    [
        lambda pairs: pairs.reduce_by_key(add),
        lambda pairs: pairs.reduce_by_key(max),
        lambda pairs: pairs.map_values(lambda value: value / 10).reduce_by_key(add),  # rounding is no mistake
        lambda pairs: pairs.map_values(lambda value: {value}).reduce_by_key(set.union),
        lambda pairs: pairs.aggregate(
            (0, 0), lambda g, v: (g[0] + v, g[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1])
        ),
        lambda pairs: pairs.group_by_key().map_values(sorted),
        lambda pairs: pairs.distinct().keys().map(str.upper),
        lambda pairs: pairs.join(pairs).sort_by_key(partitions=2),
    ],
)
def test_sound_jobs_have_no_findings(build: Callable[[Collection], Collection]) -> None:
    assert found(build) == []


def test_a_combiner_whose_output_is_no_input_of_it() -> None:
    def lengths(key: str, values: list[str]) -> list[int]:
        return [sum(len(value) for value in values)]

    records = [("a", "xx"), ("a", "y"), ("a", "zzz")]
    finding = only(found(lambda pairs: pairs.group_by_key(combine=lengths, name="g"), records), "combiner")
    assert (finding.level, finding.stage) == (Level.ERROR, "g")
    assert "where lengths is run 3 times, lengths raises" in finding.problem


def test_a_merge_that_takes_results_in_one_order_only() -> None:
    def rising(one: int, other: int) -> int:
        if one > other:
            raise ValueError(other)
        return one + other

    finding = only(found(lambda pairs: pairs.combine_by_key(int, add, rising)), "combiner")
    assert "it raises on values in another order or grouping" in finding.problem


# ---------------------------------------------------------------------- order


def test_a_choice_by_order_of_arrival() -> None:
    finding = only(found(lambda pairs: pairs.group_by_key().map_values(lambda values: values[0])), "order")
    assert finding.level == Level.ERROR
    # the values of b are 2, of the first task, and 7, of the last
    assert finding.alternatives == ("in the order of the tasks: ('b', 2)", "in the opposite order: ('b', 7)")


def test_lists_in_the_order_of_arrival_are_a_note() -> None:
    assert only(found(lambda pairs: pairs.group_by_key()), "order").level == Level.NOTE


# ---------------------------------------------------------------------- attempts


def test_a_random_key_loses_and_doubles_records_when_a_map_runs_again() -> None:
    draw = random.Random(1)

    def salted(record: Any) -> Any:
        return (draw.random(), record)

    findings = found(lambda pairs: pairs.map(salted, name="salted").group_by_key())
    attempts = next(one for one in findings if one.rule == "attempts")
    assert (attempts.level, attempts.stage) == (Level.ERROR, "salted")
    assert attempts.record == "('a', 1)"
    assert "records lost" in attempts.alternatives[-1]


def test_a_partitioner_that_draws_moves_records() -> None:
    draw = random.Random(2)
    findings = found(
        lambda pairs: pairs.group_by_key(partitioner=lambda key: draw.randrange(2), name="scattered"), partitions=1
    )
    attempts = next(one for one in findings if one.rule == "attempts")
    assert attempts.stage == "scattered"
    assert "different partitions" in attempts.problem


def test_a_function_that_numbers_its_calls() -> None:
    numbers = count()
    findings = found(lambda pairs: pairs.map(lambda record: (next(numbers), record), name="numbered"))
    assert {one.rule for one in findings} == {"attempts", "effects"}
    assert next(one for one in findings if one.rule == "attempts").level == Level.WARNING  # only the result differs


def test_a_task_that_can_run_only_once() -> None:
    done: set[Any] = set()

    def once(record: Any) -> Any:
        if record in done:
            raise FileExistsError(record)
        done.add(record)
        return record

    finding = only(found(lambda pairs: pairs.map(once, name="once")), "attempts")
    assert (finding.stage, finding.record) == ("once", "('a', 1)")
    assert "raises when it is run again" in finding.problem


# ---------------------------------------------------------------------- effects


def test_a_list_that_grows_at_every_attempt() -> None:
    seen: list[int] = []

    def remembered(record: Any) -> Any:
        if record[1] > 2:
            seen.append(record[1])
        return record

    finding = only(found(lambda pairs: pairs.map(remembered, name="kept"), partitions=1), "effects")
    assert (finding.level, finding.stage, finding.record) == (Level.WARNING, "kept", "('a', 3)")
    assert "remembered changes seen" in finding.problem
    assert [text.split(":")[0] for text in finding.alternatives] == [
        "seen before",
        "seen after one attempt",
        "seen after two",
    ]


TOTALS: dict[str, int] = {}


def counted(key: str) -> bool:
    TOTALS[key] = TOTALS.get(key, 0) + 1
    return True


def test_a_global_that_a_called_function_changes() -> None:
    finding = only(found(lambda pairs: pairs.filter(lambda record: counted(record[0]))), "effects")
    assert "changes TOTALS" in finding.problem
    assert finding.record == "('a', 1)"


# ---------------------------------------------------------------------- keys, skew, raising


def test_a_hot_key_is_told_with_its_share() -> None:
    records = [(0 if number % 5 < 2 else number, 1) for number in range(1_000)]
    finding = only(found(lambda pairs: pairs.group_by_key(partitions=8, name="hot").map_values(len), records), "skew")
    assert (finding.level, finding.record) == (Level.WARNING, "key 0")
    assert "(40 %)" in finding.problem


def test_keys_that_cannot_be_ordered_are_a_note_where_nothing_sorts_them() -> None:
    records = [(1, 1), ("a", 2)]
    finding = only(found(lambda pairs: pairs.reduce_by_key(add), records), "keys")
    assert finding.level == Level.NOTE


def test_a_key_that_has_no_hash_is_an_error() -> None:
    finding = only(found(lambda pairs: pairs.group_by_key(name="g"), [(float("nan"), 1)]), "keys")
    assert (finding.level, finding.stage, finding.record) == (Level.ERROR, "g", "key nan")


class Incomparable:
    def __eq__(self, other: object) -> bool:
        raise ValueError("these cannot be compared")

    def __hash__(self) -> int:
        return 1


def test_records_that_cannot_be_compared_are_the_jobs_own_mistake() -> None:
    finding = only(found(lambda pairs: pairs.map(lambda pair: Incomparable(), name="odd")), "raises")
    assert finding.problem == "what the job makes raises where it is compared or tried again"
    assert finding.alternatives[0] == "ValueError: these cannot be compared"


def test_keys_that_a_sort_cannot_order_are_an_error() -> None:
    finding = only(found(lambda keys: keys.sort_by(lambda key: key, name="sorted"), [1, "a", 2]), "keys")
    assert (finding.level, finding.stage) == (Level.ERROR, "sorted")
    assert "the keys 1 and 'a' cannot be ordered" in finding.problem


def test_a_function_that_raises_is_told_with_record_and_its_own_lines_only() -> None:
    def parsed(text: str) -> int:
        return int(text)

    finding = only(found(lambda words: words.map(parsed, name="parse"), ["1", "2", "x"], partitions=2), "raises")
    assert (finding.stage, finding.record) == ("parse", "'x'")
    assert finding.alternatives[0] == "ValueError: invalid literal for int() with base 10: 'x'"
    assert any("return int(text)" in line for line in finding.alternatives)
    assert not any("gnomon/dataflow" in line for line in finding.alternatives)
