"""Lines of byte ranges: whatever the cuts, each line comes once, in order."""

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.backends import local_text
from gnomon.backends.local_text import lines
from gnomon.dataflow import splits
from gnomon.model.errors import InputError

pytestmark = pytest.mark.unit

TEXTS = st.lists(st.sampled_from(["a", "bc", "\n", "\n", "\r\n", "\r", " ", "é", "𝄞"]), max_size=30).map("".join)


@pytest.mark.property
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXTS, st.lists(st.integers(0, 60), max_size=4), st.sampled_from([1, 2, 3, 7, 1000]))
def test_each_line_belongs_to_one_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, cuts: list[int], chunk: int
) -> None:
    monkeypatch.setattr(local_text, "CHUNK_BYTES", chunk)
    path = tmp_path / "text"
    data = text.encode()
    path.write_bytes(data)
    whole = re.split("\r\n|\n|\r", text)
    if not whole[-1]:  # after the last end there is no line
        whole.pop()
    ends = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    assert [line for start, end in pairwise(ends) for line in lines(path, start, end)] == whole
    assert list(lines(path)) == whole


@pytest.mark.parametrize(("start", "end"), [(0, 3), (3, 4), (4, 13), (5, 13), (8, 9), (2, 3)])
def test_a_range_has_the_lines_that_the_rule_says(tmp_path: Path, start: int, end: int) -> None:
    data = b"one\ntwo\nthree"
    (tmp_path / "text").write_bytes(data)
    expected = [line.decode() for _, line in splits.lines(data, start, end - start)]
    assert list(lines(tmp_path / "text", start, end)) == expected


def test_compressed_files_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert not local_text.splittable(path)
    assert list(lines(path)) == ["one", "two"]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfone\n")
    assert list(lines(tmp_path / "text")) == ["one"]


def test_what_is_not_utf_8_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"one\ntw\xff\n")
    with pytest.raises(InputError, match="text: not UTF-8 at byte 6: invalid start byte"):
        list(lines(tmp_path / "text"))


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n" * 1000)[:-9])
    with pytest.raises(InputError, match="damaged"):
        list(lines(path))
