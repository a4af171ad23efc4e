"""Simulated against recorded waits: how far is a policy, or a configuration, from what the recorded centre really ran?

A wait is first start - submission, simulated, and what the trace says, recorded. Errors are simulated - recorded, so a
positive bias means that the model lets tasks wait longer than they did. As tasks are submitted when they were, an error
of the wait is one of the start.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.engine.log import Log, State
from gnomon.insight.agreement import kendall_tau_b, spearman_rho
from gnomon.insight.distribution import SECOND, Distribution
from gnomon.insight.history import History, history
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import BoolArray, IntArray

SIZES = (1, 2, 8, 32, 128, 512)
"""Where classes of size begin, in processors; the last has no end."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Simulated - recorded waits, in seconds; None of no tasks.

    - ``bias``: mean; ``median``, ``p5`` ... ``p95``: percentiles; ``rmse``: root mean square.
    - ``mae``: mean absolute; ``absolute_p50``, ``absolute_p90``: percentiles of the absolute errors.
    - ``log_bias``, ``log_rmse``: mean and root mean square of log10((1 + simulated) / (1 + recorded)), with waits in s:
      0.3 is a factor of two.
    """

    bias: float | None = None
    median: float | None = None
    p5: float | None = None
    p25: float | None = None
    p75: float | None = None
    p95: float | None = None
    mae: float | None = None
    absolute_p50: float | None = None
    absolute_p90: float | None = None
    rmse: float | None = None
    log_bias: float | None = None
    log_rmse: float | None = None

    @classmethod
    def of(cls, simulated_s: npt.NDArray[np.float64], recorded_s: npt.NDArray[np.float64]) -> Errors:
        """The errors of waits in seconds.

        >>> found = Errors.of(np.array([9.0, 99.0]), np.array([0.0, 99.0]))
        >>> found.bias, found.mae, found.log_bias
        (4.5, 4.5, 0.5)
        """
        if not len(simulated_s):
            return cls()
        error = simulated_s - recorded_s
        orders = np.log10((1 + simulated_s) / (1 + recorded_s))
        p50_off, p90_off = (float(p) for p in np.percentile(np.abs(error), (50, 90)))
        p5, p25, median, p75, p95 = (float(p) for p in np.percentile(error, (5, 25, 50, 75, 95)))
        return cls(
            bias=float(error.mean()),
            median=median,
            p5=p5,
            p25=p25,
            p75=p75,
            p95=p95,
            mae=float(np.abs(error).mean()),
            absolute_p50=p50_off,
            absolute_p90=p90_off,
            rmse=sqrt(float((error**2).mean())),
            log_bias=float(orders.mean()),
            log_rmse=sqrt(float((orders**2).mean())),
        )


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The tasks of a range of sizes (``processors``: "8-31"): how many, both mean waits, the errors, tau-b."""

    processors: str
    tasks: int
    recorded_mean_s: float
    simulated_mean_s: float
    error_s: Errors
    wait_kendall_tau_b: float | None


@dataclass(frozen=True)
class Calibration:
    """Simulated against recorded waits.

    - ``compared``: how many tasks have both; ``left_out``: how many do not, by why.
    - ``recorded_wait_s``, ``simulated_wait_s``: their distributions; ``error_s``: :class:`Errors`.
    - ``wait_kendall_tau_b``, ``wait_spearman_rho``: does who waited longer, wait longer? ``start_kendall_tau_b``: does
      who started earlier, start earlier? (Near 1 for any policy, as starts follow submissions.)
    - ``within_1_min``, ``within_5_percent``, ``within_10_percent``: the part of the tasks whose wait is off by at most
      this (the latter two of the recorded wait).
    - ``by_size``: the same by number of processors.
    """

    compared: int
    left_out: dict[str, int]
    recorded_wait_s: Distribution
    simulated_wait_s: Distribution
    error_s: Errors
    wait_kendall_tau_b: float | None
    wait_spearman_rho: float | None
    start_kendall_tau_b: float | None
    within_1_min: float | None
    within_5_percent: float | None
    within_10_percent: float | None
    by_size: tuple[SizeClass, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "by_size": [asdict(one) for one in self.by_size]}

    def __str__(self) -> str:
        out = ", ".join(f"{count:,} {why}" for why, count in self.left_out.items())
        total = self.compared + sum(self.left_out.values())
        return f"{self.compared:,} of {total:,} tasks compared" + (f"; left out: {out}" if out else "")


def calibrate(scenario: Scenario, log: Log) -> Calibration:
    """Compare the waits of a run with those that its work has recorded (``Work.recorded_wait_ns``)."""
    return of_history(history(scenario, log))


def of_history(past: History) -> Calibration:
    """The same of a run whose log is folded already."""
    work, what = past.scenario.work, past.outcome
    known = work.recorded_wait_ns >= 0
    started = what.first_start_ns < NEVER
    both = known & started
    rejected = known & ~started & (what.state == State.REJECTED)
    left_out = {
        "without a recorded wait": int((~known).sum()),
        "rejected by the simulation": int(rejected.sum()),
        "not started in the simulation": int((known & ~started & ~rejected).sum()),
    }
    submit, recorded = work.submit_ns[both], work.recorded_wait_ns[both]
    simulated = what.first_start_ns[both] - submit
    error = np.abs(simulated - recorded)
    return Calibration(
        compared=len(recorded),
        left_out={why: count for why, count in left_out.items() if count},
        recorded_wait_s=Distribution.of_ns(recorded),
        simulated_wait_s=Distribution.of_ns(simulated),
        error_s=Errors.of(simulated / SECOND, recorded / SECOND),
        wait_kendall_tau_b=kendall_tau_b(simulated, recorded),
        wait_spearman_rho=spearman_rho(simulated, recorded),
        start_kendall_tau_b=kendall_tau_b(submit + simulated, submit + recorded),
        within_1_min=_part(error <= 60 * SECOND),
        within_5_percent=_part(error <= recorded // 20),
        within_10_percent=_part(error <= recorded // 10),
        by_size=_by_size(past, both, simulated, recorded),
    )


def _by_size(past: History, both: BoolArray, simulated: IntArray, recorded: IntArray) -> tuple[SizeClass, ...]:
    work = past.scenario.work
    processors = np.array([shape.request.cpu_milli for shape in work.shapes], np.int64) / 1000
    size = processors[work.shape[both]]
    classes = []
    for begin, end in zip((0, *SIZES[1:]), (*SIZES[1:], None), strict=True):
        chosen = size >= begin if end is None else (size >= begin) & (size < end)
        if chosen.any():
            ours, theirs = simulated[chosen], recorded[chosen]
            classes.append(
                SizeClass(
                    processors=_name(max(begin, 1), end),
                    tasks=len(ours),
                    recorded_mean_s=float(theirs.mean()) / SECOND,
                    simulated_mean_s=float(ours.mean()) / SECOND,
                    error_s=Errors.of(ours / SECOND, theirs / SECOND),
                    wait_kendall_tau_b=kendall_tau_b(ours, theirs),
                )
            )
    return tuple(classes)


def _name(begin: int, end: int | None) -> str:
    if end is None:
        return f"{begin}+"
    return f"{begin}" if begin == end - 1 else f"{begin}-{end - 1}"


def _part(true: BoolArray) -> float | None:
    return float(true.mean()) if len(true) else None
