"""Attempts on real records: counters as measured, what a reduce keeps of what it copied, who may commit."""

from operator import add

import pytest

from gnomon.dataflow import Dataflow
from gnomon.dataflow.cost import Cost
from gnomon.model.resources import NEVER
from gnomon.systems.mapreduce.costs import Costs
from gnomon.systems.mapreduce.execution import Inputs
from gnomon.systems.mapreduce.settings import Settings
from tests.systems.mapreduce.by_hand import EVERYONE, MEASURED, ByHand, word_count

S = 10**9


def costs(*, network: int) -> Costs:
    """Nothing takes time but the network."""
    return Costs(Cost(start_ns=0, record_ns=0, byte_ns_e3=0, disk=10**18, network=network), 0, 0, 0)


FREE = costs(network=10**18)
"""Nothing does."""


@pytest.mark.parametrize("combine", [False, True])
def test_the_counters_of_the_measured_word_count(combine: bool) -> None:
    run = ByHand(word_count(MEASURED, combine=combine))
    assert run.run() == [[("fox", 2), ("quick", 2), ("the", 3)], [("b", 1), ("hello", 1)]]
    assert {name: run.counts[name] for name in run.counts if name.isupper()} == {
        "MAP_INPUT_RECORDS": 4,
        "MAP_OUTPUT_RECORDS": 9,
        "MAP_OUTPUT_BYTES": 76,
        "COMBINE_INPUT_RECORDS": 9 if combine else 0,
        "COMBINE_OUTPUT_RECORDS": 7 if combine else 0,
        "MAP_OUTPUT_MATERIALIZED_BYTES": 98 if combine else 118,
        "REDUCE_SHUFFLE_BYTES": 98 if combine else 118,
        "REDUCE_INPUT_GROUPS": 5,
        "REDUCE_INPUT_RECORDS": 7 if combine else 9,
        "REDUCE_OUTPUT_RECORDS": 5,
        "SPILLED_RECORDS": 14 if combine else 18,
        "SHUFFLED_MAPS": 4,
        "MERGED_MAP_OUTPUTS": 4,
    }


def test_both_everyone_meet_in_one_reduce() -> None:
    found = ByHand(word_count(EVERYONE)).run()
    assert sorted(found) == [[("everyone", 2)], [("hello", 1), ("welcome", 1)]]


def test_the_combiner_run_never_once_and_three_times_gives_the_same() -> None:
    lines = [["a b a c"] * 30, ["b c c"] * 20]
    small = Settings(sort_mb=1, spill_share_e4=1, combine_spills=3)  # a spill for each 104 bytes
    never = ByHand(word_count(lines, combine=True), combining=False)
    once = ByHand(word_count(lines, combine=True))
    often = ByHand(word_count(lines, combine=True), small)
    assert never.run() == once.run() == often.run()
    assert never.counts["COMBINE_INPUT_RECORDS"] == 0
    assert once.counts["COMBINE_INPUT_RECORDS"] == 180
    assert often.counts["COMBINE_INPUT_RECORDS"] > 180, "over each spill, and again when they are merged"


def test_a_reduce_that_starts_early_waits_for_all_maps_and_copies_meanwhile() -> None:
    run = ByHand(word_count(MEASURED), Settings(replication=1), costs=costs(network=1))  # a byte takes a second
    assert run.begin(1, 0).length_ns == NEVER
    for task in range(2):
        run.begin(0, task)
    run.now = 100 * S
    run.done(0, 0)
    run.now = 130 * S
    run.done(0, 1)
    first, second = (run.tasks.made[0, task].output for task in range(2))
    assert first is not None
    assert second is not None
    sizes = first.segments[0].bytes, second.segments[0].bytes
    rest = run.tasks.resume(run.where(1, 0), 130 * S).length_ns
    assert rest // S == max(100 + sizes[0], 130) + sizes[1] - 130, "the first was copied while the second map ran"


def test_a_reduce_keeps_what_it_has_copied_when_a_map_is_lost() -> None:
    run = ByHand(word_count(MEASURED), costs=FREE)
    run.begin(1, 0)  # copies at once
    for task in range(2):
        run.begin(0, task)
    run.now = 10
    run.done(0, 0)
    run.now = 20  # a nanosecond is the least that something takes
    run.tasks.lost(run.jobs.batch.stages[0], 0)
    assert run.begin(1, 1).length_ns == NEVER, "another reduce has not, and waits"
    run.done(0, 1)
    assert (0, 0) not in run.tasks.made
    assert not run.tasks.lacks(run.where(1, 0))
    assert run.tasks.lacks(run.where(1, 1))
    assert run.tasks.resume(run.where(1, 0), 20).length_ns < 10, "it has both, and needs nobody to run again"
    assert run.done(1, 0)["REDUCE_INPUT_RECORDS"] == 7


