"""How many bytes a key or a value is when it is written: what a shuffle moves and a buffer holds.

Only sizes: records stay Python values. Two conventions: :func:`writable`, that of Hadoop's Writables, exact for the
types that it names; and :func:`generic`, an estimate for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any, Final

Size = Callable[[object], int]
"""The bytes of a value."""

_INT_MIN: Final = -(2**31)
_INT_END: Final = 2**31
_UNKNOWN_BYTES: Final = 16
"""What an object without fields that can be looked at is taken for."""
_DEPTH_MAX: Final = 32
"""Deeper than this nothing is looked at: a list may hold itself."""


def vint_size(number: int) -> int:
    """The bytes of a whole number of variable length: one from -112 to 127, else a length and the bytes that it needs.

    Source: ``WritableUtils.getVIntSize`` of Hadoop 3.5.0.

    >>> [vint_size(number) for number in (0, 127, 128, 255, 256, -112, -113, -257, 2**31 - 1)]
    [1, 1, 2, 2, 3, 1, 2, 3, 5]
    """
    if -112 <= number <= 127:
        return 1
    return (_magnitude(number).bit_length() + 7) // 8 + 1


def _magnitude(number: int) -> int:
    return ~number if number < 0 else number


def writable(value: object) -> int:
    """The bytes of a value as a Writable of Hadoop.

    ===============  ==============================================
    str              Text: a vint and the bytes in UTF-8
    int              IntWritable, 4; beyond 32 bits LongWritable, 8
    bool             BooleanWritable, 1
    float            DoubleWritable, 8
    bytes            BytesWritable: 4 and the bytes
    None             NullWritable, 0
    tuple            its parts, one after the other
    list, set, dict  4 (how many) and the parts
    ===============  ==============================================

    Anything else as :func:`generic`. Source: ``org.apache.hadoop.io`` of Hadoop 3.5.0.

    >>> writable("word00"), writable("é"), writable(1), writable(2**31), writable(("a", 1)), writable(["a"])
    (7, 3, 4, 8, 6, 6)
    """
    if type(value) is str:  # most keys are, and short: no call
        if value.isascii():
            length = len(value)
            return length + 1 if length < 128 else length + vint_size(length)
        return _text(value)
    if type(value) is int:
        return 4 if _INT_MIN <= value < _INT_END else 8
    return _size(value, writable, 0)


def together(values: Sequence[object], size: Size = writable) -> int | None:
    """The bytes of all values, where they are alike and less than 128 each, so that it takes no look at every one; else
    None.

    >>> together(["word00", "a"]), together([1, 2]), together([1, "a"])
    (9, 8, None)
    """
    if size is not writable or not values:
        return None if values else 0
    kinds = set(map(type, values))
    if kinds == {int}:
        found: set[int] = set(values)  # type: ignore[arg-type]
        return 4 * len(values) if min(found) >= _INT_MIN and max(found) < _INT_END else None
    if kinds == {str}:
        text = "".join(values)  # type: ignore[arg-type]
        if text.isascii() and max(set(map(len, values))) < 127:  # type: ignore[arg-type]
            return len(text) + len(values)
    return None


def generic(value: object) -> int:
    """About how many bytes a value is when it is written: as :func:`writable`, whole numbers by :func:`vint_size`.

    >>> generic(1), generic(1000), generic("ab"), generic({"a": 1.5}), generic(object())
    (1, 3, 3, 14, 16)
    """
    if type(value) is str:
        return _text(value)
    if type(value) is int:
        return vint_size(value)
    return _size(value, generic, 0)


def _text(value: str) -> int:
    length = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    return length + vint_size(length)


def _size(value: object, part: Size, depth: int) -> int:
    """What both conventions have in common, ``part`` for the simple types."""
    if value is None:
        return 0
    if type(value) is tuple:  # most records are
        total = 0
        if depth < _DEPTH_MAX:
            for item in value:
                kind = type(item)
                total += part(item) if kind is str or kind is int else _size(item, part, depth + 1)
            return total
    if isinstance(value, bool):
        return 1
    if isinstance(value, int | str) and depth:
        return part(value)
    if isinstance(value, int):
        return part(int(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return 8
    if isinstance(value, complex):
        return 16
    if isinstance(value, bytes | bytearray | memoryview):
        return 4 + len(value)
    if depth == _DEPTH_MAX:
        return _UNKNOWN_BYTES
    if isinstance(value, Mapping):
        return 4 + sum(_size(item, part, depth + 1) for pair in value.items() for item in pair)
    if isinstance(value, Sequence | Set):
        return (0 if isinstance(value, tuple) else 4) + sum(_size(item, part, depth + 1) for item in value)
    return _object_size(value, part, depth)


def _object_size(value: object, part: Size, depth: int) -> int:
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
    else:
        names = list(getattr(value, "__dict__", ()))
    if not names:
        return _UNKNOWN_BYTES
    return sum(_size(getattr(value, name), part, depth + 1) for name in names)


SEGMENT_END_BYTES: Final = 6
"""What ends a sorted segment: two markers of a byte, a checksum of four. Source: ``IFile`` of Hadoop 3.5.0."""


def segment_record(key_bytes: int, value_bytes: int) -> int:
    """The bytes of a record in a sorted segment: both lengths, key, value. Source: ``IFile.Writer.append``.

    >>> segment_record(7, 4)
    13
    """
    return vint_size(key_bytes) + vint_size(value_bytes) + key_bytes + value_bytes


SAMPLED: Final = 64
"""Of a list with more records the size is estimated from so many, evenly spread."""


def estimated(records: Iterable[Any]) -> int:
    """The bytes of records, of many by a sample.

    >>> estimated(["ab"] * 10), estimated(["ab"] * 1000)
    (30, 3000)
    """
    held = records if isinstance(records, Sequence) else list(records)
    if len(held) <= SAMPLED:
        return sum(map(generic, held))
    step = len(held) // SAMPLED
    sample = held[::step]
    return sum(map(generic, sample)) * len(held) // len(sample)
