"""Orders by name: what the queue is sorted by. Each is a column of keys, smallest first; ties by submission, position.

Keys are exact integers. A policy of one's own gives floats; only their order counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from gnomon.engine.world import I64
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Policy


@dataclass(frozen=True, slots=True)
class Units:
    """Facts of the units, one entry each: what the keys are made of. Amounts by resource name, over all members."""

    submit_ns: I64
    estimate_ns: I64
    priority: I64
    deadline_ns: I64
    amounts: dict[str, I64]


def _size(units: Units, policy: Policy) -> I64:
    part = str(policy.order)
    name = str(policy.option(part, "by", "cpu"))
    if units.amounts and name not in (*units.amounts, "memory"):  # nobody need have or ask for memory
        raise InputError("unknown resource", field=f"policy {part}:by", found=name, allowed=", ".join(units.amounts))
    return units.amounts.get(name, np.zeros_like(units.submit_ns))


def _aged(units: Units, policy: Policy) -> I64:
    """Priority grows by ``aging`` points an hour of waiting. All age alike, so that the order of two never changes, and
    -(priority + aging·(now - submit)) may be compared at now = 0."""
    aging = float(policy.option("priority", "aging", 0.0))
    if not aging:
        return -units.priority
    hour_ns = 3600 * 10**9
    # Scaled to points per hour in integers, so that no float decides: priority·hour - aging·submit.
    scale = 1000
    keys = [
        -(int(p) * hour_ns * scale) + round(aging * scale) * int(s)
        for p, s in zip(units.priority, units.submit_ns, strict=True)
    ]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([ranks[key] for key in keys], dtype=np.int64)


KEYS: Final[dict[str, Callable[[Units, Policy], I64]]] = {
    "fcfs": lambda units, policy: np.zeros_like(units.submit_ns),
    "sjf": lambda units, policy: units.estimate_ns,
    "ljf": lambda units, policy: -units.estimate_ns,
    "smallest": _size,
    "largest": lambda units, policy: -_size(units, policy),
    "priority": _aged,
    "edf": lambda units, policy: np.minimum(units.deadline_ns, NEVER),
    "fair-share": lambda units, policy: np.zeros_like(units.submit_ns),
    "drf": lambda units, policy: np.zeros_like(units.submit_ns),
    "round-robin": lambda units, policy: np.zeros_like(units.submit_ns),
}
"""Within one queue. The fair orders choose a tenant first, and serve it first come, first served."""


def ranks(keys: np.ndarray, submit_ns: I64, position: np.ndarray) -> I64:
    """The rank of every unit when sorted by (key, submit time, position in the input).

    >>> ranks(np.array([5, 1, 5]), np.array([0, 9, 0]), np.array([0, 1, 2])).tolist()
    [1, 0, 2]
    """
    order = np.lexsort((position, submit_ns, keys))
    result = np.empty(len(order), np.int64)
    result[order] = np.arange(len(order))
    return result
