"""What Python has to do at a time: callbacks in the order of (time, when they were entered)."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from gnomon.model.resources import NEVER

Act = Callable[[], object]


class Timers:
    """A heap of callbacks. One that is cancelled stays in it, void, until its time.

    >>> timers, said = Timers(), []
    >>> timers.at(5, lambda: said.append("late"))
    0
    >>> one = timers.at(3, lambda: said.append("never"))
    >>> timers.cancel(one)
    >>> timers.next_ns
    5
    >>> timers.run(5)
    >>> said, timers.next_ns == NEVER
    (['late'], True)
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []
        self._acts: dict[int, Act] = {}
        self._entered = 0

    @property
    def next_ns(self) -> int:
        """When the next one is due, NEVER if none is."""
        while self._heap and self._heap[0][1] not in self._acts:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else NEVER

    def at(self, time: int, act: Act) -> int:
        """Enter a callback (nothing at NEVER) and return its number."""
        number = self._entered
        self._entered += 1
        if time < NEVER:
            self._acts[number] = act
            heapq.heappush(self._heap, (time, number))
        return number

    def wake(self, time: int) -> int:
        """The same without a callback: whoever is asked after each instant looks at what is due then."""
        return self.at(time, lambda: None)

    def cancel(self, number: int) -> None:
        """Take a callback out, if it is still there."""
        self._acts.pop(number, None)

    def holds(self, number: int) -> bool:
        """Whether a callback is still to come."""
        return number in self._acts

    def run(self, now: int) -> None:
        """Do what is due by now, also what comes to be due meanwhile."""
        while self.next_ns <= now:
            number = heapq.heappop(self._heap)[1]
            self._acts.pop(number)()
