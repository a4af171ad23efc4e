"""Usage: what jobs have used, halved in the half-life; and what those that run may still use.

Each PriorityCalcPeriod all usage decays, and what the running jobs have used since is added to their association, to
every account above it, and to their QOS. A job that ends is charged at once. Jobs that ran through a whole period are
charged together, by the sum of their rates; the result is that of a job at a time but for the rounding of sums.
Source: ``_decay_thread``, ``_apply_decay``, ``_apply_new_usage`` in
``src/plugins/priority/multifactor/priority_multifactor.c``, Slurm 22.05 to 25.05. Slurm adds in long doubles.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.accounting.billing import Billing
from gnomon.systems.slurm.accounting.entries import Entry, LimitedJob, QosEntry, Used
from gnomon.systems.slurm.accounting.tree import Tree

Floats = npt.NDArray[np.float64]

UNLIMITED_S = (2**32 - 1) * 60
"""The limit of a job without one, in seconds, as slurmctld reckons with it."""

_MICRO = 10**6


def decay_factor(half_life_s: int) -> float:
    """What is left of usage after a second, by Slurm's own linear form of the exponential; 1: nothing decays.

    >>> round(decay_factor(7 * 86400), 11), round(decay_factor(7 * 86400) ** 300, 8)
    (0.99999885417, 0.99965631)
    """
    return 1 - 0.693 / half_life_s if half_life_s > 0 else 1.0


def next_reset(period: str, last_s: int, now_s: int) -> int | None:
    """When usage is set to nothing next, after it was at ``last_s`` (seconds since the epoch, UTC); None: never.

    >>> next_reset("MONTHLY", 0, 0) // 86400, next_reset("WEEKLY", 0, 0) // 86400
    (31, 3)
    """
    midnight = datetime.fromtimestamp(last_s, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period in ("DAILY", "WEEKLY"):
        step = timedelta(days=1 if period == "DAILY" else 7)
        # the week begins on Sunday
        then = midnight + (step if period == "DAILY" else timedelta(days=7 - (midnight.weekday() + 1) % 7))
        while (then + step).timestamp() < now_s:
            then += step
        return int(then.timestamp())
    months = {"MONTHLY": 1, "QUARTERLY": 3, "YEARLY": 12}.get(period)
    if months is None:
        return None
    month = (midnight.month - 1) // months * months + months
    return int(midnight.replace(year=midnight.year + month // 12, month=month % 12 + 1, day=1).timestamp())


@dataclass(slots=True, eq=False)
class Run:
    """A job that runs: where it is charged, and for what. ``charged``: it ran through a period already."""

    rows: npt.NDArray[np.intp]
    places: tuple[Used, ...]
    charge: float
    counts: tuple[tuple[int, int], ...]
    vector: Floats
    start_s: int
    limit_s: int
    factor: float
    micro: int
    charged: bool = False
    capped: bool = False

    def left_s(self, now_s: int) -> int:
        """What is left of its time limit, reckoned at the last period, in millionths of seconds, weighed."""
        return max(0, self.limit_s - max(0, now_s - self.start_s)) * self.micro


@dataclass(slots=True, eq=False)
class _Promise:
    """Sums over running jobs of a place, by resource: of what they may use in all, and (of those charged already) of
    their counts, and of those times their starts; together they give what is left at any time."""

    limit: list[int]
    count: list[int]
    start: list[int]


class Usage:
    """The usage of every association and QOS; rows: the entries of the tree, then its QOS.

    ``raw``: charged seconds; ``wall``: seconds; ``tres``: seconds by resource, where a limit on minutes needs them.
    ``minutes``: whether the minutes that running jobs may still use are kept at hand; None: where a limit needs them.
    """

    def __init__(
        self, tree: Tree, billing: Billing, *, half_life_s: int, reset: str = "NONE", minutes: bool | None = None
    ) -> None:
        self.tree, self.billing, self.reset = tree, billing, reset
        self.decay = decay_factor(half_life_s)
        self.last_s: int | None = None
        self.last_reset_s: int | None = None
        rows, columns = len(tree.entries) + len(tree.qos), len(tree.tres)
        self.raw, self.wall = np.zeros(rows), np.zeros(rows)
        self.tres = np.zeros((rows, columns))
        self._rate, self._wall_rate, self._tres_rate = np.zeros(rows), np.zeros(rows), np.zeros((rows, columns))
        self._by_tres = tree.limits_any("grp_tres_mins")
        self._running = np.zeros(rows, dtype=np.int64)
        self._charging = 0
        self._decays = np.ones(rows, dtype=bool)
        for qos in tree.qos.values():
            self._decays[self.row(qos)] = "NoDecay" not in qos.record.flags
        self._runs: dict[LimitedJob, Run] = {}
        self._fresh: dict[LimitedJob, Run] = {}
        self._rows: dict[tuple[str, str, str, str], tuple[npt.NDArray[np.intp], float]] = {}
        self._minutes = tree.limits_any("_mins") if minutes is None else minutes
        self._promises: dict[Used, _Promise] = {}
        self._limits: list[tuple[int, int, Run]] = []
        self._made = 0

    def row(self, place: Entry | QosEntry) -> int:
        """The row of an association or a QOS."""
        return place.number if isinstance(place, Entry) else len(self.tree.entries) + place.number

    def set_raw(self, usage: Mapping[tuple[str, str, str], float]) -> None:
        """Begin with this raw usage; an account that is not named has the sum of what is below it."""
        named = set()
        for entry in self.tree.entries:
            key = (entry.record.account, entry.record.user, entry.record.partition)
            if key in usage:
                self.raw[entry.number] = usage[key]
                named.add(entry.number)
        for entry in reversed(self.tree.entries):
            if entry.parent is not None and entry.parent.number not in named:
                self.raw[entry.parent.number] += self.raw[entry.number]

    # -------------------------------------------------------------- jobs

    def start(self, job: LimitedJob, tres: Mapping[str, int], *, start_s: int, limit_min: int | None) -> None:
        """A job starts with these resources. ``limit_min``: None: without a limit."""
        numbers = self.tree.tres_number
        counts = tuple((numbers[name], count) for name, count in tres.items() if name in numbers and name != "energy")
        vector = np.zeros(len(numbers))
        for number, count in counts:
            vector[number] = count
        rows, factor = self._charged(job)
        run = Run(
            rows,
            self.tree.places(job),
            self.billing.charge(job.partition, tres),
            counts,
            vector,
            start_s,
            UNLIMITED_S if limit_min is None else limit_min * 60,
            factor,
            round(factor * _MICRO),
        )
        self._runs[job] = self._fresh[job] = run
        if self._minutes:
            self._promise(run, +1, start=False)
            self._made += 1
            heappush(self._limits, (start_s + run.limit_s, self._made, run))

    def _charged(self, job: LimitedJob) -> tuple[npt.NDArray[np.intp], float]:
        """The rows that a job is charged to, and the UsageFactor of its QOS."""
        key = (job.user, job.account, job.qos, job.partition)
        found = self._rows.get(key)
        if found is None:
            entry, own = self.tree.entry(job), self.tree.qos.get(job.qos)
            places: list[Entry | QosEntry] = [*(entry.chain if entry else ()), *self.tree.qos_order(job)]
            factor = own.record.usage_factor if own is not None and own.record.usage_factor >= 0 else 1.0
            found = self._rows[key] = (np.array([self.row(one) for one in places], dtype=np.intp), factor)
        return found

    def end(self, job: LimitedJob, now_s: int) -> None:
        """A job ends, or gives its resources back: it is charged for what it has not been yet."""
        run = self._runs.pop(job, None)
        if run is None:
            return
        begin = run.start_s if self.last_s is None else max(run.start_s, self.last_s)
        self._charge(run, max(0, now_s - begin))
        if self._minutes and not run.capped:
            self._promise(run, -1, start=run.charged)
        run.capped = True
        if self._fresh.pop(job, None) is None:
            self._add_rate(run, -1)

    def _charge(self, run: Run, seconds: int) -> None:
        decayed = seconds * self.decay**seconds
        time = np.where(self._decays[run.rows], decayed, float(seconds)) * run.factor
        self.raw[run.rows] += time * run.charge
        self.wall[run.rows] += time
        if self._by_tres:
            self.tres[run.rows] += time[:, None] * run.vector

    def _add_rate(self, run: Run, sign: int) -> None:
        self._rate[run.rows] += sign * run.charge * run.factor
        self._wall_rate[run.rows] += sign * run.factor
        if self._by_tres:
            self._tres_rate[run.rows] += sign * run.factor * run.vector
        self._running[run.rows] += sign
        self._charging += sign
        if sign < 0:  # of sums of fractions nothing is left over
            idle = run.rows[self._running[run.rows] == 0]
            self._rate[idle], self._wall_rate[idle], self._tres_rate[idle] = 0.0, 0.0, 0.0

    # -------------------------------------------------------------- periods

    @property
    def fades(self) -> bool:
        """Whether there is usage that will be less by itself: more than a second, which decays or is set to nothing."""
        return bool((self.decay < 1 or self.reset != "NONE") and (self.wall >= 1).any())

    @property
    def is_idle(self) -> bool:
        """Whether nothing is charged now."""
        return not self._fresh and not self._charging

    def period(self, now_s: int) -> None:
        """What the decay thread does each PriorityCalcPeriod, before the priorities are computed."""
        self._reset(now_s)
        if self.last_s is not None and now_s > self.last_s:
            passed = now_s - self.last_s
            left = max(self.decay**passed, sys.float_info.min)
            kept = np.where(self._decays, left, 1.0)
            time = np.where(self._decays, passed * self.decay**passed, float(passed))
            self.raw *= kept
            self.wall *= kept
            if self._by_tres:
                self.tres *= kept[:, None]
            if self._charging:
                self.raw += time * self._rate
                self.wall += time * self._wall_rate
                if self._by_tres:
                    self.tres += time[:, None] * self._tres_rate
        for run in self._fresh.values():
            self._charge(run, max(0, now_s - run.start_s))
            self._add_rate(run, +1)
            run.charged = True
            if self._minutes and not run.capped:
                self._promise_started(run, +1)
        self._fresh.clear()
        self.last_s = now_s
        while self._limits and self._limits[0][0] <= now_s:  # past its limit a job has nothing left to use
            run = heappop(self._limits)[2]
            if not run.capped:
                self._promise(run, -1, start=run.charged)
                run.capped = True

    def _reset(self, now_s: int) -> None:
        if self.reset == "NONE":
            return
        if self.last_reset_s is None:
            self.last_reset_s = now_s
            due = self.reset == "NOW"
        else:
            then = next_reset(self.reset, self.last_reset_s, now_s)
            due = then is not None and now_s >= then
            self.last_reset_s = then if due and then is not None else self.last_reset_s
        if due:
            self.raw[:], self.wall[:], self.tres[:] = 0.0, 0.0, 0.0

    # -------------------------------------------------------------- minutes

    def _promise(self, run: Run, sign: int, *, start: bool) -> None:
        for used in run.places:
            promise = self._promises.get(used)
            if promise is None:
                columns = len(self.tree.tres)
                promise = self._promises[used] = _Promise([0] * columns, [0] * columns, [0] * columns)
            for number, count in run.counts:
                promise.limit[number] += sign * count * run.micro * run.limit_s
        if start:
            self._promise_started(run, sign)

    def _promise_started(self, run: Run, sign: int) -> None:
        for used in run.places:
            promise = self._promises[used]
            for number, count in run.counts:
                promise.count[number] += sign * count * run.micro
                promise.start[number] += sign * count * run.micro * run.start_s

    def run_minutes(self, used: Used, number: int) -> int:
        """What the running jobs of a place may still use of a resource, in minutes, as of the last period."""
        promise = self._promises.get(used)
        if promise is None:
            return 0
        left = promise.limit[number] + promise.start[number] - promise.count[number] * (self.last_s or 0)
        return max(0, left) // (60 * _MICRO)

    def run_seconds(self, used: Used) -> list[int]:
        """The same in seconds, of every resource, by adding up the jobs: for the tools' tables."""
        sums = [0] * len(self.tree.tres)
        for run in self._runs.values():
            if used in run.places:
                for number, count in run.counts:
                    sums[number] += count * run.left_s(self.last_s or 0)
        return [total // _MICRO for total in sums]

    def used_minutes(self, place: Entry | QosEntry, number: int) -> int:
        """What was used of a resource, decayed, in whole minutes."""
        return int(self.tres[self.row(place), number] / 60.0)

    def wall_minutes(self, place: Entry | QosEntry) -> int:
        """How long jobs have run there, decayed, in whole minutes."""
        return int(self.wall[self.row(place)]) // 60
