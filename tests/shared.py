"""Where tests find files: what the repository holds, and reference data beside it that is not part of it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"

_BESIDE = ROOT.parent / "shared"

SHARED: Path | None = _BESIDE if _BESIDE.is_dir() else None
"""Traces, recordings and oracles; None where the folder is absent."""

needs_shared = pytest.mark.skipif(SHARED is None, reason="needs the reference data in ../shared, which is absent")
