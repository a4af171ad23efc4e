"""The buffer of a map: when it spills, and that it never holds more than it has."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.spill_buffer import Buffer, Room, Sorting


def test_a_spill_begins_at_the_soft_limit_with_16_bytes_for_each_record() -> None:
    buffer = Buffer(Sorting(buffer_bytes=2**20))
    rooms = [buffer.put(11) for _ in range(100_000)]
    spills = [number for number, room in enumerate(rooms) if room is Room.SPILL]
    assert spills == [31_069, 31_069 + 31_068, 31_069 + 2 * 31_068], "as measured with 11 bytes a record"


def test_a_record_that_does_not_fit_beside_the_others_waits_for_their_spill() -> None:
    buffer = Buffer(Sorting(1024))
    assert buffer.put(300) == Room.FITS
    assert buffer.put(800) == Room.SPILL
    assert buffer.put(5_000) == Room.ALONE


@given(st.lists(st.integers(0, 400), max_size=300), st.integers(64, 1_500))
def test_the_buffer_never_holds_more_than_its_bytes(sizes: list[int], length: int) -> None:
    buffer, held = Buffer(Sorting(length)), 0
    for size in sizes:
        room = buffer.put(size)
        if room is Room.ALONE:
            assert size + 16 > length - 4 * 16, "only what is nearly as large as the buffer goes alone"
        held = 0 if room is Room.ALONE else size + 16 if room is Room.SPILL else held + size + 16
        assert held <= length


@given(st.lists(st.integers(0, 60), max_size=200), st.integers(200, 1_500))
def test_records_added_together_are_as_those_put_one_by_one(sizes: list[int], length: int) -> None:
    single, together = Buffer(Sorting(length)), Buffer(Sorting(length))
    held: list[int] = []
    for size in sizes:
        room = single.put(size)
        if together.spare >= sum(held) + size + 16 * (len(held) + 1):
            held.append(size)
            assert room is Room.FITS
            continue
        together.add(len(held), sum(held))
        held = []
        assert together.put(size) is room
