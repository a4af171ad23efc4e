"""The scheduling queue: who is tried next, and when those who were refused are tried again (sheet §3).

Three places: ready (by priority, then by when they entered it), backing off (by expiry), and set aside until an event
that may help, or for five minutes. Times are ns; nothing here reads a clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gnomon.recovery.retry import doubling_ns
from gnomon.systems.kubernetes.api.objects import Pod

SECOND = 10**9
FLUSH_EVERY_NS = 30 * SECOND
"""How often those who were set aside for long are looked for."""
ASIDE_NS = 5 * 60 * SECOND
"""How long a pod is set aside at most before it is tried all the same."""


def gate_message(pod: Pod) -> str | None:
    """Why a pod does not even enter the queue; None: it does.

    >>> from gnomon.systems.kubernetes.api.objects import PodSpec
    >>> gate_message(Pod("p", spec=PodSpec(scheduling_gates=("example.com/hold",))))
    'waiting for scheduling gates: [example.com/hold]'
    """
    gates = pod.spec.scheduling_gates
    return f"waiting for scheduling gates: [{' '.join(gates)}]" if gates else None


def unscheduled_message(pod: Pod) -> str:
    """Why a pod is not tried whose scheduler is not there."""
    return f"no scheduler of the name {pod.spec.scheduler_name} is set up, and nobody looks at it"


@dataclass
class Queued:
    """A pod in the queue. ``entered_ns``: refreshed each time that it returns; ``refused``: how often plugins did;
    ``by``: which plugins refused it last, whose events may help; ``serial`` parts those that entered at one time."""

    pod: Pod
    entered_ns: int
    serial: int = 0
    refused: int = 0
    by: frozenset[str] = frozenset()
    ready_ns: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """The key by which the ready sort."""
        return -self.pod.priority, self.entered_ns, self.serial


@dataclass
class SchedulingQueue:
    """The queue of one scheduler. Who was refused backs off, ``initial_s`` after the first time, doubled each time up
    to ``max_s``. ``pop_early``: with nobody ready, one that backs off is taken at once (SchedulerPopFromBackoffQ, on
    since 1.33)."""

    initial_s: int = 1
    max_s: int = 10
    pop_early: bool = True
    aside: dict[str, Queued] = field(default_factory=dict)
    """Set aside, gated pods included, by key."""
    _ready: list[tuple[tuple[int, int, int], Queued]] = field(default_factory=list)
    _backing: list[tuple[int, tuple[int, int, int], Queued]] = field(default_factory=list)
    _late: list[tuple[int, tuple[int, int, int], Queued]] = field(default_factory=list)
    """Backing off, and not to be taken early."""
    _live: dict[str, Queued] = field(default_factory=dict)
    """Those in one of the heaps; an entry that is not its pod's own here has been taken out."""
    _serial: int = 0

    def add(self, pod: Pod, now_ns: int, *, refused: int = 0) -> None:
        """A new pod, or one whose gates may have gone. ``refused``: how often it had a node and lost it again before it
        was bound; it backs off, and is not taken before that is over."""
        self.remove(pod.key)
        self._serial += 1
        entry = Queued(pod, now_ns, self._serial)
        if gate_message(pod) is not None:
            self.aside[pod.key] = entry
        elif refused:
            entry.refused = refused
            entry.ready_ns = now_ns + self._backoff_ns(refused)
            self._live[pod.key] = entry
            heapq.heappush(self._late, (entry.ready_ns, entry.order, entry))
        else:
            self._push_ready(entry)

    def pop(self, now_ns: int) -> Queued | None:
        """The next to try; None when nobody may be tried now."""
        self._end_backoffs(now_ns)
        while self._ready:
            _, entry = heapq.heappop(self._ready)
            if self._live.get(entry.pod.key) is entry:
                del self._live[entry.pod.key]
                return entry
        while self.pop_early and self._backing:
            _, _, entry = heapq.heappop(self._backing)
            if self._live.get(entry.pod.key) is entry:
                del self._live[entry.pod.key]
                return entry
        return None

    def refuse(self, entry: Queued, now_ns: int, by: Iterable[str], *, events: bool = False) -> None:
        """An attempt failed. ``events``: something that may help happened meanwhile, so it is not set aside."""
        self._serial += 1
        entry.refused += 1
        entry.by = frozenset(by)
        entry.entered_ns, entry.serial = now_ns, self._serial
        if events:
            self._return(entry, now_ns)
        else:
            self.aside[entry.pod.key] = entry

    def wake(self, keys: Iterable[str], now_ns: int, *, at_once: bool = False) -> None:
        """An event may help these pods: they back off or, when that is over or ``at_once``, are ready."""
        for key in list(keys):
            entry = self.aside.get(key)
            if entry is not None and gate_message(entry.pod) is None:
                del self.aside[key]
                if at_once:
                    self._push_ready(entry)
                else:
                    self._return(entry, now_ns)

    def flush(self, now_ns: int) -> None:
        """Wake those that have been set aside for more than five minutes."""
        self.wake([key for key, one in self.aside.items() if now_ns - one.entered_ns > ASIDE_NS], now_ns)

    def remove(self, key: str) -> None:
        """A pod is gone."""
        self.aside.pop(key, None)
        self._live.pop(key, None)

    def next_expiry_ns(self) -> int | None:
        """When the next back-off ends: at a whole second, where it is looked for; None: nobody backs off."""
        return min((entry.ready_ns for entry in self._live.values() if entry.ready_ns), default=None)

    def waiting(self) -> Iterator[Queued]:
        """All pods in the queue, in no order."""
        yield from self._live.values()
        yield from self.aside.values()

    def _return(self, entry: Queued, now_ns: int) -> None:
        expiry = entry.entered_ns + self._backoff_ns(entry.refused)
        if self.pop_early:
            expiry -= expiry % SECOND  # backing off in whole seconds, so that those of one second sort by priority
        if self._over(expiry, now_ns):
            self._push_ready(entry)
            return
        entry.ready_ns = expiry
        self._live[entry.pod.key] = entry
        heapq.heappush(self._backing, (expiry, entry.order, entry))

    def _backoff_ns(self, refused: int) -> int:
        return doubling_ns(refused, self.initial_s * SECOND, self.max_s * SECOND)

    def _over(self, expiry_ns: int, now_ns: int) -> bool:
        return expiry_ns < now_ns - now_ns % SECOND if self.pop_early else expiry_ns <= now_ns

    def _end_backoffs(self, now_ns: int) -> None:
        for heap in (self._backing, self._late):
            while heap and self._over(heap[0][0], now_ns):
                _, _, entry = heapq.heappop(heap)
                if self._live.get(entry.pod.key) is entry:
                    self._push_ready(entry)

    def _push_ready(self, entry: Queued) -> None:
        entry.ready_ns = 0
        self._live[entry.pod.key] = entry
        heapq.heappush(self._ready, (entry.order, entry))
