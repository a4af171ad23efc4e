"""What a pod waits for, with the rule in words, and with times only where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon.insight.explain.waits import Wait


@dataclass(frozen=True, slots=True)
class PodWait(Wait):
    """As any wait. ``timed``: whether it is known when it began and ended, as of a run; a snapshot tells neither."""

    timed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        found = Wait.as_dict(self)
        numbers = found["numbers"]
        if not self.timed:
            numbers = {name: value for name, value in numbers.items() if name not in ("from_s", "waited_s")}
        return {**found, "numbers": numbers, "text": self.text}
