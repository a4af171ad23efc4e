"""Pods on nodes that are lost: each is deleted when its toleration is over, counted from its node's NoExecute taint.

The taint comes at once for the first node of a zone, and then at the zone's rate (sheet §9). Deleting sets a mark: a
StatefulSet's pod stays, for nobody can say that it has stopped, until its node is heard of (user problem U14); all
others are replaced, or lost, at the mark.
"""

from __future__ import annotations

from gnomon.engine.log import Reason
from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.api.constraints import NO_EXECUTE, TOLERATION_S, UNREACHABLE
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.controllers.desk import Desk


def toleration_ns(pod: Pod) -> int:
    """How long a pod stays bound to a node that is unreachable: NEVER if it tolerates that without a time."""
    for one in pod.spec.tolerations:
        if one.effect in ("", NO_EXECUTE) and one.key in ("", UNREACHABLE):
            return NEVER if one.seconds is None else one.seconds * 10**9
    return TOLERATION_S * 10**9


class Loss:
    """``deleted``: the tasks whose pods are marked for deletion, and stay."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._due: dict[int, tuple[int, int, int]] = {}
        self.deleted: set[int] = set()

    def turn(self, node: int, row: int) -> None:
        """A node gets its NoExecute taint; ``row``: its closing."""
        desk = self._desk
        for task in desk.board.placed(node):
            stays = toleration_ns(desk.pods[task])
            if stays < NEVER:
                self._due[task] = (desk.now + stays, node, row)
                desk.timers.wake(desk.now + stays)

    def spare(self, node: int) -> None:
        """It loses the taint again."""
        for task, (_, where, _) in list(self._due.items()):
            if where == node:
                del self._due[task]

    def back(self, node: int) -> None:
        """The node is heard of again."""
        self.spare(node)
        self.deleted -= {task for task in self.deleted if self._desk.board.w.node[task] == node}

    def sync(self) -> None:
        """Delete the pods whose time has come."""
        desk = self._desk
        for task, (when, node, row) in list(self._due.items()):
            if when > desk.now or desk.board.w.node[task] != node or task not in desk.node:
                if when <= desk.now:
                    del self._due[task]
                continue
            del self._due[task]
            pod = desk.pods[task]
            if pod.owner is not None and pod.owner.kind == "StatefulSet":
                self.deleted.add(task)
                text = f"Marking for deletion Pod {pod.key}"
                desk.event("TaintManagerEviction", text, about=f"Pod {pod.key}", task=task, cause=row)
            else:
                desk.hands.fail(task, Reason.NODE, row)
