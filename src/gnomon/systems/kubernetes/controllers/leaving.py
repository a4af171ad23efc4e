"""Pods that are on their way out when the run begins: terminating ones, and those bound to nodes that are not there.

- A terminating pod that has a node is stopped by its kubelet within its grace period, which is counted from the start
  of the run, as nobody knows when the files were written; one whose node is unreachable stays, for nobody can tell it.
- A terminating pod without a node never starts (``pkg/scheduler/schedule_one.go``, skipPodSchedule). It is there still
  since a finalizer keeps it (the API server deletes one without a node at once: ``pkg/registry/core/pod/strategy.go``,
  CheckGracefulDelete), so it stays, and counts with quotas.
- A pod of a node that is not there stays as it is until the pod garbage collector has missed the node for
  ``quarantineTime``; then it has failed, and is deleted (``pkg/controller/podgc/gc_controller.go``, gcOrphaned).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gnomon.engine.log import Kind, Reason
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.api.constraints import UNREACHABLE
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.controllers.desk import Desk, PodController
from gnomon.systems.kubernetes.read.annotations import stops_ns

QUARANTINE_NS: Final = 40 * 10**9
COLLECTED: Final = "DeletionByPodGC"
"""The reason of the condition that the pod garbage collector sets."""


def missing_message(pod: Pod) -> str:
    """What is to be said of a pod whose node is not there."""
    return f"it is bound to the node {pod.node_name}, which is not there"


def deleting_message(pod: Pod) -> str:
    """Why a pod that is terminating is not tried (``pkg/scheduler/schedule_one.go``, skipPodSchedule)."""
    return f"skip schedule deleting pod: {pod.key}"


class Leaving:
    """``owner``: the controller of a task, if it has one; ``nodes``: those that there are, by name."""

    def __init__(self, desk: Desk, owner: Callable[[int], PodController | None], nodes: Mapping[str, Node]) -> None:
        self._desk, self._owner, self._nodes = desk, owner, nodes
        self._to_stop: list[int] = []
        self._kept: set[int] = set()
        self._lost: dict[int, int] = {}

    def started(self, task: int) -> None:
        """A pod is where it is bound to; one that is terminating is to stop."""
        pod = self._desk.pods[task]
        if pod.is_terminating and all(taint.key != UNREACHABLE for taint in self._nodes[pod.node_name].taints):
            self._to_stop.append(task)

    def stays(self, task: int, row: int) -> bool:
        """Whether a pod neither is where it is bound to nor wants a place, and stays as it is."""
        desk, pod = self._desk, self._desk.pods[task]
        if pod.node_name:
            if pod.node_name in self._nodes:
                return False
            desk.note_created(task)
            self._lost[task] = desk.now + QUARANTINE_NS
            desk.timers.wake(desk.now + QUARANTINE_NS)
            self._say(task, row, missing_message(pod), "")
        elif pod.is_terminating:
            desk.copied(task, -1)
            self._kept.add(task)
            self._say(task, row, deleting_message(pod), "Terminating")
        else:
            return False
        if (one := self._owner(task)) is not None:
            one.present(task)
        return True

    def _say(self, task: int, row: int, message: str, status: str) -> None:
        details: dict[str, int | str] = {"message": message, **({"reason": status} if status else {})}
        reason = Reason.UNATTENDED
        self._desk.board.row(Kind.WAIT, task=task, cause=row, reason=reason, value=-1, details=details)

    def sync(self) -> None:
        """Stop those that are to stop, and delete those whose node was missed for long enough."""
        stopping, self._to_stop = self._to_stop, []
        for task in stopping:
            self._stop(task)
        for task, when in list(self._lost.items()):
            if when <= self._desk.now:
                del self._lost[task]
                self._collect(task)

    def _stop(self, task: int) -> None:
        desk, pod = self._desk, self._desk.pods[task]
        names = [container.name for container in pod.spec.containers]
        text = f"Stopping container {', '.join(names)}"
        row = desk.event("Killing", text, about=f"Pod {pod.key}", task=task)
        if self._owner(task) is not None:
            desk.hands.fail(task, Reason.DELETED, row, grace_ns=stops_ns(pod))
        else:
            desk.delete(task, row)

    def _collect(self, task: int) -> None:
        desk, pod = self._desk, self._desk.pods[task]
        row = desk.event(COLLECTED, "PodGC: node no longer exists", about=f"Pod {pod.key}", task=task)
        desk.gone(task, row)
        one = self._owner(task)
        usual = Answer(retry=True, delay_ns=0, in_place=False, count=0, limit=-1, rule=-1, at_ns=desk.now)
        answer = None if one is None else one.lost(task, Reason.NODE, row, usual)
        if answer is None or not answer.retry:
            desk.withdraw(task, row)
        elif not answer.delay_ns:
            desk.hands.queue(task, row)
        if one is not None:
            one.wake()

    def waiting(self) -> Iterator[int]:
        """The tasks of the pods that stay without a place."""
        yield from self._kept
        yield from self._lost

    def is_busy(self) -> bool:
        """Whether one of them will be deleted."""
        return bool(self._lost)
