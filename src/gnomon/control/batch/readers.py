"""Attempts that have started and still read what others make: they wait inside for what is not there, and go on."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from gnomon.control.batch.driver import Driver, Running
from gnomon.control.batch.task_sets import Tasks
from gnomon.engine.log import Kind, Reason
from gnomon.model.resources import E4, NEVER


class Readers:
    """Holds attempts, and lets them go on."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def hold(self, row: int, lost: Collection[int] | None = None) -> None:
        """Something cannot be read any more: who still has to read it waits. ``lost``: the stages of which something
        is lost, for executions that do not know what their attempts have read; None: nothing is, so far."""
        driver = self._driver
        for task, run in driver.running.items():
            if run.open or run.start_ns + run.course.reads_ns <= driver.board.now:
                continue
            lacks = driver.execution.lacks(run.where)
            if lacks is None:
                lacks = [(stage, -1) for stage in run.where.stage.parents if stage in (lost or ())]
            if lacks:
                run.open = True
                driver.hands.rest(task, NEVER)

    def go_on(self) -> None:
        """Something is there: who has all that it reads goes on."""
        driver = self._driver
        for task, run in list(driver.running.items()):
            if run.open and not self.lacks(run):
                self._resume(task, run)

    def lacks(self, run: Running) -> bool:
        """Whether an attempt has to wait."""
        lacks = self._driver.execution.lacks(run.where)
        if lacks is None:
            return not all(self._driver.stages.of[one].complete for one in run.where.stage.parents)
        return bool(lacks)

    def make_room(self, slots: Callable[[int, Tasks], int], all_slots: Callable[[Tasks], int]) -> None:
        """Those who wait inside hold all slots that others need to make what they wait for: the last to start give
        theirs up, as many as are needed, and a part of all slots at most (``RMContainerAllocator.preemptReducer``)."""
        driver = self._driver
        runs = driver.running.values()
        needed = {parent for run in runs if run.open for parent in run.where.stage.parents}
        wanted = [tasks for tasks in driver.sets if tasks.ready and tasks.stage in needed]
        if not wanted or any(not run.open for run in runs):
            return
        if any(slots(node, wanted[0]) for node in driver.node_at):
            return
        most = max(-(-all_slots(wanted[0]) * driver.rules.room_e4 // E4), 1)
        wanted[0].room_made = True
        opened = sorted((run.start_ns, task) for task, run in driver.running.items() if run.open)
        for _, task in opened[-min(most, len(wanted[0].ready)) :]:
            driver.hands.fail(task, Reason.KILLED, wanted[0].row, details={"message": "makes room"})

    def _resume(self, task: int, run: Running) -> None:
        driver = self._driver
        ran_ns = driver.board.now - run.start_ns
        course = driver.execution.resume(run.where, ran_ns)
        run.open = False
        run.course = replace(course, reads_ns=ran_ns + course.reads_ns, details=run.course.details)
        said: dict[str, int | str] = {"reason": "BarrierOpened", "stage": run.where.stage.number}
        said |= {"index": run.where.partition, "waited_ns": ran_ns}
        driver.board.row(Kind.EVENT, task=task, cause=int(driver.board.w.start_row[task]), details=said)
        driver.hands.rest(task, NEVER if course.fails else course.length_ns)
        if course.fails:
            driver.timers.at(driver.board.now + course.length_ns, lambda: self._fail(task, run))

    def _fail(self, task: int, run: Running) -> None:
        if self._driver.running.get(task) is run and not run.open:
            self._driver.hands.fail(task, Reason.EXIT, int(self._driver.board.w.start_row[task]))
