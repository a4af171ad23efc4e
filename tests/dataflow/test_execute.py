"""What a job means on real records, whatever engine runs it."""

from __future__ import annotations

from collections import Counter
from operator import add

import pytest

from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import collect, run_plan
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import cut

SPLITS = [["welcome everyone"], ["hello everyone"]]


def wordcount(partitions: int = 2) -> Dataflow:
    flow = Dataflow("wordcount")
    words = flow.source(SPLITS).flat_map(str.split)
    words.map(lambda word: (word, 1)).reduce_by_key(add, partitions=partitions).sink("out")
    return flow


@pytest.mark.parametrize("combines", [0, 1, 3])
@pytest.mark.parametrize("hash", ["portable", "java", "writable", "murmur3"])
def test_word_count_of_two_splits_brings_both_records_of_everyone_to_one_reducer(combines: int, hash: str) -> None:
    results = run_plan(cut(wordcount().graph(), Rules(hash=hash)), combines=combines)
    assert dict(results.records()) == {"welcome": 1, "everyone": 2, "hello": 1}
    assert sum(("everyone", 2) in partition for partition in results.partitions["out"]) == 1
    maps = [one for one in results.attempts if one.stage == 0]
    assert [one.written for one in maps] == [2, 2]
    assert [len(one.buckets or ()) for one in maps] == [2, 2]


def test_word_count_of_the_mapreduce_sheet() -> None:
    # semantics of Hadoop 3.5, measured with its local runner: Text keys, two reducers
    flow = Dataflow()
    lines = flow.source([["the quick fox", "the fox"], ["the hello", "quick b"]])
    lines.flat_map(str.split).map(lambda word: (word, 1)).reduce_by_key(add, partitions=2).sink("out")
    plan = cut(flow.graph(), Rules(hash="writable", ordered=True))
    results = run_plan(plan)
    assert results.partitions["out"] == [[("fox", 2), ("quick", 2), ("the", 3)], [("b", 1), ("hello", 1)]]
    maps = [one for one in results.attempts if one.stage == 0]
    assert [sum(one.combine_in for one in maps), sum(one.combine_out for one in maps)] == [9, 7]
    assert sum(one.written for one in run_plan(plan, combines=0).attempts if one.stage == 0) == 9


def test_word_count_of_the_engine_sheet() -> None:
    # ['a b a', 'b c'] by Java's hash into two: partition 0 {b: 2}, partition 1 {a: 2, c: 1}; four records cross
    flow = Dataflow()
    lines = flow.source([["a b a"], ["b c"]])
    lines.flat_map(str.split).map(lambda word: (word, 1)).reduce_by_key(add, partitions=2).collect()
    results = run_plan(cut(flow.graph(), Rules(hash="java")))
    assert [dict(partition) for partition in results.partitions["collect"]] == [{"b": 2}, {"a": 2, "c": 1}]
    assert sum(one.written for one in results.attempts if one.stage == 0) == 4


def test_collect_gives_the_records_of_the_only_result() -> None:
    assert Counter(collect(wordcount(3))) == Counter([("welcome", 1), ("everyone", 2), ("hello", 1)])
