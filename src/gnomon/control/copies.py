"""Copies of a task beside the attempt that counts: orphans behind a partition, and second copies of slow tasks."""

from __future__ import annotations

from typing import Final

import numpy as np

from gnomon.control.attempt import Attempt
from gnomon.control.board import PASSED_OVER, Board
from gnomon.control.machines import Machines
from gnomon.control.plans import FAILS, GIVES, Plans
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import IntArray
from gnomon.recovery.speculation import candidates
from gnomon.scheduling.placing import choose_devices, choose_node

_OVER: Final = np.isin(np.arange(len(State)), (State.DONE, State.KILLED, State.REJECTED, State.FAILED))
"""By state. When all tasks are so, nobody needs a copy, until one is queued again."""


class Copies:
    """The attempts that do not count. Each has its place set aside, for it takes it whether it counts or not."""

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, machines: Machines, plans: Plans) -> None:
        self._board, self._timers, self._plans, self.machines = board, timers, plans, machines
        self._rule = scenario.operation.speculation
        self._scan = -1
        work = scenario.work
        size = np.bincount(work.job)
        self._tasks = np.flatnonzero(size[work.job] > 1)  # those of jobs of several, by job
        self._tasks = self._tasks[np.argsort(work.job[self._tasks], kind="stable")]
        self._size = size[size > 1]
        self._first = np.cumsum(self._size) - self._size

    # ------------------------------------------------------------------ orphans

    def orphan(self, attempt: Attempt, cause: int, reason: Reason = Reason.ORPHANED) -> None:
        """The control plane has given up an attempt that it cannot reach: it runs on, or has run to its end; or
        (STOPPING) one that runs on until it has stopped."""
        board = self._board
        self.machines.orphan(attempt)
        board.withhold(attempt.task, attempt.node, attempt.devices, 1)
        attempt.copy_row = board.row(
            Kind.COPY,
            task=attempt.task,
            node=attempt.node,
            cause=cause,
            reason=reason,
            value=attempt.devices,
        )
        if attempt.finished:
            self.stop(attempt, Reason.FINISHED, attempt.copy_row)

    def over(self, attempt: Attempt) -> None:
        """An attempt is done, of which the control plane does not hear at once, or that is a copy."""
        if attempt.counts:
            return  # it hears of that when the partition is over
        board, task = self._board, attempt.task
        if not attempt.speculative:
            self.stop(attempt, Reason.FINISHED, attempt.copy_row)
        elif attempt.node not in self.machines.cut:
            row = self.stop(attempt, Reason.WON, attempt.copy_row)
            if board.state(task) is State.RUNNING:
                board.end_now(task, Kind.END, row)
                board.w.node[task] = attempt.node  # where the result is

    def stop(self, attempt: Attempt, reason: Reason, cause: int) -> int:
        """A copy is over; the row."""
        board = self._board
        board.withhold(attempt.task, attempt.node, attempt.devices, -1)
        row = board.row(
            Kind.COPY_END,
            task=attempt.task,
            node=attempt.node,
            cause=max(cause, attempt.copy_row),
            reason=reason,
            value=board.now - attempt.start_ns,
        )
        self.machines.forget(attempt)
        board.offer(attempt.node, row)
        return row

    def stop_after(self, attempt: Attempt, grace_ns: int) -> None:
        """A copy has so long to stop; one behind a partition does not hear of that."""

        def stop() -> None:
            if attempt.key in self.machines.attempts and attempt.node not in self.machines.cut:
                self.stop(attempt, Reason.STOPPING, attempt.copy_row)

        self._timers.at(self._board.now + grace_ns, stop)

    def stop_all_on(self, node: int, reason: Reason, cause: int) -> None:
        """The copies on a node are over."""
        for attempt in self.machines.on(node):
            if not attempt.counts:
                self.stop(attempt, reason, cause)

    # ------------------------------------------------------------------ second copies of slow tasks

    def begin(self) -> None:
        """Look for slow tasks from now on, if nobody does already."""
        if self._rule is not None and len(self._first) and not self._timers.holds(self._scan):
            self._scan = self._timers.at(max(self._board.now, 0) + self._rule.check_ns, self._look)

    def _look(self) -> None:
        assert self._rule is not None
        state = self._board.w.state[self._tasks]
        done, running = state == State.DONE, state == State.RUNNING
        if done.any() and running.any():
            some_done, some_run = (np.logical_or.reduceat(one, self._first) for one in (done, running))
            copied = {attempt.task for attempt in self.machines.copies() if attempt.speculative}
            for job in np.flatnonzero(some_done & some_run).tolist():
                first = self._first[job]
                self._look_at(self._tasks[first : first + self._size[job]], copied)
        if not _OVER[state].all():
            self.begin()

    def _look_at(self, tasks: IntArray, copied: set[int]) -> None:
        assert self._rule is not None
        w, state = self._board.w, self._board.w.state[tasks]
        done = w.duration[tasks[state == State.DONE]]
        running = [task for task in tasks[state == State.RUNNING].tolist() if task not in copied]
        if not running:
            return
        middle = (len(done) - 1) // 2
        longest = self._board.now - int(w.start[running].min())
        if longest * E4 <= int(np.partition(done, middle)[middle]) * self._rule.multiplier_e4:
            return  # not even who has run longest is slow, against the lower of the two in the middle
        starts = [(task, int(w.start[task])) for task in running]
        for task in candidates(self._board.now, starts, done.tolist(), len(tasks), self._rule):
            self._speculate(task)

    def _speculate(self, task: int) -> None:
        """Start a second copy where there is room, on another node."""
        w = self._board.w
        first = int(w.node[task])
        w.closed[first] |= PASSED_OVER
        node = int(choose_node(w, task, False))
        w.closed[first] &= ~PASSED_OVER
        if node >= 0:
            self.start(task, node, self._plans.plan_ns(task))

    def start(self, task: int, node: int, length_ns: int) -> None:
        """Start a second copy on a node that has room for it."""
        board, w = self._board, self._board.w
        self.machines.look_at(int(w.node[task]))
        devices = int(choose_devices(w, node, task, False))
        board.withhold(task, node, devices, 1)
        w.watch[task] |= GIVES
        row = board.row(
            Kind.COPY, task=task, node=node, cause=int(w.start_row[task]), reason=Reason.SPECULATIVE, value=devices
        )
        attempt = self.machines.begin_copy(task, node, devices, length_ns)
        attempt.speculative, attempt.copy_row = True, row

    def of(self, task: int) -> list[Attempt]:
        """The second copies of a task."""
        return [attempt for attempt in self.machines.copies() if attempt.task == task and attempt.speculative]

    def beaten(self, task: int, row: int) -> None:
        """The attempt that counts is over: second copies of it are not wanted any more."""
        for attempt in self.of(task):
            self.stop(attempt, Reason.BEATEN, row)

    def take_over(self, task: int, cause: int) -> bool:
        """The attempt that counted has failed: a second copy that runs counts now. Whether there is one."""
        for attempt in self.of(task):
            if attempt.alive and attempt.node not in self.machines.cut and attempt.end_ns < NEVER:
                row = self.stop_for_promotion(attempt, cause)
                self._board.w.fate[task] = int(Kind.END)
                self._board.w.watch[task] &= ~FAILS
                self._board.start_here(task, attempt.node, attempt.devices, row)
                self.machines.promote(attempt)
                return True
        return False

    def stop_for_promotion(self, attempt: Attempt, cause: int) -> int:
        """A copy stops being one, and keeps running in its place."""
        board = self._board
        board.withhold(attempt.task, attempt.node, attempt.devices, -1)
        return board.row(
            Kind.COPY_END,
            task=attempt.task,
            node=attempt.node,
            cause=cause,
            value=board.now - attempt.start_ns,
        )
