"""The metrics as columns: header, place in ``metrics.json``, how to write the value, what it means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

NOTHING = "-"


def duration(seconds: float) -> str:
    """A length of time in its two largest units, or four digits below a minute.

    >>> [duration(s) for s in (0, 0.00025, 0.25, 28.684, 307, 600, 11_520, 100_000, 3e7)]
    ['0s', '250µs', '250ms', '28.68s', '5m07s', '10m', '3h12m', '1d04h', '347d']
    """
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 59.995:
        for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
            if seconds >= size or unit == "ns":
                return f"{seconds / size:.4g}{unit}" if seconds else "0s"
    if seconds < 3_599.5:
        return _two(round(seconds), 60, "m", "s")
    if round(seconds / 60) < 24 * 60:
        return _two(round(seconds / 60), 60, "h", "m")
    hours = round(seconds / 3600)
    return _two(hours, 24, "d", "h") if hours < 2400 else f"{hours // 24:,}d"


def _two(amount: int, size: int, large: str, small: str) -> str:
    whole, rest = divmod(amount, size)
    return f"{whole}{large}{rest:02}{small}" if rest else f"{whole}{large}"


def percent(fraction: float) -> str:
    """A fraction as a percentage with one digit.

    >>> percent(0.7509)
    '75.1%'
    """
    return f"{100 * fraction:.1f}%"


def finely(fraction: float) -> str:
    """A fraction with three digits, or near 1 and near 0 with those in which such ones differ.

    >>> finely(0.999512), finely(1), finely(0.944643), finely(0.000184), finely(0)
    ('99.951%', '100%', '94.5%', '0.018%', '0%')
    """
    return f"{100 * fraction:.{5 if fraction >= 0.99 else 3 if fraction >= 0.01 else 2}g}%"


def number(value: float) -> str:
    """Four digits, or all of a larger whole number.

    >>> number(1.23456), number(28489), number(1234567.8), number(0.25)
    ('1.235', '28,489', '1,234,568', '0.25')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def rate(per_second: float) -> str:
    """Events a second, or in the first longer unit that has at least one of them.

    >>> rate(12.5), rate(0.02), rate(0.001), rate(0)
    ('12.5/s', '1.2/min', '3.6/h', '0/s')
    """
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:.4g}/{unit}"
    return f"{per_second * 86400:.4g}/d" if per_second else "0/s"


@dataclass(frozen=True)
class Column:
    """One metric. ``key`` is its path in ``metrics.json``.

    ``wide``: shown with ``-o wide`` (and on the page) only; ``if_any``: shown where a run has any of it; ``if_faults``:
    shown where something went wrong in a run, be it wide or not.
    """

    header: str
    key: str
    write: Callable[[float], str]
    wide: bool = False
    meaning: str = ""
    if_any: bool = False
    if_faults: bool = False

    def value(self, metrics: Mapping[str, Any]) -> float | None:
        """The metric, or None where the run has none."""
        found: Any = metrics
        for part in self.key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return float(found) if isinstance(found, int | float) and isfinite(found) else None

    def text(self, metrics: Mapping[str, Any]) -> str:
        """The metric, as a person reads it."""
        value = self.value(metrics)
        return NOTHING if value is None else self.write(value)


