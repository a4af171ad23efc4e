"""Files that tests of loading read."""

from __future__ import annotations

from pathlib import Path

SWF = "; MaxProcs: 4\n1 0 5 60 2 -1 -1 2 90 -1 1 7 1 -1 1 -1 -1 -1\n"
"""A log of one job, on a machine of four processors."""


def put(folder: Path, content: str | bytes, name: str = "scenario.yaml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
