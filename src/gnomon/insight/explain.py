"""Explain (to be written)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """An explanation."""


def explain() -> Explanation:
    """Explain."""
    return Explanation()
