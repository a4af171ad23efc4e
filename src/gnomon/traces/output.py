"""Files that the writers make."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from gnomon.formats.whole import replacing


@contextmanager
def created(path: str | Path) -> Iterator[BinaryIO]:
    """A new file to write bytes to, compressed when its name ends in ``.gz``: equal content gives equal bytes.

    It is in its place when it is whole. Raises InputError when it cannot be written.
    """
    with replacing(path) as beside, open(beside, "wb") as raw:
        if Path(path).suffix != ".gz":
            yield raw
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)
