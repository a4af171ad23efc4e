"""All controllers of a run: who looks after which pod, and what is told to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from gnomon.control.board import LOST, Board
from gnomon.control.placer import Hands
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import ROWS
from gnomon.recovery.retry import Answer
from gnomon.scheduling.events import refuse
from gnomon.systems.kubernetes.api.workloads import Deployment
from gnomon.systems.kubernetes.apiserver.creation import Usage
from gnomon.systems.kubernetes.controllers.cron_jobs import CronJobController
from gnomon.systems.kubernetes.controllers.daemon_sets import DaemonSetController
from gnomon.systems.kubernetes.controllers.deployments import DeploymentController
from gnomon.systems.kubernetes.controllers.desk import Controller, Desk, PodController
from gnomon.systems.kubernetes.controllers.jobs import JobController
from gnomon.systems.kubernetes.controllers.kubelets import Kubelets
from gnomon.systems.kubernetes.controllers.leaving import Leaving
from gnomon.systems.kubernetes.controllers.loss import Loss
from gnomon.systems.kubernetes.controllers.replica_sets import ReplicaSetController
from gnomon.systems.kubernetes.controllers.stateful_sets import StatefulSetController

if TYPE_CHECKING:
    from gnomon.systems.kubernetes.fleets.native import Native

_IN_PLACE: Final = (Reason.EXIT, Reason.MEMORY, Reason.NODE_MEMORY, Reason.KILLED)
"""What a container dies of alone: it is restarted where it is, if its pod's policy says so."""
_MOST_ROUNDS: Final = 1_000


