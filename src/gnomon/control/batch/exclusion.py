"""Nodes that are not used any more, as too much failed there.

The rules are those of Spark's ``TaskSetExcludelist`` and ``HealthTracker``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gnomon.control.batch.driver import Driver
from gnomon.control.batch.node_exclusion import NodeExclusion
from gnomon.control.batch.rules import ExclusionRule, NodeRule
from gnomon.control.batch.task_sets import Tasks


class Excluding(Protocol):
    """What knows where tasks may not run."""

    def failed(self, tasks: Tasks, partition: int, node: int) -> None:
        """An attempt failed on a node (of the cluster), by its own fault or that of the node."""
        ...

    def completed(self, tasks: Tasks) -> None:
        """All of a stage is there."""
        ...

    def judge(self, tasks: Tasks, node: int) -> Callable[[int], bool] | None:
        """Which partitions of a set may run on a node (of the world); None: all."""
        ...

    def unschedulable(self, tasks: Tasks) -> bool:
        """Whether a task of a set may run nowhere."""
        ...


def excluding(driver: Driver, host: Sequence[str]) -> Excluding:
    """By the rules of the driver. ``host``: of each node of the cluster."""
    rule = driver.rules.exclusion
    return NodeExclusion(driver, rule, host) if isinstance(rule, NodeRule) else Exclusion(driver, rule, host)


class Exclusion:
    """What failed where. ``host``: of each node of the cluster."""

    def __init__(self, driver: Driver, rule: ExclusionRule | None, host: Sequence[str]) -> None:
        self._driver, self._rule, self._host = driver, rule, host
        self._failed: dict[tuple[int, int], dict[int, dict[int, int]]] = {}
        self._all: dict[int, list[tuple[int, int, int]]] = {}
        self._until: dict[int, int] = {}

    def failed(self, tasks: Tasks, partition: int, node: int) -> None:
        """An attempt failed on a node (of the cluster), by its own fault or that of the node."""
        if self._rule is None:
            return
        here = self._of(tasks).setdefault(node, {})
        here[partition] = here.get(partition, 0) + 1

    def completed(self, tasks: Tasks) -> None:
        """Failures in a set that succeeded count against nodes for good, until they time out."""
        rule = self._rule
        if rule is None:
            return
        now = self._driver.board.now
        for node, failures in self._of(tasks).items():
            kept = self._all.setdefault(node, [])
            kept += [(now + rule.timeout_ns, tasks.stage, partition) for partition in failures]
            kept[:] = [one for one in kept if one[0] > now]
            if len(kept) >= rule.all_node and self._until.get(node, 0) <= now:
                self._exclude(node, now + rule.timeout_ns, "an application")

    def _exclude(self, node: int, until: int, of: str) -> None:
        rule = self._rule
        assert rule is not None
        self._until[node] = until
        driver = self._driver
        driver.say("NodeExcluded", -1, node=driver.node_at[node], message=f"too many tasks of {of} failed there")
        host = self._host[node]
        now = driver.board.now
        same = [one for one, end in self._until.items() if self._host[one] == host and end > now]
        if len(same) >= rule.all_host:
            for other, name in enumerate(self._host):
                if name == host:
                    self._until[other] = max(self._until.get(other, 0), until)

    def _of(self, tasks: Tasks) -> dict[int, dict[int, int]]:
        return self._failed.setdefault((tasks.stage, tasks.attempt), {})

    def judge(self, tasks: Tasks, node: int) -> Callable[[int], bool] | None:
        """Which partitions of a set may run on a node (of the world); None: all."""
        rule = self._rule
        if rule is None:
            return None
        number = self._driver.of_world[node]
        if self._until.get(number, 0) > self._driver.board.now or self._set_excludes(tasks, number, rule):
            return lambda partition: False
        failures, host = self._of(tasks), self._host[number]

        def allows(partition: int) -> bool:
            here = failures.get(number, {}).get(partition, 0)
            on_host = sum(found.get(partition, 0) for one, found in failures.items() if self._host[one] == host)
            return here < rule.task_node and on_host < rule.task_host

        return allows

    def _set_excludes(self, tasks: Tasks, node: int, rule: ExclusionRule) -> bool:
        failures = self._of(tasks)
        bad = {one for one, found in failures.items() if len(found) >= rule.set_node}
        if node in bad:
            return True
        return sum(self._host[one] == self._host[node] for one in bad) >= rule.set_host

    def unschedulable(self, tasks: Tasks) -> bool:
        """Whether a task of a set may run nowhere."""
        if self._rule is None:
            return False
        judges = [self.judge(tasks, node) for node in self._driver.node_at if not self._driver.board.w.closed[node]]
        return any(not any(one is None or one(partition) for one in judges) for partition in tasks.ready)
