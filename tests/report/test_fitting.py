"""Tables that are fitted into a line: nothing longer, no word lost, and the same table where there is room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from gnomon.report.fitting import LINE, TEXT_MIN, fit
from gnomon.report.text import GAP, table

pytestmark = pytest.mark.unit

WORDS = st.lists(st.text("abcdefg", min_size=1, max_size=TEXT_MIN), min_size=1, max_size=12).map(" ".join)
NUMBERS = st.integers(0, 10**6).map(str)


@pytest.fixture
def line() -> Iterator[None]:
    token = LINE.set(30)
    yield
    LINE.reset(token)


@pytest.mark.usefixtures("line")
def test_long_texts_go_on_below() -> None:
    found = table(["CHANGE", "N"], [["one two three four five six seven", "12"], ["short", "3"]], right=(1,))
    assert found.plain.splitlines() == [
        "CHANGE                     N",
        "one two three four five   12",
        "six seven",
        "short                      3",
    ]


@pytest.mark.usefixtures("line")
def test_columns_without_room_are_left_out_and_that_shows() -> None:
    found = table(["A", "BBBBBBBBBB", "CCCCCCCCCC", "DDDDDDDDDD"], [["1", "2", "3", "4"]], right=range(4))
    assert found.plain.splitlines() == [
        "A   BBBBBBBBBB   …",
        "1            2   …",
        "… CCCCCCCCCC, DDDDDDDDDD: in a wider terminal, or with -o wide",
    ]


def test_without_a_length_a_table_is_as_wide_as_it_is() -> None:
    text = "one two three four five six seven " * 9
    assert text.strip() in table(["CHANGE"], [[text.strip()]]).plain


@given(st.lists(st.tuples(WORDS, NUMBERS, WORDS), min_size=1, max_size=6), st.integers(60, 120))
def test_no_line_is_longer_and_no_word_is_lost(rows: list[tuple[str, str, str]], length: int) -> None:
    """Two columns of texts of at least 16 and one of numbers of up to 7 always find room in 60."""
    cells = [[Text(cell) for cell in row] for row in rows]
    fitted, right, hidden = fit(cells, {1}, len(GAP), length)
    widths = [max(row[i].cell_len for row in fitted) for i in range(len(fitted[0]))]
    assert (len(widths), right, hidden) == (3, {1}, 0)
    assert sum(widths) + len(GAP) * 2 <= length
    for column in range(3):
        before = " ".join(row[column] for row in rows).split()
        assert " ".join(row[column].plain for row in fitted).split() == before
