"""Rounds of offers: free slots are given to task sets in their order, each taking what it can use before the next.

The rules are those of Spark's ``TaskSchedulerImpl`` (resourceOffers).
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.control.batch.driver import Driver, Running
from gnomon.control.batch.exclusion import Excluding
from gnomon.control.batch.locality import ANY, LEVELS, NO_PREFERENCE, Places, Waits
from gnomon.control.batch.losses import Losses
from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.task_sets import Tasks
from gnomon.engine.ledger import fits, pick_devices
from gnomon.engine.log import Kind, Reason
from gnomon.engine.periods import following
from gnomon.engine.world import I64
from gnomon.model.cluster import Node
from gnomon.model.resources import NEVER
from gnomon.scheduling.pools import order
from gnomon.scheduling.rampup import early_tasks


class Offers:
    """Launches tasks. ``alive``: the nodes (of the cluster) that take part, as they were last time."""

    def __init__(self, driver: Driver, losses: Losses, exclusion: Excluding, nodes: Sequence[Node]) -> None:
        self._driver, self._losses, self._exclusion = driver, losses, exclusion
        self._rule = driver.rules.locality
        labels = [dict(node.labels) for node in nodes]
        host, rack = (self._rule.host, self._rule.rack) if self._rule else ("", "")
        names = [found.get(host, node.name) for node, found in zip(nodes, labels, strict=True)]
        self.places = Places(names, [found.get(rack, "") for found in labels])
        self._again = -1
        driver.opened = self._opened

    def _opened(self, tasks: Tasks) -> None:
        """A task set begins: where its tasks would like to be."""
        if self._rule is None:
            return
        prefers = {}
        for partition in tasks.pending:
            found = tuple(self._driver.execution.prefers(tasks.plan, partition))
            if found:
                prefers[partition] = found
        if prefers:
            waits = [self._rule.process_ns, self._rule.node_ns, 0, self._rule.rack_ns, 0]
            tasks.waits = Waits(waits, prefers, self.places, self._driver.board.now)
            tasks.waits.renew(tasks.pending, self._alive())

    def _alive(self) -> set[int]:
        closed = self._driver.board.w.closed
        return {number for number, world in enumerate(self._driver.node_at) if not closed[world]}

    def renew(self) -> None:
        """Nodes came or went."""
        for tasks in self._driver.sets:
            if tasks.waits is not None:
                tasks.waits.renew(tasks.pending, self._alive())

    def round(self, nodes: Sequence[int], kept: int, *, everything: bool = False) -> None:
        """Offer the free slots of nodes (of the world), but ``kept`` of them that are to be offered on their own."""
        driver = self._driver
        waiting = [tasks for tasks in driver.sets if not tasks.idle]
        if not waiting:
            return
        alive = self._alive() if any(tasks.waits for tasks in waiting) else set()
        for tasks in self._in_order(waiting):
            if tasks.waits is None:
                self._fill(tasks, nodes, kept, NO_PREFERENCE)
                continue
            nearest: int | None = None
            for most in tasks.waits.valid:
                found = self._fill_at(tasks, nodes, kept, most, alive)
                nearest = found if nearest is None else min(nearest, found if found is not None else nearest)
            refused = bool(tasks.ready) and any(self.slots(node, tasks) > kept for node in nodes)
            tasks.waits.offered(driver.board.now, nearest, refused=refused, everything=everything)
            if refused:
                self._look_again()
        for tasks in waiting:
            self._tell(tasks)

    def _in_order(self, waiting: Sequence[Tasks]) -> list[Tasks]:
        """Who is offered slots before whom. Where early tasks come first, those that were tried before, and for which
        the early ones may wait, come before them (``PRIORITY_FAST_FAIL_MAP`` of ``RMContainerAllocator``)."""
        rules = self._driver.rules
        ordered = order(waiting, rules.mode, rules.pools)
        return ordered if rules.early_e4 is None else sorted(ordered, key=_urgency)

    def _most(self, tasks: Tasks) -> int:
        """How many slots a set may hold. Early tasks that made room for what they wait for get none before that has
        started: reduces are not asked for then (``RMContainerAllocator.preemptReducesIfNeeded``)."""
        driver, limit = self._driver, self._driver.rules.early_e4
        if limit is None or not tasks.plan.overlaps:
            return NEVER
        parents = [driver.stages.of[number] for number in tasks.plan.parents]
        if any(one.room_made and one.ready for one in driver.sets if one.stage in tasks.plan.parents):
            return 0
        total, done = sum(one.plan.tasks for one in parents), sum(len(one.output) for one in parents)
        waiting = any(driver.current[one.plan.number].ready for one in parents if one.runs)
        return early_tasks(self.all_slots(tasks), done, total, total - done, limit_e4=limit, waiting=waiting)

    def all_slots(self, tasks: Tasks) -> int:
        """How many tasks of a set all nodes take when they are empty."""
        return sum(self._capacity(node, tasks) for node in self._driver.node_at)

    def _capacity(self, node: int, tasks: Tasks) -> int:
        """How many tasks of a set a node (of the world) takes when it is empty."""
        w = self._driver.board.w
        return 0 if w.closed[node] else self._times(w.capacity[node], tasks)

    def _times(self, row: I64, tasks: Tasks) -> int:
        """How many times a row of the ledger holds the plain dimensions of what a task of a set asks for."""
        w = self._driver.board.w
        need = w.need[int(w.shape[tasks.plan.first]), :-1].tolist()
        return min((have // want for have, want in zip(row.tolist(), need, strict=False) if want), default=1)

    def _look_again(self) -> None:
        """Slots were let go for their place: they are offered again some time."""
        driver, every = self._driver, self._rule.offers_ns if self._rule else NEVER
        if not driver.timers.holds(self._again):
            self._again = driver.timers.at(following(driver.board.now, every), self._want_round)

    def _want_round(self) -> None:
        self._driver.wants_round = True
        self._driver.board.again()

    def _fill(self, tasks: Tasks, nodes: Sequence[int], kept: int, level: int) -> None:
        """Launch tasks wherever there is room, one a node in turn."""
        launched, most = True, self._most(tasks)
        while launched:
            launched = False
            for node in nodes:
                if tasks.ready and tasks.running < most and self.slots(node, tasks) > kept:
                    allows = self._exclusion.judge(tasks, node)
                    partition = tasks.take(allows)
                    if partition is not None:
                        self.launch(tasks, partition, node, level)
                        launched = True

    def _fill_at(self, tasks: Tasks, nodes: Sequence[int], kept: int, most: int, alive: set[int]) -> int | None:
        """The same, for tasks whose place matters: at ``most`` so far from it. The nearest level that was used."""
        waits, driver, nearest, launched = tasks.waits, self._driver, None, True
        assert waits is not None
        while launched:
            launched = False
            for node in nodes:
                if not tasks.ready or self.slots(node, tasks) <= kept:
                    continue
                far = (
                    most if most == NO_PREFERENCE else min(most, waits.allowed(driver.board.now, tasks.pending, alive))
                )
                found = self._nearest(tasks, driver.of_world[node], far)
                if found is not None:
                    partition, level = found
                    tasks.claim(partition)
                    self.launch(tasks, partition, node, level)
                    nearest, launched = level if nearest is None else min(nearest, level), True
        return nearest

    def _nearest(self, tasks: Tasks, node: int, far: int) -> tuple[int, int] | None:
        """The next task for a node, and how near it is to its place; None: none may run there yet."""
        assert tasks.waits is not None
        allows = self._exclusion.judge(tasks, self._driver.node_at[node])
        best: tuple[int, int] | None = None
        for partition in reversed(tasks.pending):
            if partition not in tasks.ready or (allows is not None and not allows(partition)):
                continue
            level = self.places.level(tasks.waits.prefers.get(partition, ()), node)
            if level <= far and (best is None or level < best[1]):
                best = partition, level
        return best

    def slots(self, node: int, tasks: Tasks) -> int:
        """How many tasks of a set the free part of a node (of the world) takes."""
        w = self._driver.board.w
        shape = int(w.shape[tasks.plan.first])
        if w.closed[node] or not fits(w, w.free, node, shape):
            return 0
        if self._driver.rules.by_beat and not self._driver.hands.is_up(node):
            return 0
        return self._times(w.free[node], tasks)

    def launch(self, tasks: Tasks, partition: int, node: int, level: int) -> None:
        """An attempt starts on a node (of the world)."""
        driver, task = self._driver, tasks.plan.first + partition
        driver.entered.discard(task)
        number = tasks.launched(partition)
        where = Where(tasks.plan, partition, tasks.attempt, number, driver.of_world[node], level)
        stage = driver.stages.of[tasks.stage]
        waits = tasks.plan.overlaps and any(not driver.stages.of[one].complete for one in tasks.plan.parents)
        lacks = None if waits else self._losses.lacks(stage)
        if lacks is None:
            course = driver.execution.begin(where)
        else:
            length = driver.rules.absent_ns if lacks[1] < 0 else driver.rules.fetch_fails_ns
            course = Course(length, fails=self._losses.message(lacks))
        if driver.rules.eager and not waits:
            waits = bool(tasks.plan.parents) and bool(driver.execution.lacks(where))
        board = driver.board
        run = driver.running[task] = Running(tasks, where, course, board.now, open=waits, lacks=lacks)
        driver.hands.plan(task, NEVER if waits else course.length_ns, fails=bool(course.fails) and not waits)
        cause = max(int(board.w.arrive_row[task]), tasks.row, int(board.w.node_row[node]))
        board.start_here(task, node, int(pick_devices(board.w, board.w.free, node, int(board.w.shape[task]))), cause)
        facts: dict[str, int | str] = {
            "stage": tasks.stage,
            "stage_attempt": tasks.attempt,
            "index": partition,
            "try": number,
        }
        if level != ANY or tasks.waits is not None:
            facts["locality"] = LEVELS[level]
        if waits and driver.rules.eager:
            self._losses.waits(task)
        board.details[int(board.w.start_row[task])] = {**facts, **course.details}
        driver.launched(task, run)

    def _tell(self, tasks: Tasks) -> None:
        """Say once of those who are left that there is no slot for them."""
        if tasks.told:
            return
        tasks.told = True
        board = self._driver.board
        for partition in sorted(tasks.ready):
            task = tasks.plan.first + partition
            cause = max(int(board.w.arrive_row[task]), tasks.row)
            board.row(Kind.WAIT, task=task, cause=cause, reason=Reason.RESOURCES, value=-1)


def _urgency(tasks: Tasks) -> int:
    """0 for those tried before, and whose output was lost (since MAPREDUCE-6513), 1 for early ones, 2 for the rest."""
    if tasks.plan.overlaps:
        return 1
    return 0 if tasks.attempt or any(partition in tasks.tries for partition in tasks.ready) else 2
