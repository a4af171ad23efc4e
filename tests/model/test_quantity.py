"""Quantities: what people write, as exact integers, and back.

The expected values come from the documentation of Kubernetes (resource quantities) and of Slurm (``sbatch --time``),
or are plain arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model import quantity
from gnomon.model.resources import E4, MAX_AMOUNT, MAX_TIME_NS, NEVER

S = 10**9
PARSERS = (
    quantity.parse_cpu,
    quantity.parse_memory,
    quantity.parse_duration,
    quantity.parse_e4,
    quantity.parse_share,
    quantity.parse_count,
)

READ: dict[str, tuple[Callable[[quantity.Quantity], int], object, int]] = {
    "a CPU is 1000 millicores": (quantity.parse_cpu, "1", 1000),
    "0.1 CPU is 100m": (quantity.parse_cpu, "0.1", quantity.parse_cpu("100m")),
    "a float is what it prints as": (quantity.parse_cpu, 0.1 + 0.2, 301),
    "what is finer than a millicore is rounded up": (quantity.parse_cpu, "0.0001", 1),
    "however fine it is": (quantity.parse_cpu, "1e-400", 1),
    "a number of NumPy counts as one": (quantity.parse_cpu, np.int64(3), 3000),
    "blanks around do not matter": (quantity.parse_cpu, " 2 ", 2000),
    "128974848, 129e6, 129M, 123Mi are about the same, 1": (quantity.parse_memory, "128974848", 123 * 2**20),
    "128974848, 129e6, 129M, 123Mi are about the same, 2": (quantity.parse_memory, "129e6", 129_000_000),
    "128974848, 129e6, 129M, 123Mi are about the same, 3": (quantity.parse_memory, "129M", 129_000_000),
    "128974848, 129e6, 129M, 123Mi are about the same, 4": (quantity.parse_memory, "123Mi", 128_974_848),
    "half a Gi": (quantity.parse_memory, "0.5Gi", 2**29),
    "a B may follow the unit": (quantity.parse_memory, "2GiB", 2**31),
    "K is as good as k": (quantity.parse_memory, "4K", 4000),
    "the largest amount": (quantity.parse_memory, "8Pi", MAX_AMOUNT),
    "a plain number is seconds": (quantity.parse_duration, 90, 90 * S),
    "so is a plain number in text": (quantity.parse_duration, "1e3", 1000 * S),
    "seconds may have decimals": (quantity.parse_duration, "1.25", 1_250_000_000),
    "below a nanosecond the nearest counts": (quantity.parse_duration, "0.0000000026", 3),
    "hours and minutes": (quantity.parse_duration, "1h30m", 5400 * S),
    "with blanks between": (quantity.parse_duration, "1d 2h", 26 * 3600 * S),
    "minutes and milliseconds": (quantity.parse_duration, "5m5ms", 300 * S + 5_000_000),
    "microseconds in ASCII": (quantity.parse_duration, "10us", 10_000),
    "microseconds in Greek": (quantity.parse_duration, "10µs", 10_000),
    "Slurm's minutes:seconds": (quantity.parse_duration, "30:00", 1800 * S),
    "Slurm's minutes may be many": (quantity.parse_duration, "90:30", 5430 * S),
    "Slurm's hours:minutes:seconds": (quantity.parse_duration, "12:30:00", 45_000 * S),
    "Slurm's days-hours": (quantity.parse_duration, "1-12", 36 * 3600 * S),
    "Slurm's days-hours:minutes": (quantity.parse_duration, "1-12:30", 131_400 * S),
    "Slurm's days-hours:minutes:seconds": (quantity.parse_duration, "1-12:00:00", 129_600 * S),
    "a quarter of a licence": (quantity.parse_e4, "0.25", 2500),
    "half a device": (quantity.parse_share, "0.5", 5000),
    "half a device in per cent": (quantity.parse_share, "50%", 5000),
    "a whole device": (quantity.parse_share, 1, E4),
    "a count may come as a float": (quantity.parse_count, 8.0, 8),
}

REFUSED: dict[str, tuple[Callable[[quantity.Quantity], int], object, str]] = {
    "nothing": (quantity.parse_cpu, "", "not a number of CPUs (as in 2, 1.5, 500m)"),
    "a word": (quantity.parse_cpu, "two", "not a number of CPUs"),
    "below zero": (quantity.parse_cpu, -1, "it is below zero"),
    "a truth value": (quantity.parse_cpu, True, "not a number of CPUs"),
    "no value": (quantity.parse_memory, None, "not an amount of memory"),
    "a list": (quantity.parse_memory, [1], "not an amount of memory"),
    "not a number": (quantity.parse_memory, float("nan"), "not an amount of memory"),
    "infinity": (quantity.parse_duration, float("inf"), "not a duration"),
    "10^400 in text": (quantity.parse_memory, "1e400", "too large"),
    "10^400 as a number": (quantity.parse_memory, 10**400, "too large"),
    "a number too long for Python to print": (quantity.parse_cpu, 10**5000, "too large"),
    "an exponent beyond all bounds": (quantity.parse_cpu, "1e99999999999999999999", "too large"),
    "one more than the largest": (quantity.parse_memory, MAX_AMOUNT + 1, "too large"),
    "digits without end": (quantity.parse_cpu, "1" * 61, "longer than 60 characters"),
    "hexadecimal": (quantity.parse_cpu, "0x10", "not a number of CPUs"),
    "digits of another script": (quantity.parse_count, "٣", "not a whole number"),
    "a thousandth of a byte": (quantity.parse_memory, "400m", "m is a thousandth of a byte, Mi and M are mega"),
    "a unit in the wrong case": (quantity.parse_memory, "2gi", "not an amount of memory (as in 512Mi, 2Gi, 4G"),
    "units in the wrong order": (quantity.parse_duration, "30m1h", "not a duration"),
    "two points": (quantity.parse_duration, "1.2.3s", "not a duration"),
    "61 seconds": (quantity.parse_duration, "12:61", "61 is not below 60"),
    "25 hours of a day": (quantity.parse_duration, "1-25:00:00", "25 is not below 24"),
    "half an hour of a day": (quantity.parse_duration, "1-12.5", "only seconds may have decimals"),
    "a century": (quantity.parse_duration, "36525d", "more than 26687 days"),
    "a fifth decimal": (quantity.parse_e4, "0.33333", "too many decimals"),
    "no share at all": (quantity.parse_share, 0, "above 0 and at most 1"),
    "more than the whole": (quantity.parse_share, "101%", "above 0 and at most 1"),
    "half a thing": (quantity.parse_count, 8.5, "not a whole number: too many decimals"),
}


@pytest.mark.unit
@pytest.mark.parametrize("case", READ)
def test_reads(case: str) -> None:
    parse, value, expected = READ[case]
    assert parse(value) == expected  # type: ignore[arg-type]


@pytest.mark.unit
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    parse, value, problem = REFUSED[case]
    with pytest.raises(ValueError, match=r"^not a") as caught:
        parse(value)  # type: ignore[arg-type]
    assert problem in str(caught.value)


@pytest.mark.property
@given(st.integers(0, MAX_AMOUNT))
def test_amounts_survive_printing(amount: int) -> None:
    assert quantity.parse_cpu(quantity.format_cpu(amount)) == amount
    assert quantity.parse_memory(quantity.format_memory(amount)) == amount
    assert quantity.parse_e4(quantity.format_e4(amount)) == amount


@pytest.mark.property
@given(st.integers(0, MAX_TIME_NS) | st.integers(0, 100).map(lambda n: n * 60 * S))
def test_times_survive_printing(ns: int) -> None:
    assert quantity.parse_duration(quantity.format_duration(ns)) == ns
    assert quantity.parse_duration(quantity.format_seconds(ns)) == ns


@pytest.mark.property
@given(st.integers(-MAX_TIME_NS, MAX_TIME_NS))
def test_seconds_are_exact_and_as_short_as_can_be(ns: int) -> None:
    text = quantity.format_seconds(ns)
    assert Decimal(text) * S == ns
    assert not ("." in text and text.endswith(("0", ".")))


@pytest.mark.unit
def test_a_time_that_never_comes_is_empty_in_files_and_a_word_on_screen() -> None:
    assert quantity.format_seconds(NEVER) == ""
    assert quantity.format_duration(NEVER) == "never"


@pytest.mark.property
@given(st.text() | st.text("0123456789.eE+-dhmsunµ:%KMGiB ") | st.integers() | st.floats() | st.none())
def test_whatever_comes_is_read_within_bounds_or_refused(value: quantity.Quantity) -> None:
    for parse in PARSERS:
        with suppress(ValueError):
            assert 0 <= parse(value) <= MAX_TIME_NS
