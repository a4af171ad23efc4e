"""Skew: how unevenly an exchange is filled, and why: one key, few keys, or keys that share a partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gnomon.dataflow.comparing import shown
from gnomon.dataflow.layout import Exchange
from gnomon.dataflow.operators import function_of
from gnomon.dataflow.partition import Bounds, placing
from gnomon.dataflow.stage import Operator, Stage

SKEWED_FACTOR: Final = 2
"""A partition with more than so many times the mean is said to be skewed."""

_KEY_SHOWN_MAX: Final = 60


class Cause(StrEnum):
    """Why one partition has more than the others."""

    EVEN = "even"
    ONE_KEY = "one key"
    FEW_KEYS = "few keys"
    SHARED = "keys that share a partition"


@dataclass(frozen=True)
class Skew:
    """How the records of an exchange are spread.

    - ``records``: how many each partition gets; ``hottest``: the partition with the most.
    - ``key``: the most frequent key of the hottest partition, as a text (empty where records have none),
      ``key_records`` how many have it; ``keys``: how many different keys there are.
    """

    exchange: int
    records: tuple[int, ...]
    hottest: int
    key: str
    key_records: int
    keys: int

    @property
    def total(self) -> int:
        """All records."""
        return sum(self.records)

    @property
    def share(self) -> float:
        """The part of all records that the hottest partition has."""
        return self.records[self.hottest] / self.total if self.total else 0.0

    @property
    def key_share(self) -> float:
        """The part of all records that the key has: no partition can be smaller than its own."""
        return self.key_records / self.total if self.total else 0.0

    @property
    def to_mean(self) -> float:
        """The hottest partition, in means."""
        return self.share * len(self.records)

    @property
    def cause(self) -> Cause:
        """What makes it uneven. One key does when it alone has more than twice the fair share of a key or partition."""
        if self.to_mean <= SKEWED_FACTOR or len(self.records) < 2:
            return Cause.EVEN
        if self.key_share * min(len(self.records), self.keys) > SKEWED_FACTOR:
            return Cause.ONE_KEY
        return Cause.FEW_KEYS if self.keys < len(self.records) else Cause.SHARED

    def __str__(self) -> str:
        """What is so in a sentence or two.

        >>> print(Skew(0, (10, 70, 10, 10), 1, "'de'", 60, 9))
        partition 1 of 4 has 70 of 100 records (70 %, 2.8 times the mean); the key 'de' alone has 60 (60 %), so more
        partitions do not help: no partition with it can have less
        """
        if not self.total:
            return "no records"
        most = self.records[self.hottest]
        where = f"partition {self.hottest} of {len(self.records):,} has {most:,} of {self.total:,}"
        start = f"{where} records ({self.share:.0%}, {self.to_mean:.1f} times the mean)".replace("%", " %")
        alone = f"the key {self.key} alone has {self.key_records:,} ({self.key_share:.0%})".replace("%", " %")
        if self.cause == Cause.ONE_KEY:
            return f"{start}; {alone}, so more partitions do not help: no partition with it can have less"
        if self.cause == Cause.FEW_KEYS:
            empty = self.records.count(0)
            return f"{start}; there are only {self.keys:,} keys, and {empty:,} partitions are empty"
        if self.cause == Cause.SHARED:
            return f"{start}; it holds several keys, the most frequent of which has {self.key_records:,} records"
        return start


def skew_of(exchange: Exchange, target: Stage, keys: Mapping[Any, int], bounds: Bounds | None = None) -> Skew:
    """The skew of an exchange whose keys occur so often. ``target`` is the stage that reads it."""
    place = placing(exchange, bounds or {}, ascending=target.ascending)
    records = [0] * exchange.partitions
    top: list[tuple[int, Any]] = [(0, None)] * exchange.partitions
    for key, count in keys.items():
        part = place(key)
        records[part] += count
        if count > top[part][0]:
            top[part] = count, key
    hottest = max(range(len(records)), key=records.__getitem__)
    count, key = top[hottest]
    return Skew(exchange.number, tuple(records), hottest, shown(key, _KEY_SHOWN_MAX) if count else "", count, len(keys))


def keys_of(exchange: Exchange, target: Stage, maps: Iterable[Sequence[Iterable[Any]]]) -> Counter[Any]:
    """How often each key is in what map tasks have written to an exchange: buckets of each task."""
    if exchange.is_dealt:
        return Counter()
    records = (record for buckets in maps for bucket in buckets for record in bucket)
    if target.operator == Operator.SORT:
        return Counter(map(function_of(target), records))
    return Counter(record[0] for record in records)
