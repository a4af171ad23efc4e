"""Files to partitions, by Spark's rule and by what must hold of any packing."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.spark.files import MB, most_split_bytes, partitions


def test_a_large_file_is_cut_at_128_mb() -> None:
    assert [[piece[2] for piece in part] for part in partitions([300 * MB], 2)] == [[128 * MB], [128 * MB], [44 * MB]]


def test_with_many_slots_pieces_are_smaller_and_never_below_the_cost_of_opening() -> None:
    assert most_split_bytes([96 * MB], 50) == 4 * MB
    assert most_split_bytes([96 * MB], 4) == 25 * MB


def test_small_files_share_partitions_each_at_the_cost_of_opening_it() -> None:
    """100 files of 1 MB on 2 slots: 500 MB with their costs, so 128 MB a partition, which 26 files fill."""
    assert [len(part) for part in partitions([MB] * 100, 2)] == [26, 26, 26, 22]


def test_the_largest_pieces_come_first() -> None:
    assert [piece[0] for part in partitions([MB, 3 * MB, 2 * MB], 1) for piece in part] == [1, 2, 0]


@given(st.lists(st.integers(1, 10**9), max_size=20), st.integers(1, 64))
def test_every_byte_is_in_one_piece(sizes: list[int], parallelism: int) -> None:
    found = partitions(sizes, parallelism)
    held = sorted(piece for part in found for piece in part)
    ends = [0] * len(sizes)
    for file, start, length in held:
        assert start == ends[file]
        ends[file] += length
    assert ends == sizes
