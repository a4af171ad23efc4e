"""A function that raises: which operator, which record, whose lines."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gnomon.dataflow import Collection, Dataflow
from gnomon.dataflow.execute import collect
from gnomon.dataflow.failing import UserError
from gnomon.dataflow.layout import Rules
from gnomon.model.errors import InputError


def failure(build: Callable[[Dataflow], Collection]) -> UserError:
    flow = Dataflow()
    build(flow).collect()
    with pytest.raises(UserError) as raised:
        collect(flow)
    return raised.value


def halved(number: int) -> float:
    return 1 / number


def test_the_operator_the_record_the_partition_and_the_users_lines() -> None:
    error = failure(lambda flow: flow.source([[1, 2], [4, 0]]).map(halved, name="halve"))
    assert (error.operator, error.function, error.record, error.partition) == ("halve", "halved", "0", 1)
    assert error.cause == "ZeroDivisionError: division by zero"
    assert len([line for line in error.lines if "in halved" in line]) == 1
    assert not any("operators.py" in line or "execute.py" in line for line in error.lines)
    assert str(error).startswith("halve: halved failed on the record 0 (partition 1): ZeroDivisionError")


def ends(number: int) -> int:
    sys.exit(number)


def stops(number: int) -> int:
    raise StopIteration(number)


def lazily(numbers: Iterator[int]) -> Iterator[float]:
    for number in numbers:
        yield 1 / number


@pytest.mark.parametrize(
    ("build", "operator", "record", "cause"),
    [
        (lambda flow: flow.source([["1", "x"]]).map(int, name="m"), "m", "'x'", "ValueError"),
        (lambda flow: flow.source([[1, None]]).flat_map(lambda n: range(n), name="f"), "f", "None", "TypeError"),
        (lambda flow: flow.source([[3]]).flat_map(abs, name="f"), "f", "3", "'int' object is not iterable"),
        (lambda flow: flow.source([[3]]).map(ends, name="m"), "m", "3", "SystemExit: 3"),
        (lambda flow: flow.source([[3]]).map(stops, name="m"), "m", "3", "StopIteration: 3"),
        (lambda flow: flow.source([[3, 0]]).map_partitions(lazily, name="p"), "p", "0", "ZeroDivisionError"),
        (lambda flow: flow.source([[3]]).group_by_key(name="g"), "g", "3", "not a pair (key, value)"),
        (lambda flow: flow.source([[(1, 2, 3)]]).map_values(str, name="v"), "v", "(1, 2, 3)", "too many values"),
        (
            lambda flow: flow.source([[("a", 1), ("a", "b")]]).reduce_by_key(lambda x, y: x + y, name="r"),
            "r",
            "('a', 'b')",
            "unsupported operand",
        ),
        (lambda flow: flow.source([[([1], 2)]]).group_by_key(partitions=1, name="g"), "g", "([1], 2)", "unhashable"),
        (lambda flow: flow.source([[2, None]]).sort_by(abs, partitions=2, name="s"), "s", "None", "bad operand"),
    ],
)
def test_kinds_of_failure(
    build: Callable[[Dataflow], Collection], operator: str, record: str | None, cause: str
) -> None:
    error = failure(build)
    assert (error.operator, error.record) == (operator, record)
    assert cause in error.cause


def test_the_innermost_operator_is_named_not_those_that_wait_for_it() -> None:
    def build(flow: Dataflow) -> Collection:
        start = flow.source([[1, 0]]).map(halved, name="inner")
        return start.map_partitions(list, name="outer").filter(bool)

    assert (failure(build).operator, failure(build).record) == ("inner", "0")


def test_a_failing_partitioner_is_an_error_of_its_stage() -> None:
    error = failure(lambda flow: flow.source([[(1, 1)]]).group_by_key(partitions=2, partitioner=len, name="g"))
    assert (error.operator, error.record) == ("g", "(1, 1)")


@pytest.mark.parametrize("count", [1, 2])
def test_keys_without_an_order_are_named(count: int) -> None:
    flow = Dataflow()
    flow.source([[2, "a"]]).sort_by(lambda record: record, partitions=count, name="s").collect()
    with pytest.raises(InputError, match=r"^s: .*the keys 2 and 'a' cannot be ordered"):
        collect(flow)
    flow = Dataflow()
    flow.source([[(2, 1), ("a", 1)]]).group_by_key(partitions=1, name="g").collect()
    assert len(collect(flow)) == 2
    with pytest.raises(InputError, match=r"^g: .*the keys 2 and 'a' cannot be ordered"):
        collect(flow, rules=Rules(ordered=True))


def test_a_key_without_a_hash_names_the_stage() -> None:
    flow = Dataflow()
    flow.source([[(frozenset(), 1)]]).group_by_key(partitions=2, name="g").collect()
    with pytest.raises(InputError, match="g: the hash 'portable' is not defined for such a key"):
        collect(flow)


def test_the_error_can_be_sent_between_processes() -> None:
    error = failure(lambda flow: flow.source([[0]]).map(halved))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert vars(again) == vars(error)


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError

    def __call__(self, record: Any) -> Any:
        raise KeyError(record)


def test_a_record_that_cannot_be_shown() -> None:
    error = failure(lambda flow: flow.source([[Silent()]]).map(Silent(), name="m"))
    assert error.record == "a Silent whose repr raises RuntimeError"
    assert error.function == "Silent"


def raising_place(key: int) -> int:
    raise KeyError(key)


def nothing_left(key: int, values: list[int]) -> list[int]:
    raise ValueError(len(values))


def total(one: int, other: int) -> int:
    return one + other


def test_the_function_that_failed_is_named_not_another_of_its_stage() -> None:
    pairs = [[(1, 2), (1, 3)]]
    place = failure(lambda flow: flow.source(pairs).reduce_by_key(total, partitions=2, partitioner=raising_place))
    assert (place.function, place.cause) == ("raising_place", "KeyError: 1")
    combine = failure(lambda flow: flow.source(pairs).reduce_by_key(total, partitions=2, combine=nothing_left))
    assert combine.function == "nothing_left"
    merge = failure(lambda flow: flow.source([[(1, "a"), (1, 3)]]).reduce_by_key(total, partitions=2))
    assert (merge.function, merge.cause.partition(":")[0]) == ("total", "TypeError")


def test_a_key_that_no_table_can_hold_is_no_fault_of_the_function() -> None:
    error = failure(lambda flow: flow.source([[([1], 2)]]).reduce_by_key(total, partitions=2, name="sum"))
    assert (error.operator, error.function) == ("sum", "hash")
    assert error.cause == "TypeError: unhashable type: 'list'"


def gives_up(number: int) -> int:
    raise GeneratorExit


def test_an_exit_of_a_generator_is_a_failure_as_any_other() -> None:
    error = failure(lambda flow: flow.source([[1]]).map(gives_up))
    assert (error.function, error.record, error.cause) == ("gives_up", "1", "GeneratorExit")


class Incomparable:
    def __lt__(self, other: object) -> bool:
        raise ZeroDivisionError("no order")


def test_keys_whose_comparison_raises_name_the_stage() -> None:
    flow = Dataflow()
    flow.source([[(Incomparable(), 1), (Incomparable(), 2)]]).sort_by_key(partitions=2, name="s").collect()
    with pytest.raises(InputError, match="s: the keys cannot be compared: ZeroDivisionError: no order"):
        collect(flow)
