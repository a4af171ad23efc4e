"""Nodes that come and go with the work: asked for while tasks wait, doubling; given back when they are idle.

The rules are those of Spark's ``ExecutorAllocationManager`` and ``ExecutorMonitor``.
"""

from __future__ import annotations

from functools import partial

from gnomon.control.batch.driver import Driver
from gnomon.control.batch.rules import AllocationRule
from gnomon.control.board import REMOVED
from gnomon.model.resources import E4, NEVER


def most_needed(tasks: int, slots: int, ratio_e4: int = E4) -> int:
    """How many nodes of so many slots all tasks need, waiting and running, by the ratio.

    >>> most_needed(20, 1), most_needed(20, 4), most_needed(20, 4, ratio_e4=5_000)
    (20, 5, 3)
    """
    return -(-tasks * ratio_e4 // (E4 * max(slots, 1)))


class Allocation:
    """The nodes of the cluster are those that may be asked for; the first ones come first. ``target``: how many are
    wanted."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._rule = driver.rules.allocation
        self.target = 0
        self._step = 1
        self._timer = -1
        self._coming: set[int] = set()
        self._here: set[int] = set()
        self._idle: dict[int, int] = {}
        if self._rule is not None:
            self.target = max(self._rule.initial, self._rule.least)
            for node in driver.node_at:
                driver.board.close(node, REMOVED, -1)
            self._ask(self._rule)

    def look(self) -> None:
        """What the present backlog asks for, and who has nothing to do."""
        rule = self._rule
        if rule is None:
            return
        driver = self._driver
        pending = sum(len(tasks.pending) for tasks in driver.sets)
        if pending and not driver.timers.holds(self._timer):
            self._step = 1
            self._timer = driver.timers.at(driver.board.now + rule.backlog_ns, self._add)
        elif not pending:
            driver.timers.cancel(self._timer)
        self._look_for_idle(rule)

    def _add(self) -> None:
        """Tasks have waited long enough: ask for more."""
        rule, driver = self._rule, self._driver
        assert rule is not None
        pending = sum(len(tasks.pending) for tasks in driver.sets)
        if not pending:
            return
        slots = self._slots()
        most = min(most_needed(pending + len(driver.running), slots, rule.ratio_e4), rule.most, len(driver.node_at))
        before = self.target = max(self.target, len(self._here | self._coming), rule.least)
        self.target = max(min(before + self._step, most), rule.least)
        if self.target - before == self._step:
            self._step *= 2
        else:
            self._step = 1
        if self.target > before:
            driver.say("NodesWanted", -1, nodes=self.target, more=self.target - before)
        self._ask(rule)
        self._timer = driver.timers.at(driver.board.now + rule.sustained_ns, self._add)

    def _slots(self) -> int:
        """How many tasks a node takes, by the first of both."""
        w = self._driver.board.w
        need = int(w.need[w.shape[0]][0]) if len(w.shape) else 0
        return int(w.capacity[self._driver.node_at[0], 0]) // need if need else 1

    def _ask(self, rule: AllocationRule) -> None:
        """Nodes come until there are as many as are wanted."""
        driver = self._driver
        for node in driver.node_at:
            if len(self._here | self._coming) >= self.target:
                return
            if node not in self._here and node not in self._coming:
                self._coming.add(node)
                driver.timers.at(max(driver.board.now, 0) + rule.start_ns, partial(self._come, node))

    def _come(self, node: int) -> None:
        self._coming.discard(node)
        self._here.add(node)
        self._driver.board.open(node, REMOVED, -1)
        self._driver.wants_round = True

    def _look_for_idle(self, rule: AllocationRule) -> None:
        """Enter for those who have nothing to do when they go."""
        driver = self._driver
        busy = {driver.node_at[run.where.node] for run in driver.running.values()}
        for node in sorted(self._here):
            if node in busy:
                driver.timers.cancel(self._idle.pop(node, -1))
            elif node not in self._idle:
                wait_ns = rule.outputs_ns if self._holds_outputs(rule, driver.of_world[node]) else rule.idle_ns
                at = min(driver.board.now + wait_ns, NEVER)
                self._idle[node] = driver.timers.at(at, partial(self._leave, node))

    def _leave(self, node: int) -> None:
        """One that was idle for long goes, unless it is needed."""
        rule, driver = self._rule, self._driver
        assert rule is not None
        self._idle.pop(node, None)
        if len(self._here) <= rule.least or not driver.unfinished:
            return
        self._here.discard(node)
        self.target = min(self.target, len(self._here | self._coming))
        driver.board.close(node, REMOVED, -1)

    def _holds_outputs(self, rule: AllocationRule, node: int) -> bool:
        """Whether a node has output of a stage, which nobody else serves. When output is not needed any more is not
        known: who might still ask for it is decided by the program."""
        driver = self._driver
        if not rule.keeps_outputs or driver.rules.outputs_survive:
            return False
        return any(stage.plan.writes and node in stage.output.values() for stage in driver.stages.of.values())
