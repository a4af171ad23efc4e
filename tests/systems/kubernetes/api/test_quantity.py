"""Quantities: the examples of the API's documentation, exactness, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.kubernetes.api.quantity import AMOUNT_MAX, format_quantity, parse_milli, parse_quantity

FACTORS = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1)}
FACTORS |= {unit: Fraction(1000) ** power for power, unit in enumerate("kMGTPE", 1)}
FACTORS |= {f"{unit}i": Fraction(1024) ** power for power, unit in enumerate("KMGTPE", 1)}


@given(st.decimals(0, 10**6, places=4), st.sampled_from(sorted(FACTORS)), st.sampled_from(("cpu", "memory")))
def test_an_amount_is_rounded_up(number: object, unit: str, resource: str) -> None:
    exact = Fraction(str(number)) * FACTORS[unit] * (1000 if resource == "cpu" else 1)
    rounded = -(-exact.numerator // exact.denominator)
    if rounded <= AMOUNT_MAX:
        assert parse_quantity(f"{number}{unit}", resource) == rounded


@pytest.mark.parametrize(
    ("written", "resource", "amount"),
    [
        ("0.1", "cpu", 100),
        ("100m", "cpu", 100),
        (2, "cpu", 2000),
        (0.1, "cpu", 100),
        ("1", "requests.cpu", 1000),
        ("128974848", "memory", 128974848),
        ("129e6", "memory", 129000000),
        ("129M", "memory", 129000000),
        ("128974848000m", "memory", 128974848),
        ("123Mi", "memory", 128974848),
        ("12E-1", "memory", 2),
        (".5Gi", "memory", 2**29),
        ("1.", "nvidia.com/gpu", 1),
    ],
)
def test_documented_forms(written: object, resource: str, amount: int) -> None:
    assert parse_quantity(written, resource) == amount


@pytest.mark.parametrize(
    "written",
    ["1.5e400", "1e99999999999", "9223372036854775808", "-1", "1.5.5", "4 Gi", "1gi", "1K", "", "1e", "e3", "1Kim",
     "0x10", "1_000", "inf", float("inf"), float("nan"), True, None, [], "1" * 100, "١"],
)  # fmt: skip
def test_what_is_no_quantity_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="quantity"):
        parse_quantity(written, "memory")


@given(st.integers(0, AMOUNT_MAX), st.sampled_from(("cpu", "memory", "pods", "limits.cpu")))
def test_what_is_written_reads_back(amount: int, resource: str) -> None:
    assert parse_quantity(format_quantity(amount, resource), resource) == amount


def test_it_is_written_as_people_write_it() -> None:
    written = ["1Gi", "1500Mi", "2G", "1M", "0", "10k"]
    assert [format_quantity(parse_quantity(text)) for text in ("1024Mi", *written[1:])] == written
    assert format_quantity(1500, "requests.cpu") == "1500m"
    assert parse_milli("2.5") == 2500
