"""What goes wrong and when: the faults of a scenario, single ones and drawn ones, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from gnomon.model.fault import Failure, FailureProcess, Fault
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.processes import faults_of
from gnomon.recovery.targets import NOBODY, Directory, Targets, resolve

__all__ = ["Event", "Schedule", "Targets", "resolve"]


@dataclass(frozen=True, slots=True)
class Event:
    """A fault that begins at ``failure.at_ns`` and is over at ``failure.until_ns``.

    ``number``: 0, 1, ... in the order in which faults begin. ``failure``: of a process, with the times drawn, its
    ``targets`` the one that it is. ``others``: of a partition, the other side, whatever was said of it.
    """

    number: int
    failure: Failure
    targets: Targets
    others: Targets = NOBODY


@dataclass(slots=True)
class _Source:
    """Where the faults of one process and one target come from."""

    process: FailureProcess
    names: tuple[str, ...]
    targets: Targets
    others: Targets
    times: Iterator[tuple[int, int]]
    length_ns: int = 0


class Schedule:
    """The faults of a scenario in the order in which they begin, those of one moment by their place in the scenario,
    then by target. Processes are drawn as far as they are asked for, so that they need no end.

    The same seed gives the same times whatever else differs between two scenarios: each process draws, for each
    target, from a stream that the seed, its position and the target's name alone make.

    Raises InputError for targets that are not there; all else is checked before a run
    (:mod:`gnomon.control.faults.checks`).

    >>> from gnomon.model.cluster import Cluster
    >>> from gnomon.model.work import Task, Work
    >>> faults = Failure(Fault.CRASH, at_ns=7, for_ns=2, targets=("pool",)), Failure(Fault.KILL, 5, targets=("job/t",))
    >>> schedule = Schedule(Scenario(Cluster.of_processors(1), Work.from_tasks([Task("t")]), faults=faults))
    >>> schedule.next_ns(), [event.failure.kind.value for event in schedule.pop(5)], schedule.next_ns()
    (5, ['kill'], 7)
    """

    def __init__(self, scenario: Scenario) -> None:
        self._faults, self._directory, self._popped = scenario.faults, Directory(scenario), 0
        self._sources: list[_Source | None] = []
        self._due: list[tuple[int, int, int]] = []
        """When, the position in the scenario, and which of the sources (-1: none, a single fault)."""
        for position, fault in enumerate(scenario.faults):
            if isinstance(fault, Failure):
                self._due.append((fault.at_ns, position, -1))
                continue
            for name, names, targets in self._targets_of(fault, position):
                times = faults_of(fault, scenario.seed, f"fault {position} {name}")
                source = _Source(fault, names, targets, self._others(fault, targets, position), times)
                if (at := _advance(source)) < NEVER:
                    self._due.append((at, position, len(self._sources)))
                    self._sources.append(source)
        heapify(self._due)

    def next_ns(self) -> int:
        """When the next fault begins, NEVER if none does."""
        return self._due[0][0] if self._due else NEVER

    def add(self, failure: Failure) -> None:
        """One fault more, which begins now or later. Raises InputError for targets that are not there."""
        position = len(self._faults)
        self._single_targets(failure, position)
        self._faults = (*self._faults, failure)
        heappush(self._due, (failure.at_ns, position, -1))

    def pop(self, now: int) -> list[Event]:
        """All faults that begin at ``now`` or before and have not been popped yet, in their order."""
        events = []
        while self._due and self._due[0][0] <= now:
            at, position, number = self._due[0]
            source = None if number < 0 else self._sources[number]
            fault = self._faults[position]
            if source is not None:
                events.append(self._drawn(source, at))
                following = _advance(source)
                if following < NEVER:
                    heapreplace(self._due, (following, position, number))
                    continue
                self._sources[number] = None
            elif isinstance(fault, Failure):
                events.append(self._single(fault, position))
            heappop(self._due)
        return events

    def _single(self, failure: Failure, position: int) -> Event:
        targets = self._single_targets(failure, position)
        return Event(self._number(), failure, targets, self._others(failure, targets, position))

    def _single_targets(self, failure: Failure, position: int) -> Targets:
        return self._directory.resolve(failure.targets, kind=failure.kind, field=f"faults[{position}].targets")

    def _drawn(self, source: _Source, at: int) -> Event:
        process = source.process
        failure = Failure(process.kind, at, source.length_ns, source.names, process.others, process.amount)
        return Event(self._number(), failure, source.targets, source.others)

    def _number(self) -> int:
        self._popped += 1
        return self._popped - 1

    def _targets_of(self, process: FailureProcess, position: int) -> list[tuple[str, tuple[str, ...], Targets]]:
        """The name, the names of the targets, and the targets of each of a process's streams."""
        field = f"faults[{position}].targets"
        targets = self._directory.resolve(process.targets, kind=process.kind, field=field)
        if process.together or not targets:  # nobody named: the present leader
            return [("together", process.targets, targets)]
        return [(name, (name,), one) for name, one in self._directory.each(targets)]

    def _others(self, fault: Failure | FailureProcess, targets: Targets, position: int) -> Targets:
        if fault.kind is not Fault.PARTITION:
            return NOBODY
        if not fault.others:
            return self._directory.rest(targets)
        return self._directory.resolve(fault.others, kind=fault.kind, field=f"faults[{position}].others")


def _advance(source: _Source) -> int:
    """When the source's next fault begins, NEVER if it has none; its length is the source's then."""
    at, source.length_ns = next(source.times, (NEVER, 0))
    return at
