"""``kubectl drain``: what becomes of the pods of a node that an operator empties.

Source: ``staging/src/k8s.io/kubectl/pkg/drain`` (filters.go, drain.go) of v1.34: pods of DaemonSets and mirror pods
stay (``--ignore-daemonsets``), all others are evicted, also those without an owner and with data of their own
(``--force``, ``--delete-emptydir-data``), each within its grace period; what a budget refuses is tried again
after 5 s.
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.log import Reason, State
from gnomon.systems.kubernetes.api.objects import MIRROR, Pod
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.disruptions import Disruptions
from gnomon.systems.kubernetes.fleets.native import Native
from gnomon.systems.kubernetes.read.annotations import stops_ns

RETRY_NS: Final = 5 * 10**9
"""How long ``kubectl drain`` sleeps after an eviction that was refused (drain.go, evictPods)."""


class Draining:
    """All drains of a run."""

    def __init__(self, native: Native, desk: Desk) -> None:
        self._native, self._desk = native, desk
        self._disruptions: Disruptions | None = None
        self._refused: dict[tuple[int, int], int] = {}

    def sees_to(self, task: int, row: int) -> bool:
        """Evict the pod of a task whose node is being emptied (``row``), if it may go; False: it is not bound yet."""
        desk, pod = self._desk, self._desk.pods[task]
        if desk.board.state(task) is not State.RUNNING:
            return False
        if stays(pod):
            return True
        if self._disruptions is None:
            native = self._native
            budgets = native.objects.disruption_budgets
            self._disruptions = Disruptions(budgets, desk, native.fleets, native.rollouts)
        text = self._disruptions.refusal(task)
        first = self._refused.get((task, row), desk.now)
        if text is None:
            late = (first - desk.now) % RETRY_NS
            if late:  # kubectl sleeps until then
                desk.timers.wake(desk.now + late)
            else:
                desk.hands.fail(task, Reason.DRAINED, row, grace_ns=stops_ns(pod))
        elif (task, row) not in self._refused:
            self._refused[task, row] = desk.now
            said = f'error when evicting pods/"{pod.name}" -n "{pod.namespace}" (will retry after 5s): {text}'
            desk.event("EvictionFailed", said, about=f"Pod {pod.key}", task=task, cause=row)
        return True


def stays(pod: Pod) -> bool:
    """Whether a drain passes a pod by.

    >>> from gnomon.systems.kubernetes.api.objects import Owner
    >>> [stays(Pod("p", owner=Owner(kind, "x"))) for kind in ("DaemonSet", "ReplicaSet")], stays(Pod("p"))
    ([True, False], False)
    """
    return MIRROR in pod.annotations or (pod.owner is not None and pod.owner.kind == "DaemonSet")
