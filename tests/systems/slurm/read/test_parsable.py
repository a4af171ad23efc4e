"""Rows with the delimiter in a free text are put together again: the best of all ways, and soon."""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.parsable import joined
from gnomon.systems.slurm.read.sacct import read_parsable

NAMES = ("a", "b", "c", "d", "e")


def ways(parts: list[str], free: set[str]) -> Iterator[list[str]]:
    """Every way to put the fields together, those that give most to the last free column first."""
    places = [place for place, name in enumerate(NAMES) if name in free]
    chosen = combinations_with_replacement(reversed(places), len(parts) - len(NAMES)) if places else ()
    for each in chosen:
        found, at = [], 0
        for place in range(len(NAMES)):
            size = 1 + each.count(place)
            found.append("|".join(parts[at : at + size]))
            at += size
        yield found


@pytest.mark.property
@given(
    st.lists(st.sampled_from(["1", "22", "x", ""]), min_size=5, max_size=9),
    st.sets(st.sampled_from(NAMES), min_size=1),
    st.sets(st.sampled_from(NAMES)),
)
def test_the_way_is_the_best_of_all(parts: list[str], free: set[str], checked: set[str]) -> None:
    looks = dict.fromkeys(checked - free, str.isdigit)

    def wrong(found: list[str]) -> int:
        return sum(not look(found[NAMES.index(name)]) for name, look in looks.items())

    found = joined(parts, NAMES, free, looks)
    assert found is not None
    assert wrong(found) == min(wrong(way) for way in ways(parts, free))
    assert "|".join(found) == "|".join(parts)


@pytest.mark.unit
def test_the_last_free_column_gets_most_where_nothing_tells() -> None:
    assert joined(list("123456"), NAMES, {"b", "d"}, {}) == ["1", "2", "3", "4|5", "6"]


@pytest.mark.unit
def test_a_row_of_nothing_but_delimiters_is_given_up() -> None:
    looks = dict.fromkeys(NAMES[1:], str.isdigit)
    assert joined(["x"] * 105, NAMES, {"a"}, looks) is not None
    assert joined(["x"] * 106, NAMES, {"a"}, looks) is None


@pytest.mark.unit
def test_a_header_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sacct.txt").write_text("JobID|" + "a|" * 100_000 + "\n5|\n")
    with pytest.raises(InputError, match="more than 1,000 columns"):
        read_parsable(tmp_path / "sacct.txt")


@pytest.mark.unit
def test_columns_without_a_name_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "sacct.txt").write_text("JobID|||State\n5|||COMPLETED\n")
    assert read_parsable(tmp_path / "sacct.txt").state[0] == "COMPLETED"
