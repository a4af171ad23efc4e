"""What kubelets do by themselves to pods that run: kill containers that fail a probe, end pods at their deadline.

Source: ``pkg/kubelet/kuberuntime`` (computePodActions: a container that fails its startup or liveness probe is killed
within the probe's grace period, or its pod's, and is restarted by the pod's policy) and
``pkg/kubelet/active_deadline.go`` (counted from the pod's start on its node, over all restarts), v1.34. A pod that runs
several containers is restarted as a whole here. On a node that is cut off nothing is done before it is heard of again.
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.log import Reason
from gnomon.model.resources import NEVER
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.controllers.desk import Desk, PodController
from gnomon.systems.kubernetes.controllers.probes import Failure, first_kill, unready
from gnomon.systems.kubernetes.read.annotations import stops_ns

DEADLINE: Final = "DeadlineExceeded"
CRASH_LOOP: Final = "CrashLoopBackOff"
DEADLINE_TEXT: Final = "Pod was active on the node longer than the specified deadline"


class Kubelets:
    """All of them. ``over``: the tasks whose pods are being ended as a whole, though their own doing ends them."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._since: dict[int, tuple[int, int]] = {}
        self.over: set[int] = set()
        self._ending: set[int] = set()

    def started(self, task: int, one: PodController | None) -> None:
        """The containers of a pod run."""
        desk, pod = self._desk, self._desk.pods[task]
        row = int(desk.board.w.start_row[task])
        if (kill := first_kill(pod)) is not None:
            desk.timers.at(desk.now + kill.after_ns, lambda: self._fails(task, row, kill))
        if (failure := unready(pod)) is not None:
            desk.timers.at(desk.now + failure.after_ns, lambda: self._unready(task, row, failure, one))
        if (deadline := pod.spec.active_deadline_s) is not None:
            at_ns = self._first_start(task) + deadline * 10**9
            self._ending.add(task)
            desk.timers.at(max(at_ns, desk.now), lambda: self._ends(task, row))

    def _first_start(self, task: int) -> int:
        """When the present pod of a task came to its node."""
        created = self._desk.created.get(task, -1)
        if self._since.get(task, (-2, 0))[0] != created:
            self._since[task] = created, self._desk.now
        return self._since[task][1]

    def _is_same(self, task: int, row: int) -> bool:
        """Whether the containers that were started by a row still run."""
        return task in self._desk.node and int(self._desk.board.w.start_row[task]) == row

    def _unready(self, task: int, row: int, failure: Failure, one: PodController | None) -> None:
        desk = self._desk
        if not self._is_same(task, row) or not desk.hands.runs(task) or desk.ready_from.get(task, NEVER) > desk.now:
            return
        self._unhealthy(task, row, failure)
        desk.ready_from[task] = NEVER
        if one is not None:
            one.wake()

    def _unhealthy(self, task: int, row: int, failure: Failure) -> int:
        text, about = f"{failure.what.capitalize()} probe failed", f"Pod {self._desk.pods[task].key}"
        return self._desk.event("Unhealthy", text, about=about, task=task, cause=row)

    def _fails(self, task: int, row: int, failure: Failure) -> None:
        """A container has failed its probe too often: it is told to stop."""
        desk, pod = self._desk, self._desk.pods[task]
        if not self._is_same(task, row):
            return
        if not desk.hands.runs(task):
            desk.timers.at(desk.now + failure.probe.period_s * 10**9, lambda: self._fails(task, row, failure))
            return
        cause = self._unhealthy(task, row, failure)
        text = f"Container {failure.container} failed {failure.what} probe"
        text += ", will be restarted" if pod.spec.restart_policy != "Never" else ""
        killing = desk.event("Killing", text, about=f"Pod {pod.key}", task=task, cause=cause)
        after = stops_ns(pod, failure.probe.grace_s)
        desk.timers.at(desk.now + after, lambda: self._dies(task, row, killing, text))

    def _dies(self, task: int, row: int, cause: int, text: str) -> None:
        if self._is_same(task, row) and self._desk.hands.runs(task):
            self._desk.hands.fail(task, Reason.KILLED, cause, details={"message": text})

    def restarts(self, task: int, row: int, answer: Answer) -> None:
        """A container has ended (``row``), and starts again by itself: it may have to wait for that."""
        pod = self._desk.pods[task]
        if answer.retry and answer.delay_ns and pod.spec.containers:
            name = pod.spec.containers[0].name
            text = f"back-off {_go(answer.delay_ns)} restarting failed container={name} pod={pod.name}_{pod.namespace}"
            self._desk.event(CRASH_LOOP, text, about=f"Pod {pod.key}", task=task, cause=row)

    def is_busy(self) -> bool:
        """Whether a pod that runs has a deadline."""
        self._ending = {task for task in self._ending if task in self._desk.node}
        return bool(self._ending)

    def _ends(self, task: int, row: int) -> None:
        """A pod's deadline is over."""
        desk, pod = self._desk, self._desk.pods[task]
        if self._is_same(task, row) and desk.hands.runs(task):
            self.over.add(task)
            cause = desk.event(DEADLINE, DEADLINE_TEXT, about=f"Pod {pod.key}", task=task, cause=row)
            details = {"message": DEADLINE_TEXT, "reason": DEADLINE}
            desk.hands.fail(task, Reason.KILLED, cause, details=details, grace_ns=stops_ns(pod))


def _go(ns: int) -> str:
    """A duration of whole seconds as Go prints it.

    >>> _go(40 * 10**9), _go(80 * 10**9), _go(300 * 10**9)
    ('40s', '1m20s', '5m0s')
    """
    minutes, seconds = divmod(ns // 10**9, 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
