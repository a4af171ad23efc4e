"""Tasks that read the results of others: when they may be queued, and what is made again when results are lost.

A gang is queued as a whole, so it waits for all that any of its tasks reads.
"""

from __future__ import annotations

from collections.abc import Callable

from gnomon.control.board import Board
from gnomon.control.plans import GIVES, Plans
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.lineage import LOST, lost
from gnomon.scheduling.events import refuse

_UNFINISHED = (State.UNBORN, State.WAITING, State.DELAYED, State.HELD)
_NOWHERE = -2
"""No node: all that is lost is known to be so."""


class Results:
    """Who needs whose result.

    ``coming``: how many units are still to be submitted. ``queue(task, cause)`` puts the unit of a task into its queue
    again; ``undo(task, cause)`` takes the result of a task back, so that it has to be made again.
    """

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, plans: Plans) -> None:
        self._work, self._board, self._timers, self._plans = scenario.work, board, timers, plans
        self._needs = dict(scenario.work.needs)
        self._readers: dict[int, list[int]] = {}
        for task, others in self._needs.items():
            for other in others:
                self._readers.setdefault(other, []).append(task)
        self._heads = sorted({self._board.head(task) for task in self._needs})
        self._waiting: dict[int, int] = {}
        self.coming = 0
        self._gone: set[int] = set()
        self.queue: Callable[[int, int], None] = lambda task, cause: None
        self.undo: Callable[[int, int], None] = lambda task, cause: None

    def begin(self) -> None:
        """Enter when those who read results are submitted, and watch those who make them."""
        for task in self._readers:
            self._board.w.watch[task] |= GIVES
        for head in self._heads:
            submit = max(int(self._work.submit_ns[member]) for member in self._board.members(head))
            if submit < NEVER:
                self.submit(head, submit)

    def submit(self, task: int, at_ns: int) -> None:
        """Enter when the unit of a task is submitted."""
        self.coming += 1
        self._timers.at(at_ns, lambda: self._arrive(task))

    def _arrive(self, task: int) -> None:
        """The unit of a task is submitted: it waits for results, or in its queue."""
        self.coming -= 1
        board, head, row = self._board, self._board.head(task), -1
        for member in board.members(head):
            if board.state(member) is State.KILLED:  # it was withdrawn, and is wanted again: it has all before it
                self._plans.next(member)
            row = board.row(Kind.ARRIVE, task=member)
            board.w.arrive_row[member] = row
        unit = int(board.w.unit[head])
        if board.w.verdict[unit]:
            refuse(board.room(16 + len(board.members(head))), unit, int(board.w.verdict[unit]))
        elif not self.must_wait(head, row):
            self.queue(head, row)

    def must_wait(self, task: int, row: int) -> bool:
        """Whether the unit of a task cannot be queued yet; it is when all is there that it reads."""
        head = self._board.head(task)
        if self._ready(head):
            return False
        self._wait(head, row)
        self._make_again(row)
        return True

    def _wait(self, head: int, row: int) -> None:
        self._waiting[head] = self._board.delay(self._board.members(head), Reason.NEEDS, row, NEVER)

    def _ready(self, head: int) -> bool:
        """Whether all is there that a unit reads."""
        needs = (other for member in self._board.members(head) for other in self._needs.get(member, ()))
        return all(self._board.state(other) is State.DONE and other not in self._gone for other in needs)

    def done(self, task: int, row: int) -> None:
        """A task is done: who has all that it needs now is queued."""
        self._gone.discard(task)
        for reader in self._readers.get(task, ()):
            head = self._board.head(reader)
            if head in self._waiting and self._ready(head):
                del self._waiting[head]
                self.queue(head, row)

    def node_lost(self, node: int, row: int) -> None:
        """The results on a node are lost: those that somebody still needs are made again, and only those."""
        if not self._readers:
            return
        w = self._board.w
        self._gone.update(task for task in self._readers if w.state[task] == State.DONE and w.node[task] == node)
        self.recheck(row)
        self._make_again(row)

    def recheck(self, row: int) -> None:
        """Who waits in a queue, and lacks a result now, leaves it."""
        for head in self._heads:
            if self._board.state(head) is State.WAITING and not self._ready(head):
                self._board.leave_queue(head)
                self._wait(head, row)

    def _make_again(self, row: int) -> None:
        """Take back the results that are gone and that somebody needs."""
        board = self._board
        held = {task: LOST if task in self._gone else int(board.w.node[task]) for task in self._done()}
        unfinished = [task for task in self._needs if board.state(task) in _UNFINISHED]
        for task in lost(held, self._needs, _NOWHERE, unfinished):
            if board.state(task) is State.DONE:  # not taken back already, with its gang
                self.undo(task, row)

    def _done(self) -> list[int]:
        return [task for task in self._readers if self._board.state(task) is State.DONE]

    def cancel(self, task: int) -> None:
        """The unit of a task that waits for results is not wanted any more."""
        self._waiting.pop(self._board.head(task), None)

    @property
    def waiting(self) -> list[int]:
        """The first tasks of the units that wait for results."""
        return list(self._waiting)
