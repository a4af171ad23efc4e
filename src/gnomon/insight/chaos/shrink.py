"""Making a schedule that breaks a property small: fewer faults, then simpler ones.

First ddmin (A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, figure
3) over the faults, then each fault by itself: fewer targets, milder, shorter, at a rounder time. Whatever stays breaks
the same property. The order of all that is tried is fixed, and how much is tried is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gnomon.control.faults import KINDS
from gnomon.control.faults.kind import Unit
from gnomon.insight.chaos.generate import ladder
from gnomon.insight.chaos.schedules import INSTANTS, Schedule, in_order
from gnomon.model.fault import Failure
from gnomon.model.resources import NEVER

TRIALS_MAX = 400
"""How many runs making one schedule small may take."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """``minimal``: the property holds if any one of the faults is left out (else the runs were used up before that was
    known). ``trials``: the runs that it took."""

    schedule: Schedule
    trials: int
    minimal: bool


class _ExhaustedError(Exception):
    """No more runs may be made."""


class _Trials:
    """Runs schedules, each once, and keeps the smallest that breaks the property."""

    def __init__(self, breaks: Callable[[Schedule], bool], best: Schedule, most: int) -> None:
        self.best = best
        self.left = most
        self.made = 0
        self._breaks = breaks
        self._known: dict[Schedule, bool] = {best: True}

    def __call__(self, schedule: Schedule) -> bool:
        """Whether a schedule breaks the property; if so, it is the best from now on."""
        if schedule not in self._known:
            if self.left <= 0:
                raise _ExhaustedError
            self.left, self.made = self.left - 1, self.made + 1
            self._known[schedule] = self._breaks(schedule)
        if self._known[schedule]:
            self.best = schedule
        return self._known[schedule]


def shrink(schedule: Schedule, breaks: Callable[[Schedule], bool], *, grain_ns: int, most: int = TRIALS_MAX) -> Shrunk:
    """The smallest schedule found that still breaks the property, as ``schedule`` does.

    Two of three faults are needed here, and only from a minute on:

    >>> from gnomon.model.fault import Fault
    >>> kinds = (Fault.CRASH, Fault.REBOOT, Fault.DRAIN)
    >>> crash, reboot, drain = (Failure(kind, 3_601 * 10**9, 90 * 10**9) for kind in kinds)
    >>> def breaks(tried):
    ...     kinds = {one.kind for one in tried if one.at_ns >= 60 * 10**9}
    ...     return {Fault.CRASH, Fault.DRAIN} <= kinds
    >>> found = shrink((crash, reboot, drain), breaks, grain_ns=10**9)
    >>> [(one.kind.value, one.at_ns // 10**9, one.for_ns // 10**9) for one in found.schedule], found.minimal
    ([('crash', 3600, 1), ('drain', 3600, 1)], True)
    """
    trials = _Trials(breaks, schedule, most)
    try:
        if schedule and not trials(()):
            before: Schedule | None = None
            while before != trials.best:
                before = trials.best
                _fewer(trials)
                _simpler(trials, grain_ns)
    except _ExhaustedError:
        return Shrunk(trials.best, trials.made, False)
    return Shrunk(trials.best, trials.made, True)


def _fewer(trials: _Trials) -> None:
    """ddmin: parts of the faults, and what is left without each part, in ever smaller parts."""
    parts = 2
    while len(trials.best) >= 2:
        faults = trials.best
        chunks = [faults[i * len(faults) // parts : (i + 1) * len(faults) // parts] for i in range(parts)]
        if any(trials(chunk) for chunk in chunks):
            parts = 2
        elif parts > 2 and any(trials(_without(faults, chunk)) for chunk in chunks):
            parts -= 1
        elif parts < len(faults):
            parts = min(2 * parts, len(faults))
        else:
            return


def _without(faults: Schedule, chunk: Schedule) -> Schedule:
    return tuple(fault for fault in faults if fault not in chunk)


def _simpler(trials: _Trials, grain_ns: int) -> None:
    """Each fault as simple as it can be while the others stay; the first of the candidates that does is taken."""
    for fault in trials.best:
        for candidates in (_fewer_targets, _milder, _shorter, _rounder):
            current = fault
            moved = True
            while moved:
                moved = False
                rest = tuple(one for one in trials.best if one != current)
                for simpler in candidates(current, grain_ns):
                    if simpler not in rest and trials(in_order((*rest, simpler))):
                        current, moved = simpler, candidates is not _rounder
                        break
            fault = current


def _fewer_targets(fault: Failure, grain_ns: int) -> Iterator[Failure]:
    """One target, or one of the other side, less; none of the other side stands for all the rest."""
    if len(fault.targets) > 1:
        for target in fault.targets:
            yield replace(fault, targets=tuple(one for one in fault.targets if one != target))
    if fault.others:
        yield replace(fault, others=())


def _milder(fault: Failure, grain_ns: int) -> Iterator[Failure]:
    """Half as bad: nearer to full speed, fewer messages lost, less delay, a slower leak, more of the disk left."""
    amount, now = KINDS[fault.kind].amount, fault.amount
    lengths = ladder(grain_ns, now) if amount and amount.unit is Unit.NS else ()
    half = amount.milder(now, lengths) if amount else now
    if half != now:
        yield replace(fault, amount=half)


def _shorter(fault: Failure, grain_ns: int) -> Iterator[Failure]:
    """As short as can be, half as long, or the next shorter length that people use; of what never ends, nothing."""
    if fault.kind in INSTANTS or fault.for_ns >= NEVER:
        return
    lengths = (grain_ns, _on_grain(fault.for_ns // 2, grain_ns), _step_below(fault.for_ns, grain_ns))
    for length in dict.fromkeys(lengths):
        if grain_ns <= length < fault.for_ns:
            yield replace(fault, for_ns=length)


def _rounder(fault: Failure, grain_ns: int) -> Iterator[Failure]:
    """The nearest time (of two that are as near the later one) that is a multiple of an hour, of 45 minutes, … down to
    what it is a multiple of itself; then the other neighbour."""
    steps = [step for step in ladder(grain_ns, 3_600 * 10**9) if fault.at_ns >= step]
    for step in reversed(steps):
        if fault.at_ns % step == 0:
            return
        below = fault.at_ns // step * step
        later = below + step, below
        for at_ns in later if fault.at_ns - below >= step / 2 else reversed(later):
            yield replace(fault, at_ns=at_ns)


def _step_below(ns: int, grain_ns: int) -> int:
    return max((length for length in ladder(grain_ns, ns) if length < ns), default=ns)


def _on_grain(ns: int, grain_ns: int) -> int:
    return max(ns // grain_ns, 1) * grain_ns
