"""Records on disk: a file of pickled blocks, each of one partition, with an index at its end.

A file is written once, block after block, and read partition by partition in the order of writing. Its digest is taken
while it is written, so that who resumes a job can tell whether it is whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from typing import IO, Any, Final

from gnomon.model.errors import GnomonError

BLOCK_BYTES: Final = 1 << 18
"""About how large a block is when pickled: a reader holds one of each file that it merges."""

DIGEST_BYTES: Final = 16

_TAIL: Final = Struct(">Q")
_READ_BYTES: Final = 1 << 20


class NotWritableError(GnomonError):
    """A record that cannot be pickled, and why."""

    def __init__(self, record: object, why: str) -> None:
        self.record, self.why = record, why
        super().__init__(why)


class Writer:
    """Writes blocks of several partitions to one new file.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "blocks"
    >>> writer = Writer(path, 2)
    >>> writer.append(1, ["a", "b"]); writer.append(0, ["c"]); writer.append(1, ["d"])
    >>> digest = writer.close()
    >>> list(read(path, 1)), digest == digest_of(path)
    ([['a', 'b'], ['d']], True)
    """

    def __init__(self, path: Path, partitions: int) -> None:
        self.bytes = 0
        self._file = path.open("wb")
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._index: list[list[tuple[int, int]]] = [[] for _ in range(partitions)]
        self._records_a_block = 64

    def append(self, partition: int, records: Sequence[Any]) -> None:
        """Write records behind those that the partition has, in blocks of about :data:`BLOCK_BYTES`.

        Raises NotWritableError.
        """
        start = 0
        while start < len(records):
            block = records[start : start + self._records_a_block]
            start += len(block)
            data = _pickled(block)
            self._index[partition].append((self.bytes, len(data)))
            self._write(data)
            fitting = len(block) * BLOCK_BYTES // len(data)
            self._records_a_block = max(1, min(fitting, 4 * self._records_a_block))

    def close(self) -> str:
        """Write the index and close the file; returns the digest of its bytes."""
        index = pickle.dumps(self._index)
        self._write(index + _TAIL.pack(len(index)))
        self._file.close()
        return self._digest.hexdigest()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self.bytes += len(data)


def read(path: Path, partition: int) -> Iterator[list[Any]]:
    """The blocks of a partition, in the order of writing."""
    with path.open("rb") as file:
        for offset, size in _index(file)[partition]:
            file.seek(offset)
            yield pickle.loads(file.read(size))


def digest_of(path: Path) -> str:
    """The digest of a file's bytes, as :meth:`Writer.close` gives it."""
    digest = blake2b(digest_size=DIGEST_BYTES)
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


def _index(file: IO[bytes]) -> list[list[tuple[int, int]]]:
    end = file.seek(-_TAIL.size, 2)
    (size,) = _TAIL.unpack(file.read(_TAIL.size))
    file.seek(end - size)
    index: list[list[tuple[int, int]]] = pickle.loads(file.read(size))
    return index


def _pickled(block: Sequence[Any]) -> bytes:
    try:
        return pickle.dumps(block, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # whatever the records' own methods raise
        for record in block:
            try:
                pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
            except Exception as why:
                raise NotWritableError(record, f"{type(why).__name__}: {why}") from why
        raise NotWritableError(block[0], f"{type(error).__name__}: {error}") from error
