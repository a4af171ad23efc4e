"""Keeping as many pods as a ReplicaSet wants: creating those that lack, deleting those that are too many.

Source: ``pkg/controller/replicaset``: pods that are terminating do not count, so one that is deleted is replaced at
once; the first creation that is refused ends a sync, and the set is looked at again after a delay that doubles
(``retrying``), or when something happens to a pod of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gnomon.engine.log import Reason
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.controllers.desk import Controller, Desk
from gnomon.systems.kubernetes.controllers.retrying import Retrying
from gnomon.systems.kubernetes.controllers.rollout import Active, to_delete
from gnomon.systems.kubernetes.fleets.fleet import Fleet


class ReplicaSetController:
    """One ReplicaSet (or ReplicationController, or DaemonSet, whose pods come one a node)."""

    def __init__(self, fleet: Fleet, desk: Desk) -> None:
        self.fleet, self._desk = fleet, desk
        self.wanted = fleet.wanted
        self._held: dict[int, int] = {}
        self._coming: set[int] = {task for task in fleet.tasks if task in desk.submitted}
        self._born: set[int] = set(self._coming)
        self._retry = Retrying(desk)
        self._alive = desk.alive_of(fleet.tasks)
        self._woken = False
        self.scaled_row = -1
        self.above: Controller | None = None
        self.family: Sequence[ReplicaSetController] = (self,)

    @property
    def tasks(self) -> Iterable[int]:
        """Its places."""
        return self.fleet.tasks

    @property
    def about(self) -> str:
        """Its name."""
        return f"{self.fleet.kind} {self.fleet.namespace}/{self.fleet.name}"

    def active(self) -> list[int]:
        """The tasks of its pods that are there, and not terminating."""
        return sorted(self._alive)

    def scale(self, wanted: int, row: int) -> None:
        """It is to have so many pods from now on."""
        self.wanted, self.scaled_row, self._woken = wanted, row, True
        self.sync()

    def enter(self, task: int, row: int) -> None:
        """A pod of its own is to be created."""
        self._coming.discard(task)
        self._held[task] = row
        self._desk.touch(self)

    def lost(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """A pod is gone: it is replaced at once, if it still lacks."""
        self._woken = True
        now = self._desk.now
        return replace(usual, retry=True, delay_ns=0, in_place=False, at_ns=now, limit=-1)

    def present(self, task: int) -> None:
        """A pod of its own was there from the beginning."""
        self._coming.discard(task)

    def wake(self) -> None:
        """Something happened to a pod of its own: that concerns whoever scales it, too."""
        self._woken = True
        self._desk.touch(self)
        if self.above is not None:
            self._desk.touch(self.above)

    def sync(self) -> None:
        """Create what lacks, delete what is too many."""
        woken, self._woken = self._woken, False
        lacking = self.wanted - len(self._alive) - len(self._coming)
        for task in list(self._held)[max(lacking, 0) :]:
            del self._held[task]
            self._desk.delete(task, self.scaled_row)
        if lacking < 0:
            self._shrink(-lacking)
        elif self._held and not self._retry.blocked(woken=woken):
            self._create()
        lacking = self.wanted - len(self._alive) - len(self._coming) - len(self._held)
        for task in [task for task in self.fleet.tasks if task not in self._born][: max(lacking, 0)]:
            self._born.add(task)
            self._coming.add(task)
            self._desk.hands.submit(task, self._desk.now)

    def _create(self) -> None:
        """Create pods until one is refused."""
        for task, row in list(self._held.items()):
            text = self._desk.create(task, row)
            if text is not None:
                self._desk.refusal(task, text)
                for other in self._held:  # which are not even tried, and wait for the same
                    self._desk.refusal(other, text, again=False)
                self._retry.refused(self)
                return
            del self._held[task]
        self._retry.done()

    def _shrink(self, count: int) -> None:
        desk = self._desk
        active = self.active()
        related = [task for one in self.family for task in one.active()]
        nodes = Counter(desk.node[task] for task in related if task in desk.node)
        ranked = [
            Active(
                task,
                task in desk.node,
                task in desk.node,
                desk.ready_from[task] if desk.is_ready(task) else None,
                nodes.get(desk.node.get(task, -1), 0),
                desk.created[task],
            )
            for task in active
        ]
        for task in to_delete(ranked, min(count, len(active))):
            desk.delete(task, self.scaled_row)

    def waiting(self) -> Iterable[int]:
        """The tasks that are held back."""
        return self._held

    def is_busy(self) -> bool:
        """Whether a pod that was refused may be taken now."""
        return self._retry.is_promising()
