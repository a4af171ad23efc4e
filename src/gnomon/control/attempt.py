"""An attempt as it really goes, whether it counts or not."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.model.resources import NEVER


@dataclass(slots=True)
class Attempt:
    """One that really runs, or did. ``key``: its number, of which there are no two.

    ``plan_ns``: how long it takes at full speed, ``begun_ns``: since when it goes on with ``done_ns`` of that done;
    ``end_ns``: when it will be over (NEVER: not as things are). ``counts``: it is the attempt that the control plane
    knows of. ``alive``: it has not stopped; ``finished``: it stopped because it was done.
    """

    key: int
    task: int
    node: int
    devices: int
    plan_ns: int
    begun_ns: int
    start_ns: int
    done_ns: int = 0
    end_ns: int = NEVER
    counts: bool = True
    alive: bool = True
    finished: bool = False
    timer: int = -1
    copy_row: int = -1
    speculative: bool = False

    @property
    def runs(self) -> bool:
        """Whether it has begun, and not stopped before it was done: not one whose start never came."""
        return self.finished or (self.alive and self.begun_ns < NEVER)
