"""Whether a run gets anywhere: tasks that start, fail and start again for ever are no progress."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gnomon.control.board import Board
from gnomon.control.plans import Plans
from gnomon.engine.agenda import next_end
from gnomon.engine.log import Kind
from gnomon.model.resources import NEVER

_OUT: Final = (Kind.END, Kind.KILL, Kind.CANCEL)
_LOST: Final = (Kind.FAIL, Kind.PREEMPT)


class Progress:
    """Counts the calls in a row (``fruitless``) before which no task started or was done for the first time, or saved
    more of its work than ever."""

    def __init__(self, board: Board, plans: Plans) -> None:
        self._board, self._plans = board, plans
        tasks = len(board.w.state)
        self._started, self._out = np.zeros(tasks, np.bool_), np.zeros(tasks, np.bool_)
        self._saved: dict[int, int] = {}
        self.fruitless = 0

    def read(self, kind: npt.NDArray[np.int8], task: npt.NDArray[np.int32]) -> None:
        """Rows that have been written since: their kinds and tasks."""
        about = task >= 0
        new = self._first(self._started, task[about & (kind == Kind.START)])
        new |= self._first(self._out, task[about & np.isin(kind, _OUT)])
        for lost in [] if new else task[about & np.isin(kind, _LOST)].tolist():
            saved = self._plans.saved_ns.get(lost, 0)
            new |= saved > self._saved.get(lost, 0)
            self._saved[lost] = max(saved, self._saved.get(lost, 0))
        if new:
            self.fruitless = 0

    @staticmethod
    def _first(seen: npt.NDArray[np.bool_], tasks: npt.NDArray[np.int32]) -> bool:
        new = not seen[tasks].all()
        seen[tasks] = True
        return new

    def called(self, *, changed: bool) -> None:
        """One call more; it only counts when something happened, or when nothing but calls is to come."""
        self.fruitless += changed or self.is_at_rest()

    def is_at_rest(self) -> bool:
        """Whether nothing will happen by itself: no end of a task, no submission."""
        return next_end(self._board.w) >= NEVER and self._board.submits_next() >= NEVER
