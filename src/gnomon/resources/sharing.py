"""How processors and disk throughput are shared among those who want more than there is.

Clocks never slow down (sheets: corrections K3, S1, X8); what slows a task is that its threads wait. Here that is its
speed: the part of what it wants that it gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gnomon.model.operation import Pauses
from gnomon.model.resources import E4

LEAST_WEIGHT, MOST_WEIGHT = 2_000, 262_144_000
"""The kernel's bounds of cpu.shares, 2 and 262144, in thousandths."""


def weighted_shares(demands: Sequence[int], weights: Sequence[int], capacity: int) -> list[int]:
    """Weighted max-min fairness: nobody gets more than he demands, and what is left goes by weight.

    Water filling: whoever demands less than his part by weight gets it all, and his rest is shared again among the
    others (Bertsekas and Gallager, Data Networks, 6.5.2; with weights as in Demers, Keshav and Shenker, 1989). In
    integers, each part rounded down, so that of ``capacity`` less than one unit a taker stays unused. Weights are above
    0 where demands are.

    >>> weighted_shares([10, 80, 80], [1, 1, 2], 100)
    [10, 30, 60]
    """
    if sum(demands) <= capacity:
        return list(demands)
    shares = [0] * len(demands)
    takers = [k for k, demand in enumerate(demands) if demand]
    left, weight = capacity, sum(weights[k] for k in takers)
    for k in sorted(takers, key=lambda k: (Fraction(demands[k], weights[k]), k)):  # as the rising water reaches them
        part = left * weights[k] // weight
        if demands[k] <= part:
            shares[k] = demands[k]
            left -= demands[k]
            weight -= weights[k]
        else:  # and so it is for all who follow: the level does not rise any more
            shares[k] = part
    return shares


def cpu_weight(request_milli: int) -> int:
    """The weight of a request of processors, in thousandths of the kernel's cpu.shares.

    The kernel's own number is ``max(2, min(262144, m * 1024 / 1000))`` (Kubernetes sheet 8: cm/helpers_linux.go); it is
    not rounded here, so that who asks for no more than his part of a full node gets it exactly.

    >>> [cpu_weight(milli) // 1000 for milli in (0, 500, 1000, 1_000_000)]
    [2, 512, 1024, 262144]
    """
    return max(LEAST_WEIGHT, min(MOST_WEIGHT, request_milli * 1024))


def quota(demand: int, limit: int) -> int:
    """What of a demand a limit lets through; a limit of 0 is none.

    The kernel stops the threads for the rest of each 100 ms once the limit's part of them is used (Kubernetes sheet 8);
    here that is the mean over such periods.

    >>> quota(3_000, 2_000), quota(3_000, 0)
    (2000, 3000)
    """
    return min(demand, limit) if limit else demand


def part_e4(got: int, wanted: int) -> int:
    """The part of what is wanted that one gets, in 1/10,000, rounded down; all of it, if nothing is wanted.

    >>> part_e4(2, 3), part_e4(0, 0)
    (6666, 10000)
    """
    return got * E4 // wanted if wanted else E4


def paused_e4(fill_e4: int, pauses: Pauses) -> int:
    """The part of its time, in 1/10,000, for which a task pauses whose memory is filled to ``fill_e4``.

    Gnomon's own simple model of garbage collection, see :class:`gnomon.model.operation.Pauses`: none below a level, and
    from there in proportion.

    >>> [paused_e4(fill, Pauses(above_e4=8_000, at_full_e4=5_000)) for fill in (7_000, 9_000, 12_000)]
    [0, 2500, 5000]
    """
    if fill_e4 >= E4:
        return pauses.at_full_e4
    return max(0, fill_e4 - pauses.above_e4) * pauses.at_full_e4 // max(1, E4 - pauses.above_e4)
