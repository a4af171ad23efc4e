"""The arithmetic of outages and retries: formulas for what a simulation counts, and a small one to compare with.

Rates and times may be in any units that agree. These are estimates, no ledger: floats and fractions are allowed.
"""

from __future__ import annotations

from fractions import Fraction


def retry_survival(p: float, retries: int) -> float:
    """The chance that something succeeds that succeeds with ``p`` each time and is tried again up to ``retries`` times:
    1 - (1 - p)^(k+1), for failures that have nothing to do with one another (a bug fails every time).

    >>> round(retry_survival(0.9, 3), 4), retry_survival(0.5, 3)
    (0.9999, 0.9375)
    """
    return 1 - (1 - p) ** (retries + 1)


def job_survival(q: float, attempts: int, tasks: int) -> float:
    """The chance that all of so many tasks succeed, each with up to ``attempts`` attempts that fail with ``q``:
    (1 - q^a)^n.

    >>> round(job_survival(0.05, 4, 1_000), 5)
    0.99377
    """
    return (1 - q**attempts) ** tasks


def expected_attempts(q: float, attempts: int) -> float:
    """The mean number of attempts of a task, at most ``attempts``, that each fail with ``q``: (1 - q^a) / (1 - q).

    >>> expected_attempts(0.5, 4), expected_attempts(1, 4)
    (1.875, 4.0)
    """
    return float(attempts) if q >= 1 else (1 - q**attempts) / (1 - q)


def amplification(retries: int, depth: int) -> int:
    """The most calls that one call becomes at the bottom of a chain of ``depth`` levels, each of which tries again up
    to ``retries`` times: (k + 1)^L.

    >>> amplification(3, 3)
    64
    """
    return int((retries + 1) ** depth)


def backlog(rate: float, outage: float, replayed: float = 0) -> float:
    """What has piled up when an outage is over, (d + age) r: what arrived meanwhile, and, if the work goes back to a
    checkpoint, what came since that was taken (``replayed``, its age).

    >>> backlog(rate=1_000, outage=3_600)
    3600000
    """
    return (outage + replayed) * rate


def catch_up(rate: float, capacity: float, outage: float, replayed: float = 0) -> float | None:
    """How long after an outage until the backlog is gone, d r / (c - r); None if it never is.

    >>> catch_up(rate=1_000, capacity=1_500, outage=1), catch_up(rate=1, capacity=1, outage=1)
    (2.0, None)
    """
    waiting = backlog(rate, outage, replayed)
    if waiting <= 0:
        return 0.0
    return waiting / (capacity - rate) if capacity > rate else None


def headroom_for(outage: float, within: float) -> float:
    """The capacity, as a multiple of the rate of arrivals, that makes up for an outage within a time: 1 + d / t.

    >>> headroom_for(outage=30, within=60)
    1.5
    """
    return 1 + outage / within


def drain(arrivals_per_s: int, capacity_per_s: int, outage_s: int) -> tuple[int, Fraction | None]:
    """The backlog at the end of an outage, and the seconds until it is gone (None: it never is), counted by events.

    Arrivals are evenly spaced, the first after one spacing; from the end of the outage on, one item after the other is
    served while there is any. An item that comes when a service ends is still in the backlog. Time is counted in
    1 / (arrivals * capacity) seconds, so all is exact; it takes as long as there are events. The formula counts parts
    of items, and is up to one item late: here it says 20 s.

    >>> drain(arrivals_per_s=2, capacity_per_s=3, outage_s=10)
    (20, Fraction(58, 3))
    """
    if arrivals_per_s <= 0 or outage_s <= 0:
        return 0, Fraction(0)
    peak = arrivals_per_s * outage_s
    if capacity_per_s <= arrivals_per_s:
        return peak, None
    spacing, service = capacity_per_s, arrivals_per_s
    waiting, next_arrival, next_served = peak, spacing, service
    while True:
        if next_arrival <= next_served:
            waiting += 1
            next_arrival += spacing
        else:
            waiting -= 1
            if waiting == 0:
                return peak, Fraction(next_served, arrivals_per_s * capacity_per_s)
            next_served += service
