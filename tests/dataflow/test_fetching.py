"""The side that copies: word count as measured, memory and disk, and when failures are enough."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.fetching import (
    Copied,
    CopyState,
    FetchCounts,
    Fetching,
    Penalties,
    gives_up,
    is_reported,
    map_is_failed,
)
from gnomon.dataflow.merging import grouped
from gnomon.dataflow.operators import Group
from gnomon.dataflow.sorting import MapOutput, Segment, segment_of
from gnomon.dataflow.spill_buffer import Sorting
from tests.dataflow.shuffles import gather, sort_output

S = 10**9
SPLITS = ("the quick fox\nthe fox", "the hello\nquick b")
REDUCER = {"the": 0, "quick": 0, "fox": 0, "hello": 1, "b": 1}
"""By the hash of Text modulo 2, as measured."""


def total(groups: list[Group]) -> list[Group]:
    return [(key, [sum(values)]) for key, values in groups]


def word_count(combining: bool) -> tuple[list[MapOutput], list[Any], list[FetchCounts]]:
    combine = total if combining else None
    maps = [
        sort_output([(word, 1) for word in split.split()], REDUCER.__getitem__, 2, Sorting(), combine=combine)
        for split in SPLITS
    ]
    results, counts = [], []
    for reducer in range(2):
        groups, counted = gather([output.segments[reducer] for output in maps], Fetching(), combine=combine)
        results.append([(key, sum(values)) for key, values in groups])
        counts.append(counted)
    return maps, results, counts


@pytest.mark.parametrize("combining", [False, True])
def test_word_count_gives_the_same_with_and_without_a_combiner(combining: bool) -> None:
    assert word_count(combining)[1] == [[("fox", 2), ("quick", 2), ("the", 3)], [("b", 1), ("hello", 1)]]


@pytest.mark.parametrize(
    ("combining", "combine", "bytes_moved", "reduce_input", "spilled"),
    [(False, (0, 0), 76 + 9 * 2 + 4 * 6, 9, 18), (True, (9, 7), 98, 7, 14)],
)
def test_counters_of_word_count(
    combining: bool, combine: tuple[int, int], bytes_moved: int, reduce_input: int, spilled: int
) -> None:
    maps, _, fetched = word_count(combining)
    assert sum(output.counts.records for output in maps) == 9
    assert sum(output.counts.bytes for output in maps) == 76
    assert sum(output.counts.combine_input for output in maps) == combine[0]
    assert sum(output.counts.combine_output for output in maps) == combine[1]
    assert sum(output.counts.materialised for output in maps) == bytes_moved
    assert sum(counts.bytes for counts in fetched) == bytes_moved
    assert sum(counts.segments for counts in fetched) == 4
    assert sum(segment.records for output in maps for segment in output.segments) == reduce_input
    assert sum(o.counts.spilled for o in maps) + sum(c.spilled for c in fetched) == spilled


def test_shares_of_the_memory() -> None:
    fetching = Fetching(memory_bytes=1_000_000)
    assert (fetching.buffer_bytes, fetching.single_bytes, fetching.merge_bytes) == (700_000, 175_000, 462_000)


def run(*keys: str, size: int) -> Segment:
    return Segment([(key, [1]) for key in keys], len(keys), size)


def test_a_large_segment_goes_to_disk_at_once() -> None:
    copied = Copied(Fetching(memory_bytes=1_000_000))
    assert not copied.add(run("a", size=175_001))
    assert copied.add(run("b", size=175_000))
    assert (copied.counts.to_disk, copied.counts.spilled) == (1, 0), "copied to disk is not spilled"


def test_memory_two_thirds_full_is_merged_to_disk_with_the_combiner() -> None:
    copied = Copied(Fetching(memory_bytes=1_000_000), total)
    for _ in range(3):
        copied.add(run("a", "b", size=154_000))
    assert copied.counts.merges == [("memory", 3, 2)]
    assert (copied.counts.combine_input, copied.counts.combine_output) == (6, 2)
    assert copied.merged().pairs == [("a", 3), ("b", 3)]


def test_nineteen_runs_on_disk_become_ten() -> None:
    copied = Copied(Fetching(memory_bytes=0))
    for number in range(19):
        copied.add(run(f"k{number:02d}", size=100 + number))
    assert copied.counts.merges == [("disk", 10, 10)]
    assert [key for key, _ in copied.merged().pairs] == [f"k{number:02d}" for number in range(19)]
    assert len(copied.counts.merges) == 1, "nine and the merged one are ten: one pass"


def test_what_is_in_memory_is_written_before_the_reduce_function_unless_it_may_stay() -> None:
    copied = Copied(Fetching())
    copied.add(run("a", size=100))
    copied.merged()
    assert copied.counts.spilled == 1
    stays = Copied(Fetching(kept_share_e4=1_000))
    stays.add(run("a", size=100))
    assert stays.merged().pairs == [("a", 1)]
    assert stays.counts.spilled == 0


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=8), max_size=30), st.integers(0, 400), st.integers(2, 5))
def test_however_it_merges_no_record_is_lost(parts: list[list[str]], memory: int, factor: int) -> None:
    segments = [segment_of(grouped((key, 1) for key in sorted(part))) for part in parts]
    groups, counts = gather(segments, Fetching(memory_bytes=memory, factor=factor), combine=total)
    assert {key: sum(values) for key, values in groups} == Counter(key for part in parts for key in part)
    assert [key for key, _ in groups] == sorted({key for key, _ in groups})
    assert counts.bytes == sum(segment.bytes for segment in segments)


# ------------------------------------------------------------------ failures


def test_penalties_of_a_host() -> None:
    waits = [Penalties().wait_ns(failures) / S for failures in range(1, 9)]
    assert [round(wait, 1) for wait in waits] == [13.0, 16.9, 22.0, 28.6, 37.1, 48.3, 60.0, 60.0]
    assert Penalties().wait_ns(10_000) == 60 * S


def test_what_is_reported() -> None:
    assert is_reported(1, 1, connecting=True), "no connection: at once"
    assert is_reported(1, 1, connecting=False, reading=True), "a broken connection too"
    others = [n for n in range(1, 31) if is_reported(n, 1, connecting=False)]
    assert others == [10, 20, 30]
    assert [n for n in range(1, 8) if is_reported(1, n, connecting=False)] == [6, 7], "a host that failed > 5 times"


def state(**fields: int) -> CopyState:
    """Half of ten maps copied in 100 s, and as many copies failed, of five maps; it goes on."""
    base = CopyState(10, 5, 5, 5, start_ns=0, last_progress_ns=100 * S, now_ns=100 * S)
    return replace(base, **fields)


@pytest.mark.parametrize(("maps", "limit"), [(10, 30), (300, 30), (1_000, 100)])
def test_a_reducer_ends_itself_after_so_many_failures_of_one_map(maps: int, limit: int) -> None:
    healthy = state(maps=maps, done=maps - 1, failures=0, distinct=0)
    assert [gives_up(healthy, failures) for failures in (limit - 1, limit)] == [False, True]


def test_a_reducer_that_stands_still_or_has_little_ends_itself() -> None:
    assert not gives_up(state(), 1), "half is done, and it goes on"
    assert gives_up(state(now_ns=150 * S), 1), "stood still for half of the 100 s in which it went on"
    assert not gives_up(state(now_ns=149 * S), 1)
    assert not gives_up(state(now_ns=150 * S, longest_map_ns=101 * S), 1), "the longest map counts, if it is more"
    assert gives_up(state(done=4), 1), "less than half is done"
    assert not gives_up(state(done=4, failures=3), 1), "less than half of the copies failed"
    assert not gives_up(state(done=4, distinct=4), 1), "copies of four maps failed only"
    assert gives_up(state(maps=8, done=5, distinct=3, now_ns=150 * S), 1), "of all that are left"
    assert gives_up(state(maps=3, done=0, distinct=3, failures=3), 1), "five are asked for, of three maps three"


@pytest.mark.parametrize(
    ("reports", "copying", "failed"),
    [(2, 2, False), (3, 3, True), (3, 6, True), (3, 7, False), (4, 8, True), (3, 0, True)],
)
def test_three_reports_and_half_of_those_that_copy_fail_a_map(reports: int, copying: int, failed: bool) -> None:
    assert map_is_failed(reports, copying) is failed
