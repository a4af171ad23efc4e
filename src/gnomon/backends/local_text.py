"""Lines of a byte range of a text file: each line belongs to exactly one range.

A reader whose start is not 0 discards through the first newline and reads through the first newline at or past its end.
The meaning is that of :func:`gnomon.dataflow.splits.lines`; here the file is read piece by piece.
Source: org.apache.hadoop.mapreduce.lib.input.LineRecordReader, initialize ("always throw away first record because we
always (except the last split) read one extra line in next() method").
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

from gnomon.model.errors import InputError

CHUNK_BYTES: Final = 1 << 20
"""So much is read at a time; memory is bounded by it, or by the longest line."""

_COMPRESSED: Final[dict[str, Callable[..., Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_NOT_READ: Final = frozenset((".deflate", ".snappy", ".lz4", ".lzo", ".lzo_deflate", ".zst"))


def splittable(path: Path) -> bool:
    """Whether a reader can begin anywhere in a file: not in one that is compressed."""
    return path.suffix not in _COMPRESSED


def lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[str]:
    """The lines of the bytes from ``start`` to ``end`` (None: all), without their ends (``\\n``, ``\\r\\n``, ``\\r``).

    All lines of a compressed file belong to the range that begins it. Raises InputError for bytes that are not UTF-8,
    for a compression that is not read here, and for a compressed file that is damaged.
    """
    if path.suffix in _NOT_READ:
        allowed = f"{', '.join(_COMPRESSED)}, or text as it is"
        raise InputError("a compression that is not read here", file=str(path), found=path.suffix, allowed=allowed)
    if not splittable(path):
        return iter(()) if start else chain.from_iterable(_blocks(path, 0, None))
    return chain.from_iterable(_blocks(path, start, end))


def _blocks(path: Path, start: int, end: int | None) -> Iterator[list[str]]:
    position = start
    try:
        with _COMPRESSED.get(path.suffix, open)(path, "rb") as file:
            if start:
                file.seek(start)
                position += _discard(file)
            if end is not None and position > end:  # the line that crosses both borders is the earlier reader's
                return
            for data in _whole_lines(file, None if end is None else end - position):
                text = data.decode("utf-8") if position else data.decode("utf-8-sig")
                position += len(data)
                if "\r" in text:
                    text = text.replace("\r\n", "\n").replace("\r", "\n")
                yield text.removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {position + error.start:,}: {error.reason}", file=str(path)) from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise InputError(f"damaged: {error}", file=str(path)) from None


def _discard(file: IO[bytes]) -> int:
    """Read through the first newline; returns how many bytes that were."""
    begun = file.tell()
    while (data := file.readline(CHUNK_BYTES)) and not data.endswith(b"\n"):
        pass
    return file.tell() - begun


def _whole_lines(file: IO[bytes], length: int | None) -> Iterator[bytes]:
    """Pieces that end with a newline, through the first newline at or past ``length`` bytes (None: to the end)."""
    begun: list[bytes] = []
    while data := file.read(CHUNK_BYTES):
        last = length is not None and len(data) > length
        cut = (data.find(b"\n", length) if last else data.rfind(b"\n")) + 1
        if length is not None:
            length = max(0, length - len(data))
        if not cut:
            begun.append(data)
            continue
        yield b"".join((*begun, data[:cut]))
        if last:
            return
        begun = [data[cut:]] if cut < len(data) else []
    if begun:
        yield b"".join(begun)
