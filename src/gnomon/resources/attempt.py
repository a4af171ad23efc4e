"""An attempt that runs on a node: what it uses, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, field

from gnomon.model.operation import Enforcement
from gnomon.model.resources import E4, NEVER, NOTHING, Resources
from gnomon.model.usage import Usage
from gnomon.resources.sharing import quota
from gnomon.resources.usage import Curve, constant, curve
from gnomon.resources.victims import Candidate


@dataclass(frozen=True, slots=True)
class Running:
    """An attempt on a node.

    ``task``: its key; ``limit``: NOTHING, or 0 of a resource: no limit; ``usage``: None: it uses what it asked for;
    ``plan_ns``: how long it runs at full speed (NEVER: without end). The rest is for the choice of victims.
    """

    task: int
    request: Resources = NOTHING
    limit: Resources = NOTHING
    usage: Usage | None = None
    plan_ns: int = NEVER
    priority: int = 0
    owner: str = ""
    retriable: bool = True


@dataclass(slots=True)
class Attempt:
    """What a node knows of one who runs there.

    Work is counted in ns of the plan times 10,000: in a ns at a speed of s/10,000 it does s of it, so that all is exact
    and the speeds in the log say when it ends: ``done_e4`` up to ``since``, at ``speed_e4`` from then on.

    - ``began``: when (ns); ``curves``: what it uses, by resource, since then; ``peaks``: the largest amounts of them;
      ``cpu_cap``: what it gets of processors at the most (millicores).
    - ``cause``, ``numbers``: what slows it most, and what was compared; ``told``: speed and cause as last announced.
    - ``dead``: it was killed, only nobody has taken it away yet; ``leaving``: it was sent away, and ends in its own
      time.
    - ``spill_until``: it waits till then for room in the store; ``spill_seen``: when its use was last looked at.
    - ``over_limit_ns``: when it is next found over its limit of memory, as far as that was worked out (-1: not yet).
    """

    running: Running
    began: int
    curves: dict[str, Curve]
    cpu_cap: int
    since: int
    done_e4: int = 0
    speed_e4: int = E4
    cause: str = "full"
    told: tuple[int, str] = (E4, "full")
    numbers: tuple[tuple[str, int | str], ...] = ()
    dead: bool = False
    leaving: bool = False
    spill_until: int = 0
    spill_seen: int = -1
    over_limit_ns: int = -1
    peaks: dict[str, int] = field(default_factory=dict)

    @property
    def task(self) -> int:
        """Its key."""
        return self.running.task

    def use(self, name: str, now: int) -> int:
        """What it uses of a resource, rounded down."""
        one = self.curves.get(name)
        return one.amount(now - self.began) if one else 0

    def uses(self, name: str, now: int) -> bool:
        """Whether it uses anything of a resource."""
        one = self.curves.get(name)
        return one is not None and one.value(now - self.began) > 0

    def grows(self, name: str, now: int) -> bool:
        """Whether it uses more than a ns ago."""
        one = self.curves.get(name)
        if one is None:
            return False
        before = one.value(now - 1 - self.began) if now > self.began else 0
        return one.value(now - self.began) > before

    def level(self, name: str, now: int) -> int:
        """What it wants of a rate."""
        one = self.curves.get(name)
        return one.level(now - self.began) if one else 0

    def next_break(self, name: str, now: int) -> int:
        """When it begins to use the resource otherwise, NEVER if it does not."""
        one = self.curves.get(name)
        return min(self.began + one.next_break(now - self.began), NEVER) if one else NEVER

    def settle(self, now: int) -> None:
        """Count the work done up to now."""
        self.done_e4 += self.speed_e4 * (now - self.since)
        self.since = now

    def done_ns(self, now: int) -> int:
        """How much of the plan is done, rounded down to whole ns."""
        return min(self.running.plan_ns, (self.done_e4 + self.speed_e4 * (now - self.since)) // E4)

    def end_ns(self) -> int:
        """When it ends if its speed stays as it is: the first ns at which its plan is done."""
        if self.dead or not self.speed_e4 or self.running.plan_ns >= NEVER:
            return NEVER
        left = max(0, self.running.plan_ns * E4 - self.done_e4)
        return min(NEVER, self.since - (-left // self.speed_e4))

    def memory_full(self) -> int:
        """The memory that counts as full: its limit, or without one its request; 0: neither, or nothing is known of
        what it uses."""
        if self.running.usage is None or self.running.usage.profile("memory") is None:
            return 0
        return self.running.limit.memory_bytes or self.running.request.memory_bytes

    def candidate(self, resource: str, used: int, capacity: int) -> Candidate:
        """How it stands in the choice of a victim."""
        one = self.running
        request, limit = (one.request.memory_bytes, one.limit.memory_bytes) if resource == "memory" else (0, 0)
        return Candidate(one.task, request, limit, used, one.priority, self.began, one.owner, one.retriable, capacity)


def begin(one: Running, enforcement: Enforcement, now: int) -> Attempt:
    """The attempt that begins now."""
    usage = one.usage or Usage()
    curves = {name: curve(profile) for name, profile in usage.profiles}
    for name, asked in (("cpu", one.request.cpu_milli), ("memory", one.request.memory_bytes)):
        if name not in curves and asked:
            curves[name] = constant(asked)
    cap = quota(NEVER, one.limit.cpu_milli) if enforcement.quota else NEVER
    if enforcement.cpu == "pinned" and one.request.cpu_milli:
        cap = min(cap, one.request.cpu_milli)
    if "cpu" not in dict(usage.profiles):
        cap = NEVER
    peaks = {name: one.peak for name, one in curves.items()}
    peaks["cpu"] = min(peaks.get("cpu", 0), cap)
    return Attempt(one, now, curves, cap, now, peaks=peaks)
