"""Eviction: in which order, and how fast, the tasks of lost nodes are given up.

The rule is that of the node-lifecycle controller of Kubernetes (``pkg/controller/nodelifecycle``): a node that is lost
waits for its turn in its zone, a queue with a limited rate; ``after_ns`` after its turn its tasks are given up. The
rate falls in a zone of which much is lost, and when all zones are lost nothing is given up at all.

All that happens at one instant is taken in before a turn at that instant is given, so the order of calls with the same
time does not matter.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gnomon.model.operation import Eviction
from gnomon.model.resources import E4, NEVER


class ZoneState(Enum):
    """How much of a zone is lost."""

    NORMAL = "normal"
    PARTIAL = "partial"
    WHOLE = "whole"


@dataclass(slots=True)
class Zone:
    """A zone: its size, its lost nodes, those that wait for their turn, and since when its pace is what it is."""

    nodes: int
    lost: set[int] = field(default_factory=set)
    waiting: list[tuple[int, int]] = field(default_factory=list)  # (lost at, node), sorted
    since: int = 0
    last_turn: int | None = None

    def state(self, rule: Eviction) -> ZoneState:
        """How much of the zone is lost: all of it; or enough for the slower pace; or less."""
        if self.lost and len(self.lost) >= self.nodes:
            return ZoneState.WHOLE
        share = rule.partial_e4 > 0 and len(self.lost) * E4 >= rule.partial_e4 * self.nodes
        return ZoneState.PARTIAL if share and len(self.lost) > rule.partial_more else ZoneState.NORMAL

    def pace_ns(self, rule: Eviction) -> int:
        """The time from one turn to the next [ns], NEVER if the zone stops."""
        if self.state(rule) is not ZoneState.PARTIAL:
            return rule.every_ns
        return rule.partial_every_ns if self.nodes > rule.large else NEVER

    def turn_ns(self, rule: Eviction) -> int:
        """When the next node of the zone has its turn, NEVER if none has."""
        pace = self.pace_ns(rule)
        if not self.waiting or pace >= NEVER:
            return NEVER
        free = 0 if self.last_turn is None else self.last_turn + pace
        return max(free, self.since, self.waiting[0][0])


class Queue:
    """The lost nodes of a cluster, given up by the rules of an :class:`~gnomon.model.operation.Eviction`.

    ``zones``: how many nodes each zone has. Nodes of one instant go by their number.

    >>> queue = Queue(Eviction(after_ns=300, every_ns=10), {"a": 5})
    >>> for node in (2, 1): queue.lost(node, "a", 50)
    >>> queue.next_ns(), queue.due(350), queue.next_ns(), queue.due(360)
    (350, [1], 360, [2])
    """

    def __init__(self, rule: Eviction, zones: Mapping[str, int]) -> None:
        self.rule = rule
        self.zones = {name: Zone(zones[name]) for name in sorted(zones)}
        self.marked: list[tuple[int, int]] = []  # (to be given up at, node), sorted
        self._home: dict[int, tuple[str, int]] = {}  # of a lost node: its zone, lost at
        self._marks: dict[int, int] = {}  # of a marked node: to be given up at
        self._changed_ns = 0

    def lost(self, node: int, zone: str, now: int) -> None:
        """A node was noticed to be lost; a node that is lost already stays where it is in the queue."""
        if node in self._home:
            return
        self._turns(now - 1)
        paces = self._paces()
        self._home[node] = (zone, now)
        self.zones[zone].lost.add(node)
        insort(self.zones[zone].waiting, (now, node))
        self._changed(paces, now)

    def back(self, node: int, now: int) -> None:
        """A node is there again: it leaves the queue, and counts as lost no more."""
        if node not in self._home:
            return
        self._turns(now - 1)
        paces = self._paces()
        name, lost_at = self._home.pop(node)
        zone = self.zones[name]
        zone.lost.discard(node)
        remove(zone.waiting, (lost_at, node))
        if node in self._marks:
            remove(self.marked, (self._marks.pop(node), node))
        self._changed(paces, now)

    def next_ns(self) -> int:
        """When the next node is given up if nothing else happens before, NEVER if none is."""
        if self.stopped:
            return NEVER
        first = min((zone.turn_ns(self.rule) for zone in self.zones.values()), default=NEVER) + self.rule.after_ns
        return min(first, self.marked[0][0] if self.marked else NEVER, NEVER)

    def due(self, now: int) -> list[int]:
        """Take out the nodes whose tasks are to be given up by ``now``, in order of time and number."""
        self._turns(now)
        given_up = [node for at, node in self.marked if at <= now]
        del self.marked[: len(given_up)]
        for node in given_up:
            del self._marks[node]
        return given_up

    @property
    def stopped(self) -> bool:
        """Every zone is lost whole, and the rule says that then nothing is given up."""
        used = [zone for zone in self.zones.values() if zone.nodes > 0]
        return self.rule.all_stop and all(zone.state(self.rule) is ZoneState.WHOLE for zone in used)

    def states(self) -> dict[str, ZoneState]:
        """How much of each zone is lost."""
        return {name: zone.state(self.rule) for name, zone in self.zones.items()}

    def _turns(self, now: int) -> None:
        """Give the turns that come up to and with ``now``.

        When everything has stopped, nodes that had their turn lose it (the marks are taken off) and wait for another;
        but not before all that happens in that instant is known.
        """
        if self.stopped:
            if now >= self._changed_ns:
                self._unmark()
            return
        for zone in self.zones.values():
            while (turn := zone.turn_ns(self.rule)) <= now:
                zone.last_turn = turn
                _, node = zone.waiting.pop(0)
                self._marks[node] = turn + self.rule.after_ns
                insort(self.marked, (self._marks[node], node))

    def _unmark(self) -> None:
        for node in self._marks:
            name, lost_at = self._home[node]
            insort(self.zones[name].waiting, (lost_at, node))
        self.marked.clear()
        self._marks.clear()

    def _paces(self) -> dict[str, int]:
        stopped = self.stopped
        return {name: NEVER if stopped else zone.pace_ns(self.rule) for name, zone in self.zones.items()}

    def _changed(self, before: dict[str, int], now: int) -> None:
        """A zone whose pace has changed has its next turn now at the earliest."""
        self._changed_ns = now
        for name, pace in self._paces().items():
            if pace != before[name]:
                self.zones[name].since = now


def remove(entries: list[tuple[int, int]], entry: tuple[int, int]) -> None:
    """Take an entry out of a sorted list, if it is there."""
    place = bisect_left(entries, entry)
    if place < len(entries) and entries[place] == entry:
        del entries[place]
