"""Hashes of keys, against values that the real engines gave (Hadoop 3.5.0, Spark 4.3.0) and against Python's own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.hashing import java, java_string, long_low_bits, murmur3, murmur3_long, portable, text_bytes
from gnomon.dataflow.partition import hashed
from gnomon.model.errors import InputError

HADOOP = {"a": 128, "b": 129, "c": 130, "the": 144592, "quick": 136576652, "fox": 131374, "hello": 127791473}


@pytest.mark.parametrize(("text", "expected"), [*HADOOP.items(), ("hadoop", -337361050)])
def test_text_as_hadoop_hashes_it(text: str, expected: int) -> None:
    assert text_bytes(text) == expected


def test_where_hadoop_puts_words() -> None:
    words = "a b c the quick fox hello hadoop".split()
    assert [hashed("writable", 2)(word) for word in words] == [0, 1, 0, 0, 0, 0, 1, 0]
    assert [hashed("writable", 3)(word) for word in words] == [2, 0, 1, 1, 2, 1, 2, 1]


def test_hadoop_takes_the_low_bits_of_a_long_and_java_mixes_both_halves() -> None:
    assert long_low_bits(5_000_000_000) == 705_032_704
    assert java(5_000_000_000) == 705_032_705


def test_where_a_hash_partitioner_of_strings_puts_words() -> None:
    place = hashed("java", 4)
    assert [place(key) for key in ("a", "b", "c", "hello", "hadoop", -7)] == [1, 2, 3, 2, 1, 1]
    assert place(None) == 0


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (0, 933211791),
        (1, -559580957),
        (42, 29417773),
        (-1, -1604776387),
        ("a", 1485273170),
        ("b", 1905031361),
        ("spark", 2101843105),
        ("hadoop", -378380819),
    ],
)
def test_murmur3_as_the_sql_engine_hashes(key: object, expected: int) -> None:
    assert murmur3(key) == expected


def test_murmur3_of_big_integers_columns_and_nulls() -> None:
    assert [murmur3_long(number) for number in (0, 1, 42)] == [-1670924195, -1712319331, 1316951768]
    assert murmur3(("a", 1)) == murmur3(1, murmur3("a"))
    assert murmur3((None, "a", None)) == murmur3("a")


def test_where_repartition_by_a_column_puts_words() -> None:
    place = hashed("murmur3", 4)
    words = "b spark flink hadoop a c kafka".split()
    assert [place(word) for word in words] == [1, 1, 1, 1, 2, 2, 3]


KEYS = ["", "a", "hello", "été", "日本語", "𝕊 wide", b"bytes", 0, -1, 2**61 - 1, 2**70, -5, True, 0.5, -1e300, 1e-300]


def test_portable_is_what_python_says_with_a_seed_of_0() -> None:
    program = f"print([hash(key) for key in {KEYS!r}])"
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert [portable(key) for key in KEYS] == eval(said.stdout)


def test_portable_mixes_tuples_and_takes_none_for_0() -> None:
    def mixed(key: tuple[int, ...]) -> int:  # pyspark/core/rdd.py, portable_hash
        value = 0x345678
        for part in key:
            value ^= part
            value *= 1000003
            value &= sys.maxsize
        return value ^ len(key)

    assert portable(None) == 0
    assert portable((1, 2)) == mixed((1, 2))
    assert portable((None, 5, 7)) == mixed((0, 5, 7))


@pytest.mark.property
@given(st.integers() | st.floats(allow_nan=False) | st.booleans())
def test_numbers_are_hashed_as_python_does_always(number: float) -> None:
    assert portable(number) == hash(number)


@pytest.mark.property
@given(st.text())
def test_a_java_string_is_hashed_from_left_to_right(text: str) -> None:
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    naive = sum(unit * 31 ** (len(units) - 1 - place) for place, unit in enumerate(units))
    assert java_string(text) % 2**32 == naive % 2**32
    assert -(2**31) <= java_string(text) < 2**31


@pytest.mark.parametrize("name", ["portable", "java", "writable", "murmur3"])
def test_a_key_without_a_hash_is_told_with_what_there_is(name: str) -> None:
    with pytest.raises(InputError, match=f"the hash '{name}' is not defined for such a key"):
        hashed(name, 2)(frozenset())
