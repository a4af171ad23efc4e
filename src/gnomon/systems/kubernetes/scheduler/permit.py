"""Pods that have a node and wait at Permit for the rest of their gang (rules in ``gangs``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gnomon.control.board import Board
from gnomon.control.placer import Hands
from gnomon.control.timers import Timers
from gnomon.engine.log import Reason, State
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.scheduler.gangs import Gang


@dataclass
class Permit:
    """``gangs``: by task; ``waiting``: those who hold a node, with the timer of their patience; ``rejected``: those
    whose place was just given back."""

    board: Board
    timers: Timers
    hands: Hands
    desk: Desk
    gangs: dict[int, Gang]
    activate: Callable[[list[int]], None]
    waiting: dict[int, int] = field(default_factory=dict)
    rejected: set[int] = field(default_factory=set)
    rejections: Counter[int] = field(default_factory=Counter)
    _rejected_now: bool = False

    def too_few(self, task: int, name: str) -> str | None:
        """Why the pod of a task is not even tried."""
        gang = self.gangs.get(task)
        if gang is None:
            return None
        return gang.too_few(name, sum(one in self.desk.created for one in gang.tasks))

    def _assigned(self, gang: Gang) -> int:
        return gang.assigned(self.waiting) + gang.assigned(self.desk.node)

    def bind(self, task: int, node: int, cause: int) -> None:
        """A pod has a node: it starts, with all who waited for it, or waits for more."""
        gang = self.gangs.get(task)
        if gang is None or gang.is_complete(self._assigned(gang) + 1):
            self.board.start_here(task, node, 0, cause)
            row = int(self.board.w.start_row[task])
            for one in self._take(gang) if gang is not None else ():
                self.board.start_held(one, row)
            return
        row = self.board.hold_here(task, node, 0, cause)
        self.waiting[task] = self.timers.at(self.board.now + gang.wait_ns, lambda: self._give_up(task, row))
        self.activate([one for one in gang.tasks if one != task])

    def failed(self, task: int, row: int) -> None:
        """A pod of a gang fits nowhere: those who wait give their places back, unless the gang is almost complete."""
        gang = self.gangs.get(task)
        if gang is not None and gang.is_far(self._assigned(gang)):
            self._reject(
                gang, row, f"rejected by {gang.group.name} in PostFilter: {self.desk.pods[task].name} fits nowhere"
            )

    def _give_up(self, task: int, row: int) -> None:
        gang = self.gangs[task]
        self._reject(gang, row, f"{self.desk.pods[task].name} waited {gang.wait_ns // 10**9} s for its group")

    def _reject(self, gang: Gang, row: int, text: str) -> None:
        for one in self._take(gang):
            self.rejected.add(one)
            self.rejections[one] += 1
            self._rejected_now = True
            self.hands.fail(one, Reason.PEER, row, details={"message": text})

    def rejected_now(self) -> bool:
        """Whether places were given back since this was asked last."""
        found, self._rejected_now = self._rejected_now, False
        return found

    def _take(self, gang: Gang) -> list[int]:
        """Those of a gang who hold a node; they wait no more."""
        found = [one for one in self.waiting if one in gang.tasks]
        for one in found:
            self.timers.cancel(self.waiting.pop(one))
        return [one for one in found if self.board.state(one) is State.HELD]
