"""What the next attempt of a task will be: how long it runs at full speed, and whether it fails by itself."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from gnomon.control.board import Board
from gnomon.engine.log import Kind
from gnomon.engine.streams import stream
from gnomon.model.fault import Failure, Fault
from gnomon.model.recovery import Checkpoint
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery import checkpoint
from gnomon.recovery.targets import resolve

_Floats = npt.NDArray[np.float64]


TOGETHER_MAX = 8
"""Up to this attempt the chances of all tasks are drawn, and kept, together; later ones, of few tasks, one by one."""


class Plans:
    """Work that is done and saved, attempts so far, and the world's columns ``duration`` and ``fate`` for the next.

    - ``work_ns``: what each task has to do, at full speed; ``saved_ns``: how much of it is saved, by task.
    - ``attempt``: how many attempts have begun, by task.
    """

    def __init__(self, scenario: Scenario, board: Board) -> None:
        self._scenario, self._board = scenario, board
        self.work_ns = np.maximum(scenario.work.duration_ns, 0)
        self.saved_ns: dict[int, int] = {}
        self.attempt: dict[int, int] = {}
        self._limit = self._limits()
        self._chances = self._chances_of_failure()
        self._draws = cache(self._drawn)

    def _chances_of_failure(self) -> list[tuple[int, int, npt.NDArray[np.bool_]]]:
        """Each fault that makes attempts fail by themselves: its position, its chance, the tasks that it is about."""
        found = []
        for position, fault in enumerate(self._scenario.faults):
            if isinstance(fault, Failure) and fault.kind is Fault.FAIL:
                field = f"faults[{position}].targets"
                about = np.zeros(len(self._scenario.work), np.bool_)
                about[list(resolve(fault.targets, self._scenario, kind=fault.kind, field=field).tasks)] = True
                found.append((position, fault.amount, about))
        return found

    def _drawn(self, position: int, attempt: int) -> tuple[_Floats, _Floats]:
        """Two numbers a task: whether its attempt fails, and when. They hang on seed, fault and attempt alone."""
        draws = stream(self._scenario.seed, f"fault {position} attempt {attempt}")
        tasks = len(self._scenario.work)
        return draws.random(tasks), draws.random(tasks)

    def _draw(self, position: int, attempt: int, task: int) -> tuple[float, float]:
        """The numbers of one attempt. They are drawn for all tasks together while many are tried so often."""
        if attempt <= TOGETHER_MAX:
            fails, when = self._draws(position, attempt)
            return float(fails[task]), float(when[task])
        draws = stream(self._scenario.seed, f"fault {position} attempt {attempt} task {task}")
        return float(draws.random()), float(draws.random())

    def first(self) -> None:
        """Plan the first attempts of all tasks."""
        saves = [one.checkpoint is not None for one in self._scenario.work.recoveries]
        recovery = self._scenario.work.recovery
        special = np.full(len(self.work_ns), saves[0]) if recovery is None else np.array(saves)[recovery]
        for position, chance, about in self._chances:
            special |= about & (self._draws(position, 1)[0] < chance / E4)
        for task in np.flatnonzero(special).tolist():
            self.next(task)

    def next(self, task: int) -> None:
        """Plan the next attempt of a task."""
        w, attempt = self._board.w, self.attempt.get(task, 0) + 1
        length, fate = self.plan_ns(task), Kind.END
        for position, chance, about in self._chances:
            if about[task] and length < NEVER:
                fails, when = self._draw(position, attempt, task)
                moment = int(when * length) if fails < chance / E4 else length
                if moment < length:
                    length, fate = moment, Kind.FAIL
        if length > self._limit[task]:
            length, fate = int(self._limit[task]), Kind.KILL
        w.duration[task], w.fate[task] = length, int(fate)
        if fate is Kind.FAIL:
            w.watch[task] |= FAILS
        else:
            w.watch[task] &= ~FAILS

    def set(self, task: int, length_ns: int, *, fails: bool) -> None:
        """The next attempt of a task takes ``length_ns``, if no fault ends it before, and then has failed or not."""
        self.work_ns[task] = length_ns
        self.next(task)
        if fails and self._board.w.fate[task] == Kind.END:
            self._board.w.fate[task] = int(Kind.FAIL)
            self._board.w.watch[task] |= FAILS

    def _limits(self) -> npt.NDArray[np.int64]:
        """How long an attempt may take. An estimate that is just what the task takes is taken for none: there would be
        no room for a slow node or a checkpoint."""
        work = self._scenario.work
        limited = self._scenario.kill_at_limit & (work.estimate_ns != work.duration_ns)
        return np.where(limited, np.maximum(work.estimate_ns, 0), NEVER)

    def limit_ns(self, task: int) -> int:
        """How long an attempt may take, NEVER if there is no limit."""
        return int(self._limit[task])

    def plan_ns(self, task: int) -> int:
        """How long an attempt takes at full speed that does all that is left of the work."""
        left = self.left_ns(task)
        return left if left >= NEVER else checkpoint.plan_ns(left, self.checkpoint(task), self._resumes(task))

    def left_ns(self, task: int) -> int:
        """The work that is not saved yet."""
        work = int(self.work_ns[task])
        return work if work >= NEVER else max(work - self.saved_ns.get(task, 0), 0)

    def checkpoint(self, task: int) -> Checkpoint | None:
        """How the task saves its state, None if it does not."""
        return self._scenario.work.recovery_of(task).checkpoint

    def save(self, task: int, elapsed_ns: int) -> int:
        """An attempt is lost after ``elapsed_ns`` of its plan: keep what it saved, and return how much of its time is
        lost. One that did its whole plan, of which nobody heard, has saved no more than its last checkpoint."""
        short = min(elapsed_ns, self.plan_ns(task) - 1)
        kept = checkpoint.saved_ns(short, self.left_ns(task), self.checkpoint(task), self._resumes(task))
        if kept:
            self.saved_ns[task] = self.saved_ns.get(task, 0) + kept
        return elapsed_ns - kept

    def _resumes(self, task: int) -> bool:
        return self.saved_ns.get(task, 0) > 0


FAILS, USES, GIVES, SAVES, TOLD = 1, 2, 4, 8, 16
"""Why Python watches a task, in bits of ``World.watch``: it fails by itself; what it uses may matter; others wait for
its result, or for it to be back; a scheduler beside the loop is told at once when it ends, and nothing else."""
