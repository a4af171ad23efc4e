"""What synthetic work is made of: how large jobs are, how long they run, when they come, what is asked, by whom.

Each part is a frozen value: its fields are the parameters of a distribution, ``draw`` draws from it. Parameters
called "Lublin" are those for jobs of all types together in U. Lublin and D. G. Feitelson, "The workload on parallel
supercomputers: modeling the characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63 (2003)
1105-1122, and in the authors' program, ``lublin99``. A parameter out of bounds is an InputError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon.model.errors import InputError
from gnomon.model.work import IntArray

FloatArray = npt.NDArray[np.float64]
Bounds = tuple[float, float]

_SHARE: Bounds = (0, 1)
_POSITIVE: Bounds = (1e-9, 1e9)
_SECONDS: Bounds = (1, 10**9)
_REDRAWS_MAX = 1000
_BUCKET_S = 1800


def within(values: object, **bounds: Bounds) -> None:
    """Raise InputError for the first of these fields that is not a number within its bounds, both included."""
    for name, (low, high) in bounds.items():
        value = getattr(values, name)
        if not low <= value <= high:
            raise InputError("out of bounds", field=name, found=value, allowed=f"from {low:g} to {high:g}")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many processors a job takes: one with probability ``serial``; else 2**u with u from a two-stage uniform.

    u is uniform on [``low``, m] with probability ``below``, else on [m, log2(largest)], where m lies ``knee`` below
    log2(largest). A share ``power_of_two`` of all jobs has u rounded; the others have 2**u rounded. ``largest`` 0:
    the whole machine. Defaults: Lublin.
    """

    serial: float = 0.244
    power_of_two: float = 0.576
    low: float = 0.8
    knee: float = 2.5
    below: float = 0.86
    largest: int = 0

    def __post_init__(self) -> None:
        within(self, serial=_SHARE, power_of_two=_SHARE, low=(0, 60), knee=(0, 60), below=_SHARE, largest=(0, 10**9))

    def draw(self, random: np.random.Generator, jobs: int, machine: int) -> IntArray:
        """Processors of each job, from 1 to ``machine``."""
        largest = min(self.largest or machine, machine)
        high = math.log2(largest)
        low = min(self.low, high)
        knee = max(low, high - self.knee)
        kind, stage = random.random(jobs), random.random(jobs)
        u = np.where(stage < self.below, random.uniform(low, knee, jobs), random.uniform(knee, high, jobs))
        sizes = np.exp2(np.where(kind < self.serial + self.power_of_two, np.floor(u + 0.5), u))
        sizes = np.where(kind < self.serial, 1, np.floor(sizes + 0.5))
        return np.clip(sizes, 1, largest).astype(np.int64)


class RunTimes(Protocol):
    """Draws run times in whole seconds, given the sizes."""

    def draw(self, random: np.random.Generator, sizes: IntArray) -> IntArray:
        """Seconds for each job."""
        ...


