"""The scheduler's own account of pods and nodes, kept by reading the rows of the log (its cache, in the real one).

Pods count from when they have a node to when they are gone from it: while they stop, and while their container waits
for its restart. Nodes are as their taints have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gnomon.control.board import CORDONED, LOST, PRESSED, Board
from gnomon.control.placer import Hands
from gnomon.engine.log import Kind, Reason
from gnomon.engine.world import ROWS
from gnomon.model.errors import InvariantError
from gnomon.systems.kubernetes.api.constraints import MEMORY_PRESSURE, NO_EXECUTE, NO_SCHEDULE, UNREACHABLE, Taint
from gnomon.systems.kubernetes.api.objects import Condition, Node, Pod
from gnomon.systems.kubernetes.fleets.native import Native
from gnomon.systems.kubernetes.scheduler.hints import Event, NodeChanged, PodChanged
from gnomon.systems.kubernetes.scheduler.plugins import volume_binding
from gnomon.systems.kubernetes.scheduler.state import State, Surroundings

LEFT: Final = (Kind.END, Kind.KILL, Kind.FAIL, Kind.CANCEL, Kind.PREEMPT)
"""The rows with which an attempt is over."""
PREEMPTED: Final = Condition("DisruptionTarget", "True", "PreemptionByScheduler")


def closed_to(node: Node, *, lost: bool, pressed: bool, cordoned: bool) -> Node:
    """A node as it is marked while it is lost, short of memory, or cordoned: by taints, and as unschedulable."""
    taints = [*node.taints]
    if lost:
        taints += [Taint(UNREACHABLE, effect=NO_SCHEDULE), Taint(UNREACHABLE, effect=NO_EXECUTE)]
    if pressed:
        taints.append(Taint(MEMORY_PRESSURE, effect=NO_SCHEDULE))
    return replace(node, taints=tuple(taints), unschedulable=node.unschedulable or cordoned)


class Account:
    """``state``: who is where; ``pods``: by task, and ``task`` by a pod's key; ``number``: the world's number of each
    node by its name; ``changes``: how often anything changed.

    Whoever is told of changes puts himself into ``tell``, which is given what happened and the row that says so.
    """

    def __init__(self, native: Native, board: Board, hands: Hands, node_at: list[int]) -> None:
        self._board, self._hands = board, hands
        self.pods = list(native.pods)
        self.task = {pod.key: task for task, pod in enumerate(self.pods)}
        self._nodes = list(native.objects.nodes)
        self.number = {self._nodes[i].name: world for i, world in enumerate(node_at)}
        self._of_world = {world: i for i, world in enumerate(node_at)}
        self.state = State(self._nodes, Surroundings.of(native.objects))
        self._copies: dict[tuple[int, int], str] = {}
        self.changes = 0
        self.tell: Callable[[Event, int], None] = lambda event, row: None

    def name(self, node: int) -> str:
        """The name of a node of the world; empty for none."""
        return self._nodes[self._of_world[node]].name if node >= 0 else ""

    def renewed(self, task: int) -> Pod:
        """The pod of a task as it is made, whatever was known of one that was there before the run."""
        pod = self.pods[task]
        if pod.node_name or pod.nominated_node or pod.is_terminating:
            pod = self.pods[task] = replace(pod, node_name="", nominated_node="", deletion_ns=None)
        return pod

    def place(self, pod: Pod, name: str, *, since: int) -> None:
        """A pod has a node from now on; it was started at a time."""
        volume_binding.bind_pod(self.state, pod, name)
        self.state.place(replace(pod, node_name=name), name, start_ns=since)

    def forget(self, task: int) -> None:
        """A pod is gone, without a row that says so."""
        key = self.pods[task].key
        if key in self.state.where:
            self.state.remove(key)
            self.changes += 1

    # ------------------------------------------------------------------ what rows say

    def came(self, task: int, node: int) -> bool:
        """A pod runs; whether that is news."""
        pod = self.pods[task]
        if pod.key in self.state.where:
            return False
        self.state.withdraw(pod.key)
        self.place(pod, self.name(node), since=self._board.now)
        self._changed(PodChanged(None, pod), int(self._board.w.start_row[task]))
        return True

    def left(self, task: int, row: int) -> bool:
        """An attempt is over: the pod is gone from its node, or stops there. Whether it had one."""
        pod, w = self.pods[task], self._board.w
        if pod.key not in self.state.where:
            return False
        self.state.remove(pod.key)
        node = int(w.log_node[row])
        if row + 1 < w.at[ROWS] and w.log_kind[row + 1] == Kind.COPY and w.log_subject[row + 1] == task:
            self.changes += 1
            self._stops(task, node, row)
        else:
            self._changed(PodChanged(replace(pod, node_name=self.name(node)), None), row)
        return True

    def stays(self, task: int) -> None:
        """A pod whose container waits for its restart is still on its node."""
        pod = self.pods[task]
        if pod.key not in self.state.where:
            self.place(pod, self.name(self._hands.kept[task][0]), since=int(self._board.w.start[task]))

    def _stops(self, task: int, node: int, row: int) -> None:
        """A pod was deleted, and is still there, terminating (or behind a partition)."""
        preempted = self._board.w.log_reason[row] == Reason.PREEMPTED
        copy = replace(
            self.pods[task],
            name=f"{self.pods[task].name}~{node}",
            deletion_ns=self._board.now,
            conditions=(PREEMPTED,) if preempted else (),
        )
        self._copies[task, node] = copy.key
        self.place(copy, self.name(node), since=int(self._board.w.start[task]))

    def is_stopping(self, task: int, node: int) -> bool:
        """Whether a pod of a task that was deleted is still on a node."""
        return (task, node) in self._copies

    def stopped(self, task: int, node: int, row: int) -> None:
        """A pod that was deleted is gone."""
        key = self._copies.pop((task, node), None)
        if key is not None:
            self._changed(PodChanged(self.state.remove(key).pod, None), row)

    def node_changed(self, node: int, row: int) -> None:
        """A node takes no new work, or does again: as its taints have it."""
        i = self._of_world[node]
        closed = int(self._board.w.closed[node])
        before = self.state.nodes[i]
        lost, pressed, cordoned = bool(closed & LOST), bool(closed & PRESSED), bool(closed & CORDONED)
        after = closed_to(self._nodes[i], lost=lost, pressed=pressed, cordoned=cordoned)
        if after != before:
            self.state.replace_node(after)
            self._changed(NodeChanged(before, after), row)

    def _changed(self, event: Event, row: int) -> None:
        self.changes += 1
        self.tell(event, row)

    def check(self) -> None:
        """Raise InvariantError where this account of who is where differs from the ledger's."""
        w = self._board.w
        copies = set(self._copies.values())
        for key, i in self.state.where.items():
            if key not in copies and int(w.node[self.task[key]]) != self.number[self.state.names[i]]:
                raise InvariantError(f"{key} is on {self.state.names[i]} for the scheduler alone")
