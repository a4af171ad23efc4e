"""Bounds of a sort by range, from a sample of its keys.

As Spark's ``RangePartitioner``: each task of the input keeps a reservoir of keys, the reservoirs weigh as much as
their partitions have records, and the bounds cut the weighted keys into parts of one size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from gnomon.dataflow.layout import Exchange, Layout
from gnomon.dataflow.stage import key_of

SAMPLE_MAX: Final = 1_000_000
_BITS_64: Final = (1 << 64) - 1
_BITS_32: Final = (1 << 32) - 1


@dataclass(frozen=True)
class Sketch:
    """What one task of the input knows of its keys: how many it has, and a sample of them."""

    count: int
    keys: tuple[Any, ...]


def sketched(exchange: Exchange, layout: Layout, index: int, records: Iterable[Any]) -> Sketch:
    """The sample of one task: its size is three times what an even share would be, as the inputs may be uneven."""
    key = layout.stages[exchange.target].function or key_of
    points, inputs = layout.sample_points, layout.counts[exchange.source]
    size = -(-3 * min(points * exchange.partitions, SAMPLE_MAX) // inputs)
    count, sample = reservoir((key(record) for record in records), size, seed_of(exchange.source, index))
    return Sketch(count, tuple(sample))


def bounds_of(exchange: Exchange, sketches: Sequence[Sketch]) -> list[Any]:
    """The upper bounds of all partitions but the last: fewer, where there are few keys."""
    weighed = [(key, sketch.count / len(sketch.keys)) for sketch in sketches for key in sketch.keys]
    weighed.sort(key=lambda pair: pair[0])
    partitions = min(exchange.partitions, len(weighed))
    step = sum(weight for _, weight in weighed) / partitions if partitions else 0.0
    bounds: list[Any] = []
    passed, target = 0.0, step
    for key, weight in weighed:
        if len(bounds) >= partitions - 1:
            break
        passed += weight
        if passed >= target and (not bounds or key > bounds[-1]):
            bounds.append(key)
            target += step
    return bounds


def reservoir(items: Iterable[Any], size: int, seed: int) -> tuple[int, list[Any]]:
    """How many items there are, and so many of them, each as likely as any other
    (``SamplingUtils.reservoirSampleAndCount``).

    >>> reservoir(range(3), 5, 1)
    (3, [0, 1, 2])
    """
    left = iter(items)
    kept = list(islice(left, size))
    count = len(kept)
    draw = XorShift(seed)
    for count, item in enumerate(left, count + 1):  # noqa: B020
        place = int(draw.fraction() * count)
        if place < size:
            kept[place] = item
    return count, kept


def seed_of(number: int, index: int) -> int:
    """The seed of a task's sample: ``byteswap32(index ^ (rdd << 16))``, the number of the stage being that of the
    collection."""
    mixed = (index ^ number << 16) * 0x9E3775CD & _BITS_32
    mixed = int.from_bytes(mixed.to_bytes(4, "little"), "big") * 0x9E3775CD & _BITS_32
    return mixed - (1 << 32) if mixed >> 31 else mixed


class XorShift:
    """Spark's ``XORShiftRandom`` (Marsaglia, "Xorshift RNGs", 2003), its seed mixed by Murmur3 first."""

    def __init__(self, seed: int) -> None:
        data = (seed & _BITS_64).to_bytes(8, "big")
        low = _murmur3(data, 0x3C074A61)  # scala.util.hashing.MurmurHash3.arraySeed
        self.state = _murmur3(data, low) << 32 | low

    def bits(self, count: int) -> int:
        """The next bits, up to 32."""
        state = self.state
        state ^= state << 21 & _BITS_64
        state ^= state >> 35
        state ^= state << 4 & _BITS_64
        self.state = state
        return state & (1 << count) - 1

    def fraction(self) -> float:
        """From 0 to 1, as Java's ``Random.nextDouble``."""
        return float((self.bits(26) << 27) + self.bits(27)) * 2.0**-53


def _murmur3(data: bytes, seed: int) -> int:
    """Murmur3, x86, 32 bits, of whole blocks."""
    value = seed
    for start in range(0, len(data), 4):
        mixed = int.from_bytes(data[start : start + 4], "little") * 0xCC9E2D51 & _BITS_32
        mixed = (mixed << 15 | mixed >> 17) & _BITS_32
        value ^= mixed * 0x1B873593 & _BITS_32
        value = (value << 13 | value >> 19) & _BITS_32
        value = (value * 5 + 0xE6546B64) & _BITS_32
    value ^= len(data)
    value = (value ^ value >> 16) * 0x85EBCA6B & _BITS_32
    value = (value ^ value >> 13) * 0xC2B2AE35 & _BITS_32
    return value ^ value >> 16
