"""What a job is charged a second: its resources weighed by the TRESBillingWeights of its partition.

Without weights it is its CPUs. With MAX_TRES the largest of what stands on nodes counts, with MAX_TRES_GRES (25.05) the
largest of that without the generic resources, and these in full; what is global (licences) counts in full always.
Source: ``assoc_mgr_tres_weighted`` in ``src/common/assoc_mgr.c``; slurm.conf(5), PriorityFlags.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_ON_NODES = ("cpu", "mem", "node")


def weighted(tres: Mapping[str, int], weights: Mapping[str, float], order: Iterable[str], most: str = "") -> float:
    """The charge, added up in Slurm's order of the resources. ``most``: "", "MAX_TRES" or "MAX_TRES_GRES".

    >>> tres, weights = {"cpu": 4, "mem": 8192, "gres/gpu": 1}, {"cpu": 1.0, "mem": 0.25 / 1024, "gres/gpu": 8.0}
    >>> [weighted(tres, weights, tres, most) for most in ("", "MAX_TRES", "MAX_TRES_GRES")]
    [14.0, 8.0, 12.0]
    """
    if not weights:
        return float(tres.get("cpu", 0))
    on_node = rest = 0.0
    for name in order:
        if name == "billing" or name not in tres:
            continue
        value = float(tres[name]) * weights.get(name, 0.0)
        gres = name.startswith("gres/")
        if most and (name in _ON_NODES or (gres and most == "MAX_TRES")):
            on_node = max(on_node, value)
        else:
            rest += value
    return on_node + rest


@dataclass(frozen=True)
class Billing:
    """The weights of every partition that has some; the order of the resources; ``most``: see :func:`weighted`."""

    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    most: str = ""

    def charge(self, partition: str, tres: Mapping[str, int]) -> float:
        """What resources in a partition are charged a second.

        >>> Billing().charge("batch", {"cpu": 4, "mem": 1000})
        4.0
        """
        weights = self.weights.get(partition)
        return weighted(tres, weights, self.order or tres, self.most) if weights else float(tres.get("cpu", 0))

    def count(self, partition: str, tres: Mapping[str, int]) -> int:
        """The resource ``billing`` that goes with them: the charge without its fraction."""
        return int(self.charge(partition, tres))
