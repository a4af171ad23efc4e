"""What a system tells of a run in words of its own: tables for people, and the same as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.engine.log import Log
from gnomon.model.scenario import Scenario


@dataclass(frozen=True)
class Listing:
    """A table: headers and rows of texts; columns in ``right`` are flush right. ``title``: empty for none; ``wide``: it
    is shown where everything is asked for."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    title: str = ""
    wide: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "title": self.title,
            "headers": list(self.headers),
            "rows": [list(row) for row in self.rows],
            "right": list(self.right),
        }


@dataclass(frozen=True)
class Summary:
    """``data``: plain values, for programs; ``listings``: the tables, the most important first; ``words``: by task,
    what the system calls the reason for which it does not run, where it has a word for it."""

    data: Mapping[str, Any]
    listings: tuple[Listing, ...]
    words: Mapping[int, str] = field(default_factory=dict)


Summarise = Callable[[Scenario, Log], Summary]
"""Makes the summary of a run from its scenario and log."""
