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

_OUT: Final = np.isin(np.arange(max(Kind) + 1), (Kind.END, Kind.KILL, Kind.CANCEL))
_LOST: Final = np.isin(np.arange(max(Kind) + 1), (Kind.FAIL, Kind.PREEMPT, Kind.UNDO))
"""By kind of row: whether it says that a task is through, or that an attempt was lost."""


class Progress:
    """``fruitless`` counts what has come to nothing since a task last started or was done for the first time, or saved
    more of its work than ever: attempts that were lost, and calls while nothing else was to come. ``new_ns``: when that
    was."""

    def __init__(self, board: Board, plans: Plans) -> None:
        self._board, self._plans = board, plans
        tasks = len(board.w.state)
        self._started, self._out = np.zeros(tasks, np.bool_), np.zeros(tasks, np.bool_)
        self._saved: dict[int, int] = {}
        self.fruitless = 0
        self.new_ns = 0

    def read(self, kind: npt.NDArray[np.int8], task: npt.NDArray[np.int32]) -> None:
        """Rows that have been written since: their kinds and tasks."""
        about = task >= 0
        new = self._first(self._started, task[about & (kind == Kind.START)])
        new |= self._first(self._out, task[about & _OUT[kind]])
        lost = task[about & _LOST[kind]].tolist()
        for one in [] if new else lost:
            saved = self._plans.saved_ns.get(one, 0)
            new |= saved > self._saved.get(one, 0)
            self._saved[one] = max(saved, self._saved.get(one, 0))
        self.fruitless = 0 if new else self.fruitless + len(lost)
        self.new_ns = self._board.now if new else self.new_ns

    @staticmethod
    def _first(seen: npt.NDArray[np.bool_], tasks: npt.NDArray[np.int32]) -> bool:
        new = not seen[tasks].all()
        seen[tasks] = True
        return new

    def called(self) -> None:
        """One call more. It counts when nothing is to come by itself: no end, no submission."""
        self.fruitless += next_end(self._board.w) >= NEVER and self._board.submits_next() >= NEVER
