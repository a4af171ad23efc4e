"""Variants side by side: one row a variant, the best value of each metric, and how sure that is with several seeds.

Data only; what to show, and how to write it, is the report's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from statistics import fmean, stdev
from typing import Any, Literal

CONFIDENCE = 0.95

Path = tuple[str, ...]
"""Where a number stands in ``metrics.json``: ("wait_s", "mean")."""

BETTER: Mapping[str, Literal["low", "high"]] = {
    "done": "high",
    "rejected": "low",
    "makespan_s": "low",
    "wait_s": "low",
    "turnaround_s": "low",
    "bounded_slowdown": "low",
    "utilisation": "high",
    "throughput_per_s": "high",
    "fragmentation": "low",
    "jain_index": "high",
    "preemptions": "low",
    "wasted_cpu_s": "low",
    "goodput": "high",
    "longest_wait_s": "low",
    "overtaken_max": "low",
    "killed": "low",
    "failed": "low",
    "backlog": "low",
    "deadline_misses": "low",
    "recovery.time_to_detect_s": "low",
    "recovery.time_to_isolate_s": "low",
    "recovery.time_to_recover_s": "low",
    "recovery.attempts_failed": "low",
    "recovery.gave_up": "low",
    "recovery.survival": "high",
    "recovery.work_lost_s": "low",
    "recovery.work_redone_s": "low",
    "recovery.copies.finished_twice": "low",
    "recovery.ran_twice": "low",
    "recovery.availability": "high",
    "recovery.capacity_available": "high",
    "recovery.goodput_cpus": "high",
    "recovery.budget_breaches": "low",
    "recovery.backlog.peak": "low",
    "recovery.backlog.catch_up_s": "low",
}
"""Which direction is better, by the first parts of the path; the others are neither."""


_OF_ITS_TIME = (("recovery", "availability"), ("recovery", "capacity_available"))
_OBSERVED: Path = ("observed_s",)


@dataclass(frozen=True, slots=True)
class Measured:
    """The metrics (in the form of ``metrics.json``) of one run of a variant with one seed."""

    variant: str
    seed: int
    metrics: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``samples`` seeds, and half the width of its 95 % confidence interval (None with one seed)."""

    mean: float
    half_width: float | None
    samples: int

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out 0: for a difference, that it is more than chance."""
        return self.half_width is not None and abs(self.mean) > self.half_width


@dataclass(frozen=True)
class Row:
    """A variant. ``values``: the metrics, over its seeds; ``difference``: its metrics less those of the first variant,
    seed by seed (empty for the first, and where they have no seed in common)."""

    variant: str
    seeds: tuple[int, ...]
    values: Mapping[Path, Estimate]
    difference: Mapping[Path, Estimate]

    @property
    def metrics(self) -> dict[str, Any]:
        """The means in the form of ``metrics.json``."""
        return _nested({path: value.mean for path, value in self.values.items()})

    @property
    def spread(self) -> dict[str, float]:
        """Half the width of the confidence intervals, by path joined with dots."""
        return {".".join(p): v.half_width for p, v in self.values.items() if v.half_width is not None}


@dataclass(frozen=True)
class Comparison:
    """The rows, in the order in which the variants came, and by metric the variants that have its best mean."""

    rows: tuple[Row, ...]
    best: Mapping[Path, tuple[str, ...]]

    def as_dict(self) -> list[dict[str, Any]]:
        """One plain value a variant: metrics, spread, which are best, differences to the first variant."""
        return [
            {
                "variant": row.variant,
                "seeds": list(row.seeds),
                "metrics": row.metrics,
                "spread": row.spread,
                "best": [".".join(path) for path, names in self.best.items() if row.variant in names],
                "difference": {
                    ".".join(path): {"mean": one.mean, "half_width": one.half_width, "differs": one.differs}
                    for path, one in row.difference.items()
                },
            }
            for row in self.rows
        ]


def compare(runs: Sequence[Measured]) -> Comparison:
    """Put runs of several variants, with the same or several seeds, side by side.

    With several seeds a mean has a confidence interval by Student's t. Differences are paired: runs with the same seed
    had the same work, so what the draw of the work does to both cancels out.

    >>> runs = [Measured(name, seed, {"makespan_s": base + seed})
    ...         for name, base in (("fcfs", 100), ("easy", 90)) for seed in (1, 2, 3)]
    >>> table = compare(runs)
    >>> table.best
    {('makespan_s',): ('easy',)}
    >>> table.rows[1].values["makespan_s",].mean, table.rows[1].difference["makespan_s",]
    (92.0, Estimate(mean=-10.0, half_width=0.0, samples=3))
    """
    by_variant: dict[str, dict[int, dict[Path, float]]] = {}
    for run in runs:
        by_variant.setdefault(run.variant, {})[run.seed] = dict(_numbers(run.metrics))
    first = next(iter(by_variant.values()), {})
    rows = tuple(
        Row(
            variant=name,
            seeds=tuple(seeds),
            values=_estimates(seeds.values()),
            difference={} if seeds is first else _estimates(_differences(seeds, first)),
        )
        for name, seeds in by_variant.items()
    )
    return Comparison(rows, _best(rows))


def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """The t that a Student-distributed value with so many degrees of freedom stays within, in either direction.

    By bisection on the distribution, which is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).

    >>> [round(student_t(degrees), 3) for degrees in (1, 2, 9, 30)]
    [12.706, 4.303, 2.262, 2.042]
    """
    low, high = 0.0, pi / 2  # of the angle atan(t / sqrt(degrees))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < confidence else (low, middle)
    return sqrt(degrees) * sin(low) / cos(low)


def _within(angle: float, degrees: int) -> float:
    """The probability of |t| < sqrt(degrees) tan(angle)."""
    odd = degrees % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for k in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (k - 1) / k
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _estimates(samples: Iterable[Mapping[Path, float]]) -> dict[Path, Estimate]:
    found: dict[Path, list[float]] = {}
    for sample in samples:
        for path, value in sample.items():
            found.setdefault(path, []).append(value)
    return {path: _estimate(values) for path, values in found.items()}


def _estimate(values: Sequence[float]) -> Estimate:
    if len(values) == 1:
        return Estimate(values[0], None, 1)
    half_width = student_t(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Estimate(fmean(values), half_width, len(values))


def _differences(
    seeds: Mapping[int, Mapping[Path, float]], first: Mapping[int, Mapping[Path, float]]
) -> list[dict[Path, float]]:
    shared = [seed for seed in seeds if seed in first]
    return [{p: v - first[seed][p] for p, v in seeds[seed].items() if p in first[seed]} for seed in shared]


def _best(rows: Sequence[Row]) -> dict[Path, tuple[str, ...]]:
    best: dict[Path, tuple[str, ...]] = {}
    for path in dict.fromkeys(path for row in rows for path in row.values):
        parts = (".".join(path[: i + 1]) for i in range(len(path)))
        if _is_unclear(path, rows):
            continue
        if better := next((BETTER[part] for part in parts if part in BETTER), None):
            means = {row.variant: row.values[path].mean for row in rows if path in row.values}
            mark = min(means.values()) if better == "low" else max(means.values())
            best[path] = tuple(name for name, mean in means.items() if mean == mark)
    return best


def _is_unclear(path: Path, rows: Sequence[Row]) -> bool:
    """Whether more of a metric may well be worse, so that no variant is the best by it.

    Work that was lost and done again, or done twice, keeps processors and memory busy too. The same outage is a
    smaller part of a run that takes longer.
    """
    if path[0] == "utilisation":
        return any(one[0] == "recovery" for row in rows for one in row.values)
    if path[:2] in _OF_ITS_TIME:
        return len({row.values[_OBSERVED].mean for row in rows if _OBSERVED in row.values}) > 1
    return False


def _numbers(metrics: Mapping[str, Any], inside: Path = ()) -> Iterator[tuple[Path, float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, (*inside, name))
        elif isinstance(value, int | float):
            yield (*inside, name), value


def _nested(values: Mapping[Path, float]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        branch = tree
        for name in path[:-1]:
            branch = branch.setdefault(name, {})
        branch[path[-1]] = value
    return tree
