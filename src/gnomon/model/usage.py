"""What a task really uses while it runs, as opposed to what it asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

USED: Final = ("cpu", "memory", "disk", "disk-io", "store")
"""What use is modelled of: processors (millicores), memory (bytes), disk space (bytes), disk throughput (bytes/s), and
space in the node's store of shared objects (bytes)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """An amount over the time since the attempt began: ``points`` are (ns, amount), times rising from 0; linear between
    them (two points at one time: a jump), constant after the last. With ``every_ns`` they repeat with that period.

    >>> constant, leak = Profile(((0, 500),)), Profile(((0, 0), (10**9, 4096)))
    """

    points: tuple[tuple[int, int], ...]
    every_ns: int = 0

    def __post_init__(self) -> None:
        times = [time for time, _ in self.points]
        if not times or times[0] != 0 or times != sorted(times):
            raise ValueError("a profile has points whose times rise from 0")
        if any(amount < 0 for _, amount in self.points):
            raise ValueError("a profile has no amount below 0")
        if self.every_ns and self.every_ns < times[-1]:
            raise ValueError("a profile that repeats has no point beyond its period")


@dataclass(frozen=True, slots=True)
class Usage:
    """The profiles of what a task uses, by name (:data:`USED`). Of what is not named it uses what it asked for (cpu,
    memory) or nothing."""

    profiles: tuple[tuple[str, Profile], ...] = ()

    def __post_init__(self) -> None:
        for name, _ in self.profiles:
            if name not in USED:
                raise ValueError(f"use is modelled of {', '.join(USED)}; not of {name}")

    def profile(self, name: str) -> Profile | None:
        """The profile of one of :data:`USED`, None if nothing is said of it."""
        return dict(self.profiles).get(name)
