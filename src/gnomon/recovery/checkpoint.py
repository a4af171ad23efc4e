"""Checkpoints: how long an attempt takes with them, what survives of it, and how often to take them.

The planned times are exact whole numbers. The best intervals are J. W. Young, "A first order approximation to the
optimum checkpoint interval" (CACM 17(9), 1974), and J. T. Daly, "A higher order estimate of the optimum checkpoint
interval for restart dumps" (FGCS 22(3), 2006), for failures at random with a mean time between them.
"""

from __future__ import annotations

from math import exp, inf, isqrt, sqrt

from gnomon.model.recovery import Checkpoint


def plan_ns(work_ns: int, checkpoint: Checkpoint | None, resumed: bool) -> int:
    """How long an attempt takes at full speed that does ``work_ns`` of work [ns].

    It begins with the restart if it is ``resumed`` from a checkpoint, and stops to save after every interval of work,
    but not when the work is done.

    >>> hourly = Checkpoint(every_ns=60, cost_ns=5, restart_ns=10)
    >>> plan_ns(180, hourly, resumed=False), plan_ns(180, hourly, resumed=True), plan_ns(180, None, resumed=False)
    (190, 200, 180)
    """
    if checkpoint is None:
        return work_ns
    return before_ns(checkpoint, resumed) + work_ns + planned(work_ns, checkpoint) * checkpoint.cost_ns


def saved_ns(elapsed_plan_ns: int, work_ns: int, checkpoint: Checkpoint | None, resumed: bool) -> int:
    """How much of ``work_ns`` survives when the attempt ends after ``elapsed_plan_ns`` of its plan [ns].

    A checkpoint counts when it is complete, and has been for its ``durable_ns``. An attempt that did its whole plan
    loses nothing.

    >>> hourly = Checkpoint(every_ns=60, cost_ns=5)
    >>> [saved_ns(elapsed, 180, hourly, resumed=False) for elapsed in (64, 65, 129, 130, 189, 190)]
    [0, 60, 60, 120, 120, 180]
    """
    if elapsed_plan_ns >= plan_ns(work_ns, checkpoint, resumed):
        return work_ns
    if checkpoint is None:
        return 0
    old_enough = elapsed_plan_ns - before_ns(checkpoint, resumed) - checkpoint.durable_ns
    taken = max(0, old_enough // (checkpoint.every_ns + checkpoint.cost_ns))
    return min(taken, planned(work_ns, checkpoint)) * checkpoint.every_ns


def planned(work_ns: int, checkpoint: Checkpoint) -> int:
    """How many checkpoints an attempt takes that does ``work_ns`` of work."""
    return max(0, work_ns - 1) // checkpoint.every_ns


def before_ns(checkpoint: Checkpoint, resumed: bool) -> int:
    """What comes before the work [ns]."""
    return checkpoint.restart_ns if resumed else 0


def young_ns(cost: int, mtbf: int) -> int:
    """Young's interval of work between checkpoints, sqrt(2 δ M), in the unit of its arguments, rounded down.

    >>> young_ns(cost=60, mtbf=3 * 3_600)
    1138
    """
    return isqrt(2 * cost * mtbf)


def daly_ns(cost: int, mtbf: int) -> int:
    """Daly's interval, sqrt(2 δ M) (1 + sqrt(δ / 2M) / 3 + (δ / 2M) / 9) - δ for δ < 2M, else M, rounded.

    >>> daly_ns(cost=60, mtbf=3 * 3_600)
    1099
    """
    if cost >= 2 * mtbf:
        return mtbf
    part = cost / (2 * mtbf)
    return round(sqrt(2 * cost * mtbf) * (1 + sqrt(part) / 3 + part / 9) - cost)


def expected_factor(every: float, cost: float, restart: float, mtbf: float) -> float:
    """How many times longer than its work a run is expected to take (Daly, 2006): M e^(R/M) (e^((τ+δ)/M) - 1) / τ.

    All in one unit; failures are exponential, and a restart can fail too. 1 / factor is the efficiency.

    >>> round(1 / expected_factor(every=1_138, cost=60, restart=300, mtbf=3 * 3_600), 3)
    0.874
    """
    try:
        return mtbf * exp(restart / mtbf) * (exp((every + cost) / mtbf) - 1) / every
    except OverflowError:
        return inf
