"""Compressed text as the JVM writes it.

The files in tests/data/spark were written by the codecs of Spark 4.3.0 (one event log, flushed in its middle) and by
Hadoop's SnappyCodec; what they hold is the log in tests/golden/spark.
"""

import gzip
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.files import CutOff, open_bytes, read_start
from gnomon.model.errors import InputError
from tests.shared import ROOT

DATA = ROOT / "tests" / "data" / "spark"
PLAIN = gzip.decompress((ROOT / "tests" / "golden" / "spark" / "spark-log-wordcount-1.jsonl.gz").read_bytes())
WRITTEN = ("wordcount.zstd", "wordcount.lz4", "wordcount.snappy", "wordcount-hadoop.snappy")

SNAPPY_FRAMED = b"\xff\x06\x00\x00sNaPpY"


def lz4_block(content: bytes, *, stored: bool = False) -> bytes:
    """A block of ``LZ4BlockOutputStream``: magic, token, lengths, checksum (any, it is not looked at)."""
    packed = content if stored else pa.Codec("lz4_raw").compress(content, asbytes=True)
    lengths = len(packed).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return b"LZ4Block" + bytes([0x15 if stored else 0x25]) + lengths + bytes(4) + packed


@pytest.mark.unit
@pytest.mark.parametrize("name", WRITTEN)
def test_reads_what_spark_and_hadoop_wrote(name: str) -> None:
    with open_bytes(DATA / name) as stream:
        assert stream.read() == PLAIN
    assert read_start(DATA / name, characters=10) == '{"Event":"'


@pytest.mark.unit
@pytest.mark.parametrize("name", WRITTEN[:-1])  # the last one is a single block
def test_what_is_there_of_data_that_is_cut_off_comes_first(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes((DATA / name).read_bytes()[:-200])
    read = bytearray()

    def read_all() -> None:
        with open_bytes(path) as stream:
            while piece := stream.read1():
                read.extend(piece)

    with pytest.raises(CutOff):
        read_all()
    assert PLAIN.startswith(read)
    assert len(read) > len(PLAIN) // 3


@pytest.mark.unit
def test_reads_streams_of_several_blocks_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "log"
    end = lz4_block(b"", stored=True)
    path.write_bytes(lz4_block(b"one\n" * 99) + lz4_block(b"two\n", stored=True) + end + lz4_block(b"three\n") + end)
    with open_bytes(path) as stream:
        assert stream.read() == b"one\n" * 99 + b"two\nthree\n"


@pytest.mark.unit
def test_reads_the_standard_framings_of_snappy_and_lz4(tmp_path: Path) -> None:
    packed = pa.Codec("snappy").compress(b"one\n" * 9, asbytes=True)
    chunk = b"\x00" + (len(packed) + 4).to_bytes(3, "little") + bytes(4) + packed
    stored = b"\x01" + (8).to_bytes(3, "little") + bytes(4) + b"two\n"
    padding = b"\xfe" + (3).to_bytes(3, "little") + bytes(3)
    (tmp_path / "a").write_bytes(SNAPPY_FRAMED + chunk + padding + stored)
    (tmp_path / "b").write_bytes(pa.compress(b"one\n" * 9 + b"two\n", codec="lz4", asbytes=True))
    for name in "ab":
        with open_bytes(tmp_path / name) as stream:
            assert stream.read() == b"one\n" * 9 + b"two\n"


@pytest.mark.unit
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lz4_block(b"one\n")[:8] + b"\x75" + bytes(12), "not a block of LZ4BlockOutputStream"),
        (lz4_block(b"one\n") + b"LZ4Blick" + bytes(13), "not a block of LZ4BlockOutputStream"),
        (b"LZ4Block\x25" + b"\xff\xff\xff\x7f" * 2 + bytes(4), "not a block of LZ4BlockOutputStream"),
        (b"LZ4Block\x15" + b"\x04\0\0\0" + b"\x05\0\0\0" + bytes(4) + b"one\n", "a block of an impossible length"),
        (SNAPPY_FRAMED + b"\x30\x00\x00\x00", "a chunk of a kind that is not known"),
        (b"\x82SNAPPY\0" + bytes(8) + b"\x7f\xff\xff\xff", "a block of an impossible length"),
        (b"ZV\x01\0\0", "LZF data, which is not read here"),
    ],
)
def test_refuses_damaged_data(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught, open_bytes(path) as stream:
        stream.read()
    assert str(caught.value).startswith(str(path))


@pytest.mark.property
@given(
    name=st.sampled_from(WRITTEN), place=st.integers(0, 13_000), value=st.integers(0, 255), kept=st.integers(1, 13_000)
)
def test_whatever_is_damaged_is_text_or_an_error_of_the_input(
    name: str, place: int, value: int, kept: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray((DATA / name).read_bytes())
    content[place % len(content)] = value
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content[:kept])
    with suppress(InputError), open_bytes(path) as stream:
        assert len(stream.read()) < 2**24
