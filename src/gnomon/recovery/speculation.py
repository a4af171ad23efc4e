"""Speculation: which running tasks deserve a second copy.

Two rules. :func:`candidates` is that of Spark's TaskSetManager: enough tasks are done, and the task has run for more
than a multiple of their median. :func:`most_gained` is that of Hadoop's DefaultSpeculator: the task whose copy would
end earliest before it, by what its progress says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gnomon.model.operation import Speculation
from gnomon.model.resources import E4, NEVER


def candidates(
    now: int,
    running: Sequence[tuple[int, int]],
    done_durations: Sequence[int],
    total: int,
    speculation: Speculation,
) -> list[int]:
    """The tasks of ``running`` (task, start [ns]) of one job that deserve a copy at ``now``, the longest-running first.

    ``done_durations`` [ns]: of the successful tasks of the job, of ``total``. Of an even number the median is the mean
    of the two in the middle. Leave out of ``running`` what has a copy already.

    Three of four are done, in 10, 20 and 30 ns, so 1.5 * 20 ns is the threshold:

    >>> candidates(100, [(7, 69), (8, 70)], [30, 10, 20], 4, Speculation(check_ns=1))
    [7]
    """
    if len(done_durations) < max(1, total * speculation.quantile_e4 // E4):
        return []
    ordered = sorted(done_durations)
    median_twice = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
    slow = [
        (start, task)
        for task, start in running
        if (now - start) * 2 * E4 > median_twice * speculation.multiplier_e4 and now - start >= speculation.least_ns
    ]
    return [task for _, task in sorted(slow)]


@dataclass(frozen=True, slots=True)
class Runner:
    """A task with one running attempt: when it started [ns], and how far it is (1/10,000)."""

    task: int
    start_ns: int
    progress_e4: int


@dataclass(frozen=True, slots=True)
class SpeculationCap:
    """How many copies there may be at once, and how many tasks must be done before the first (1/10,000 of all).

    Source: ``mapreduce.job.speculative.*`` of ``mapred-default.xml``, and ``DefaultSpeculator``, of Hadoop 3.5.0.

    >>> [SpeculationCap().copies(total, running) for total, running in ((50, 50), (5000, 100), (5000, 900))]
    [10, 50, 90]
    """

    least: int = 10
    of_total_e4: int = 100
    of_running_e4: int = 1_000
    done_e4: int = 500

    def copies(self, total: int, running: int) -> int:
        """Of so many tasks, so many of which run."""
        return max(self.least, total * self.of_total_e4 // E4, running * self.of_running_e4 // E4)

    def may_begin(self, done: int, total: int) -> bool:
        """Whether enough tasks are done for their mean to say something."""
        return done >= 1 and done * E4 >= total * self.done_e4


@dataclass(frozen=True, slots=True)
class Gains:
    """The rule of :func:`most_gained`: one copy at most is begun of the tasks of one kind in a look, and none while
    some of them wait for their first place. The next look is ``after_none_ns`` later, or ``after_one_ns`` when a copy
    was begun. An attempt tells of its progress first after ``told_ns``; until then nothing is known of it."""

    after_none_ns: int = 1_000_000_000
    after_one_ns: int = 15_000_000_000
    told_ns: int = 3_000_000_000
    cap: SpeculationCap = SpeculationCap()


def estimated_end_ns(runner: Runner, now_ns: int) -> Fraction:
    """When an attempt will be over if it goes on as before [ns]: its age is to its progress as its whole run to one.

    Source: ``LegacyTaskRuntimeEstimator`` of Hadoop 3.5.0; a progress below 1/10,000 counts as that.

    >>> estimated_end_ns(Runner(9, 0, 2_500), 150)
    Fraction(600, 1)
    """
    return runner.start_ns + Fraction((now_ns - runner.start_ns) * E4, max(runner.progress_e4, 1))


def most_gained(now_ns: int, running: Sequence[Runner], done_durations: Sequence[int]) -> tuple[int, Fraction] | None:
    """The task whose copy would gain most, and how much [ns]; None if no copy would gain anything.

    A copy takes as long as the mean of those that are done. A task that should be over already is left out, and so
    must be those with two attempts. Source: ``DefaultSpeculator.speculationValue`` of Hadoop 3.5.0.

    Nine of ten took 100; the tenth is at a quarter after 150, so it would end at 600, and a copy at 250:

    >>> most_gained(150, [Runner(9, 0, 2_500)], [100] * 9)
    (9, Fraction(350, 1))
    >>> most_gained(150, [Runner(9, 0, 6_500)], [100] * 9) is None
    True
    """
    if not done_durations:
        return None
    copy_end = now_ns + Fraction(sum(done_durations), len(done_durations))
    ends = [(estimated_end_ns(runner, now_ns), runner.task) for runner in running]
    gains = [(end - copy_end, -task) for end, task in ends if end >= now_ns and end > copy_end]
    if not gains:
        return None
    gain, task = max(gains)
    return -task, gain


@dataclass(frozen=True, slots=True)
class SlowTasks:
    """The rule of Spark since 3.4, with the constants of 4.0 and later; looked at every ``check_ns``, when
    ``quantile_e4`` of a set are done.

    A task is slow that has run for more than ``multiplier_e4`` times the median of the done ones, and at least
    ``least_ns``. With ``long_e4`` (0: that is enough) it also has to have run for so many times that threshold, or to
    read its records at less than ``rate_e4`` of their mean rate. ``threshold_ns``: with fewer done, in a set that fits
    the slots of one node, a task that ran for longer than that (NEVER: none).
    """

    check_ns: int = 100_000_000
    multiplier_e4: int = 3 * E4
    quantile_e4: int = 9_000
    least_ns: int = 100_000_000
    long_e4: int = 2 * E4
    rate_e4: int = 7_500
    threshold_ns: int = NEVER


@dataclass(frozen=True, slots=True)
class Progress:
    """How a task does that has one attempt running, or how a done one did: ``ran_ns``, and its ``rate`` (records a
    second; 0: not known)."""

    task: int
    ran_ns: int
    rate: int = 0


def slow_tasks(
    running: Sequence[Progress], done: Sequence[Progress], total: int, rule: SlowTasks, *, slots: int = 0
) -> list[int]:
    """The running tasks of a set of ``total`` that deserve a copy, in their order (TaskSetManager,
    checkSpeculatableTasks and TaskProcessRateCalculator). ``slots``: those of one node.

    Nine of ten are done, with a median of 10 s: the tenth is slow after 60 s, and after 30 s if it reads slowly:

    >>> rule, s = SlowTasks(), 10**9
    >>> done = [Progress(i, 10 * s, rate=100) for i in range(9)]
    >>> [slow_tasks([Progress(9, t * s, rate=80)], done, 10, rule) for t in (31, 60, 61)]
    [[], [], [9]]
    >>> [slow_tasks([Progress(9, t * s, rate=74)], done, 10, rule) for t in (30, 31)]
    [[], [9]]
    """
    fixed = rule.threshold_ns < NEVER
    if total == 1 and not fixed:
        return []
    if len(done) >= max(total * rule.quantile_e4 // E4, 1):
        ordered = sorted(one.ran_ns for one in done)
        median_twice = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
        threshold = max(median_twice * rule.multiplier_e4 // (2 * E4), rule.least_ns)
        rates = sum(one.rate for one in done)
        late = [one for one in running if one.ran_ns > threshold]
        return [one.task for one in late if _inefficient(one, threshold, rates, len(done), rule)]
    if fixed and total <= slots:
        return [one.task for one in running if one.ran_ns > rule.threshold_ns]
    return []


def _inefficient(one: Progress, threshold: int, rates: int, done: int, rule: SlowTasks) -> bool:
    if not rule.long_e4 or one.ran_ns * E4 > threshold * rule.long_e4:
        return True
    return one.rate * done * E4 < rates * rule.rate_e4
