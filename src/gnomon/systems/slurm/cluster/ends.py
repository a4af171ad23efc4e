"""The running jobs in the order of their expected ends."""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import itemgetter
from typing import Any, Final

from gnomon.systems.slurm.cluster.job import Job

UNLIMITED: Final = 1 << 40
"""The end, in seconds, of a job without a time limit: later than any that is looked for."""
_key = itemgetter(0, 1)


class Ends:
    """(end in s, a number, allocation) of every running job, in order. ``changed``: since the selection took note."""

    def __init__(self) -> None:
        self.line: list[tuple[int, int, Any]] = []
        self._of: dict[Job, tuple[int, int]] = {}
        self._entered = 0
        self.changed = True

    def enter(self, job: Job, end_s: int) -> None:
        """A job starts, or ends at another time than was known."""
        self.leave(job)
        self._entered += 1
        self._of[job] = (end_s, self._entered)
        insort(self.line, (end_s, self._entered, job.allocation), key=_key)
        self.changed = True

    def leave(self, job: Job) -> None:
        """A job is over."""
        key = self._of.pop(job, None)
        if key is not None:
            del self.line[bisect_left(self.line, key, key=_key)]
            self.changed = True

    def after(self, now_s: int) -> int:
        """The first end after a time, 0: none is known."""
        place = bisect_left(self.line, (now_s + 1, 0), key=_key)
        return self.line[place][0] if place < len(self.line) and self.line[place][0] < UNLIMITED else 0
