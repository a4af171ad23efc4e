"""A node and those who run on it: how much there is of everything, and how much of it is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gnomon.engine.periods import at_or_after
from gnomon.model.cluster import Machine
from gnomon.model.operation import Enforcement
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.usage import USED
from gnomon.resources.attempt import Attempt
from gnomon.resources.sharing import part_e4
from gnomon.resources.usage import Part, constant, search, total
from gnomon.resources.victims import Candidate

LOOKS = 20_000
"""How many values of parts one search may compute before it hands back a time to look again; a search through a day of
bursts would else stop everything."""

NO_LEAK: Part = (constant(0), 0)


@dataclass(slots=True)
class NodeState:
    """What the rules look at, and change.

    Of what nothing is said (0) there is so much that it never matters. ``leak``: what something beside the tasks
    takes; ``disk_bytes``: less than the machine has while something fills the disk; ``peaks``: of each resource the sum
    of the largest amounts that anybody will ever use, by which most nodes are seen to be safe for good. ``filled_to``:
    how large something that fills the disk has left it; ``spill_until``: how long the store writes what was driven out.
    The rest counts attempts, so that a rule that is about none of them is not looked at: ``capped`` come to want more
    processors than their cap, ``limited`` can die of their limit of memory, ``measured`` have a profile of memory,
    ``pausing`` can pause, ``dead`` are still to be taken away.
    """

    capacity: Resources
    machine: Machine
    enforcement: Enforcement
    attempts: dict[int, Attempt] = field(default_factory=dict)
    peaks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(USED, 0))
    capped: int = 0
    limited: int = 0
    measured: int = 0
    pausing: int = 0
    dead: int = 0
    slow_e4: int = E4
    leak: Part = NO_LEAK
    filled_to: int = NEVER
    spill_until: int = 0

    @property
    def cpu_milli(self) -> int:
        """Processors."""
        return self.machine.cpu_milli or self.capacity.cpu_milli or NEVER

    @property
    def memory_bytes(self) -> int:
        """Memory for the tasks: less what the system uses, with all that leaks."""
        whole = self.machine.memory_bytes or self.capacity.memory_bytes
        return whole - self.machine.used_bytes if whole else NEVER

    @property
    def disk_bytes(self) -> int:
        """Disk space."""
        return min(self.machine.disk_bytes or NEVER, self.filled_to)

    @property
    def disk_rate(self) -> int:
        """Disk throughput in bytes/s."""
        return self.machine.disk_rate or NEVER

    @property
    def store_bytes(self) -> int:
        """The store of shared objects."""
        return self.machine.store_bytes or NEVER

    def add(self, one: Attempt, sign: int = 1) -> None:
        """Count one who begins; with ``sign`` -1 one who is gone."""
        for name, peak in one.peaks.items():
            self.peaks[name] += sign * peak
        cpu = one.curves.get("cpu")
        self.capped += sign * (cpu is not None and cpu.peak > one.cpu_cap)
        self.limited += sign * has_limit(one, self.enforcement)
        self.measured += sign * (one.running.usage is not None and one.running.usage.profile("memory") is not None)
        self.pausing += sign * can_pause(one, self.enforcement)

    def kill(self, one: Attempt, now: int) -> None:
        """Let one die: from now on it uses nothing and does nothing."""
        one.settle(now)
        one.speed_e4, one.dead = 0, True
        self.dead += 1
        self.add(one, -1)

    def present(self) -> Iterable[Attempt]:
        """Those who use something, in the order in which they came."""
        return [one for one in self.attempts.values() if not one.dead] if self.dead else self.attempts.values()

    def parts(self, *names: str) -> list[Part]:
        """The curves of all who are present, what leaks among the memory."""
        found = [(one.curves[name], one.began) for one in self.present() for name in names if name in one.curves]
        return [self.leak, *found] if "memory" in names and self.leak is not NO_LEAK else found

    def spills(self) -> bool:
        """Whether the store can grow beyond its size, onto the disk."""
        return self.enforcement.spill_rate > 0 and self.peaks["store"] > self.store_bytes

    def bounds(self, resource: str) -> list[tuple[list[Part], int]]:
        """When "memory", "disk" or "store" is used up: as soon as one of these sums is above its bound.

        Empty where that can never be. What the store has too much lies on the disk; disk + max(0, store - size) is more
        than there is if disk is, or if disk + store is more than both together.
        """
        if resource == "memory":
            return [(self.parts("memory"), self.memory_bytes)] if self.memory_counts() else []
        if resource == "store":
            return [(self.parts("store"), self.store_bytes)] if self.store_bytes < NEVER else []
        if self.disk_bytes >= NEVER:
            return []
        plain = (self.parts("disk"), self.disk_bytes)
        if not self.spills():
            return [plain]
        return [plain, (self.parts("disk", "store"), self.disk_bytes + self.store_bytes)]

    def memory_counts(self) -> bool:
        """Whether the node's memory is looked at: not, as long as nothing is known of what is used but the requests,
        which were granted."""
        return self.memory_bytes < NEVER and (self.measured > 0 or self.leak is not NO_LEAK)

    def left(self, resource: str, now: int) -> int:
        """Bytes left of "memory", "disk" or "store" (below 0: missing)."""
        return min((bound - total(parts, now) for parts, bound in self.bounds(resource)), default=NEVER)

    def least_left(self, resource: str) -> int:
        """No less than this will ever be left, as things are."""
        if resource == "memory":
            return self.memory_bytes - self.peaks["memory"] - self.leak[0].peak if self.memory_counts() else NEVER
        if resource == "store":
            return self.store_bytes - self.peaks["store"]
        spilled = max(0, self.peaks["store"] - self.store_bytes) if self.spills() else 0
        return self.disk_bytes - self.peaks["disk"] - spilled if self.disk_bytes < NEVER else NEVER

    def first_short(self, resource: str, below: int, from_ns: int) -> int:
        """When to look: the first time from ``from_ns`` on at which less than ``below`` is left, or at which the search
        was broken off; NEVER."""
        if self.least_left(resource) >= below:
            return NEVER
        return min((look(parts, bound - below, from_ns) for parts, bound in self.bounds(resource)), default=NEVER)

    def first_enough(self, resource: str, below: int, from_ns: int) -> int:
        """When to look: the first time at which ``below`` bytes or more are left, or at which the search was broken
        off; NEVER."""
        t = from_ns
        for _ in range(16):
            sums = self.bounds(resource)
            later = max((look(parts, bound - below, t, above=False) for parts, bound in sums), default=t)
            if later == t or later >= NEVER:
                return later
            t = later
        return t

    def candidates(self, resource: str, now: int, *, leaving: bool = False) -> list[Candidate]:
        """Those who use something of "memory" or "disk"; those on their way out only with ``leaving``."""
        system = self.machine.used_bytes if resource == "memory" else 0
        capacity = self.memory_bytes + system if resource == "memory" else self.disk_bytes
        return [
            one.candidate(resource, one.use(resource, now), capacity)
            for one in self.present()
            if one.uses(resource, now) and (leaving or not one.leaving)
        ]


def has_limit(one: Attempt, enforcement: Enforcement) -> bool:
    """Whether the attempt can die of its limit of memory."""
    usage, limit = one.running.usage, one.running.limit.memory_bytes
    known = usage is not None and usage.profile("memory") is not None
    return enforcement.memory == "kill" and known and 0 < limit < one.peaks.get("memory", 0)


def can_pause(one: Attempt, enforcement: Enforcement) -> bool:
    """Whether the attempt's memory can become so full that it pauses."""
    full, pauses = one.memory_full(), enforcement.pauses
    return pauses is not None and full > 0 and part_e4(one.peaks["memory"], full) > pauses.above_e4


def look(parts: list[Part], bound: int, from_ns: int, *, above: bool = True) -> int:
    """When to look whether a sum is above a bound: when it is, or where the search was broken off; NEVER."""
    found, seen = search(parts, bound, from_ns, NEVER, above=above, most=LOOKS)
    return min(found, seen)


def first_tick(find: Callable[[int], int], holds: Callable[[int], bool], from_ns: int, every_ns: int) -> int:
    """The first time at which is looked and something holds; ``find`` says when it next holds, looked or not. After
    some that were in vain the last of them: look again there."""
    at = from_ns
    for _ in range(64):
        at = at_or_after(find(at), every_ns)
        if at >= NEVER or not every_ns or holds(at):
            return at
        at += 1
    return at_or_after(at, every_ns)