_BEFORE = (
    Column("DONE", "done", number, meaning="tasks that ran to their end"),
    Column("REJECTED", "rejected", number, if_any=True, meaning="tasks that can never run here"),
    Column("KILLED", "killed", number, if_any=True, meaning="tasks that were ended at their estimate"),
    Column("FAILED", "failed", number, if_any=True, meaning="tasks that failed"),
    Column("RUNNING", "running", number, if_any=True, meaning="tasks that still ran at its end"),
    Column("WAITING", "waiting", number, if_any=True, meaning="tasks that waited at its end, or came later"),
    Column("MAKESPAN", "makespan_s", duration, meaning="from the first arrival to the last end"),
    Column("WAIT", "wait_s.mean", duration, meaning="mean, over tasks, of the longest wait for a place"),
    Column("WAIT-P50", "wait_s.p50", duration, wide=True, meaning="half of the tasks waited at most this"),
    Column("WAIT-P90", "wait_s.p90", duration, meaning="nine in ten tasks waited at most this"),
    Column("WAIT-P99", "wait_s.p99", duration, wide=True, meaning="99 in 100 tasks waited at most this"),
    Column("WAIT-MAX", "longest_wait_s", duration, wide=True, meaning="longest wait, of unstarted tasks too"),
    Column(
        "TURNAROUND",
        "turnaround_s.mean",
        duration,
        wide=True,
        if_faults=True,
        meaning="mean time from arrival to end",
    ),
    Column(
        "SLOWDOWN",
        "bounded_slowdown.mean",
        number,
        meaning="mean of turnaround / run time, with run times below 10 s taken as 10 s",
    ),
)
_AFTER = (
    Column("THROUGHPUT", "throughput_per_s", rate, wide=True, meaning="tasks done per unit of time"),
    Column("FRAGMENTED", "fragmentation", percent, wide=True, meaning="free capacity that no task could use"),
    Column("JAIN", "jain_index", number, wide=True, meaning="fairness over users: 1 is equal shares"),
    Column("PREEMPTED", "preemptions", number, wide=True, meaning="how often a task gave way to another"),
    Column("WASTED-CPU", "wasted_cpu_s", duration, wide=True, meaning="CPU time of attempts that were lost"),
    Column("GOODPUT", "goodput", percent, wide=True, meaning="CPU time of attempts that are over that was of use"),
    Column("RETRIES", "recovery.retries", number, if_any=True, meaning="failed attempts that were tried again"),
    Column("SURVIVAL", "recovery.survival", finely, meaning="tasks done, of those that are over"),
    Column("RECOVER", "recovery.time_to_recover_s.mean", duration, meaning="mean time that a failed task did not run"),
    Column("LOST-WORK", "recovery.work_lost_s", duration, meaning="run time whose work was lost"),
    Column("AVAILABLE", "recovery.availability.nodes", finely, wide=True, meaning="node time that was not down"),
    Column("RAN-TWICE", "recovery.ran_twice.tasks", number, if_any=True, meaning="tasks that ran twice at one time"),
    Column("CATCH-UP", "recovery.backlog.catch_up_s", duration, wide=True, meaning="from outage to normal queue"),
    Column("OVERTAKEN", "overtaken_max", number, wide=True, meaning="most later arrivals that started earlier"),
)


def columns(every: Sequence[Mapping[str, Any]], *, wide: bool = False) -> list[Column]:
    """The columns of a table over these metrics: utilisation once a resource, and nothing that no run has.

    >>> [c.header for c in columns([{"done": 9, "killed": 1, "rejected": 0, "failed": 0}])]
    ['DONE', 'KILLED']
    """
    resources = dict.fromkeys(name for metrics in every for name in metrics.get("utilisation") or {})
    used = [
        Column(name.upper(), f"utilisation.{name}", percent, meaning=f"{name} in use, over the whole run")
        for name in resources
    ]
    faults = any(metrics.get("recovery") for metrics in every)
    chosen = [c for c in (*_BEFORE, *used, *_AFTER) if wide or not c.wide or (faults and c.if_faults)]
    values = [[column.value(metrics) for metrics in every] for column in chosen]
    return [c for c, found in zip(chosen, values, strict=True) if any(v or (v == 0 and not c.if_any) for v in found)]


def outstanding(column: Column, best: Sequence[Collection[str]]) -> frozenset[int]:
    """Which variants to mark in a column: those for which it is among the best paths, unless that is all of them."""
    marked = frozenset(index for index, paths in enumerate(best) if column.key in paths)
    return frozenset() if len(marked) == len(best) else marked
