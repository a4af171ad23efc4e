"""Times between faults, and times under repair, drawn from a distribution with a given mean."""

from __future__ import annotations

from collections.abc import Iterator
from math import gamma, log

import numpy as np

from gnomon.engine.streams import stream
from gnomon.model.fault import FailureProcess, Law
from gnomon.model.resources import NEVER

SHAPES: dict[Law, tuple[float, float]] = {Law.WEIBULL: (0.05, 1_000.0), Law.LOG_NORMAL: (0.0, 10.0)}
"""The least and the largest shape of the laws that have one."""


def draw(law: Law, mean_ns: int, shape: float, rng: np.random.Generator) -> int:
    """A time [ns] from a distribution with the mean ``mean_ns`` > 0, at least 1, at most NEVER.

    A Weibull law of shape k has the scale mean / Γ(1 + 1/k), a log-normal one of sigma the mu ln(mean) - sigma²/2
    (Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions, vol. 1, 1994, ch. 21 and 14), so that the mean
    is as given.

    >>> draw(Law.FIXED, 5, 1.0, stream(0, "example"))
    5
    """
    if law is Law.FIXED or mean_ns >= NEVER:
        return min(mean_ns, NEVER)
    if law is Law.EXPONENTIAL:
        drawn = mean_ns * float(rng.standard_exponential())
    elif law is Law.WEIBULL:
        drawn = mean_ns / gamma(1 + 1 / shape) * float(rng.weibull(shape))
    else:
        drawn = float(rng.lognormal(log(mean_ns) - shape * shape / 2, shape))
    return max(1, round(drawn)) if drawn < NEVER else NEVER


def faults_of(process: FailureProcess, seed: int, name: str) -> Iterator[tuple[int, int]]:
    """Begin and length of the faults of one target, one after the other, without an end unless the process has one.

    Up times and repairs come from streams of their own, ``name`` and ``name repair``: the first up time of a target is
    the same whatever the repairs are, and another target's or process's draws change nothing.
    """
    up = stream(seed, name)
    down = stream(seed, f"{name} repair") if process.mttr_ns else None
    at = process.from_ns
    while True:
        at += draw(process.law, process.mtbf_ns, process.shape, up)
        if at >= min(process.until_ns, NEVER):
            return
        length = 0
        if down is not None:
            length = draw(process.repair_law, process.mttr_ns, process.repair_shape, down)
        yield at, length
        at += length
