"""The process of a running task is killed from outside."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Kind, Words
from gnomon.control.strikes import Strikes
from gnomon.engine.log import Reason, State
from gnomon.recovery.faults import Event
from gnomon.recovery.targets import TASKS


def _kill(strikes: Strikes, event: Event, task: int) -> None:
    if strikes.board.state(task) is State.RUNNING:
        node = int(strikes.board.w.node[task])
        strikes.end(task, Reason.KILLED, strikes.row(event, node=node, task=task))


KIND: Final = Kind(
    Words("the process of {who} is killed from outside", lasts=""), hits=(TASKS,), on_task=_kill, instant=True
)
