"""Partitioners: from a key to the partition that it belongs to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from gnomon.dataflow.hashing import HASHES
from gnomon.dataflow.layout import Exchange, function_name
from gnomon.dataflow.stage import Rule
from gnomon.model.errors import InputError

Bounds = Mapping[int, Sequence[Any]]
"""The upper bounds that a sample gave, by the number of the exchange."""

_CACHED_KEYS: Final = 65_536


def placing(exchange: Exchange, bounds: Bounds, *, ascending: bool = True) -> Callable[[Any], int]:
    """The partition of a key under an exchange by hash, by range (then its ``bounds`` are needed) or by a function."""
    count = exchange.partitions
    if count == 1:
        return lambda key: 0
    if exchange.rule == Rule.RANGE:
        return ranges(bounds[exchange.number if exchange.known.bounds is None else exchange.known.bounds], ascending)
    if exchange.rule == Rule.CUSTOM:
        return _custom(exchange.known.function, count)
    return hashed(str(exchange.known.function), count)


@lru_cache(64)
def hashed(name: str, partitions: int) -> Callable[[Any], int]:
    """By a hash modulo the number of partitions, never negative; ``writable`` drops the sign bit first
    (``HashPartitioner.getPartition`` of Hadoop).

    >>> place = hashed("writable", 2)
    >>> [place(word) for word in ("the", "hello", "hadoop")]
    [0, 1, 0]
    """
    function = HASHES[name]
    if name == "portable":  # what Python takes for equal has one number
        return _Places(function, partitions).__getitem__
    if name == "writable":
        return lru_cache(_CACHED_KEYS, typed=True)(lambda key: (function(key) & 0x7FFFFFFF) % partitions)
    return lru_cache(_CACHED_KEYS, typed=True)(lambda key: function(key) % partitions)


class _Places(dict[Any, int]):
    """The partitions of keys that were asked for; it stops growing at a size."""

    def __init__(self, function: Callable[[Any], int], partitions: int) -> None:
        self.function, self.partitions = function, partitions

    def __missing__(self, key: Any) -> int:
        place = self.function(key) % self.partitions
        if len(self) < _CACHED_KEYS:
            self[key] = place
        return place


def ranges(bounds: Sequence[Any], ascending: bool = True) -> Callable[[Any], int]:
    """By the bounds of a sample: as many as are below the key, counted from the other end when descending
    (Spark's ``RangePartitioner.getPartition``).

    >>> [ranges([3, 6])(key) for key in (0, 3, 4, 9)], ranges([3, 6], False)(9)
    ([0, 0, 1, 2], 0)
    """
    if ascending:
        return lambda key: bisect_left(bounds, key)
    last = len(bounds)
    return lambda key: last - bisect_left(bounds, key)


def _custom(function: Any, partitions: int) -> Callable[[Any], int]:
    """By a function of the user from a key to an integer, modulo the number of partitions."""

    def place(key: Any) -> int:
        number = function(key)
        if isinstance(number, bool) or not isinstance(number, int):
            name = function_name(function)
            raise InputError(f"the partitioner {name} gave no integer for the key {key!r}", found=number)
        return number % partitions

    return place


def first_turn(index: int, partitions: int) -> int:
    """Where dealing out round robin begins for a task, by its number: Java's ``Random`` seeded with the number's
    bytes mixed (``RDD.coalesce`` with a shuffle; ``scala.util.hashing.byteswap32``). The first record goes one further.

    >>> [first_turn(index, 4) for index in range(4)]
    [2, 0, 3, 3]
    """
    mixed = index * 0x9E3775CD & 0xFFFFFFFF
    mixed = int.from_bytes(mixed.to_bytes(4, "little"), "big") * 0x9E3775CD & 0xFFFFFFFF
    seed = mixed - (1 << 32) if mixed >> 31 else mixed
    state = (seed ^ 0x5DEECE66D) & (1 << 48) - 1
    while True:  # java.util.Random.nextInt(bound)
        state = (state * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        bits = state >> 17
        if partitions & -partitions == partitions:
            return partitions * bits >> 31
        if bits - bits % partitions + partitions - 1 < 1 << 31:
            return bits % partitions
