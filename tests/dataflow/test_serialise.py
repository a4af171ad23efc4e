"""Sizes of keys and values: Hadoop's Writables, and the estimate for anything."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.serialise import generic, segment_record, vint_size, writable


def written_vint(number: int) -> bytes:
    """A whole number as WritableUtils.writeVLong writes it, in the plainest words."""
    if -112 <= number <= 127:
        return number.to_bytes(1, "big", signed=True)
    magnitude = ~number if number < 0 else number
    body = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")
    first = (-120 if number < 0 else -112) - len(body)
    return first.to_bytes(1, "big", signed=True) + body


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_vint_is_as_long_as_what_is_written(number: int) -> None:
    assert vint_size(number) == len(written_vint(number))


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("abcdef", 7),
        ("", 1),
        ("x" * 128, 130),
        ("日本", 7),
        (-1, 4),
        (2**31 - 1, 4),
        (-(2**31), 4),
        (5_000_000_000, 8),
        (True, 1),
        (1.5, 8),
        (b"abc", 7),
        (None, 0),
        ((1, "a"), 6),
        ([1, 2], 12),
        ({"a": 1}, 10),
    ],
)
def test_writables(value: object, size: int) -> None:
    assert writable(value) == size


def test_a_word_of_six_letters_and_a_one_are_eleven_bytes_and_thirteen_in_a_segment() -> None:
    key, value = writable("word00"), writable(1)
    assert (key, value, key + value, segment_record(key, value)) == (7, 4, 11, 13)


def test_anything_has_a_size() -> None:
    @dataclass
    class Point:
        x: int
        y: int

    class Plain:
        def __init__(self) -> None:
            self.name = "ab"

    loop: list[object] = []
    loop.append(loop)
    assert generic(Point(1, 1000)) == 4
    assert generic(Plain()) == 3
    assert generic(object()) == writable(object()) == 16
    assert generic(loop) > 0


@given(st.recursive(st.none() | st.integers() | st.text() | st.floats() | st.binary(), st.lists))
def test_a_size_is_a_whole_number_and_the_same_each_time(value: object) -> None:
    assert generic(value) == generic(value) >= 0
    assert writable(value) >= 0
