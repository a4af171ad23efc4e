"""Orders by name: what the queue is sorted by. Each is a column of keys, smallest first; ties by submission, position.

Keys are exact integers. A policy of one's own gives floats; only their order counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gnomon.engine.world import I64
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Policy
from gnomon.scheduling import codes


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
    return dense(keys)


def dense(keys: Sequence[int]) -> I64:
    """Keys of any size as their ranks among each other, which fit a column.

    >>> dense([2**70, -1, 2**70]).tolist()
    [1, 0, 1]
    """
    position = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([position[key] for key in keys], dtype=np.int64)


def _none(units: Units, policy: Policy) -> I64:
    return np.zeros_like(units.submit_ns)


_PASS: Final[dict[str, object]] = {
    "head": {"free": False, "committed": True},
    "instants": {"together": False, "single": True},
    "full": {"wait": False, "drop": True},
}
_BY: Final[dict[str, object]] = {**_PASS, "by": "names"}
_TENANT: Final[dict[str, object]] = {**_PASS, "blocks": {"own": False, "all": True}}


@dataclass(frozen=True, slots=True)
class Order:
    """``keys(units, policy)``, smallest first; ``options``: as in :mod:`gnomon.scheduling.policy`; ``tenants``: how the
    tenant that is served next is found (``BY_RANK``: all wait in one queue)."""

    keys: Callable[[Units, Policy], I64]
    options: dict[str, object] = field(default_factory=lambda: _PASS)
    tenants: int = codes.BY_RANK


ORDERS: Final[dict[str, Order]] = {
    "fcfs": Order(_none),
    "sjf": Order(lambda units, policy: units.estimate_ns),
    "ljf": Order(lambda units, policy: -units.estimate_ns),
    "smallest": Order(_size, _BY),
    "largest": Order(lambda units, policy: -_size(units, policy), _BY),
    "priority": Order(_aged, {**_PASS, "aging": "number"}),
    "edf": Order(lambda units, policy: np.minimum(units.deadline_ns, NEVER)),
    "fair-share": Order(_none, {**_TENANT, "half-life": "duration"}, codes.BY_DECAYED_USE),
    "drf": Order(_none, _TENANT, codes.BY_DOMINANT_SHARE),
    "round-robin": Order(_none, _TENANT, codes.BY_TURN),
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
