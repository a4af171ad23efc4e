"""What can happen on a node because of what is used there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

What = Literal["kill", "evict", "pressure", "calm", "speed", "spill"]
"""An attempt dies at once; is sent away; the node has too little left of a resource; has enough again; an attempt goes
on at another speed; the store of shared objects begins to make room on disk."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that happens. ``task`` is -1 where it concerns the whole node.

    ``cause``: of a kill or an eviction one of :data:`gnomon.model.recovery.CAUSES`, of a speed what slows most: nothing
    (``full``), its own limit of processors (``quota``), others who want processors (``cpu``) or the disk (``disk-io``),
    its ``pauses``, the store that makes room (``spilling``), the node (``slow``). ``numbers``: what was compared
    (bytes, millicores, 1/10,000). ``grace_ns``: how long an attempt that is sent away has to end. ``retriable``: False,
    if the rule that chose the victim lets it fail for good.

    >>> Incident("kill", 3, "memory", "memory", (("used", 11), ("limit", 10))).number("used")
    11
    """

    kind: What
    task: int
    cause: str
    resource: str
    numbers: tuple[tuple[str, int | str], ...] = ()
    grace_ns: int = 0
    retriable: bool = True

    def number(self, name: str) -> int | str | None:
        """One of the numbers by its name, None if it has none of that name."""
        return dict(self.numbers).get(name)
