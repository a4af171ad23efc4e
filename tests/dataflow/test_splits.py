"""Splits: the sheet's lengths, and every line in exactly one split wherever the borders fall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.splits import Block, Split, is_splittable, lines, split_bytes, split_file

MB = 2**20


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (129, [129]),
        (141, [128, 13]),
        (256, [128, 128]),
        (257, [128, 129]),
        (300, [128, 128, 44]),
    ],
)
def test_computed_examples(length: int, expected: list[int]) -> None:
    made = split_file("f", length * MB, 128 * MB)
    assert [split.length for split in made] == [mega * MB for mega in expected]


def test_a_last_split_of_a_block_and_a_tenth_but_not_more() -> None:
    tenth_more = 1_476_395_008 // 10  # 140.8 MB, a fraction of a byte less
    assert [split.length for split in split_file("f", tenth_more, 128 * MB)] == [tenth_more]
    first, last = split_file("f", tenth_more + 1, 128 * MB)
    assert (first.length, last.length) == (128 * MB, tenth_more + 1 - 128 * MB)
    assert [split.length for split in split_file("f", 11, 10)] == [11], "exactly 1.1 is not more"


def test_an_empty_file_is_one_empty_split_without_hosts() -> None:
    assert split_file("f", 0, blocks=[Block(0, 0, ("n1",))]) == [Split("f", 0, 0)]


def test_a_compressed_file_is_one_split() -> None:
    assert not is_splittable("logs/a.txt.gz")
    assert split_file("a.gz", 300 * MB, splittable=False) == [Split("a.gz", 0, 300 * MB)]


def test_hosts_are_those_of_the_block_that_holds_the_first_byte() -> None:
    blocks = [Block(0, 100, ("a", "b")), Block(100, 100, ("c",)), Block(200, 50, ("d",))]
    assert [split.hosts for split in split_file("f", 250, 90, blocks=blocks)] == [("a", "b"), ("a", "b"), ("c",)]


def test_the_lower_bound_of_a_split_counts_more_than_the_upper() -> None:
    assert split_bytes(128, least=200, most=100) == 200
    assert split_bytes(128, least=0) == 128, "0 counts as 1"


def test_many_small_files_are_as_many_splits() -> None:
    assert sum(len(split_file(f"f{number}", 1_000)) for number in range(50)) == 50


@given(st.lists(st.sampled_from([b"a", b"bb", b"\n", b"\r", b"\r\n"]), max_size=40), st.integers(1, 20))
def test_every_line_belongs_to_one_split(parts: list[bytes], each: int) -> None:
    data = b"".join(parts)
    read = [line for split in split_file("f", len(data), each) for line in lines(data, split.offset, split.length)]
    assert read == list(lines(data))
    assert [line for _, line in read] == data.splitlines()


@given(st.integers(0, 3_000), st.integers(20, 500))
def test_splits_cover_the_file_and_none_is_longer_than_a_tenth_more(length: int, each: int) -> None:
    made = split_file("f", length, each)
    assert sum(split.length for split in made) == length
    assert [split.offset for split in made] == [sum(s.length for s in made[:n]) for n in range(len(made))]
    assert all(split.length == each for split in made[:-1])
    assert made[-1].length * 10 <= each * 11
