"""Whether two runs made the same records, in whatever order, and what is the first difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_SHOWN_MAX: Final = 120
_ROUNDING: Final = 1e-9
"""Numbers that differ by no more than this part of them differ by rounding."""


@dataclass(frozen=True)
class Difference:
    """A record of one run (None: none), and what the other has in its place; ``rounding``: only the last digits of
    numbers differ, ``order``: only the order within lists."""

    one: str | None
    other: str | None
    rounding: bool = False
    order: bool = False


def difference(one: Iterable[Any], other: Iterable[Any]) -> Difference | None:
    """The first record that only one of two runs has, with its like in the other; None where both have the same.

    >>> difference([("a", 1), ("b", 2)], [("b", 3), ("a", 1)])
    Difference(one="('b', 2)", other="('b', 3)", rounding=False, order=False)
    """
    left, right = list(one), list(other)
    here, there = Counter(map(frozen, left)), Counter(map(frozen, right))
    if here == there:
        return None
    gone, new = here - there, there - here
    mine = [record for record in left if frozen(record) in gone]
    theirs = [record for record in right if frozen(record) in new]
    if not mine:
        return Difference(None, shown(theirs[0]))
    like = [record for record in theirs if _key(record) == _key(mine[0])] or theirs
    if not like:
        return Difference(shown(mine[0]), None)
    rounding = len(mine) == len(theirs) and all(_near(a, b) for a, b in _paired(mine, theirs))
    order = Counter(map(_unordered, left)) == Counter(map(_unordered, right))
    return Difference(shown(mine[0]), shown(like[0]), rounding, order)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, as records are compared."""
    return frozen(one) == frozen(other)


def frozen(value: Any) -> Hashable:
    """A value as one that can be counted: equal where the values are."""
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(frozen, value))
    if isinstance(value, dict):
        return "dict", frozenset((frozen(key), frozen(one)) for key, one in value.items())
    if isinstance(value, set | frozenset):
        return "set", frozenset(map(frozen, value))
    if isinstance(value, float) and value != value:
        return "nan"
    try:
        Counter((value,))
    except TypeError:
        return type(value).__name__, _inside(value)
    if getattr(type(value), "__eq__", None) is object.__eq__:  # equal to nothing but itself: what is in it counts
        return type(value).__name__, _inside(value)
    return value  # type: ignore[no-any-return]


def near(one: Any, other: Any) -> bool:
    """Whether two values differ by the rounding of numbers at most."""
    return same(one, other) or _near(one, other)


def shown(value: Any, most: int = _SHOWN_MAX) -> str:
    """A value as a text of ``most`` characters, whatever its ``repr`` does."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"a {type(value).__name__} whose repr raises {type(error).__name__}"
    return text if len(text) <= most else f"{text[:most]}…"


def _inside(value: Any) -> Hashable:
    held = getattr(value, "__dict__", None)
    return repr(value) if held is None else frozen(dict(held))


def _key(record: Any) -> Hashable:
    return frozen(record[0]) if isinstance(record, tuple) and record else None


def _paired(one: list[Any], other: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(sorted(one, key=repr), sorted(other, key=repr), strict=True)


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_ROUNDING)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_near, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_near(one[key], other[key]) for key in one)
    return same(one, other)


def _unordered(value: Any) -> Hashable:
    """A value with the lists in it as bags."""
    if isinstance(value, list):
        return "list", frozenset(Counter(map(_unordered, value)).items())
    if isinstance(value, tuple):
        return tuple(map(_unordered, value))
    return frozen(value)
