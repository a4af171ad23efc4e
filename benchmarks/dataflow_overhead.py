"""What a record costs in a simulated job, against the same functions called in a bare loop with a dict for the groups.

First the job task by task, partitioned, combined, fetched, counted; then whole simulated runs on four slots, with all
that MapReduce (buffer, spills, sort, merges, sizes and counters) and Spark make of it. CPU time, the best of several
rounds in turn with the bare loop; the bound of the project is 5 times the bare loop.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from operator import add
from time import process_time
from typing import Any

from benchmarks.results import Row
from gnomon.api import simulate
from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import collect
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.partition import hashed
from gnomon.model.scenario import Scenario
from gnomon.systems.mapreduce.scenario import scenario_of, workers
from gnomon.systems.spark.scenario import of_job, slots

LINES = [" ".join(f"w{(line * 31 + word * word * 7) % 5_003}" for word in range(10)) for line in range(20_000)]
NUMBERS = [(number * 7919) % 100_003 for number in range(200_000)]
PARTS = 4
ROUNDS = 5
HASHES = ("portable", "java", "murmur3")


def pair(word: str) -> tuple[str, int]:
    return word, 1


def even(number: int) -> bool:
    return number % 2 == 0


def by_hundred(number: int) -> tuple[int, int]:
    return number % 100, number


def parts(records: list[Any]) -> list[list[Any]]:
    return [records[part::PARTS] for part in range(PARTS)]


def bare_count() -> object:
    counts: dict[str, int] = {}
    for line in LINES:
        for word in str.split(line):
            key, value = pair(word)
            counts[key] = add(counts[key], value) if key in counts else value
    return len(counts)


def job_count(hash: str, combine: bool) -> Callable[[], object]:
    def run() -> object:
        return len(collect(word_count(combine), rules=Rules(hash=hash)))

    return run


def word_count(combine: bool) -> Dataflow:
    flow = Dataflow()
    pairs = flow.source(parts(LINES)).flat_map(str.split).map(pair)
    pairs.reduce_by_key(add, partitions=PARTS, combine=combine).collect()
    return flow


def simulated(scenario: Callable[[Dataflow], Scenario], combine: bool) -> Callable[[], object]:
    def run() -> object:
        simulate(scenario(word_count(combine)), compiled=False)
        return None

    return run


def on_mapreduce(flow: Dataflow) -> Scenario:
    return scenario_of(flow.graph(), workers(PARTS))


def on_spark(flow: Dataflow) -> Scenario:
    return of_job(flow.graph(), slots(PARTS))


def bare_groups() -> object:
    groups: dict[int, list[int]] = {}
    for number in NUMBERS:
        if even(number):
            key, value = by_hundred(number)
            groups.setdefault(key, []).append(value)
    return len(groups)


def job_groups() -> object:
    flow = Dataflow()
    flow.source(parts(NUMBERS)).filter(even).map(by_hundred).group_by_key(partitions=PARTS).collect()
    return len(collect(flow))


def bare_order() -> object:
    return len(sorted(map(by_hundred, NUMBERS), key=lambda found: found[0]))


def job_order() -> object:
    flow = Dataflow()
    flow.source(parts(NUMBERS)).map(by_hundred).sort_by_key(partitions=PARTS).collect()
    return len(collect(flow))


def timed(run: Callable[[], object]) -> tuple[float, object]:
    hashed.cache_clear()  # it keeps the partitions of keys
    gc.collect()
    start = process_time()
    result = run()
    return process_time() - start, result


COLUMNS = {
    "case": ("", "{}"),
    "bare_s": ("bare, CPU s", "{:.3f}"),
    "job_s": ("job, CPU s", "{:.3f}"),
    "ns": ("ns a record", "{:,}"),
    "times": ("times", "{:.1f}"),
}


def rows() -> Iterator[Row]:
    words = 10 * len(LINES)
    cases: list[tuple[str, int, Callable[[], object], Callable[[], object]]] = [
        ("MapReduce, combined", words, bare_count, simulated(on_mapreduce, True)),
        ("MapReduce, not combined", words, bare_count, simulated(on_mapreduce, False)),
        ("Spark, combined", words, bare_count, simulated(on_spark, True)),
        ("Spark, not combined", words, bare_count, simulated(on_spark, False)),
        *((f"task by task: word count, {name}", words, bare_count, job_count(name, True)) for name in HASHES),
        ("task by task: word count, not combined", words, bare_count, job_count("portable", False)),
        ("task by task: filter and group", len(NUMBERS), bare_groups, job_groups),
        ("task by task: sort by range", len(NUMBERS), bare_order, job_order),
    ]
    for name, records, bare, job in cases:
        pairs = [(timed(bare), timed(job)) for _ in range(ROUNDS)]
        assert all(found in (None, expected) for (_, expected), (_, found) in pairs)
        plain, mine = (min(time for time, _ in side) for side in zip(*pairs, strict=True))
        yield {
            "case": name,
            "bare_s": round(plain, 4),
            "job_s": round(mine, 4),
            "ns": round(mine / records * 1e9),
            "times": round(mine / plain, 2),
        }
