"""Tasks that read the results of others: when they may be queued, and what is made again when results are lost."""

from __future__ import annotations

from collections.abc import Callable

from gnomon.control.board import Board
from gnomon.control.plans import GIVES, Plans
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.lineage import LOST, lost

_UNFINISHED = (State.UNBORN, State.WAITING, State.DELAYED, State.HELD)


class Results:
    """Who needs whose result. ``queue(task, cause)`` puts a task into its queue again."""

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, plans: Plans) -> None:
        self._work, self._board, self._timers, self._plans = scenario.work, board, timers, plans
        self._needs = dict(scenario.work.needs)
        self._readers: dict[int, list[int]] = {}
        for task, others in self._needs.items():
            for other in others:
                self._readers.setdefault(other, []).append(task)
        self._waiting: dict[int, int] = {}
        self._gone: set[int] = set()
        self.queue: Callable[[int, int], None] = lambda task, cause: None

    def begin(self) -> None:
        """Enter when those who read results are submitted, and watch those who make them."""
        for task in self._readers:
            self._board.w.watch[task] |= GIVES
        for task in self._needs:
            self._timers.at(int(self._work.submit_ns[task]), lambda task=task: self._arrive(task))  # type: ignore[misc]

    def _arrive(self, task: int) -> None:
        """A reader is submitted: it waits for results, or in its queue."""
        row = self._board.row(Kind.ARRIVE, task=task)
        self._board.w.arrive_row[task] = row
        self._await(task, row)

    def _await(self, task: int, row: int) -> None:
        if self._ready(task):
            self.queue(task, row)
        else:
            self._waiting[task] = self._board.delay([task], Reason.NEEDS, row, NEVER)

    def _ready(self, task: int) -> bool:
        return all(self._board.state(other) is State.DONE for other in self._needs.get(task, ()))

    def done(self, task: int, row: int) -> None:
        """A task is done: who has all that it needs now is queued."""
        self._gone.discard(task)
        for reader in self._readers.get(task, ()):
            if reader in self._waiting and self._ready(reader):
                del self._waiting[reader]
                self.queue(reader, row)

    def node_lost(self, node: int, row: int) -> None:
        """The results on a node are lost: those that somebody still needs are made again, and only those."""
        board = self._board
        if not self._readers:
            return
        done = [task for task in self._readers if board.state(task) is State.DONE]
        self._gone.update(task for task in done if board.w.node[task] == node)
        held = {task: LOST if task in self._gone else int(board.w.node[task]) for task in done}
        unfinished = [task for task in self._needs if board.state(task) in _UNFINISHED]
        for task in lost(held, self._needs, node, unfinished):
            again = board.row(Kind.UNDO, task=task, node=node, cause=row, reason=Reason.NODE)
            board.w.state[task] = int(State.FAILED)
            self._plans.saved_ns.pop(task, None)
            self._plans.attempt[task] = self._plans.attempt.get(task, 0) + 1
            self._plans.next(task)
            self._await(task, again)
        for task in unfinished:
            if board.state(task) is State.WAITING and not self._ready(task):
                board.leave_queue(task)
                self._waiting[task] = board.delay([task], Reason.NEEDS, row, NEVER)

    @property
    def waiting(self) -> bool:
        """Whether somebody waits for results."""
        return bool(self._waiting)
