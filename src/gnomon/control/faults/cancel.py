"""A user withdraws a task."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Kind, Words
from gnomon.control.strikes import Strikes
from gnomon.engine.log import State
from gnomon.recovery.faults import Event
from gnomon.recovery.targets import TASKS


def _cancel(strikes: Strikes, event: Event, task: int) -> None:
    state = strikes.board.state(task)
    if state < State.DONE or state is State.DELAYED:
        _withdraw(strikes, task, strikes.row(event, task=task))


def _withdraw(strikes: Strikes, task: int, row: int) -> None:
    board = strikes.board
    if board.state(task) is State.UNBORN:  # it comes, and goes at once
        submit = max(int(strikes.scenario.work.submit_ns[member]) for member in board.members(task))
        strikes.timers.at(max(submit, board.now + 1), lambda: _withdraw(strikes, task, row))
    else:
        strikes.again.withdraw(task, row)


KIND: Final = Kind(
    Words("its user withdraws {who}", lasts=""),
    hits=(TASKS,),
    on_task=_cancel,
    instant=True,
    planned=True,
    on_request=True,
)
