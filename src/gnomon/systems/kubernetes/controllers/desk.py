"""What all controllers share: the pods as the API server has them, creating and deleting them, events, moments.

Controllers act when nothing else is left to do in an instant; what takes milliseconds in a real cluster takes no time
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gnomon.control.board import Board
from gnomon.control.placer import Hands
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import FROZEN, ROWS
from gnomon.model.resources import NEVER
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.apiserver.creation import Usage
from gnomon.systems.kubernetes.controllers.probes import ready_ns
from gnomon.systems.kubernetes.read.annotations import stops_ns


class Controller(Protocol):
    """What acts when something has changed, or when it is time."""

    def sync(self) -> None:
        """Look at what is there, and do what is to be done now."""
        ...

    def is_busy(self) -> bool:
        """Whether it waits for a moment at which it makes pods."""
        ...


class PodController(Controller, Protocol):
    """What keeps some of the tasks as a workload wants them: it has pods of its own."""

    @property
    def tasks(self) -> Iterable[int]:
        """The tasks that it looks after."""
        ...

    def present(self, task: int) -> None:
        """A pod of its own was there from the beginning."""
        ...

    def enter(self, task: int, row: int) -> None:
        """A pod of its own is to be created (it is its turn, or it was lost)."""
        ...

    def wake(self) -> None:
        """Something happened to a pod of its own."""
        ...

    def lost(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """A pod of its own is gone as a whole."""
        ...

    def waiting(self) -> Iterable[int]:
        """The tasks that are to be created, and are not yet."""
        ...


@dataclass
class Desk:
    """The pods of a run, by task. ``created``: when each that is there was; ``node``: where those that run are (the
    world's number); ``ready_from``: from when they are ready; ``stopping``: those told to stop, with their nodes."""

    board: Board
    timers: Timers
    hands: Hands
    pods: Sequence[Pod]
    usage: Usage
    enqueue: Callable[[int, int], None]
    unqueue: Callable[[int], None]
    submitted: frozenset[int] = frozenset()
    """The tasks that the scenario submits, sooner or later, and no controller."""
    created: dict[int, int] = field(default_factory=dict)
    node: dict[int, int] = field(default_factory=dict)
    ready_from: dict[int, int] = field(default_factory=dict)
    stopping: dict[tuple[int, int], int] = field(default_factory=dict)
    dead: dict[int, list[int]] = field(default_factory=dict)
    lost_nodes: set[int] = field(default_factory=set)
    refused: dict[int, str] = field(default_factory=dict)
    _dirty: dict[int, Controller] = field(default_factory=dict)
    _last_refusal: dict[int, int] = field(default_factory=dict)
    _alive: dict[int, set[int]] = field(default_factory=dict)

    @property
    def now(self) -> int:
        """The present time."""
        return self.board.now

    @property
    def frozen(self) -> bool:
        """Whether nobody decides."""
        return bool(self.board.w.at[FROZEN])

    # ------------------------------------------------------------------ moments

    def touch(self, one: Controller) -> None:
        """A controller is to look at what is its own before this instant is over."""
        self._dirty[id(one)] = one

    def at(self, time: int, one: Controller) -> int:
        """The same at a time; the number of the timer."""
        return self.timers.at(max(time, self.now), lambda: self.touch(one))

    def has_dirty(self) -> bool:
        """Whether a controller is to look now."""
        return bool(self._dirty)

    def take_dirty(self) -> list[Controller]:
        """Those that are to look now."""
        found = list(self._dirty.values())
        self._dirty.clear()
        return found

    # ------------------------------------------------------------------ rows

    def event(self, reason: str, message: str, *, about: str, task: int = -1, cause: int = -1) -> int:
        """An event as ``kubectl get events`` lists it; the row. ``about``: kind and name of its object."""
        details: dict[str, int | str] = {"reason": reason, "message": message, "about": about}
        return self.board.row(Kind.EVENT, task=task, cause=cause, details=details)

    # ------------------------------------------------------------------ pods

    def create(self, task: int, row: int) -> str | None:
        """Create the pod of a task that stands by; why the API server refuses it, if it does."""
        pod = self.pods[task]
        text = self.refused.get(task) or self.usage.rejection(pod)
        if text is None:
            self.hands.renew(task)  # a new pod: the kubelet knows of no restarts of it
            self.note_created(task)
            self.enqueue(task, row)
        return text

    def alive_of(self, tasks: Iterable[int]) -> set[int]:
        """Those of some tasks whose pods are there; it is kept up to date."""
        alive = {task for task in tasks if task in self.created}
        self._alive.update(dict.fromkeys(tasks, alive))
        return alive

    def note_created(self, task: int) -> None:
        """A pod is there."""
        self.created[task] = self.now
        if (alive := self._alive.get(task)) is not None:
            alive.add(task)
        self.usage.add(task, self.pods[task])

    def refusal(self, task: int, text: str, *, again: bool = True) -> int:
        """The row of a creation that was refused; the same words are not said twice (without ``again`` none are)."""
        message = f"Error creating: {text}"
        details = self.board.details
        last = self._last_refusal.get(task, -1)
        if last < 0 or (again and details[last]["message"] != message):
            last = self.board.row(
                Kind.WAIT,
                task=task,
                cause=int(self.board.w.arrive_row[task]),
                reason=Reason.TENANT_LIMIT,
                value=-1,
                details={"message": message, "reason": "FailedCreate"},
            )
            self._last_refusal[task] = last
        return last

    def started(self, task: int, node: int, one: PodController | None) -> None:
        """The containers of a pod run."""
        self.node[task] = node
        delay = ready_ns(self.pods[task])
        self.ready_from[task] = self.now + delay
        if one is not None:
            one.wake()
            if delay:
                self.timers.at(self.now + delay, one.wake)

    def gone(self, task: int, row: int) -> None:
        """A pod is not wanted, or not there, any more (``row`` says so); it may still be stopping."""
        pod, w = self.pods[task], self.board.w
        self.created.pop(task, None)
        if (alive := self._alive.get(task)) is not None:
            alive.discard(task)
        self.node.pop(task, None)
        self.ready_from.pop(task, None)
        self.usage.drop(task, pod.namespace)
        node = int(w.log_node[row]) if row >= 0 else -1
        if 0 <= row + 1 < w.at[ROWS] and w.log_kind[row + 1] == Kind.COPY and w.log_subject[row + 1] == task:
            self.copied(task, node)
        elif node in self.lost_nodes and w.log_kind[row] == Kind.FAIL:
            self.dead.setdefault(node, []).append(task)
            self.usage.add(("dead", task, node), pod)

    def copied(self, task: int, node: int) -> None:
        """A pod that does not count any more stops, or runs on behind a partition: its object is still there."""
        if (task, node) not in self.stopping:
            self.stopping[task, node] = self.now
            self.usage.add((task, node), self.pods[task])

    def copy_gone(self, task: int, node: int) -> None:
        """It is gone."""
        self.stopping.pop((task, node), None)
        self.usage.drop((task, node), self.pods[task].namespace)

    def node_back(self, node: int) -> None:
        """A node that was lost says what became of its pods: those that were deleted meanwhile are gone."""
        self.lost_nodes.discard(node)
        for task in self.dead.pop(node, ()):
            self.usage.drop(("dead", task, node), self.pods[task].namespace)
        for task, where in self.node.items():
            if where == node:
                self.ready_from[task] = max(self.ready_from.get(task, 0), self.now)

    def delete(self, task: int, cause: int) -> None:
        """Delete a pod for good: one that runs has time to stop."""
        running = self.board.state(task) is State.RUNNING
        self.unqueue(task)
        rows = int(self.board.w.at[ROWS])
        self.withdraw(task, cause, grace_ns=stops_ns(self.pods[task]) if running else 0)
        self.gone(task, rows)

    def withdraw(self, task: int, cause: int, *, grace_ns: int = 0) -> None:
        """A pod is not wanted any more: the row says what that is called here."""
        row = int(self.board.w.at[ROWS])
        self.hands.withdraw(task, cause, grace_ns=grace_ns)
        if row < self.board.w.at[ROWS] and self.board.w.log_kind[row] == Kind.CANCEL:
            self.board.details[row] = {"reason": "Deleted"}

    def is_stopping(self, task: int) -> bool:
        """Whether a pod of the task is still stopping somewhere."""
        return any(one == task for one, _ in self.stopping) or any(task in tasks for tasks in self.dead.values())

    # ------------------------------------------------------------------ readiness

    def is_ready(self, task: int) -> bool:
        """Whether a pod runs, is ready, and its node is heard of."""
        node = self.node.get(task)
        return node is not None and node not in self.lost_nodes and self.ready_from.get(task, NEVER) <= self.now

    def is_available(self, task: int, min_ready_s: int, one: Controller) -> bool:
        """Whether it has been ready for so long; if it will be, its controller looks again then."""
        if not self.is_ready(task):
            return False
        from_ns = self.ready_from[task] + min_ready_s * 10**9
        if from_ns > self.now:
            self.at(from_ns, one)
        return from_ns <= self.now
