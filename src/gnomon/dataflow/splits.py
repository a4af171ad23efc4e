"""Input splits: which bytes of which file a task reads, and which lines these are.

A split is not a block: it may be smaller, or a tenth longer, and records cross its border.
Source: ``FileInputFormat`` and ``LineRecordReader`` of Hadoop 3.5.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BLOCK_BYTES: Final = 128 * 2**20
"""A block, where the file system says nothing else (``dfs.blocksize``)."""

_SLOP_NUMERATOR, _SLOP_DENOMINATOR = 11, 10
"""The last split may be so much longer than the others (``SPLIT_SLOP`` 1.1)."""

_LINE_END = re.compile(rb"\r\n|\n|\r")

_WHOLE_FILE_SUFFIXES = (".gz", ".deflate", ".snappy", ".lz4", ".lzo_deflate", ".zst")
"""Files of codecs that can be read from their beginning only; bzip2 can be read from any block of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a file [bytes], and the hosts that hold it."""

    offset: int
    length: int
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Split:
    """What one task reads: ``length`` bytes of a file from ``offset`` on, best on one of ``hosts``."""

    file: str
    offset: int
    length: int
    hosts: tuple[str, ...] = ()


def split_bytes(block_bytes: int = BLOCK_BYTES, *, least: int = 1, most: int = 2**63 - 1) -> int:
    """The length of a split [bytes]: that of a block, within the bounds; the lower bound counts more.

    >>> split_bytes(128), split_bytes(128, most=64), split_bytes(128, least=256), split_bytes(128, least=256, most=64)
    (128, 64, 256, 256)
    """
    return max(least, 1, min(most, block_bytes))


def is_splittable(file: str) -> bool:
    """Whether reading may begin inside of a file: not if it is compressed as a whole.

    >>> is_splittable("a.txt"), is_splittable("a.gz"), is_splittable("a.bz2")
    (True, False, True)
    """
    return not file.lower().endswith(_WHOLE_FILE_SUFFIXES)


def split_file(
    file: str,
    length: int,
    each: int = BLOCK_BYTES,
    *,
    splittable: bool = True,
    blocks: Sequence[Block] = (),
) -> list[Split]:
    """The splits of a file of ``length`` bytes, of ``each`` bytes; the last one may be a tenth longer.

    An empty file has one empty split, without hosts. ``blocks``: where the file lies, in order.

    >>> [split.length for split in split_file("f", 257, 128)], [split.length for split in split_file("f", 300, 128)]
    ([128, 129], [128, 128, 44])
    >>> split_file("f", 300, 128, blocks=[Block(0, 200, ("n1",)), Block(200, 100, ("n2",))])[2]
    Split(file='f', offset=256, length=44, hosts=('n2',))
    """
    if length == 0:
        return [Split(file, 0, 0)]
    if not splittable:
        return [Split(file, 0, length, _hosts(blocks, 0))]
    made, offset = [], 0
    while (length - offset) * _SLOP_DENOMINATOR > each * _SLOP_NUMERATOR:
        made.append(Split(file, offset, each, _hosts(blocks, offset)))
        offset += each
    made.append(Split(file, offset, length - offset, _hosts(blocks, offset)))
    return made


def _hosts(blocks: Sequence[Block], offset: int) -> tuple[str, ...]:
    for block in blocks:
        if block.offset <= offset < block.offset + block.length:
            return block.hosts
    return ()


def lines(data: bytes, offset: int = 0, length: int | None = None) -> Iterator[tuple[int, bytes]]:
    r"""The lines of a split of a file with the contents ``data``, each with its offset and without its end.

    A split that does not begin the file leaves out all up to the first end of a line, and reads on to the first
    end of a line at or after its own end: so every line belongs to one split. ``\n``, ``\r`` and ``\r\n`` end lines.

    >>> [list(lines(b"one\ntwo\nthree", *part)) for part in ((0, 5), (5, 8))]
    [[(0, b'one'), (4, b'two')], [(8, b'three')]]
    """
    end = len(data) if length is None else offset + length
    at = offset
    if offset:
        skipped = _LINE_END.search(data, offset)
        if skipped is None:
            return
        at = skipped.end()
    while at <= end and at < len(data):
        found = _LINE_END.search(data, at)
        if found is None:
            yield at, data[at:]
            return
        yield at, data[at : found.start()]
        at = found.end()
