"""How much memory records take, about: weighed now and then, never record by record.

Sizes are those of ``sys.getsizeof``, with what a thing contains. All things are weighed by themselves; what they
contain is estimated from a sample. An object that several contain counts as often: the estimate errs on the heavy side.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from sys import getsizeof
from typing import Any, Final

_SAMPLE: Final = 48
_INSIDE: Final = 8
_DEPTH: Final = 4
_CONTAINERS: Final = (tuple, list, set, frozenset)


def weight(things: Collection[Any]) -> int:
    """About how many bytes things and what they contain take.

    >>> weight(["x" * 951] * 1000) == 1000 * getsizeof("x" * 951)
    True
    """
    if not things:
        return 0
    alone = sum(map(getsizeof, things))
    chosen = list(islice(things, 0, None, max(1, len(things) // _SAMPLE)))
    chosen.append(max(things, key=getsizeof))  # one that is larger than all the others together
    return alone * sum(map(_deep, chosen)) // sum(map(getsizeof, chosen))


def table_weight(table: Mapping[Any, Any]) -> int:
    """About how many bytes a dict with its keys and values takes."""
    return getsizeof(table) + weight(table.keys()) + weight(table.values())


class Pace:
    """How many records may come before a container is weighed again, so that it does not outgrow its limit by much.

    Weighing takes as long as some records: it is done when twice as many are there as the last time, and when the limit
    should be near at the rate so far. Seven eighths of it count as full: to come nearer would mean to weigh again.

    >>> pace = Pace(1000)
    >>> pace.records, pace.full(100), pace.records, pace.full(900), pace.records
    (1, False, 1, True, 1)
    """

    MOST: Final = 1 << 20

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.records = 1
        self._seen = 0

    def full(self, held: int) -> bool:
        """Whether ``held`` bytes are as good as the limit; the count begins anew if they are."""
        if 8 * held >= 7 * self.limit:
            self.records, self._seen = 1, 0
            return True
        self._seen += self.records
        room = self._seen * (self.limit - held) // max(held, 1) * 15 // 16
        self.records = max(1, min(room, self._seen, self.MOST))
        return False


def _deep(thing: Any, depth: int = _DEPTH) -> int:
    size = getsizeof(thing)
    if depth == 0:
        return size
    if isinstance(thing, dict):
        return size + _inside(thing.keys(), depth) + _inside(thing.values(), depth)
    if isinstance(thing, _CONTAINERS):
        return size + _inside(thing, depth)
    fields = getattr(thing, "__dict__", None)
    return size + (_deep(fields, depth - 1) if isinstance(fields, dict) and not isinstance(thing, type) else 0)


def _inside(parts: Collection[Any], depth: int) -> int:
    if not parts:
        return 0
    chosen = list(islice(parts, 0, None, max(1, len(parts) // _INSIDE)))
    return len(parts) * sum(_deep(part, depth - 1) for part in chosen) // len(chosen)