@dataclass(frozen=True, slots=True)
class HyperGamma:
    """Run times of Lublin's model: exp(g), g from one gamma distribution with probability p, else from another.

    The first has shape ``a1`` and scale ``b1``, the second ``a2`` and ``b2``; p = ``pa`` x size + ``pb``, kept within
    0 and 1: large jobs run longer. A g above ``longest`` is drawn again (12: 45 hours). Defaults: Lublin.
    """

    a1: float = 4.2
    b1: float = 0.94
    a2: float = 312.0
    b2: float = 0.03
    pa: float = -0.0054
    pb: float = 0.78
    longest: float = 12.0

    def __post_init__(self) -> None:
        within(
            self, a1=_POSITIVE, b1=_POSITIVE, a2=_POSITIVE, b2=_POSITIVE, pa=(-1, 1), pb=(-1e6, 1e6), longest=(0, 20)
        )

    def draw(self, random: np.random.Generator, sizes: IntArray) -> IntArray:
        """Seconds, at least 1."""
        first = random.random(len(sizes)) < np.clip(self.pa * sizes + self.pb, 0, 1)
        shape, scale = np.where(first, self.a1, self.a2), np.where(first, self.b1, self.b2)
        return np.exp(_redrawn(random, shape, scale, self.longest)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Run times whose logarithm is normal: ``median_s``, ``sigma`` (of the logarithm), at most ``longest_s``."""

    median_s: float = 1200.0
    sigma: float = 1.6
    longest_s: int = 36 * 3600

    def __post_init__(self) -> None:
        within(self, median_s=_POSITIVE, sigma=(0, 100), longest_s=_SECONDS)

    def draw(self, random: np.random.Generator, sizes: IntArray) -> IntArray:
        """Seconds, at least 1."""
        seconds = np.exp(random.normal(math.log(self.median_s), self.sigma, len(sizes)))
        return np.clip(np.rint(seconds), 1, self.longest_s).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """When jobs are submitted.

    ``daily``: the rate follows the time of day as in Lublin's model (:func:`daily_rate`), from midnight on; else it
    is constant. ``bursts``: gaps are the exponential of a gamma distribution, as in Lublin's model, so that jobs come
    in bursts; else gaps are exponential (a Poisson process).
    """

    daily: bool = True
    bursts: bool = False

    def draw(self, random: np.random.Generator, jobs: int, span_s: float) -> IntArray:
        """Submit times in whole seconds, ascending, the first 0 and the last ``span_s``."""
        if self.bursts:
            gaps = np.exp(_redrawn(random, np.full(jobs, 10.2303 * 1.0225), np.full(jobs, 0.4871), 13.0))
        else:
            gaps = random.exponential(1.0, jobs)
        gaps[0] = 0.0
        passed = np.cumsum(gaps)  # in a time in which the rate is constant
        passed /= passed[-1] or 1.0
        times: FloatArray = self._clock(passed, span_s) if self.daily else passed * span_s
        return np.rint(times).astype(np.int64)

    def _clock(self, passed: FloatArray, span_s: float) -> FloatArray:
        """The times at which these parts of all that arrives in the span have arrived."""
        edges = np.arange(int(span_s // _BUCKET_S) + 2) * float(_BUCKET_S)
        arrived = np.concatenate([[0.0], np.cumsum(np.resize(daily_rate(), len(edges) - 1))])
        times: FloatArray = np.interp(passed * np.interp(span_s, edges, arrived), arrived, edges)
        return times


@dataclass(frozen=True, slots=True)
class Estimates:
    """What users ask for: a share ``exact`` the run time itself, the others the run time / uniform(``least``, 1).

    Both are rounded up to ``step_s``, and are at most ``longest_s`` but never below the run time. That users
    overestimate by a factor whose inverse is about uniform: A. W. Mu'alem and D. G. Feitelson, "Utilization,
    predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12
    (2001) 529-543.
    """

    exact: float = 0.15
    least: float = 0.05
    step_s: int = 300
    longest_s: int = 48 * 3600

    def __post_init__(self) -> None:
        within(self, exact=_SHARE, least=(1e-6, 1), step_s=_SECONDS, longest_s=_SECONDS)

    def draw(self, random: np.random.Generator, run_s: IntArray) -> IntArray:
        """Seconds, at least the run time."""
        jobs = len(run_s)
        factor = np.where(random.random(jobs) < self.exact, 1.0, 1.0 / random.uniform(self.least, 1.0, jobs))
        estimate = np.ceil(run_s * factor / self.step_s).astype(np.int64) * self.step_s
        return np.maximum(np.minimum(estimate, self.longest_s), run_s)


@dataclass(frozen=True, slots=True)
class Users:
    """Who submits: user k of ``count`` with a probability in proportion to k**-``exponent`` (Zipf)."""

    count: int = 200
    exponent: float = 1.6

    def __post_init__(self) -> None:
        within(self, count=(1, 1_000_000), exponent=(0, 100))

    def draw(self, random: np.random.Generator, jobs: int) -> IntArray:
        """Numbers from 1."""
        bounds = np.cumsum(np.arange(1, self.count + 1, dtype=np.float64) ** -self.exponent)
        numbers: IntArray = np.searchsorted(bounds, random.random(jobs) * bounds[-1], side="right") + 1
        return numbers


@dataclass(frozen=True, slots=True)
class Model:
    """The five parts together."""

    sizes: Sizes = Sizes()
    run_times: RunTimes = HyperGamma()
    arrivals: Arrivals = Arrivals()
    estimates: Estimates = Estimates()
    users: Users = Users()


def daily_rate() -> FloatArray:
    """The rate of arrivals in each half hour of the day, from midnight, relative to its mean. Source: Lublin.

    It follows the density of a gamma distribution of shape 8.1737 and scale 3.9631 half hours, wound around the day.

    >>> rate = daily_rate()
    >>> int(rate.argmax()) / 2, int(rate.argmin()) / 2, bool(rate.max() > 5 * rate.min())
    (13.5, 5.0, True)
    """
    x = np.arange(11, 11 + 48)
    density = x**7.1737 * np.exp(-x / 3.9631)
    rate: FloatArray = np.empty(48)
    rate[(x - 1) % 48] = density / density.mean()
    return rate


def _redrawn(random: np.random.Generator, shape: FloatArray, scale: FloatArray, longest: float) -> FloatArray:
    """Gamma variates, those above ``longest`` drawn again."""
    drawn = random.gamma(shape, scale)
    for _ in range(_REDRAWS_MAX):
        over = np.flatnonzero(drawn > longest)
        if not over.size:
            return drawn
        drawn[over] = random.gamma(shape[over], scale[over])
    raise InputError("hardly any run time is as short as that", field="longest", found=longest)
