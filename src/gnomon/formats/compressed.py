"""Compressed files that are not gzip: Zstandard, and the framings in which the JVM writes LZ4 and Snappy.

Which it is, is told by the first bytes (Hadoop's Snappy has none, and is known by the end of the file's name). Only the
framings are read here: the blocks in them are decompressed by the codecs of Arrow. One block is in memory at a time.

- LZ4: ``LZ4BlockOutputStream`` of lz4-java: ``LZ4Block``, a token (method in the upper four bits: 1 stored, 2 LZ4; the
  logarithm of the block size less ten in the lower), compressed and original length and a checksum, little endian.
  Blocks of length 0 end a stream, and another may follow. The checksum (XXH32) is not looked at.
- LZ4: the standard frame of the ``lz4`` command, by Arrow.
- Snappy: ``SnappyOutputStream`` of snappy-java: a header of 16 bytes, then blocks with their length before them, big
  endian.
- Snappy: the standard framing (``framing_format.txt`` of Snappy); its checksums are not looked at.
- Snappy: ``BlockCompressorStream`` of Hadoop: the length of what follows when it is decompressed, then blocks with
  their length before them until that much is there, big endian.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_BYTES_MAX: Final = 2**28
"""The largest block that is decompressed as one."""

_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LZ4_FRAME: Final = b"\x04\x22\x4d\x18"
_LZ4_BLOCK: Final = b"LZ4Block"
_SNAPPY_JAVA: Final = b"\x82SNAPPY\0"
_SNAPPY_FRAMED: Final = b"\xff\x06\x00\x00sNaPpY"
_STORED, _LZ4 = 1, 2
_CHUNK_BYTES: Final = 2**16


class CutOffError(ValueError):
    """Compressed data ends in the middle, as in a file that is still written."""


class DamagedError(ValueError):
    """Compressed data is not what it ought to be."""


def unpacked(stored: io.BufferedReader, name: str) -> io.RawIOBase | None:
    """A stream of what compressed data holds; None for data that is not compressed in one of these ways.

    ``name``: of the file. What goes wrong while it is read is a ``ValueError`` (:class:`CutOffError` or
    :class:`DamagedError`); what was there before is given out first.
    """
    start = stored.peek(10)[:10]
    blocks = next((read for magic, read in _READERS if start.startswith(magic)), None)
    if blocks is None and name.endswith(".snappy"):
        blocks = _snappy_hadoop
    return None if blocks is None else _Unpacked(blocks(stored))


class _Unpacked(io.RawIOBase):
    """A stream of blocks that are made one after the other."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _by_arrow(codec: str) -> Callable[[io.BufferedReader], Iterator[bytes]]:
    """A codec of which Arrow reads the framing too.

    Arrow gives nothing of a piece that it cannot complete. Where data is cut off, as zstd is in every log that is still
    written, its end is read again byte by byte, so that all is given out that is there.
    """

    def blocks(stored: io.BufferedReader) -> Iterator[bytes]:
        given, stream = 0, _Arrow(stored, codec)
        try:
            while block := stream.read(_CHUNK_BYTES):
                given += len(block)
                yield block
        except CutOffError as error:
            stored.seek(0)
            yield _tail(_Arrow(stored, codec), given)
            raise error from None

    return blocks


def _tail(stream: _Arrow, skipped: int) -> bytes:
    """What there is of data that is cut off, after so many bytes."""
    while skipped:
        skipped -= len(stream.read(min(skipped, _CHUNK_BYTES)))
    found = bytearray()
    with suppress(CutOffError):
        while byte := stream.read(1):
            found += byte
    return bytes(found)


class _Arrow:
    """Arrow's decompression of a stream, which is not closed with it."""

    def __init__(self, stored: io.BufferedReader, codec: str) -> None:
        import pyarrow as pa

        self._codec, self._stream = codec, pa.CompressedInputStream(pa.PythonFile(_Kept(stored), mode="r"), codec)

    def read(self, count: int) -> bytes:
        """So many bytes if they are there; none at the end."""
        try:
            found: bytes = self._stream.read(count)
        except OSError as error:
            kind = CutOffError if "runcated" in str(error) else DamagedError
            raise kind(f"damaged {self._codec} data: {error}") from None
        return found


