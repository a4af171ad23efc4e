"""A desk with a world that only knows the time and its rows: for tests of what stands on one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import FROZEN, ROWS
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.policies import ResourceQuota
from gnomon.systems.kubernetes.apiserver.creation import Usage
from gnomon.systems.kubernetes.controllers.desk import Desk

S = 10**9


class World:
    """As much of a board as a desk asks for; ``said``: its rows as (kind, task, details)."""

    def __init__(self, tasks: int) -> None:
        self.now = 0
        self.details: dict[int, dict[str, int | str]] = {}
        self.said: list[tuple[Kind, int, Mapping[str, int | str]]] = []
        columns = {name: np.zeros(100, np.int64) for name in ("log_kind", "log_subject", "log_node", "log_reason")}
        here = {"arrive_row": np.zeros(tasks, np.int64), "node": np.full(tasks, -1)}
        self.w = SimpleNamespace(at=np.zeros(64, np.int64), **columns, **here)
        self.states = [State.DELAYED] * tasks

    def row(self, kind: Kind, *, task: int = -1, node: int = -1, **more: Any) -> int:
        number = int(self.w.at[ROWS])
        self.w.log_kind[number], self.w.log_subject[number], self.w.log_node[number] = int(kind), task, node
        self.w.at[ROWS] += 1
        if more.get("details"):
            self.details[number] = dict(more["details"])
        self.said.append((kind, task, more.get("details") or {}))
        return number

    def state(self, task: int) -> State:
        return self.states[task]

    def placed(self, node: int) -> list[int]:
        found: list[int] = np.flatnonzero(self.w.node == node).tolist()
        return found

    def freeze(self) -> None:
        self.w.at[FROZEN] = 1


class Hands:
    """Notes what it is asked to do."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def fail(self, task: int, reason: Reason, cause: int, **more: Any) -> None:
        self.asked.append(("fail", task, reason))

    def withdraw(self, task: int, cause: int, *, grace_ns: int = 0) -> None:
        self.asked.append(("withdraw", task, grace_ns // S))

    def renew(self, task: int) -> None:
        """A new pod."""


class Watcher:
    """A controller that notes that it was woken."""

    tasks: Sequence[int] = ()

    def __init__(self) -> None:
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1


class Place:
    """A desk, its world, and what its timers do; ``queue``: who was put into the scheduler's queue."""

    def __init__(self, *pods: Pod, quotas: Sequence[ResourceQuota] = ()) -> None:
        self.world, self.hands, self.timers = World(len(pods)), Hands(), Timers()
        self.queue: list[int] = []
        self.desk = Desk(
            cast(Any, self.world),
            self.timers,
            cast(Any, self.hands),
            pods,
            Usage(quotas, (), ()),
            lambda task, row: self.queue.append(task),
            self._leave,
        )

    def _leave(self, task: int) -> None:
        if task in self.queue:
            self.queue.remove(task)

    def at(self, seconds: float) -> None:
        """Let time pass."""
        self.world.now = int(seconds * S)
        self.timers.run(self.world.now)

    def run(self, task: int, node: int, one: Any = None) -> None:
        """A pod starts on a node."""
        self.world.states[task] = State.RUNNING
        self.world.w.node[task] = node
        self.desk.started(task, node, one)
