"""Quorum: who hears whom through partitions, and which member of the control plane leads.

A partition is pairwise: two names hear each other unless a cut has one of them on its one side and the other on its
other side. It is not passed on: with a cut between ``a`` and ``b`` only, both hear ``c``, and still not each other,
for a member relays nobody's messages.

A member can lead when it hears a majority of all members, itself included (Ongaro and Ousterhout, "In Search of an
Understandable Consensus Algorithm", USENIX ATC 2014, 5.2: a candidate needs the votes of a majority). So of an even
split nobody leads, and never a minority.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from gnomon.model.operation import ControlPlane
from gnomon.model.resources import NEVER

Cut = tuple[frozenset[str], frozenset[str]]
"""Two sets of names that hear nothing of each other."""


def name(member: int) -> str:
    """The name of a member of the control plane in a cut: ``control/0``."""
    return f"control/{member}"


def hears(one: str, other: str, cuts: Iterable[Cut]) -> bool:
    """Whether no cut parts two names.

    >>> cut = (frozenset({"node/a"}), frozenset({"control/0", "node/b"}))
    >>> hears("node/a", "control/0", [cut]), hears("node/b", "control/0", [cut]), hears("node/a", "control/1", [cut])
    (False, True, True)
    """
    return not any((one in left and other in right) or (one in right and other in left) for left, right in cuts)


def majority(members: int) -> int:
    """How many of so many members are a majority.

    >>> [majority(members) for members in (1, 2, 3, 4, 5)]
    [1, 2, 2, 3, 3]
    """
    return members // 2 + 1


def heard_by(member: int, alive: Collection[int], cuts: Sequence[Cut]) -> int:
    """How many members that are alive a member hears, itself included."""
    return sum(other == member or hears(name(member), name(other), cuts) for other in alive)


def leader(members: int, alive: Collection[int], cuts: Sequence[Cut], present: int | None = None) -> int | None:
    """Which of ``members`` members leads: the present leader while it hears a majority, else the lowest number that
    does; None if none does.

    >>> leader(3, {0, 1, 2}, []), leader(3, {1, 2}, []), leader(3, {0, 1, 2}, [], present=2), leader(3, {1}, [])
    (0, 1, 2, None)
    """
    able = [member for member in sorted(alive) if heard_by(member, alive, cuts) >= majority(members)]
    if present in able:
        return present
    return able[0] if able else None


class Election:
    """Who leads in the course of time.

    A leader that stops leads no more at once; one that has lost the majority goes on for ``step_down_ns``, unless it
    hears a majority again before. The next begins ``lease_ns`` after the leader was lost, not before a leader that goes
    on has stepped down, and as soon as there is a majority. Without ``quorum`` each side leads itself: a member that
    hears no leader for ``lease_ns`` leads; of two leaders that hear each other the one that led first stays.

    >>> three = Election(ControlPlane(members=3, lease_ns=15, step_down_ns=10))
    >>> three.change({1, 2}, [], 100)
    >>> three.leaders(100), three.next_ns(), three.due(115)
    ([], 115, 1)
    """

    def __init__(self, control: ControlPlane) -> None:
        self.control = control
        self.alive = frozenset(range(control.members))
        self.cuts: tuple[Cut, ...] = ()
        self.term = 1
        self.acting: list[int] = [0]  # with a quorum one at most; those that led first come first
        self._until = NEVER  # when a leader without a majority steps down
        self._lost = 0  # when the last leader was lost
        self._begins: dict[int, int] = {}  # of the members that are to lead: from when

    def change(self, alive: Collection[int], cuts: Sequence[Cut], now: int) -> None:
        """From ``now`` on these members are alive, and these partitions hold. All that changes at one instant comes in
        one call, and before what falls due at that instant."""
        self._settle(now - 1)
        self.alive, self.cuts = frozenset(alive), tuple(cuts)
        if self.control.quorum:
            self._change_majority(now)
        else:
            self._change_sides(now)

    def next_ns(self) -> int:
        """When a leader steps down or begins if nothing else happens before, NEVER if none does."""
        return min(self._until, *self._begins.values(), NEVER)

    def due(self, now: int) -> int:
        """The leader at ``now`` (without a quorum the one that led first), -1 if there is none."""
        self._settle(now)
        return self.acting[0] if self.acting else -1

    def leaders(self, now: int) -> list[int]:
        """All that take themselves for the leader at ``now``, by number."""
        self._settle(now)
        return sorted(self.acting)

    def _settle(self, now: int) -> None:
        if self._until <= now:
            self.acting, self._until = [], NEVER
        for at, member in sorted((at, member) for member, at in self._begins.items() if at <= now):
            del self._begins[member]
            if self.control.quorum or not self._led(member, self.acting):
                self.acting.append(member)
                self.term += 1
                self._lost = at

    def _change_majority(self, now: int) -> None:
        present = self.acting[0] if self.acting else None
        able = leader(self.control.members, self.alive, self.cuts, present)
        if present is not None and able == present:
            self._until = NEVER
            self._begins = {}
            return
        if present is not None and self._until == NEVER:
            self._lost, self._until = now, now + self.control.step_down_ns
        if present not in self.alive:
            self.acting, self._until = [], NEVER
        free = self._until if self.acting else now
        self._begins = {} if able is None else {able: max(self._lost + self.control.lease_ns, free, now)}

    def _change_sides(self, now: int) -> None:
        kept: list[int] = []
        for member in self.acting:
            if member in self.alive and not self._led(member, kept):
                kept.append(member)
        self.acting = kept
        before, self._begins = self._begins, {}
        for member in sorted(self.alive - set(kept)):
            if not self._led(member, [*kept, *self._begins]):
                self._begins[member] = before.get(member, now + self.control.lease_ns)

    def _led(self, member: int, leaders: Iterable[int]) -> bool:
        return any(hears(name(member), name(other), self.cuts) for other in leaders)
