"""Opening files: gzip by content, lines streamed, every failure one InputError with its place."""

from __future__ import annotations

import gzip
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats import files
from gnomon.model.errors import InputError

PACKED = gzip.compress(b"one\ntwo\n")

READ: dict[str, tuple[bytes, list[str]]] = {
    "plain lines": (b"one\ntwo\n", ["one", "two"]),
    "the last line may lack its end": (b"one\ntwo", ["one", "two"]),
    "lines that end as Windows ends them": (b"one\r\ntwo\r\n", ["one", "two"]),
    "blank lines stay": (b"\n\none\n", ["", "", "one"]),
    "a byte order mark is no text": (b"\xef\xbb\xbfone\n", ["one"]),
    "gzip is told by its first bytes": (PACKED, ["one", "two"]),
    "gzip in several members": (PACKED + gzip.compress(b"three"), ["one", "two", "three"]),
    "a byte order mark inside gzip": (gzip.compress(b"\xef\xbb\xbfone"), ["one"]),
    "any letters of the world": ("søster 節点".encode(), ["søster 節点"]),
}

REFUSED: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", "the file is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "the file is empty"),
    "gzip of nothing": (gzip.compress(b""), "the file is empty"),
    "gzip cut off": (PACKED[:-5], "damaged gzip data: Compressed file ended"),
    "gzip cut off in its head": (PACKED[:4], "damaged gzip data"),
    "gzip with a wrong check sum": (PACKED[:-8] + bytes(4) + PACKED[-4:], "damaged gzip data: CRC check failed"),
    "junk after gzip": (PACKED + b"junk", "damaged gzip data: Not a gzipped file"),
    "a NUL byte": (b"one\ntwo\0", "line 2: a NUL byte: this is not a text file"),
    "bytes that are no UTF-8": (b"one\n\xff\xfa\n", "line 2: not UTF-8 text, found b'\\xff\\xfa\\n'"),
    "what PowerShell writes": ("one\n".encode("utf-16"), "UTF-16 text, which is not read here; allowed: UTF-8 text"),
    "another compression": (b"BZh91AY&SY", "bzip2 data, which is not read here"),
    "a Parquet file": (b"PAR1....PAR1", "Parquet data, which is not read here"),
}


def put(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


@pytest.mark.unit
@pytest.mark.parametrize("case", READ)
def test_reads(case: str, tmp_path: Path) -> None:
    content, lines = READ[case]
    assert list(files.open_text(put(tmp_path, content))) == lines


@pytest.mark.unit
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, tmp_path: Path) -> None:
    content, problem = REFUSED[case]
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        list(files.open_text(path))
    assert str(caught.value).startswith(f"{path}")
    assert problem in str(caught.value)


@pytest.mark.unit
@pytest.mark.parametrize(
    "read", [files.open_bytes, files.read_text, files.read_start, lambda p: list(files.open_text(p))]
)
def test_a_path_that_leads_nowhere_is_one_clear_line(read: Callable[[str], object], tmp_path: Path) -> None:
    for path, problem in {
        f"{tmp_path}/absent": "no such file",
        f"{tmp_path}": "a folder, not a file",
        "a\0b": "cannot be read: embedded null byte",
        "x" * 5000: "cannot be read: File name too long",
    }.items():
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value) == f"{path}: {problem}"


@pytest.mark.unit
def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LINE_BYTES_MAX", 10)
    assert list(files.open_text(put(tmp_path, b"123456789\n12345"))) == ["123456789", "12345"]
    with pytest.raises(InputError, match="line 2: a line of more than 10 bytes"):
        list(files.open_text(put(tmp_path, gzip.compress(b"1\n" + b"x" * 100_000))))


@pytest.mark.unit
def test_a_file_that_is_read_whole_has_a_largest_size(tmp_path: Path) -> None:
    path = put(tmp_path, gzip.compress(bytes(100_000)))
    with pytest.raises(InputError, match="larger than 50 bytes"):
        files.read_text(path, limit_bytes=50)


@pytest.mark.property
@given(content=st.binary(max_size=200), packed=st.booleans(), kept=st.integers(1, 300))
def test_whatever_bytes_come_are_text_or_refused(
    content: bytes, packed: bool, kept: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = put(tmp_path_factory.getbasetemp(), (gzip.compress(content) if packed else content)[:kept])
    with suppress(InputError):
        assert all(isinstance(line, str) for line in files.open_text(path))
    with suppress(InputError):
        assert files.read_start(path)


@pytest.mark.property
@given(st.lists(st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"])), min_size=1))
def test_lines_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    if not lines[0].startswith("\ufeff"):
        path = put(tmp_path_factory.getbasetemp(), gzip.compress(content))
        assert list(files.open_text(path)) == lines


@pytest.mark.unit
def test_a_pipe_is_kept_so_that_it_can_be_read_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"one\ntwo\n"))
    writer.start()
    assert [list(files.open_text(pipe)) for _ in range(2)] == [["one", "two"]] * 2
    assert files.read_start(pipe) == "one\ntwo\n"
    writer.join()


@pytest.mark.unit
def test_what_is_kept_is_in_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it is gone however the process ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    pipe = piped(tmp_path, b"one\ntwo\n")
    with files.open_bytes(pipe) as one, files.open_bytes(pipe) as other:
        assert (one.readline(), other.readline(), one.readline()) == (b"one\n", b"one\n", b"two\n")
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.unit
@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_what_is_kept_is_decompressed_up_to_where_it_is_cut_off(tmp_path: Path, codec: str) -> None:
    packed = pa.compress(b"one\n" * 99, codec=codec, asbytes=True)[:-3]
    (tmp_path / "file").write_bytes(packed)

    def read(path: Path) -> list[str]:
        found: list[str] = []
        with pytest.raises(files.CutOff):
            found.extend(line for line in files.open_text(path))
        return found

    assert read(piped(tmp_path, packed)) == read(tmp_path / "file")


@pytest.mark.unit
def test_a_pipe_for_which_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"pipe: is read once only, and cannot be kept anywhere.*TMPDIR=FOLDER"):
        files.open_bytes(piped(tmp_path, b"one\n"))


def piped(folder: Path, content: bytes) -> Path:
    """A pipe that somebody writes this to."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with suppress(BrokenPipeError):
            pipe.write_bytes(content)

    threading.Thread(target=write, daemon=True).start()
    return pipe


@pytest.mark.unit
def test_a_folder_stands_for_its_files_by_name(tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json", "notes.md", ".hidden.yaml"):
        (tmp_path / name).write_text("x")
    assert files.files_in(tmp_path) == [str(tmp_path / name) for name in ("a.yaml", "b.yml", "c.json")]
    assert files.files_in(tmp_path / "a.yaml") == [str(tmp_path / "a.yaml")]
    (tmp_path / "empty").mkdir()
    assert files.files_in(tmp_path / "empty") == [str(tmp_path / "empty")]


def test_a_device_without_an_end_is_not_read() -> None:
    with pytest.raises(InputError, match="a device, not a file"):
        files.open_bytes("/dev/zero")
    with pytest.raises(InputError, match="empty"):
        files.open_bytes("/dev/null")
