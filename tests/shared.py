"""Reference data that lies beside the repository and is not part of it: traces, recordings, oracles."""

from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared"

SHARED: Path | None = _BESIDE if _BESIDE.is_dir() else None
"""The folder, None where it is absent."""

needs_shared = pytest.mark.skipif(SHARED is None, reason="needs the reference data in ../shared, which is absent")
