"""DaemonSets that change while the cluster runs: one pod a node, replaced node by node.

Source: ``pkg/controller/daemon/update.go`` (rollingUpdate) and ``daemon_controller.go`` (podsShouldBeOnNode: no pod is
made where an old one is still terminating), v1.29; both bounds are rounded up, as percentages of the nodes that are to
have a pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gnomon.engine.log import Reason
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.desk import Desk
from gnomon.systems.kubernetes.makers import DaemonRollout, Fleet
from gnomon.systems.kubernetes.replica_sets import Retrying
from gnomon.systems.kubernetes.rollout import resolved
from gnomon.systems.kubernetes.workloads import DaemonSet


@dataclass(frozen=True, slots=True)
class Turn:
    """A node in a look: the task of its new pod, those of its pods that are there, new and old (-1: none)."""

    wanted: int
    new: int
    old: int


class DaemonSetController:
    """One DaemonSet; ``fleets`` by their numbers, one a version, each with a place for every node of its own."""

    def __init__(self, rollout: DaemonRollout, fleets: dict[int, Fleet], desk: Desk) -> None:
        self._rollout, self._fleets, self._desk = rollout, fleets, desk
        self._held: dict[int, int] = {}
        self._coming: set[int] = {task for one in fleets.values() for task in one.tasks if task in desk.submitted}
        self._retry = Retrying(desk)
        self._woken = False
        self._on: dict[str, dict[int, int]] = {}
        self._node = {task: node for one in fleets.values() for task, node in zip(one.tasks, one.nodes, strict=True)}
        for number, fleet in fleets.items():
            for task, node in zip(fleet.tasks, fleet.nodes, strict=True):
                self._on.setdefault(node, {})[number] = task
        self.tasks: Sequence[int] = [task for fleet in fleets.values() for task in fleet.tasks]
        for at_ns, _, _ in rollout.specs:
            desk.at(at_ns, self)

    @property
    def about(self) -> str:
        """Its name."""
        one = next(iter(self._fleets.values()))
        return f"DaemonSet {one.namespace}/{one.workload}"

    def present(self, task: int) -> None:
        """A pod of its own was there from the beginning."""
        self._coming.discard(task)

    def wake(self) -> None:
        """Something happened to a pod of its own."""
        self._woken = True
        self._desk.touch(self)

    def enter(self, task: int, row: int) -> None:
        """A pod of its own is to be created."""
        self._coming.discard(task)
        self._held[task] = row
        self.wake()

    def lost(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """A pod is gone: it is made anew if it is of the present version."""
        self._desk.touch(self)
        return replace(usual, retry=True, delay_ns=0, in_place=False, at_ns=self._desk.now, limit=-1)

    def sync(self) -> None:
        """Make the pods that lack, then replace some that are old."""
        specs = [one for one in self._rollout.specs if one[0] <= self._desk.now]
        woken, self._woken = self._woken, False
        if not specs or self._retry.blocked(woken=woken) or self._coming:
            return
        _, spec, number = specs[-1]
        turns = [self._turn(number, tasks) for tasks in self._on.values() if number in tasks]
        for tasks in self._on.values():
            if number not in tasks:  # the new version is not to run there
                for task in tasks.values():
                    self._delete(task)
        wanted = {turn.wanted for turn in turns}
        for task in [task for task in self._held if task not in wanted]:
            self._delete(task)
        for turn in turns:
            stopping = any(self._desk.is_stopping(task) for task in self._on[self._node[turn.wanted]].values())
            if turn.new < 0 and turn.old < 0 and not stopping and not self._make(turn.wanted):
                return
        if not self._held:
            self._retry.done()
        if spec.strategy == "RollingUpdate":
            self._roll(spec, turns)

    def _turn(self, number: int, tasks: dict[int, int]) -> Turn:
        created = self._desk.created
        new = tasks[number] if tasks[number] in created else -1
        old = next((task for one, task in tasks.items() if one != number and task in created), -1)
        return Turn(tasks[number], new, old)

    def _roll(self, spec: DaemonSet, turns: Sequence[Turn]) -> None:
        surge = resolved(spec.max_surge, len(turns), up=True)
        unavailable = resolved(spec.max_unavailable, len(turns), up=True)

        def available(task: int) -> bool:
            return self._desk.is_available(task, spec.min_ready_s, self)

        old = [turn for turn in turns if turn.old >= 0 and turn.new < 0]
        weak = [turn for turn in old if not available(turn.old)]
        sound = [turn for turn in old if available(turn.old)]
        if surge:
            both = [turn for turn in turns if turn.new >= 0 and turn.old >= 0]
            for turn in both:
                if available(turn.new):
                    self._delete(turn.old)
            room = surge - sum(not available(turn.new) for turn in both)
            for turn in [*weak, *sound[: max(room, 0)]]:
                if not self._make(turn.wanted):
                    return
            return
        away = len(weak) + sum(turn.old < 0 and (turn.new < 0 or not available(turn.new)) for turn in turns)
        for turn in [*weak, *sound[: max((unavailable or 1) - away, 0)]]:
            self._delete(turn.old)

    def _make(self, wanted: int) -> bool:
        """Create a pod; whether it was taken, or is on its way."""
        desk = self._desk
        if wanted not in self._held:
            self._coming.add(wanted)
            desk.hands.submit(wanted, desk.now)
            return True
        text = desk.create(wanted, self._held[wanted])
        if text is None:
            del self._held[wanted]
            return True
        desk.refusal(wanted, text)
        self._retry.refused(self)
        return False

    def _delete(self, task: int) -> None:
        """Delete a pod, if it is there or about to be."""
        desk = self._desk
        if task in self._held:
            del self._held[task]
            desk.delete(task, -1)
        elif task in desk.created:
            text = f"Deleted pod: {desk.pods[task].name}"
            desk.delete(task, desk.event("SuccessfulDelete", text, about=self.about, task=task))

    def waiting(self) -> Iterable[int]:
        """The tasks that are held back."""
        return self._held

    def is_busy(self) -> bool:
        """Whether a change is still to come, or a pod that was refused may be taken now."""
        return self._rollout.specs[-1][0] > self._desk.now or self._retry.is_promising()
