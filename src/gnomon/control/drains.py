"""Drains: an operator empties a node, as fast as the disruption budgets allow."""

from __future__ import annotations

import numpy as np

from gnomon.control.board import CORDONED, Board
from gnomon.control.machines import Machines
from gnomon.control.plans import SAVES
from gnomon.control.redistribution import Redistribution
from gnomon.engine.log import Kind, Reason, State
from gnomon.model.scenario import Scenario
from gnomon.model.work import IntArray
from gnomon.recovery.budgets import allows

_PLACED = (State.RUNNING, State.HELD)
_AWAY = (int(State.WAITING), int(State.DELAYED), int(State.FAILED))


class Drains:
    """The nodes that are being emptied, and who is away from a job for their sake."""

    def __init__(self, scenario: Scenario, board: Board, machines: Machines, redistribution: Redistribution) -> None:
        self._work, self._budgets = scenario.work, scenario.operation.budgets
        self._waits = scenario.operation.orphans == "wait"
        self._board, self._machines, self._redistribution = board, machines, redistribution
        self._draining: dict[int, int] = {}
        self._drains: dict[int, set[int]] = {}
        self._refused: set[int] = set()
        self._tasks_of: dict[int, IntArray] = {}

    def begin(self, node: int, number: int, cause: int) -> None:
        """Close a node and send its tasks elsewhere; the number of the drain."""
        self._drains.setdefault(node, set()).add(number)
        self._draining[node] = self._board.close(node, CORDONED, cause)
        self.go_on()

    def end(self, node: int, number: int) -> None:
        """Nobody is sent away any more, unless for another drain."""
        self._drains[node].discard(number)
        if not self._drains[node]:
            self._draining.pop(node, None)

    def go_on(self) -> None:
        """Send away whom the budgets let go now."""
        for node, row in self._draining.items():
            if self._waits and self._machines.is_silent(node):
                continue  # nobody knows whether they have stopped
            for task in self._board.placed(node):
                if self._board.w.node[task] != node or self._board.state(task) not in _PLACED:
                    continue  # it went with its gang
                placer = self._redistribution.placer
                if placer is None or not placer.drains(task, row):
                    self._send_away(task, row)

    def _peers(self, job: int) -> IntArray:
        if job not in self._tasks_of:
            self._tasks_of[job] = np.flatnonzero(self._work.job == job)
        return self._tasks_of[job]

    def _send_away(self, task: int, row: int) -> None:
        board, job = self._board, self._work.job_name(task)
        peers = self._peers(int(self._work.job[task]))
        away = int(np.isin(board.w.state[peers], _AWAY).sum())
        going = sum(board.state(member) in _PLACED for member in board.members(task))  # a gang goes as a whole
        if not allows(self._budgets, job, away + going - 1):
            if task not in self._refused:
                self._refused.add(task)
                board.row(
                    Kind.REFUSE, task=task, node=int(board.w.node[task]), cause=row, reason=Reason.DRAINED, value=away
                )
            board.w.watch[peers] |= SAVES
            return
        self._refused.discard(task)
        board.w.watch[task] |= SAVES
        self._redistribution.fail(task, Reason.DRAINED, row)
