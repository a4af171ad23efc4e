"""Slurm's forms of time: sbatch(1), ``--time`` and ``--begin``."""

from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation.times import format_minutes, format_seconds, limit_minutes, limit_seconds, moment

NOW = datetime(2026, 11, 30, 10, 15, 20)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 300),
        ("0", 0),
        ("5:30", 330),
        ("1:2:3", 3723),
        ("1-0", 86_400),
        ("1-2", 93_600),
        ("1-2:3", 93_780),
        ("1-2:3:4", 93_784),
        ("1-", 86_400),
        ("90:00", 5400),
        ("-1", None),
        ("Infinite", None),
        ("UNLIMITED", None),
    ],
)
def test_limits(text: str, seconds: int | None) -> None:
    assert limit_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "x", "1h", "1-2-3", "1:2:3:4", "5:", ":5", "1-2:", "1-:5", "1:2-3", "-5", "forever", "9" * 40]
)
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(InputError, match="Invalid time limit"):
        limit_seconds(text)


def test_a_begun_minute_counts_whole() -> None:
    """As recorded: MaxTime=3-12:30:15 is shown as 3-12:31:00."""
    assert format_minutes(limit_minutes("3-12:30:15")) == "3-12:31:00"


@given(st.integers(0, 10**8))
def test_what_is_printed_reads_the_same(seconds: int) -> None:
    assert limit_seconds(format_seconds(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", "2026-11-30T10:15:20"),
        ("now+1hour", "2026-11-30T11:15:20"),
        ("now+90", "2026-11-30T10:16:50"),
        ("now + 2 days", "2026-12-02T10:15:20"),
        ("NOW-30minutes", "2026-11-30T09:45:20"),
        ("now+1week", "2026-12-07T10:15:20"),
        ("10:16", "2026-11-30T10:16:00"),
        ("10:15", "2026-12-01T10:15:00"),
        ("9:00", "2026-12-01T09:00:00"),
        ("11:30:05", "2026-11-30T11:30:05"),
        ("3:00 PM", "2026-11-30T15:00:00"),
        ("12:00am", "2026-12-01T00:00:00"),
        ("today", "2026-11-30T00:00:00"),
        ("tomorrow", "2026-12-01T00:00:00"),
        ("tomorrow 16:00", "2026-12-01T16:00:00"),
        ("midnight", "2026-12-01T00:00:00"),
        ("noon", "2026-11-30T12:00:00"),
        ("fika", "2026-11-30T15:00:00"),
        ("teatime", "2026-11-30T16:00:00"),
        ("2027-01-20", "2027-01-20T00:00:00"),
        ("2027-01-20T12:34:00", "2027-01-20T12:34:00"),
        ("2027-01-20T12:34", "2027-01-20T12:34:00"),
        ("12/24", "2026-12-24T00:00:00"),
        ("01/02", "2027-01-02T00:00:00"),
        ("1224", "2026-12-24T00:00:00"),
        ("12/24/27-18:00", "2027-12-24T18:00:00"),
        ("12.24.27", "2027-12-24T00:00:00"),
        ("12/24/ noon", "2026-12-24T12:00:00"),
        ("uts1700000000", "2023-11-14T22:13:20"),
    ],
)
def test_moments(text: str, meant: str) -> None:
    assert moment(text, NOW) == datetime.fromisoformat(meant)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "25:00",
        "12:60",
        "13/01",
        "now+",
        "now+1fortnight",
        "2026-13-01",
        "2027-1-20",
        "302 12/24",
        "32",
        "--",
    ],
)
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(InputError, match="Invalid time specification"):
        moment(text, NOW)


@given(st.text("0123456789:-/T. nowtdaymrupf+", max_size=20))
def test_any_text_is_a_moment_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        assert isinstance(moment(text, NOW), datetime)
