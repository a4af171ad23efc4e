"""Both sides of a sorted shuffle at once, from pairs to what a reader has of them."""

from collections.abc import Iterable
from typing import Any

from gnomon.dataflow.fetching import Copied, FetchCounts, Fetching
from gnomon.dataflow.merging import Pair
from gnomon.dataflow.sorting import Combine, MapOutput, Output, Place, Segment, chunks
from gnomon.dataflow.spill_buffer import Sorting


def sort_output(
    pairs: Iterable[Pair], place: Place, partitions: int, sorting: Sorting, *, combine: Combine | None = None
) -> MapOutput:
    """The output of a task from all its pairs."""
    output = Output(place, partitions, sorting, combine=combine)
    for chunk in chunks(pairs):
        output.add(chunk)
    return output.close()


def gather(
    segments: Iterable[Segment], fetching: Fetching, *, combine: Combine | None = None
) -> tuple[list[tuple[Any, list[Any]]], FetchCounts]:
    """Keys with their values, of segments in the order in which they were copied, and what was counted."""
    copied = Copied(fetching, combine)
    for segment in segments:
        copied.add(segment)
    return copied.merged().groups, copied.counts
