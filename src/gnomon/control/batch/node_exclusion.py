"""Nodes that a job does not use any more, as too many of its attempts failed there.

The rules are those of MapReduce's ``RMContainerRequestor`` (containerFailedOnHost, computeIgnoreBlacklisting).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gnomon.control.batch.driver import Driver
from gnomon.control.batch.rules import NodeRule
from gnomon.control.batch.task_sets import Tasks
from gnomon.model.resources import E4


class NodeExclusion:
    """What failed where, by job; a host that has failed too often is left out, unless too many have. ``host``: of each
    node of the cluster."""

    def __init__(self, driver: Driver, rule: NodeRule, host: Sequence[str]) -> None:
        self._driver, self._rule, self._host = driver, rule, host
        self._failures: dict[tuple[int, str], int] = {}

    def failed(self, tasks: Tasks, partition: int, node: int) -> None:
        """An attempt failed on a node (of the cluster), by its own fault or that of the node."""
        host, driver = self._host[node], self._driver
        count = self._failures[tasks.job, host] = self._failures.get((tasks.job, host), 0) + 1
        if count == self._rule.failures:
            said = f"{count} attempts of job {tasks.job} failed there"
            if self._ignored(tasks.job):
                said += ", which is not heeded: too many nodes would be left out"
            driver.say("NodeExcluded", -1, node=driver.node_at[node], message=said)

    def completed(self, tasks: Tasks) -> None:
        """Nothing more follows when a stage is complete: what failed counts for its job."""

    def judge(self, tasks: Tasks, node: int) -> Callable[[int], bool] | None:
        """Which partitions of a set may run on a node (of the world); None: all."""
        host = self._host[self._driver.of_world[node]]
        if host not in self._excluded(tasks.job) or self._ignored(tasks.job):
            return None
        return lambda partition: False

    def _excluded(self, job: int) -> set[str]:
        return {host for (of, host), count in self._failures.items() if of == job and count >= self._rule.failures}

    def _ignored(self, job: int) -> bool:
        """Whether so many nodes are left out that none is."""
        closed = self._driver.board.w.closed
        there = {self._host[number] for number, world in enumerate(self._driver.node_at) if not closed[world]}
        return len(self._excluded(job)) * E4 >= len(there) * self._rule.ignored_e4

    def unschedulable(self, tasks: Tasks) -> bool:
        """Whether a task of a set may run nowhere, for good."""
        return False
