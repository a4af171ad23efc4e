"""When a controller tries again whose pod the API server has refused: after a delay, or when something happens to it.

The controller's work queue comes back after 5 ms, doubled each time up to 1,000 s (client-go's
ItemExponentialFailureRateLimiter, user problem U11); that of Jobs after 1 s, doubled up to 60 s
(``pkg/controller/job/job_controller.go``, DefaultJobApiBackOff and MaxJobApiBackOff).

>>> sum(doubling_ns(n, FIRST_NS, MOST_NS) for n in range(1, 16)) / 1e9  # the 15th retry of U11
163.835
"""

from __future__ import annotations

from typing import Final

from gnomon.recovery.retry import doubling_ns
from gnomon.systems.kubernetes.controllers.desk import Controller, Desk

FIRST_NS: Final = 5 * 10**6
MOST_NS: Final = 1_000 * 10**9
JOBS_FIRST_NS: Final = 10**9
JOBS_MOST_NS: Final = 60 * 10**9


class Retrying:
    """Creates pods one by one until one is refused, and then tries again later: after ``first_ns``, doubled each time
    up to ``most_ns``. ``failures``: refusals in a row."""

    def __init__(self, desk: Desk, first_ns: int = FIRST_NS, most_ns: int = MOST_NS) -> None:
        self._desk, self._first_ns, self._most_ns = desk, first_ns, most_ns
        self.failures = self._seen = 0
        self._timer = -1

    def blocked(self, *, woken: bool) -> bool:
        """Whether it is not to try now: the delay is not over, and nothing has happened."""
        return self.failures > 0 and self._desk.timers.holds(self._timer) and not woken

    def refused(self, one: Controller) -> None:
        """A creation was refused."""
        desk = self._desk
        self.failures += 1
        self._seen = desk.usage.changes
        if not desk.timers.holds(self._timer):
            self._timer = desk.at(desk.now + doubling_ns(self.failures, self._first_ns, self._most_ns), one)

    def is_promising(self) -> bool:
        """Whether the next try may do better: less of a quota is used than when a creation was refused."""
        return self.failures > 0 and self._seen != self._desk.usage.changes

    def done(self) -> None:
        """All that lacked is created."""
        self.failures = 0
        self._desk.timers.cancel(self._timer)
