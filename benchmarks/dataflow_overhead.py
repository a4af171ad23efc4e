"""What a record costs in a simulated job, against the same functions called in a bare loop with a dict for the groups.

    python -m benchmarks.dataflow_overhead

The job runs task by task in this process, as it does in a simulation: partitioned, combined, fetched, counted. The best
of several rounds is printed; the bound of the project is 5 times the bare loop.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from time import process_time
from typing import Any

from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import collect
from gnomon.dataflow.layout import Rules

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
        flow = Dataflow()
        pairs = flow.source(parts(LINES)).flat_map(str.split).map(pair)
        pairs.reduce_by_key(add, partitions=PARTS, combine=combine).collect()
        return len(collect(flow, rules=Rules(hash=hash)))

    return run


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


def best(run: Callable[[], object]) -> tuple[float, object]:
    times = []
    for _ in range(ROUNDS):
        start = process_time()
        result = run()
        times.append(process_time() - start)
    return min(times), result


def main() -> None:
    words = 10 * len(LINES)
    cases: list[tuple[str, int, Callable[[], object], Callable[[], object]]] = [
        *((f"word count, {name}", words, bare_count, job_count(name, True)) for name in HASHES),
        ("word count, not combined", words, bare_count, job_count("portable", False)),
        ("filter and group", len(NUMBERS), bare_groups, job_groups),
        ("sort by range", len(NUMBERS), bare_order, job_order),
    ]
    print(f"{'':<28}{'bare':>10}{'job':>10}{'ns a record':>14}{'times':>8}")
    for name, records, bare, job in cases:
        (plain, expected), (mine, found) = best(bare), best(job)
        assert expected == found
        print(f"{name:<28}{plain:>9.3f}s{mine:>9.3f}s{mine / records * 1e9:>14,.0f}{mine / plain:>8.1f}")


if __name__ == "__main__":
    main()
