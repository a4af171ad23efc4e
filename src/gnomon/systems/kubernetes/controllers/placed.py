"""What StatefulSets and DaemonSets share: a place for each pod, which the version that is wanted fills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gnomon.engine.log import Reason
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.retrying import Retrying
from gnomon.systems.kubernetes.fleets.fleet import Fleet


class PlacedController:
    """One workload; ``fleets`` by their numbers, one a version, each with the tasks of its places. ``specs``: the
    versions, as (from when, what is wanted, number of its fleet). Which places are filled is said by ``sync``."""

    kind: ClassVar[str]

    def __init__(self, specs: Sequence[tuple[int, Any, int]], fleets: dict[int, Fleet], desk: Desk) -> None:
        self._specs, self._fleets, self._desk = specs, fleets, desk
        self.tasks: Sequence[int] = [task for fleet in fleets.values() for task in fleet.tasks]
        self._held: dict[int, int] = {}
        self._coming: set[int] = {task for task in self.tasks if task in desk.submitted}
        self._retry = Retrying(desk)
        self._woken = False
        for at_ns, _, _ in specs:
            desk.at(at_ns, self)

    @property
    def about(self) -> str:
        """Its name."""
        one = next(iter(self._fleets.values()))
        return f"{self.kind} {one.namespace}/{one.workload}"

    def present(self, task: int) -> None:
        """A pod of its own was there from the beginning."""
        self._coming.discard(task)

    def wake(self) -> None:
        """Something happened to a pod of its own."""
        self._woken = True
        self._desk.touch(self)

    def enter(self, task: int, row: int) -> None:
        """A pod of its own is to be created."""
        self._coming.discard(task)
        self._held[task] = row
        self.wake()

    def lost(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """A pod is gone, and known to be: it may be made anew, when it is its turn."""
        self._desk.touch(self)
        return replace(usual, retry=True, delay_ns=0, in_place=False, at_ns=self._desk.now, limit=-1)

    def sync(self) -> None:
        """Do what is to be done now."""
        raise NotImplementedError

    def waiting(self) -> Iterable[int]:
        """The tasks that are held back."""
        return self._held

    def is_busy(self) -> bool:
        """Whether a change is still to come, or a pod that was refused may be taken now."""
        return self._specs[-1][0] > self._desk.now or self._retry.is_promising()

    def _due(self) -> list[tuple[int, Any, int]]:
        """The versions that were wanted up to now; none while pods are on their way, or refused ones have to wait."""
        specs = [one for one in self._specs if one[0] <= self._desk.now]
        if not specs:
            return []
        woken, self._woken = self._woken, False
        return [] if self._retry.blocked(woken=woken) or self._coming else specs

    def _create(self, wanted: int) -> bool:
        """Create the pod of a task; whether it was taken, or is on its way."""
        desk = self._desk
        if wanted not in self._held:
            self._coming.add(wanted)
            desk.hands.submit(wanted, desk.now)
            return True
        text = desk.create(wanted, self._held[wanted])
        if text is None:
            del self._held[wanted]
            return True
        desk.refusal(wanted, text)
        self._retry.refused(self)
        return False
