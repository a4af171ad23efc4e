"""Retries: whether a task whose attempt ended gets another one, and when.

The rows of delays are those of real systems: doubling from 10 s to 300 s after one free restart (the container restarts
of Kubernetes, pkg/kubelet/kuberuntime), 10 s * 2^(n-1) up to 600 s (its Jobs), times 1.5 from 1 s to 60 s (Flink's
exponential-delay restart strategy), doubling from 5 ms to 1,000 s (client-go's rate-limited work queue).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gnomon.model.recovery import Backoff, Recovery
from gnomon.model.resources import E4, NEVER

DRAW_BITS = 53
"""A draw in [0, 1) is a multiple of 2^-53, so a delay can be drawn from it in whole numbers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What follows an attempt that ended before its time.

    - ``retry``: there is another attempt, ``delay_ns`` later, at ``at_ns`` (NEVER without one).
    - ``in_place``: on the same node, which keeps its room for it.
    - ``count``: the retries so far under the rule that answered, this one included; ``limit``: how many it allows
      (-1: any number); ``rule``: its index in ``Recovery.retries`` (-1: no rule names the cause, its limit is 0).
    """

    retry: bool
    delay_ns: int
    in_place: bool
    count: int
    limit: int
    rule: int
    at_ns: int


@dataclass(slots=True)
class Row:
    """Where a task stands under one rule: retries in all, retries since the row of delays began, the next delay."""

    count: int = 0
    step: int = 0
    delay_e4: int = 0

    def advance(self, backoff: Backoff) -> int:
        """Take the next delay [ns] of the row, without jitter.

        Delays are kept in 1/10,000 ns, or a row that begins with few nanoseconds would never grow.
        """
        self.step += 1
        if self.step <= backoff.free:
            return 0
        if self.step == backoff.free + 1:
            self.delay_e4 = backoff.first_ns * E4
        else:
            self.delay_e4 = self.delay_e4 * backoff.factor_e4 // E4
        self.delay_e4 = min(self.delay_e4, backoff.most_ns * E4)
        return self.delay_e4 // E4


@dataclass(slots=True)
class Attempts:
    """The failed attempts of one task so far.

    >>> from gnomon.model.recovery import Retry
    >>> twice = Recovery((Retry(("exit",), limit=2, backoff=Backoff(first_ns=10, factor_e4=20_000)),))
    >>> task = Attempts()
    >>> [task.failed(twice, "exit", now, 5, lambda: 0.5).at_ns for now in (100, 200)]
    [110, 220]
    >>> task.failed(twice, "exit", 300, 5, lambda: 0.5).retry
    False
    """

    rows: list[Row] = field(default_factory=list)

    def failed(self, recovery: Recovery, cause: str, now: int, ran_ns: int, draw: Callable[[], float]) -> Answer:
        """Take down that an attempt ended at ``now`` after ``ran_ns`` for a ``cause``, and answer what follows.

        ``draw`` gives a number in [0, 1); it is called only for a delay with jitter. A long run begins every row of
        delays anew, whatever ended it, but gives back no retry: the limits count over the whole life of the task.
        """
        while len(self.rows) < len(recovery.retries):
            self.rows.append(Row())
        for row, rule in zip(self.rows, recovery.retries, strict=True):
            if ran_ns >= rule.backoff.reset_ns:
                row.step = 0
        for index, (row, rule) in enumerate(zip(self.rows, recovery.retries, strict=True)):
            if cause not in rule.causes:
                continue
            if 0 <= rule.limit <= row.count:
                return Answer(False, 0, False, row.count, rule.limit, index, NEVER)
            row.count += 1
            delay = jittered(row.advance(rule.backoff), rule.backoff.jitter_e4, draw)
            return Answer(True, delay, rule.in_place, row.count, rule.limit, index, min(now + delay, NEVER))
        return Answer(False, 0, False, 0, 0, -1, NEVER)


def doubling_ns(failures: int, first_ns: int, most_ns: int) -> int:
    """The delay after so many failures in a row: none at first, then ``first_ns``, doubled each time, up to the most.

    >>> [doubling_ns(n, 10, 60) for n in range(6)], doubling_ns(500, 10, 60)
    ([0, 10, 20, 40, 60, 60], 60)
    """
    return min(first_ns << min(failures - 1, 63), most_ns) if failures > 0 else 0


def jittered(delay_ns: int, jitter_e4: int, draw: Callable[[], float]) -> int:
    """A delay [ns] drawn evenly from the whole numbers within ``jitter_e4`` / 10,000 of it to either side, never
    below 0.

    >>> [jittered(100, 1_000, lambda: x) for x in (0.0, 0.5, 0.999)]
    [90, 100, 110]
    """
    spread = delay_ns * jitter_e4 // E4
    if spread <= 0:
        return delay_ns
    drawn = int(draw() * 2**DRAW_BITS)
    return max(0, delay_ns - spread + (drawn * (2 * spread + 1) >> DRAW_BITS))
