"""Reports of readers that cannot fetch from a silent node, and what they bring about before the node is taken for lost.

The rules are those of MapReduce's ``ShuffleSchedulerImpl`` and ``JobImpl``: see :mod:`gnomon.dataflow.fetching`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gnomon.control.batch.driver import Driver, Running
from gnomon.dataflow.fetching import map_is_failed

Place = tuple[int, int]


class Reports:
    """``of``: how many reports there have been of an output (stage, partition)."""

    def __init__(self, driver: Driver, fail: Callable[[Sequence[Place], int], None]) -> None:
        self._driver, self._fail = driver, fail
        self.of: dict[Place, int] = {}
        self._silent: dict[int, int] = {}

    def silent(self, node: int, row: int) -> None:
        """A node (of the cluster) is silent: whoever waits for what is there begins to try."""
        self._silent[node] = row
        for task, run in self._driver.running.items():
            if run.open and self._lacking(run, node):
                self._try_again(task, run, node, 0, row)

    def was_silent(self, node: int) -> bool:
        """Whether a node (of the cluster) has been silent; said once."""
        return self._silent.pop(node, None) is not None

    def started(self, task: int, run: Running) -> None:
        """A reader has started that waits."""
        for node, row in self._silent.items():
            if not self._driver.hands.is_up(self._driver.node_at[node]) and self._lacking(run, node):
                self._try_again(task, run, node, 0, row)

    def _lacking(self, run: Running, node: int) -> list[Place]:
        """What an attempt has to read from a node."""
        output = self._driver.stages.of
        lacks = self._driver.execution.lacks(run.where) or ()
        return [(stage, partition) for stage, partition in lacks if output[stage].output.get(partition) == node]

    def _try_again(self, task: int, run: Running, node: int, failures: int, row: int) -> None:
        rule, driver = self._driver.rules.reports, self._driver
        if rule is None:
            return
        wait = rule.penalties.wait_ns(failures) if failures else 0

        def give_up() -> None:
            waits = driver.running.get(task) is run and run.open
            alive = driver.hands.is_up(driver.node_at[run.where.node])
            if waits and alive and not driver.hands.is_up(driver.node_at[node]):
                self._report(task, run, node, failures + 1, row)

        driver.timers.at(driver.board.now + wait + rule.connect_ns, give_up)

    def _report(self, task: int, run: Running, node: int, failures: int, row: int) -> None:
        driver, rule = self._driver, self._driver.rules.reports
        assert rule is not None
        lacking = self._lacking(run, node)
        if not lacking:
            return
        penalty = rule.penalties.wait_ns(failures)
        facts = {"stage": run.where.stage.number, "index": run.where.partition, "failures": failures}
        row = driver.say("FetchFailed", row, node=driver.node_at[node], penalty_ns=penalty, **facts)
        for place in lacking:
            self.of[place] = self.of.get(place, 0) + 1
        copying = sum(
            other.where.stage is run.where.stage
            and (other.open or other.start_ns + other.course.reads_ns > driver.board.now)
            for other in driver.running.values()
        )
        failed = [place for place in lacking if map_is_failed(self.of[place], copying, rule.limits)]
        for place in failed:
            del self.of[place]
        if failed:
            self._fail(failed, row)
        self._try_again(task, run, node, failures, row)
