"""Second copies of slow tasks: who is slow is looked for now and then; a copy takes a slot when there is one."""

from __future__ import annotations

from dataclasses import replace

from gnomon.control.batch.driver import Driver, Running
from gnomon.control.batch.offers import Offers
from gnomon.control.batch.task_sets import Tasks
from gnomon.engine.periods import following
from gnomon.model.resources import E4, NEVER
from gnomon.recovery.speculation import Gains, Progress, Runner, SlowTasks, most_gained, slow_tasks

_S = 1_000_000_000


class SecondCopies:
    """``of``: the copy of each task that has one."""

    def __init__(self, driver: Driver, offers: Offers) -> None:
        self._driver, self._offers = driver, offers
        self._rule = driver.rules.copies
        self._timer = -1
        self._begun = False  # at the last look
        self.of: dict[int, Running] = {}

    def look_soon(self) -> None:
        """Look at the next time that is due, while something runs."""
        driver, rule = self._driver, self._rule
        if rule is None or not driver.running or driver.timers.holds(self._timer):
            return
        if isinstance(rule, Gains):
            at = driver.board.now + (rule.after_one_ns if self._begun else rule.after_none_ns)
        else:
            at = following(driver.board.now, rule.check_ns)
        self._timer = driver.timers.at(at, self._look)

    def _look(self) -> None:
        found = [tasks for tasks in self._driver.sets if tasks.plan.copies and not tasks.plan.barrier]
        if isinstance(self._rule, Gains):
            begun = [self._gain(tasks, self._rule) for tasks in found]  # one of each kind
            self._begun = any(begun)
        elif self._rule is not None:
            for tasks in found:
                self._look_at(tasks, self._rule)
        self.look_soon()

    def _gain(self, tasks: Tasks, rule: Gains) -> bool:
        """Begin the copy in a task set that gains most, if any gains."""
        driver, now = self._driver, self._driver.board.now
        total = driver.stages.of[tasks.stage].plan.tasks
        copied = sum(one.tasks is tasks for one in self.of.values()) + len(tasks.slow)
        done = driver.stages.of[tasks.stage].output
        enough = rule.cap.may_begin(len(done), total) and copied < rule.cap.copies(total, tasks.running)
        if tasks.ready or not enough:
            return False
        running = [
            Runner(partition, run.start_ns, self._progress_e4(run))
            for partition, copies in sorted(tasks.copies.items())
            if copies == 1 and partition not in tasks.slow
            if (run := driver.running.get(tasks.plan.first + partition)) is not None
            if run.tasks is tasks and now - run.start_ns >= rule.told_ns
        ]
        found = most_gained(now, running, list(driver.lengths(tasks.stage).values()))
        if found is None:
            return False
        self._want(tasks, found[0])
        return True

    def _progress_e4(self, run: Running) -> int:
        driver, where = self._driver, run.where
        ran_ns = driver.hands.elapsed_ns(where.stage.first + where.partition)
        return driver.execution.progress_e4(where, ran_ns, NEVER if run.open else run.course.length_ns)

    def _want(self, tasks: Tasks, partition: int) -> None:
        """A task is to get a copy as soon as there is a slot."""
        driver = self._driver
        tasks.slow[partition] = driver.running[tasks.plan.first + partition].where.node
        driver.wants_round = True
        driver.board.again()

    def _look_at(self, tasks: Tasks, rule: SlowTasks) -> None:
        """Find who is slow in a task set."""
        driver = self._driver
        total = len(self._driver.stages.of[tasks.stage].missing()) + len(tasks.lengths)
        if len(tasks.lengths) < max(total * rule.quantile_e4 // E4, 1) and rule.threshold_ns >= NEVER:
            return
        done = [Progress(p, length, tasks.rates.get(p, 0)) for p, length in tasks.lengths.items()]
        running = [
            self._progress(tasks, partition) for partition, copies in sorted(tasks.copies.items()) if copies == 1
        ]
        running = [one for one in running if one is not None and one.task not in tasks.slow]
        slots = max((self._slots(world, tasks) for world in driver.node_at), default=0)
        for partition in slow_tasks([one for one in running if one is not None], done, total, rule, slots=slots):
            self._want(tasks, partition)

    def _slots(self, world: int, tasks: Tasks) -> int:
        """How many tasks of a set a whole node takes."""
        w = self._driver.board.w
        need = int(w.need[w.shape[tasks.plan.first]][0])
        return int(w.capacity[world, 0]) // need if need else 0

    def _progress(self, tasks: Tasks, partition: int) -> Progress | None:
        driver, task = self._driver, tasks.plan.first + partition
        run = driver.running.get(task)
        if run is None or run.tasks is not tasks or run.open:
            return None
        ran_ns, length = driver.board.now - run.start_ns, run.course.length_ns
        read = run.course.records * driver.hands.elapsed_ns(task) // length if 0 < length < NEVER else 0
        return Progress(partition, ran_ns, read * _S // ran_ns if ran_ns else 0)

    def launch(self) -> None:
        """Give free slots to those who deserve a copy, on another host than the first."""
        driver = self._driver
        for tasks in [one for one in driver.sets if one.slow]:
            for partition, first in list(tasks.slow.items()):
                task = tasks.plan.first + partition
                if tasks.copies.get(partition) != 1 or task not in driver.running:
                    del tasks.slow[partition]
                    continue
                host = self._offers.places.host
                nodes = [w for w in driver.node_at if host[driver.of_world[w]] != host[first]]
                free = next((node for node in nodes if self._offers.slots(node, tasks) > 0), None)
                if free is not None:
                    del tasks.slow[partition]
                    self._copy(tasks, partition, free)

    def _copy(self, tasks: Tasks, partition: int, node: int) -> None:
        driver, task = self._driver, tasks.plan.first + partition
        where = replace(
            driver.running[task].where, node=driver.of_world[node], number=tasks.launched(partition), copy=True
        )
        course = driver.execution.begin(where)
        self.of[task] = Running(tasks, where, course, driver.board.now)
        driver.hands.copy(task, node, course.length_ns)

    def ended(self, task: int, node: int) -> Running | None:
        """An attempt of a task was the first to be done, on a node (of the cluster): its copy, if it was that. There is
        no copy any more."""
        copy = self.of.pop(task, None)
        if copy is None:
            return None
        copy.tasks.stopped(copy.where.partition)
        return copy if copy.where.node == node else None

    def over(self, task: int) -> None:
        """The copy of a task is over without being done."""
        copy = self.of.pop(task, None)
        if copy is not None:
            copy.tasks.stopped(copy.where.partition)
