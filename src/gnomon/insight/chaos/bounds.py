"""Bounds on measures of a run: "p95 wait < 10 min", "availability >= 99 %", "at most 5 % work lost".

The definitions stand at :data:`TIMES` and :data:`SHARES`. Comparisons are exact: times are whole ns, percentiles
(linear interpolation between the two nearest ranks) and shares are fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from gnomon.insight.accounting import areas
from gnomon.insight.chaos.facts import Facts, Span
from gnomon.insight.chaos.rules import Verdict, clock, last_row, no_tasks, node_name
from gnomon.insight.metrics import TAU_NS
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

TIMES: Final[Mapping[str, Callable[[Facts], Sequence[Span]]]] = {
    "wait": lambda facts: facts.waits,
    "turnaround": lambda facts: facts.turnarounds,
    "recovery": lambda facts: facts.recoveries,
    "detection": lambda facts: facts.detections,
}
"""Measures of time, one value a task or event. ``wait``: its longest for a place; ``turnaround``: submission to end;
``recovery``: from when a failed attempt of a task stopped (on a node that crashed: with the fault) to when the task
runs again; ``detection``: fault to its notice. What has not
come counts as long as it has lasted, or as never: :mod:`gnomon.insight.chaos.facts`."""

SHARES: Final = ("availability", "goodput")
"""Parts of a whole, as among the metrics of a run. ``availability``: 1 - node time of crashes, reboots and partitions /
all node time; ``goodput``: processor time that was of use / that of all attempts and copies that ended."""

_NEAR_MAX = 10_000


@dataclass(frozen=True, slots=True)
class TimeBound:
    """A statistic ("mean", "max", or a percentile as a number) of a time is at most, or below, a bound in ns."""

    statistic: str
    measure: str
    bound_ns: int
    strict: bool = False

    def judge(self, facts: Facts) -> Verdict:
        """Holds where there is nothing to measure."""
        spans = sorted(TIMES[self.measure](facts), key=lambda span: span.ns)
        if not spans:
            return Verdict(True, f"no {self.measure}")
        value = statistic(self.statistic, [span.ns for span in spans])
        holds = value < self.bound_ns if self.strict else value <= self.bound_ns
        near = _near(value, self.bound_ns)
        worst = spans[-1]
        told = f"{told_statistic(self.statistic)} {self.measure} {clock(int(value))}"
        if holds:
            return Verdict(True, told, near_e4=near)
        about = facts.work.id(worst.task) if worst.task >= 0 else node_name(facts, worst.node)
        most = f"; {about}: {clock(worst.ns)}" if self.statistic != "max" else f" ({about})"
        row = worst.row if worst.row >= 0 else last_row(facts, worst.task)
        return Verdict(False, told + most, (row,), worst.task, near)

    def objection(self, scenario: Scenario) -> str:
        """Nothing is measured, or the horizon comes before the bound could be exceeded."""
        if self.measure == "detection" and scenario.cluster.pool:
            return "the cluster is a pool, no node of which could be lost"
        begin = int(scenario.work.submit_ns.min()) if len(scenario.work) else 0
        seen = scenario.limits.until_ns - begin
        if seen < self.bound_ns + (not self.strict):
            return f"the run is cut off at {clock(scenario.limits.until_ns)}"
        return no_tasks(scenario)


@dataclass(frozen=True, slots=True)
class SlowdownBound:
    """A statistic of the bounded slowdown, turnaround / max(duration, 10 s) and at least 1, is at most, or below, a
    bound (Feitelson and Rudolph, "Metrics and benchmarking for parallel job scheduling", JSSPP 1998)."""

    statistic: str
    bound: Fraction
    strict: bool = False

    def judge(self, facts: Facts) -> Verdict:
        """What is never done has no slowdown: that breaks every bound."""
        spans = facts.turnarounds
        if not spans:
            return Verdict(True, "no slowdown")
        length = [max(int(facts.work.duration_ns[span.task]), TAU_NS) for span in spans]
        ratios = [
            Fraction(NEVER) if span.ns >= NEVER else max(Fraction(span.ns, ns), Fraction(1))
            for span, ns in zip(spans, length, strict=True)
        ]
        order = sorted(range(len(spans)), key=lambda i: ratios[i])
        value, worst = statistic(self.statistic, [ratios[i] for i in order]), spans[order[-1]]
        holds = value < self.bound if self.strict else value <= self.bound
        text = "endless" if value >= NEVER else f"{float(value):.4g}"
        told = f"{told_statistic(self.statistic)} slowdown {text}"
        if holds:
            return Verdict(True, told, near_e4=_near(value, self.bound))
        row = worst.row if worst.row >= 0 else last_row(facts, worst.task)
        told += f" (most: {facts.work.id(worst.task)})"
        return Verdict(False, told, (row,), worst.task, _near(value, self.bound))

    def objection(self, scenario: Scenario) -> str:
        """No slowdown is below 1, so such a bound says nothing."""
        if self.bound < 1 or (self.strict and self.bound == 1):
            return "no slowdown is below 1"
        return no_tasks(scenario)


@dataclass(frozen=True, slots=True)
class Makespan:
    """From the first submission to the last end takes at most, or less than, a bound in ns."""

    bound_ns: int
    strict: bool = False

    def judge(self, facts: Facts) -> Verdict:
        """With a task that is neither done nor given up, it is the time so far, or endless."""
        what, expected = facts.outcome, facts.expected
        if not expected.any():
            return Verdict(True, "nothing ran")
        ends = what.end_ns[expected]
        value = int(ends.max()) - facts.past.begin_ns if (ends < NEVER).all() else facts.since(facts.past.begin_ns)
        holds = value < self.bound_ns if self.strict else value <= self.bound_ns
        task = max((t for t in range(len(facts.work)) if expected[t]), key=lambda t: int(what.end_ns[t]))
        rows, near = (last_row(facts, task),), _near(value, self.bound_ns)
        return Verdict(holds, f"makespan {clock(value)}", () if holds else rows, -1 if holds else task, near)

    def objection(self, scenario: Scenario) -> str:
        """The horizon comes before the bound could be exceeded."""
        return TimeBound("max", "turnaround", self.bound_ns, self.strict).objection(scenario)


@dataclass(frozen=True, slots=True)
class LittleLost:
    """Of the processor time of all attempts at most a part is lost with attempts that ended before their time."""

    most: Fraction
    strict: bool = False

    def judge(self, facts: Facts) -> Verdict:
        """The task with the largest loss is named."""
        share = Fraction(facts.lost, facts.worked) if facts.worked else Fraction(0)
        holds = share < self.most if self.strict else share <= self.most
        near = _near(share, self.most)
        told = f"{percent(share)} of the work lost"
        if holds:
            return Verdict(True, told, near_e4=near)
        worst = max(facts.losses, key=lambda one: one.ns * facts.cpu(one.task))
        told += f" (most: {clock(worst.ns)} of {facts.work.id(worst.task)})"
        return Verdict(False, told, (worst.row,), worst.task, near)

    def objection(self, scenario: Scenario) -> str:
        """More than everything cannot be lost."""
        return "more than all cannot be lost" if self.most >= 1 else no_tasks(scenario)


@dataclass(frozen=True, slots=True)
class ShareBound:
    """One of :data:`SHARES` is at least, or above, a bound."""

    measure: str
    least: Fraction
    strict: bool = False

    def judge(self, facts: Facts) -> Verdict:
        """The node that was away longest, or the largest loss, is shown."""
        share, rows, task = (_availability if self.measure == "availability" else _goodput)(facts)
        holds = share > self.least if self.strict else share >= self.least
        near = _near(1 - share, 1 - self.least)
        told = f"{self.measure} {percent(share)}{' of node time' if self.measure == 'availability' else ''}"
        return Verdict(True, told, near_e4=near) if holds else Verdict(False, told, rows, task, near)

    def objection(self, scenario: Scenario) -> str:
        """No share is below 0 or above 1; a pool has no nodes."""
        if self.least <= 0 and not self.strict:
            return "no share is below 0"
        if self.least > 1 or (self.strict and self.least == 1):
            return "no share is above 1"
        if self.measure == "availability" and scenario.cluster.pool:
            return "the cluster is a pool, no node of which could be away"
        return no_tasks(scenario)


def _availability(facts: Facts) -> tuple[Fraction, tuple[int, ...], int]:
    downs = facts.downtimes
    whole = facts.past.span_ns * len(facts.scenario.cluster.nodes)
    longest = max(downs, key=lambda span: span.ns, default=None)
    away = Fraction(sum(span.ns for span in downs), whole) if whole else Fraction(0)
    return 1 - away, (longest.row,) if longest else (), -1


def _goodput(facts: Facts) -> tuple[Fraction, tuple[int, ...], int]:
    area = areas(facts.past).get("cpu")
    ended = area.useful + area.wasted if area else 0
    worst = max(facts.losses, key=lambda one: one.ns * facts.cpu(one.task), default=None)
    share = Fraction(area.useful, ended) if area and ended else Fraction(1)
    return share, (worst.row,) if worst else (), worst.task if worst else -1


def statistic(name: str, rising: Sequence[int] | Sequence[Fraction]) -> Fraction:
    """The mean, the maximum, or a percentile of values in rising order; endless if it hangs on one that is.

    >>> statistic("50", [0, 10]), statistic("mean", [1, 2]), statistic("90", [1, 2, NEVER]) >= NEVER
    (Fraction(5, 1), Fraction(3, 2), True)
    """
    last = Fraction(rising[-1])
    if name == "max":
        return last
    if name == "mean":
        return min(last, sum(map(Fraction, rising), Fraction(0)) / len(rising)) if last < NEVER else Fraction(NEVER)
    place = (len(rising) - 1) * Fraction(name) / 100
    below = int(place)
    if below == place:
        return Fraction(rising[below])
    low, high = Fraction(rising[below]), Fraction(rising[below + 1])
    return low + (high - low) * (place - below) if high < NEVER else Fraction(NEVER)


def told_statistic(name: str) -> str:
    """A statistic as people write it.

    >>> told_statistic("95"), told_statistic("max")
    ('p95', 'max')
    """
    return name if name in ("mean", "max") else f"p{name}"


def percent(share: Fraction) -> str:
    """A share, to a hundredth of a per cent.

    >>> percent(Fraction(1, 3))
    '33.33%'
    """
    return f"{float(share) * 100:.4g}%"


def _near(value: Fraction | int, bound: Fraction | int) -> int:
    """How near a value is to its bound, in 1/10,000 of it, at most the whole."""
    return int(min(Fraction(value) / bound, Fraction(1)) * _NEAR_MAX) if bound > 0 else _NEAR_MAX * (value > 0)
