"""Resources: what a node has and a task asks for, as exact integers.

A device (GPU) is never summed up with its neighbours: half a device free on each of two devices does
not hold one task that needs a whole one. So devices are counted (``gpus``) and a request says how much
of *each* of them it needs (``gpu_share_e4``, in 1/10,000 of a device).
"""

from __future__ import annotations

from dataclasses import dataclass

E4 = 10_000
"""One whole device, or one unit of a named resource, in ledger units."""

NEVER = 2**62
"""The time (ns) of what never happens, and the amount of what is unlimited: above every allowed value."""

MAX_AMOUNT = 2**53
"""The largest amount of one resource of one node or task that is let in at the edge."""

MAX_TIME_NS = 2**61
"""The latest time, in ns, that is let in at the edge (73 years)."""


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of every resource: of a node what it has, of a task what it asks for.

    - ``cpu_milli``: 1/1000 of a processor.
    - ``memory_bytes``: bytes.
    - ``gpus``: number of devices; ``gpu_share_e4``: how much of each, 1/10,000 (a node's are whole). A share
      below a whole device goes with ``gpus == 1`` only.
    - ``named``: any other resource by name, in 1/10,000, sorted by name.

    >>> Resources(cpu_milli=500, named=(("licence", 10_000),)).amount("licence")
    10000
    """

    cpu_milli: int = 0
    memory_bytes: int = 0
    gpus: int = 0
    gpu_share_e4: int = E4
    named: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for name, amount in (("cpu", self.cpu_milli), ("memory", self.memory_bytes), ("gpu", self.gpus), *self.named):
            if not 0 <= amount <= MAX_AMOUNT:
                raise ValueError(f"{name}: an amount is from 0 to {MAX_AMOUNT}, not {amount}")
        if not 0 < self.gpu_share_e4 <= E4:
            raise ValueError(f"gpu share: above 0 and at most one device, not {self.gpu_share_e4}/10000")
        if self.gpu_share_e4 < E4 and self.gpus > 1:
            raise ValueError("gpu share: a part of a device can be asked of one device only")
        if list(self.named) != sorted(self.named):
            object.__setattr__(self, "named", tuple(sorted(self.named)))

    def amount(self, name: str) -> int:
        """The amount of ``cpu``, ``memory``, ``gpu`` (in 1/10,000, over all devices) or of a named resource."""
        if name == "cpu":
            return self.cpu_milli
        if name == "memory":
            return self.memory_bytes
        if name == "gpu":
            return self.gpus * self.gpu_share_e4
        return dict(self.named).get(name, 0)

    def names(self) -> tuple[str, ...]:
        """The resources with an amount above zero, ``cpu``, ``memory``, ``gpu`` first."""
        plain = [name for name in ("cpu", "memory", "gpu") if self.amount(name)]
        return (*plain, *(name for name, amount in self.named if amount))


NOTHING = Resources()
"""No resources at all."""
