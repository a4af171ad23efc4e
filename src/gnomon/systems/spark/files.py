"""How a scan of files is cut into partitions (FilePartition, PartitionedFileUtil of Spark 4.3.0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MB: Final = 2**20
Piece = tuple[int, int, int]
"""A file by its position, from where, how many bytes."""


def most_split_bytes(sizes: Sequence[int], parallelism: int, *, most: int = 128 * MB, open_cost: int = 4 * MB) -> int:
    """The largest piece: of files of so many bytes, for so many slots.

    >>> [most_split_bytes([size * MB], 4) // MB for size in (10, 100, 1000)]
    [4, 26, 128]
    """
    total = sum(size + open_cost for size in sizes)
    return min(most, max(open_cost, total // max(parallelism, 1)))


def partitions(
    sizes: Sequence[int], parallelism: int, *, most: int = 128 * MB, open_cost: int = 4 * MB
) -> list[list[Piece]]:
    """The pieces of each partition: files are cut at :func:`most_split_bytes`, the pieces, largest first, go into one
    partition until the next would not fit, each at the cost of opening a file.

    >>> [[piece[2] // MB for piece in part] for part in partitions([300 * MB], 2)]
    [[128], [128], [44]]
    >>> len(partitions([1 * MB] * 100, 2))
    4
    """
    each = most_split_bytes(sizes, parallelism, most=most, open_cost=open_cost)
    pieces = [
        (file, start, min(each, size - start)) for file, size in enumerate(sizes) for start in range(0, size, each)
    ]
    pieces.sort(key=lambda piece: -piece[2])
    found: list[list[Piece]] = []
    current: list[Piece] = []
    held = 0
    for piece in pieces:
        if current and held + piece[2] > each:
            found.append(current)
            current, held = [], 0
        held += piece[2] + open_cost
        current.append(piece)
    return [*found, current] if current else found
