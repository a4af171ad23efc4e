"""How near to its input a task runs, and how long a task set waits for nearer slots.

The rules are those of Spark's ``TaskSetManager`` (computeValidLocalityLevels, getAllowedLocalityLevel, dequeueTask) and
``TaskSchedulerImpl`` (since 3.1 the clock is set back only when a round of offers had no slot refused for its place).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

PROCESS, NODE, NO_PREFERENCE, RACK, ANY = range(5)
LEVELS: Final = ("PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY")
"""By number, the nearest first."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where nodes are: the host and the rack of each, by number; empty: not known."""

    host: Sequence[str]
    rack: Sequence[str]

    def level(self, prefers: Sequence[tuple[int, int]], node: int) -> int:
        """How near a node is to the preferred ones.

        >>> places = Places(["a", "a", "b", "c"], ["r", "r", "r", ""])
        >>> [LEVELS[places.level([(0, PROCESS)], node)] for node in range(4)], LEVELS[places.level([], 0)]
        (['PROCESS_LOCAL', 'NODE_LOCAL', 'RACK_LOCAL', 'ANY'], 'NO_PREF')
        """
        if not prefers:
            return NO_PREFERENCE
        return min(self._to(where, nearest, node) for where, nearest in prefers)

    def _to(self, where: int, nearest: int, node: int) -> int:
        if where == node:
            return nearest
        if self.host[where] and self.host[where] == self.host[node]:
            return NODE
        return RACK if self.rack[where] and self.rack[where] == self.rack[node] else ANY


@dataclass
class Waits:
    """The clock of one task set. ``waits_ns``: of each level; ``valid``: the levels at which it has tasks whose places
    are there, and :data:`ANY`."""

    waits_ns: Sequence[int]
    prefers: Mapping[int, Sequence[tuple[int, int]]]
    places: Places
    since_ns: int
    valid: list[int] = field(default_factory=list)
    index: int = 0
    clean: bool = True

    def renew(self, pending: Sequence[int], alive: set[int]) -> None:
        """Nodes came or went, or the set is new: which levels are valid; it stays at the level where it is."""
        before = self.valid[self.index] if self.valid else PROCESS
        found = {ANY}
        for partition in pending:
            found |= self._levels(partition, alive)
        self.valid = sorted(found)
        self.index = self._place(before)

    def _levels(self, partition: int, alive: set[int]) -> set[int]:
        prefers = [one for one in self.prefers.get(partition, ()) if one[0] in alive]
        if not self.prefers.get(partition):
            return {NO_PREFERENCE}
        found = {level for _, level in prefers} | ({NODE} if prefers else set())
        racks = {self.places.rack[node] for node, _ in self.prefers[partition]} - {""}
        if racks & {self.places.rack[node] for node in alive}:
            found.add(RACK)
        return {level for level in found if level >= NO_PREFERENCE or self.waits_ns[level] > 0}

    def _place(self, level: int) -> int:
        """Where a level stands among the valid ones, or the next farther one."""
        return next((place for place, one in enumerate(self.valid) if one >= level), len(self.valid) - 1)

    def allowed(self, now_ns: int, pending: Sequence[int], alive: set[int]) -> int:
        """The farthest level at which tasks may be launched now.

        Without a nearer slot it goes one level farther after each wait, and at once where no task is left at a level:

        >>> waits = Waits([3, 3, 0, 3, 0], {7: [(0, PROCESS)]}, Places(["a", "b"], ["", ""]), since_ns=0)
        >>> waits.renew([7], {0, 1})
        >>> [LEVELS[waits.allowed(now, [7], {0, 1})] for now in (0, 2, 3, 5, 6)]
        ['PROCESS_LOCAL', 'PROCESS_LOCAL', 'NODE_LOCAL', 'NODE_LOCAL', 'ANY']
        """
        while self.index < len(self.valid) - 1:
            level = self.valid[self.index]
            if not any(level in self._levels(partition, alive) for partition in pending):
                self.since_ns = now_ns
            elif now_ns - self.since_ns >= self.waits_ns[level]:
                self.since_ns += self.waits_ns[level]
            else:
                return level
            self.index += 1
        return self.valid[self.index]

    def offered(self, now_ns: int, nearest: int | None, *, refused: bool, everything: bool) -> None:
        """A round of offers is over. ``nearest``: the nearest level at which it launched something; ``refused``: it let
        a slot go for its place; ``everything``: all free slots were offered."""
        if nearest is not None and not refused and (self.clean or everything):
            self.since_ns = now_ns
            self.index = self._place(nearest)
        if everything:
            self.clean = not refused
        elif refused:
            self.clean = False