class Controllers:
    """The controllers, and the pods that none looks after."""

    def __init__(
        self,
        native: Native,
        board: Board,
        timers: Timers,
        hands: Hands,
        *,
        enqueue: Callable[[int, int], None],
        unqueue: Callable[[int], None],
        submitted: frozenset[int],
    ) -> None:
        objects, pods = native.objects, native.pods
        usage = Usage(objects.resource_quotas, objects.limit_ranges, objects.pods)
        self.desk = desk = Desk(
            board, timers, hands, pods, usage, enqueue, unqueue, submitted, refused=dict(native.refused)
        )
        self.loss = Loss(desk)
        self.leaving = Leaving(desk, lambda task: self._of.get(task), {node.name: node for node in objects.nodes})
        self.kubelets = Kubelets(desk)
        self._bare: dict[int, int] = {}
        self._all: list[Controller] = []
        self._keepers: list[PodController] = []
        self._of: dict[int, PodController] = {}
        self._jobs: dict[int, JobController] = {}
        self._make(native)
        self._changed_ns = max((change.at_ns for change in native.changes), default=0)
        for change in native.changes:
            for quota in change.objects.resource_quotas:
                timers.at(change.at_ns, partial(usage.set, quota))

    def _make(self, native: Native) -> None:
        desk, fleets = self.desk, native.fleets
        steered = {number for one in native.daemon_rollouts for _, _, number in one.specs}
        sets = {
            number: ReplicaSetController(fleet, desk)
            for number, fleet in enumerate(fleets)
            if fleet.kind not in ("StatefulSet", "Job") and number not in steered
        }
        self._keepers += sets.values()
        for rollout in native.rollouts:
            numbers = {number for _, _, number in rollout.specs}.union(rollout.old)
            if isinstance(rollout.specs[0][1], Deployment):
                above = DeploymentController(rollout, {number: sets[number] for number in numbers}, desk)
                self._all.append(above)
                for number in numbers:
                    sets[number].above = above
                    sets[number].family = [sets[one] for one in sorted(numbers)]
            else:
                self._keepers.append(StatefulSetController(rollout, {n: fleets[n] for n in sorted(numbers)}, desk))
        for daemons in native.daemon_rollouts:
            numbers = {number for _, _, number in daemons.specs}
            self._keepers.append(DaemonSetController(daemons, {n: fleets[n] for n in sorted(numbers)}, desk))
        crons: dict[tuple[str, str], list[JobController]] = {}
        for run in native.jobs:
            job = JobController(run, fleets[run.fleet], desk)
            self._jobs.update(dict.fromkeys(job.tasks, job))
            self._keepers.append(job)
            if run.cron:
                crons.setdefault((run.job.namespace, run.cron), []).append(job)
        for cron in native.objects.cron_jobs:
            if jobs := crons.get((cron.namespace, cron.name)):
                self._all.append(CronJobController(cron, jobs, desk))
        for one in self._keepers:
            self._of.update(dict.fromkeys(one.tasks, one))
        self._all += self._keepers

    def add(self, one: Controller) -> None:
        """One more that acts."""
        self._all.append(one)

    # ------------------------------------------------------------------ what is told

    def present(self, task: int) -> None:
        """A pod was bound from the beginning on."""
        self.desk.note_created(task)
        if (one := self._of.get(task)) is not None:
            one.present(task)
        self.leaving.started(task)

    def enter(self, task: int, row: int) -> None:
        """A pod is to be created, or made anew."""
        if (one := self._of.get(task)) is not None:
            one.enter(task, row)
            return
        pod = self.desk.pods[task]
        if pod.uid or pod.creation_ns is not None:  # it is there already
            self.desk.note_created(task)
            self.desk.enqueue(task, row)
        elif self.desk.frozen:
            self._bare[task] = row
        else:
            self._create_bare(task, row)

    def _create_bare(self, task: int, row: int) -> None:
        """Whoever creates a pod by hand is told once that it is refused."""
        text = self.desk.create(task, row)
        if text is not None:
            board = self.desk.board
            unit = int(board.w.unit[task])
            self.desk.event("Forbidden", f"Error from server (Forbidden): {text}", about="", task=task, cause=row)
            refuse(board.room(), unit, int(Reason.OVER_LIMIT))
            board.details[int(board.w.at[ROWS]) - 1] = {"message": text, "reason": "Forbidden"}

    def started(self, task: int, node: int) -> None:
        """A pod runs."""
        one = self._of.get(task)
        self.desk.started(task, node, one)
        self.kubelets.started(task, one)

    def _tell(self, task: int) -> None:
        """Something happened to a pod: its controller, if it has one, is to look."""
        if (one := self._of.get(task)) is not None:
            one.wake()

    def ended(self, task: int, kind: Kind, row: int) -> None:
        """A pod has come to its end, or was deleted."""
        if task in self.desk.created:
            self.desk.gone(task, row)
        if kind is Kind.END and (job := self._jobs.get(task)) is not None:
            job.succeeded(task)
        self._tell(task)

    def answer(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """What follows a failed attempt."""
        desk = self.desk
        pod, node = desk.pods[task], int(desk.board.w.log_node[row])
        never = pod.spec.restart_policy == "Never"
        if reason in _IN_PLACE and not never and task not in self.kubelets.over:
            desk.ready_from.pop(task, None)
            if (job := self._jobs.get(task)) is not None:
                job.restarted()
            self.kubelets.restarts(task, row, usual)
            return usual
        came_back = reason is Reason.NODE and not desk.board.w.closed[node] & LOST
        if came_back and task not in self.loss.deleted and not never:
            desk.ready_from.pop(task, None)
            return replace(usual, retry=True, delay_ns=0, in_place=True, at_ns=desk.now)
        self.loss.deleted.discard(task)
        self.kubelets.over.discard(task)
        desk.gone(task, row)
        one = self._of.get(task)
        if one is None:
            return replace(usual, retry=False)
        one.wake()
        return one.lost(task, reason, row, usual)

    def node_changed(self, node: int) -> None:
        """A node is lost, or heard of again."""
        desk = self.desk
        lost = bool(desk.board.w.closed[node] & LOST)
        if lost == (node in desk.lost_nodes):
            return
        if lost:
            desk.lost_nodes.add(node)
        else:
            desk.node_back(node)
            self.loss.back(node)
        for task, where in desk.node.items():
            if where == node:
                self._tell(task)

    def copy_gone(self, task: int, node: int) -> None:
        """A pod that was deleted has stopped."""
        self.desk.copy_gone(task, node)
        self._tell(task)

    # ------------------------------------------------------------------ what is done

    def sync(self) -> None:
        """Let all act that have something to look at."""
        self.leaving.sync()
        self.loss.sync()
        for task, row in list(self._bare.items()):
            del self._bare[task]
            self._create_bare(task, row)
        for _ in range(_MOST_ROUNDS):
            dirty = self.desk.take_dirty()
            if not dirty:
                return
            for one in dirty:
                one.sync()

    def waiting(self) -> Iterator[int]:
        """The tasks whose pods are to be created, and are not yet."""
        yield from self._bare
        yield from self.leaving.waiting()
        for one in self._keepers:
            for task in one.waiting():
                if self.desk.board.state(task) is State.DELAYED:
                    yield task

    def is_busy(self) -> bool:
        """Whether one of them will act by itself though nothing runs."""
        if self.desk.has_dirty() or self.leaving.is_busy() or self.kubelets.is_busy():
            return True
        return self.desk.now < self._changed_ns or any(one.is_busy() for one in self._all)
