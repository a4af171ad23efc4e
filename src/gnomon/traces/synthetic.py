"""Synthetic work: rigid jobs drawn from published models, by seed.

:func:`generate` puts five parts of :mod:`~gnomon.traces.distributions` together, each with its own random stream, so
that another choice for one of them leaves the others as they are. :func:`common` draws the workload that Gnomon's
benchmarks share with other simulators.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from gnomon.engine.streams import stream
from gnomon.model.errors import InputError
from gnomon.model.quantity import NS_PER_S
from gnomon.model.resources import MAX_TIME_NS
from gnomon.model.work import IntArray, Work
from gnomon.traces.columns import rigid_jobs
from gnomon.traces.distributions import (
    Arrivals,
    Bounds,
    Estimates,
    HyperGamma,
    LogNormal,
    Model,
    RunTimes,
    within,
)

ARRIVALS = {"poisson": Arrivals(daily=False), "daily": Arrivals(), "lublin": Arrivals(bursts=True)}
"""Models of arrivals by name."""

RUN_TIMES: dict[str, RunTimes] = {"lublin": HyperGamma(), "lognormal": LogNormal()}
"""Models of run times by name."""

LUBLIN = Model()
"""Lublin's model of sizes, run times and the time of day, with Poisson gaps, and users who overestimate."""

_BOUNDS: dict[str, Bounds] = {
    "jobs": (1, 10**8),
    "processors": (1, 10**9),
    "largest": (1, 10**9),
    "load": (1e-6, 1e6),
    "seed": (0, 2**64),
}


def generate(jobs: int, *, processors: int = 1024, load: float = 0.85, seed: int = 0, model: Model = LUBLIN) -> Work:
    """Draw rigid jobs for a pool of ``processors``, numbered from 1 by submit time, the first at 0.

    ``load``: sum(size x run time) / (processors x span of the submit times); it is met up to the rounding of submit
    times to whole seconds. Equal arguments give equal jobs (with the same release of NumPy).

    Raises InputError for an argument out of bounds.

    >>> work = generate(1000, processors=128, load=0.7, seed=1)
    >>> len(work), work.processors, int(work.submit_ns[0]), bool((work.estimate_ns >= work.duration_ns).all())
    (1000, 128, 0, True)
    """
    _check(jobs=jobs, processors=processors, load=load, seed=seed)
    size = model.sizes.draw(stream(seed, "sizes"), jobs, processors)
    run_s = model.run_times.draw(stream(seed, "run times"), size)
    span_s = _span_s(size, run_s, processors, load)
    return rigid_jobs(
        submit_s=model.arrivals.draw(stream(seed, "arrivals"), jobs, span_s),
        run_s=run_s,
        processors=size,
        estimate_s=model.estimates.draw(stream(seed, "estimates"), run_s),
        user=model.users.draw(stream(seed, "users"), jobs),
        machine=processors,
        source=f"synthetic: {jobs} jobs, seed {seed}",
    )


def common(
    jobs: int, *, processors: int = 1024, largest: int = 256, load: float = 0.85, seed: int = 20_260_101
) -> Work:
    """The workload on which simulators are compared: Lublin's model in simplified form, from one stream.

    24 % of the jobs are serial, 75 % of the others take a power of two; run times are log-normal, estimates as in
    :class:`~gnomon.traces.distributions.Estimates`, arrivals Poisson. Its draws are fixed: the same arguments gave the
    same jobs to every simulator whose figures the benchmarks quote.

    >>> work = common(1000)
    >>> int(work.submit_ns[-1]) // 10**9, int(work.duration_ns.sum()) // 10**9
    (83565, 4289321)
    """
    _check(jobs=jobs, processors=processors, largest=largest, load=load, seed=seed)
    random = np.random.default_rng(seed)
    u = np.where(random.random(jobs) < 0.86, random.uniform(0.8, 5.5, jobs), random.uniform(5.5, 8.0, jobs))
    size = np.where(random.random(jobs) < 0.75, np.exp2(np.rint(u)), np.rint(np.exp2(u)))
    size = np.where(random.random(jobs) < 0.24, 1, size)
    size = np.clip(size, 1, largest).astype(np.int64)
    run_s = LogNormal().draw(random, size)
    estimate_s = Estimates().draw(random, run_s)
    gaps = random.exponential(1.0, jobs)
    gaps[0] = 0.0
    if jobs > 1:
        gaps *= _span_s(size, run_s, processors, load) / gaps.sum()
    submit_s = np.rint(np.cumsum(gaps)).astype(np.int64)
    user = random.zipf(1.6, jobs) % 200 + 1
    return rigid_jobs(
        submit_s=submit_s,
        run_s=run_s,
        processors=size,
        estimate_s=estimate_s,
        user=user,
        machine=processors,
        source=f"the common workload: {jobs} jobs, seed {seed}",
    )


def _span_s(size: IntArray, run_s: IntArray, processors: int, load: float) -> float:
    """The span of the submit times that gives the load."""
    span_s = float((size * run_s).sum()) / (processors * load)
    if span_s * NS_PER_S > MAX_TIME_NS:
        raise InputError("the jobs would take more than 73 years to arrive", field="load", found=load)
    return span_s


def _check(**values: float) -> None:
    within(SimpleNamespace(**values), **{name: _BOUNDS[name] for name in values})