class _Kept:
    """A stream that somebody else closes."""

    closed = False

    def __init__(self, stored: io.BufferedReader) -> None:
        self.read = stored.read

    def close(self) -> None:
        """It stays open."""


def _lz4_java(stored: io.BufferedReader) -> Iterator[bytes]:
    decompress = _block_codec("lz4_raw")
    while (head := _read(stored, 21, end=True)) is not None:
        magic, token, packed_bytes, original_bytes = struct.unpack("<8sBii", head[:17])
        method = token >> 4
        if magic != _LZ4_BLOCK or method not in (_STORED, _LZ4) or not 0 <= original_bytes <= BLOCK_BYTES_MAX:
            raise DamagedError("damaged LZ4 data: not a block of LZ4BlockOutputStream")
        if not 0 <= packed_bytes <= BLOCK_BYTES_MAX or (method == _STORED and packed_bytes != original_bytes):
            raise DamagedError("damaged LZ4 data: a block of an impossible length")
        block = _read(stored, packed_bytes)
        if original_bytes:
            yield block if method == _STORED else decompress(block, original_bytes)


def _snappy_java(stored: io.BufferedReader) -> Iterator[bytes]:
    _read(stored, 16)
    while (head := _read(stored, 4, end=True)) is not None:
        if head == _SNAPPY_JAVA[:4]:  # another stream follows
            _read(stored, 12)
            continue
        yield _snappy_block(_read(stored, _length(head)))


def _snappy_framed(stored: io.BufferedReader) -> Iterator[bytes]:
    while (head := _read(stored, 4, end=True)) is not None:
        chunk = _read(stored, int.from_bytes(head[1:], "little"))
        if head[0] == 0:
            yield _snappy_block(chunk[4:])
        elif head[0] == 1:
            yield chunk[4:]
        elif head[0] < 0x80:
            raise DamagedError("damaged Snappy data: a chunk of a kind that is not known")


def _snappy_hadoop(stored: io.BufferedReader) -> Iterator[bytes]:
    while (head := _read(stored, 4, end=True)) is not None:
        missing = _length(head)
        while missing > 0:
            block = _snappy_block(_read(stored, _length(_read(stored, 4))))
            if not block:
                raise DamagedError("damaged Snappy data: an empty block")
            missing -= len(block)
            yield block


def _snappy_block(block: bytes) -> bytes:
    """A block; its length when it is decompressed stands before it, seven bits a byte, the lowest first."""
    length = 0
    for place, byte in enumerate(block[:5]):
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    if length > BLOCK_BYTES_MAX:
        raise DamagedError("damaged Snappy data: a block of an impossible length")
    return _block_codec("snappy")(block, length)


def _block_codec(name: str) -> Callable[[bytes, int], bytes]:
    import pyarrow as pa

    codec: Any = pa.Codec(name)

    def decompress(block: bytes, length: int) -> bytes:
        try:
            found: bytes = codec.decompress(block, decompressed_size=length, asbytes=True)
        except (OSError, ValueError) as error:
            raise DamagedError(f"damaged {name} data: {error}") from None
        if len(found) != length:
            raise DamagedError(f"damaged {name} data: a block of another length than it says")
        return found

    return decompress


def _length(head: bytes) -> int:
    length = int.from_bytes(head, "big")
    if length > BLOCK_BYTES_MAX:
        raise DamagedError("damaged Snappy data: a block of an impossible length")
    return length


def _read(stored: io.BufferedReader, count: int, *, end: bool = False) -> Any:
    """So many bytes; None at the end of the data, where it may end."""
    found = stored.read(count)
    if end and not found:
        return None
    if len(found) < count:
        raise CutOffError("compressed data that ends in the middle of a block")
    return found


_READERS: Final = (
    (_ZSTD, _by_arrow("zstd")),
    (_LZ4_FRAME, _by_arrow("lz4")),
    (_LZ4_BLOCK, _lz4_java),
    (_SNAPPY_JAVA, _snappy_java),
    (_SNAPPY_FRAMED, _snappy_framed),
)
