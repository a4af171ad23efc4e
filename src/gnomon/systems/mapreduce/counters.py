"""Counters by Hadoop's names: of one attempt, and of a job.

Source: ``TaskCounter``, ``JobCounter`` and their property files of Hadoop 3.5.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from gnomon.dataflow.fetching import FetchCounts
from gnomon.dataflow.sorted_shuffle import Reduced
from gnomon.dataflow.sorting import MapOutput

Counts = Mapping[str, int]

JOB_COUNTERS: Final = {
    "NUM_FAILED_MAPS": "Failed map tasks",
    "NUM_FAILED_REDUCES": "Failed reduce tasks",
    "NUM_KILLED_MAPS": "Killed map tasks",
    "NUM_KILLED_REDUCES": "Killed reduce tasks",
    "TOTAL_LAUNCHED_MAPS": "Launched map tasks",
    "TOTAL_LAUNCHED_REDUCES": "Launched reduce tasks",
    "DATA_LOCAL_MAPS": "Data-local map tasks",
    "RACK_LOCAL_MAPS": "Rack-local map tasks",
    "OTHER_LOCAL_MAPS": "Other local map tasks",
    "MB_MILLIS_MAPS": "Total megabyte-milliseconds taken by all map tasks",
    "MB_MILLIS_REDUCES": "Total megabyte-milliseconds taken by all reduce tasks",
}
"""Of a job as a whole, and how Hadoop prints them, in its order."""

TASK_COUNTERS: Final = {
    "MAP_INPUT_RECORDS": "Map input records",
    "MAP_OUTPUT_RECORDS": "Map output records",
    "MAP_OUTPUT_BYTES": "Map output bytes",
    "MAP_OUTPUT_MATERIALIZED_BYTES": "Map output materialized bytes",
    "COMBINE_INPUT_RECORDS": "Combine input records",
    "COMBINE_OUTPUT_RECORDS": "Combine output records",
    "REDUCE_INPUT_GROUPS": "Reduce input groups",
    "REDUCE_SHUFFLE_BYTES": "Reduce shuffle bytes",
    "REDUCE_INPUT_RECORDS": "Reduce input records",
    "REDUCE_OUTPUT_RECORDS": "Reduce output records",
    "SPILLED_RECORDS": "Spilled Records",
    "SHUFFLED_MAPS": "Shuffled Maps",
    "FAILED_SHUFFLE": "Failed Shuffles",
    "MERGED_MAP_OUTPUTS": "Merged Map outputs",
}
"""Of attempts, likewise."""

PRINTED: Final = {**JOB_COUNTERS, **TASK_COUNTERS}
"""How Hadoop prints each, in its order."""


def of_map(read: int, output: MapOutput) -> Counts:
    """The counters of a map that read so many records, and wrote for reduces."""
    counts = output.counts
    return {
        "MAP_INPUT_RECORDS": read,
        "MAP_OUTPUT_RECORDS": counts.records,
        "MAP_OUTPUT_BYTES": counts.bytes,
        "MAP_OUTPUT_MATERIALIZED_BYTES": counts.materialised,
        "COMBINE_INPUT_RECORDS": counts.combine_input,
        "COMBINE_OUTPUT_RECORDS": counts.combine_output,
        "SPILLED_RECORDS": counts.spilled,
        "MERGED_MAP_OUTPUTS": 0,
    }


def of_map_only(read: int, written: int) -> Counts:
    """The counters of a map without reduces."""
    return {"MAP_INPUT_RECORDS": read, "MAP_OUTPUT_RECORDS": written}


def of_reduce(reduced: Reduced) -> Counts:
    """The counters of a reduce."""
    copied: Iterable[FetchCounts] = reduced.copied.values()
    segments = sum(one.segments for one in copied)
    return {
        "COMBINE_INPUT_RECORDS": sum(one.combine_input for one in reduced.copied.values()),
        "COMBINE_OUTPUT_RECORDS": sum(one.combine_output for one in reduced.copied.values()),
        "REDUCE_INPUT_GROUPS": reduced.groups,
        "REDUCE_SHUFFLE_BYTES": sum(one.bytes for one in reduced.copied.values()),
        "REDUCE_INPUT_RECORDS": reduced.produced.read,
        "REDUCE_OUTPUT_RECORDS": reduced.produced.written,
        "SPILLED_RECORDS": sum(one.spilled for one in reduced.copied.values()),
        "SHUFFLED_MAPS": segments,
        "MERGED_MAP_OUTPUTS": segments,
    }


def total(counts: Iterable[Counts]) -> Counts:
    """All together, in Hadoop's order; those that nobody counted are left out.

    >>> total([{"SPILLED_RECORDS": 1}, {"SPILLED_RECORDS": 2, "MAP_INPUT_RECORDS": 3}])
    {'MAP_INPUT_RECORDS': 3, 'SPILLED_RECORDS': 3}
    """
    summed: Counter[str] = Counter()
    for one in counts:
        summed.update(one)
    return {name: summed[name] for name in PRINTED if name in summed}


def printed(counts: Counts) -> str:
    """As the client of Hadoop prints them.

    >>> print(printed({"SPILLED_RECORDS": 18}))
            Spilled Records=18
    """
    return "\n".join(f"\t\t{PRINTED[name]}={value}" for name, value in counts.items()).expandtabs(4)