def test_only_the_first_attempt_that_is_done_commits() -> None:
    calls: list[str] = []

    def different_each_time(record: str) -> tuple[str, int]:
        calls.append(record)
        return record, len(calls)

    flow = Dataflow("nondeterministic")
    flow.source([["a"]]).map(different_each_time).sink("out")
    run = ByHand(flow)
    run.begin(0, 0, number=0)
    run.begin(0, 0, number=1)
    run.done(0, 0, number=1)
    assert run.tasks.outputs[0].visible == {"part-m-00000": [("a", 2)], "_SUCCESS": None}


def test_a_function_that_raises_fails_the_attempt_and_is_named() -> None:
    def broken(word: str) -> int:
        return 1 // 0

    flow = Dataflow("broken")
    flow.source([["a"]]).map(broken).sink("out")
    course = ByHand(flow).begin(0, 0)
    assert "broken" in course.fails
    assert "ZeroDivisionError" in course.fails
    assert "'a'" in course.fails


def test_a_chain_of_jobs_reads_what_the_one_before_stored() -> None:
    flow = Dataflow("chain")
    counts = flow.source([["a b a"], ["c b a"]]).flat_map(str.split).map(lambda word: (word, 1))
    counts.reduce_by_key(add, partitions=2).map(lambda pair: (pair[1], pair[0])).group_by_key(partitions=1).sink("out")
    run = ByHand(flow)
    assert run.run() == [[(1, ["c"]), (2, ["b"]), (3, ["a"])]]
    assert [len(run.tasks.outputs[job].visible) for job in (0, 1)] == [3, 2], "two files and one, each with _SUCCESS"


def test_a_sort_samples_before_and_a_broadcast_is_loaded() -> None:
    flow = Dataflow("both")
    small = flow.source([[(1, "one"), (2, "two"), (3, "three")]])
    numbers = flow.source([[3, 1], [2, 3]]).map(lambda number: (number, None))
    numbers.join(small, broadcast=True).map(lambda pair: pair[1][1]).sort_by(str, partitions=2).sink("out")
    found = ByHand(flow).run()
    assert [record for part in found for record in part] == ["one", "three", "three", "two"]


def test_a_map_reads_another_replica_and_fails_when_there_is_none() -> None:
    inputs = Inputs({(0, 0): 10, (0, 1): 10}, {(0, 0): (1, 2, 3)})
    run = ByHand(word_count(EVERYONE), inputs=inputs)
    for node in (1, 2):
        run.tasks.reach(node, False)
    assert run.begin(0, 0, node=4).fails == ""
    run.tasks.reach(3, False)
    assert run.begin(0, 0, 1, node=4).fails.startswith("BlockMissingException")
    run.tasks.reach(1, True)
    assert run.begin(0, 0, 2, node=4).fails == ""


def test_input_is_read_where_it_is_or_over_the_network() -> None:
    slow = Costs(Cost(disk=100, network=10))
    inputs = Inputs({(0, 0): 1_000, (0, 1): 1_000}, {(0, 0): (1,), (0, 1): (1,)})
    run = ByHand(word_count(EVERYONE), costs=slow, inputs=inputs)
    run.begin(0, 0, node=1)
    run.begin(0, 1, node=2)
    assert [run.done(0, task)["read_ns"] for task in range(2)] == [10 * S, 100 * S]
    assert list(run.tasks.prefers(run.jobs.batch.stages[0], 0)) == [(1, 1)]


def test_spills_and_what_they_are_merged_to_are_on_the_disk_together_then_only_that() -> None:
    one = ByHand(word_count(MEASURED), Settings(replication=1)).begin(0, 0)
    assert one.writes == one.keeps > 0, "a single spill is renamed"
    run = ByHand(word_count([[" ".join(["word"] * 9)] * 6_000]), Settings(replication=1, sort_mb=1))
    several = run.begin(0, 0)
    run.done(0, 0)
    output = run.tasks.made[0, 0].output
    assert output is not None
    assert len(output.spills) > 1
    assert several.keeps == output.counts.materialised == sum(segment.bytes for segment in output.segments)
    assert several.writes == several.keeps + sum(spill.bytes for spill in output.spills)
