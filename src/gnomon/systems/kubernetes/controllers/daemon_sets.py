"""DaemonSets that change while the cluster runs: one pod a node, replaced node by node.

Source: ``pkg/controller/daemon/update.go`` (rollingUpdate) and ``daemon_controller.go`` (podsShouldBeOnNode: no pod is
made where an old one is still terminating), v1.29; both bounds are rounded up, as percentages of the nodes that are to
have a pod.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.systems.kubernetes.api.workloads import DaemonSet
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.placed import PlacedController
from gnomon.systems.kubernetes.controllers.rollout import resolved
from gnomon.systems.kubernetes.fleets.fleet import DaemonRollout, Fleet


@dataclass(frozen=True, slots=True)
class Turn:
    """A node in a look: the task of its new pod, those of its pods that are there, new and old (-1: none)."""

    wanted: int
    new: int
    old: int


class DaemonSetController(PlacedController):
    """One DaemonSet: a place for every node of its own."""

    kind = "DaemonSet"

    def __init__(self, rollout: DaemonRollout, fleets: dict[int, Fleet], desk: Desk) -> None:
        super().__init__(rollout.specs, fleets, desk)
        self._on: dict[str, dict[int, int]] = {}
        self._node = {task: node for one in fleets.values() for task, node in zip(one.tasks, one.nodes, strict=True)}
        for number, fleet in fleets.items():
            for task, node in zip(fleet.tasks, fleet.nodes, strict=True):
                self._on.setdefault(node, {})[number] = task

    def sync(self) -> None:
        """Make the pods that lack, then replace some that are old."""
        specs = self._due()
        if not specs:
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
            if turn.new < 0 and turn.old < 0 and not stopping and not self._create(turn.wanted):
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
                if not self._create(turn.wanted):
                    return
            return
        away = len(weak) + sum(turn.old < 0 and (turn.new < 0 or not available(turn.new)) for turn in turns)
        for turn in [*weak, *sound[: max((unavailable or 1) - away, 0)]]:
            self._delete(turn.old)

    def _delete(self, task: int) -> None:
        """Delete a pod, if it is there or about to be."""
        desk = self._desk
        if task in self._held:
            del self._held[task]
            desk.delete(task, -1)
        elif task in desk.created:
            text = f"Deleted pod: {desk.pods[task].name}"
            desk.delete(task, desk.event("SuccessfulDelete", text, about=self.about, task=task))
