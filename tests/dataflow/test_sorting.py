"""The output of a map: the worked examples that were measured on the real engine, and what must hold always."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.operators import Group
from gnomon.dataflow.serialise import segment_record, writable
from gnomon.dataflow.sorting import Combine, MapOutput
from gnomon.dataflow.spill_buffer import Sorting
from gnomon.model.errors import InputError
from tests.dataflow.shuffles import sort_output as sort_pairs

ONE_MB = Sorting(buffer_bytes=2**20)
"""``mapreduce.task.io.sort.mb`` 1: a buffer of 1 048 576 bytes, a soft limit of 838 860."""

TWO_REDUCERS = 2


def total(groups: list[Group]) -> list[Group]:
    return [(key, [sum(values)]) for key, values in groups]


def sort_output(
    records: list[tuple[int, Any, Any]], partitions: int, sorting: Sorting, combine: Combine | None = None
) -> MapOutput:
    """From records (partition, key, value), all of a key in one partition."""
    places = {key: partition for partition, key, _ in records}
    pairs = [(key, value) for _, key, value in records]
    return sort_pairs(pairs, places.__getitem__, partitions, sorting, combine=combine)


def words(count: int, distinct: int) -> list[tuple[int, str, int]]:
    """Words of six letters: 7 bytes as a key, and 4 for the one that goes with each."""
    return [(number % TWO_REDUCERS, f"w{number % distinct:05d}", 1) for number in range(count)]


@pytest.fixture(scope="module")
def example_a() -> MapOutput:
    return sort_output(words(100_000, 100_000), TWO_REDUCERS, ONE_MB)


def test_example_a_spills(example_a: MapOutput) -> None:
    assert [spill.records for spill in example_a.spills] == [31_069, 31_068, 31_068, 6_795]
    assert example_a.spills[0].records == -(-838_860 // (11 + 16))


def test_example_a_bytes(example_a: MapOutput) -> None:
    assert example_a.counts.records == 100_000
    assert example_a.counts.bytes == 1_100_000
    assert example_a.counts.materialised == 100_000 * 13 + 2 * 6 == 1_300_012


def test_example_a_spilled_records(example_a: MapOutput) -> None:
    reduce_side = 100_000
    assert example_a.counts.spilled + reduce_side == 300_000
    assert example_a.passes == (100_000,), "four runs are merged at once"


def test_example_a_with_a_factor_of_two_rewrites_all_once_more() -> None:
    output = sort_output(words(100_000, 100_000), TWO_REDUCERS, Sorting(2**20, factor=2))
    assert len(output.passes) == 3, "two passes before the last"
    assert sum(output.passes[:-1]) == 100_000
    assert output.counts.spilled + 100_000 == 400_000


def test_example_b_a_combiner_runs_over_each_spill_and_again_when_four_are_merged() -> None:
    output = sort_output(words(100_000, 100), TWO_REDUCERS, ONE_MB, combine=total)
    counts, reduce_side = output.counts, 100
    assert counts.combine_input == 100_000 + 4 * 100 == 100_400
    assert counts.combine_output == 4 * 100 + 100 == 500
    assert counts.spilled + reduce_side == 600
    assert counts.materialised == 1_312
    assert {value for segment in output.segments for _, value in segment.pairs} == {1_000}


def test_with_two_spills_the_combiner_does_not_run_again() -> None:
    output = sort_output(words(60_000, 100), TWO_REDUCERS, ONE_MB, combine=total)
    assert len(output.spills) == 2
    assert output.counts.combine_input == 60_000
    assert sum(len(segment.pairs) for segment in output.segments) == 2 * 100, "two pairs a key are left"
    assert output.counts.spilled == 200 + 200


def test_one_spill_is_renamed_and_none_is_an_empty_file() -> None:
    one = sort_output(words(10, 10), TWO_REDUCERS, ONE_MB)
    assert (one.counts.spilled, one.passes, len(one.spills)) == (10, (), 1)
    none = sort_output([], 3, ONE_MB)
    assert none.spills == ()
    assert [segment.bytes for segment in none.segments] == [6, 6, 6], "an end and a checksum for each"


def test_a_record_larger_than_the_buffer_is_a_spill_of_its_own_without_the_combiner() -> None:
    large = (0, "x" * 3_000, 1)
    seen: list[Any] = []

    def watching(groups: list[Group]) -> list[Group]:
        seen.extend(key for key, _ in groups)
        return total(groups)

    output = sort_output([(0, "a", 1), (0, "a", 1), large, (0, "b", 1)], 1, Sorting(1024), combine=watching)
    assert [(spill.records, spill.written) for spill in output.spills] == [(2, 1), (1, 1), (1, 1)]
    assert seen[:2] == ["a", "b"], "not over the large one"
    assert seen[2:] == ["a", "b", large[1]], "three spills: over all at the merge"


@given(
    st.lists(st.tuples(st.text("abc", max_size=3), st.integers(-5, 5)), max_size=200),
    st.integers(1, 3),
    st.integers(96, 2_000),
    st.integers(2, 4),
    st.booleans(),
)
def test_however_it_spills_no_record_is_lost(
    pairs: list[tuple[str, int]], partitions: int, buffer: int, factor: int, combining: bool
) -> None:
    records = [(len(key) % partitions, key, value) for key, value in pairs]
    combine = total if combining else None
    output = sort_output(records, partitions, Sorting(buffer, factor=factor), combine=combine)
    expected: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for key, value in pairs:
        expected[key] += value
    for partition, segment in enumerate(output.segments):
        keys = [key for key, _ in segment.pairs]
        assert keys == sorted(keys)
        assert all(len(key) % partitions == partition for key in keys)
        for key, value in segment.pairs:
            found[key] += value
    assert found == expected
    assert sum(spill.records for spill in output.spills) == len(pairs)
    if not combining:
        assert sum(len(segment.pairs) for segment in output.segments) == len(pairs)


def test_keys_without_an_order_are_the_users_fault() -> None:
    with pytest.raises(InputError, match="keys have no order among them"):
        sort_output([(0, "a", 1), (0, 2, 1)], 1, ONE_MB)


@given(
    st.lists(st.tuples(st.integers(-3, 3) | st.floats(-3, 3) | st.booleans(), st.integers(-5, 5)), max_size=60),
    st.integers(96, 500),
)
def test_keys_of_several_kinds_are_sorted_together(pairs: list[tuple[Any, int]], buffer: int) -> None:
    output = sort_output([(0, key, value) for key, value in pairs], 1, Sorting(buffer))
    found = output.segments[0].pairs
    assert [key for key, _ in found] == sorted(key for key, _ in pairs)
    assert sorted((key, value) for key, value in found) == sorted(pairs)
    assert output.counts.records == output.segments[0].records == len(pairs)


@given(st.lists(st.tuples(st.text("aé", max_size=3), st.one_of(st.integers(), st.text(max_size=200))), max_size=40))
def test_bytes_are_those_of_each_record(pairs: list[tuple[str, Any]]) -> None:
    output = sort_output([(0, key, value) for key, value in pairs], 1, Sorting())
    sizes = [(writable(key), writable(value)) for key, value in pairs]
    assert output.counts.bytes == sum(key + value for key, value in sizes)
    assert output.counts.materialised == sum(segment_record(key, value) for key, value in sizes) + 6


def test_the_order_of_text_is_that_of_its_bytes() -> None:
    random = Random(7)
    keys = ["".join(random.choice("aé日𝄞z") for _ in range(3)) for _ in range(50)]
    output = sort_output([(0, key, 1) for key in keys], 1, ONE_MB)
    assert [key for key, _ in output.segments[0].pairs] == sorted(keys, key=lambda key: key.encode())
