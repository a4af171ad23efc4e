"""StatefulSets: pods with an ordinal, made in its order, replaced from the last down, never two of one at a time.

Source: ``pkg/controller/statefulset/stateful_set_control.go`` (updateStatefulSet); maxUnavailable needs a gate that is
off by default and counts as 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.systems.kubernetes.api.workloads import StatefulSet
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.placed import PlacedController
from gnomon.systems.kubernetes.fleets.fleet import Fleet, Rollout


class StatefulSetController(PlacedController):
    """One StatefulSet: a place for every ordinal."""

    kind = "StatefulSet"

    def __init__(self, rollout: Rollout, fleets: dict[int, Fleet], desk: Desk) -> None:
        super().__init__(rollout.specs, fleets, desk)
        self._current = rollout.specs[0][2]

    def sync(self) -> None:
        """One look from the first ordinal to the last, then from the last down."""
        specs = self._due()
        if not specs:
            return
        _, spec, number = specs[-1]
        assert isinstance(spec, StatefulSet)
        newest, old = self._fleets[number].tasks, self._fleets[self._current].tasks
        one_by_one = spec.pod_management == "OrderedReady"
        if self._fill(spec, newest, old, one_by_one=one_by_one) or self._shrink(spec, one_by_one=one_by_one):
            return
        if spec.strategy == "RollingUpdate":
            self._roll(spec)
            if self._is_whole(spec):
                self._current = number

    def _of(self, ordinal: int) -> list[int]:
        """The tasks of an ordinal, by version."""
        return [fleet.tasks[ordinal] for fleet in self._fleets.values() if ordinal < len(fleet.tasks)]

    def _active(self, ordinal: int) -> int:
        return next((task for task in self._of(ordinal) if task in self._desk.created), -1)

    def _is_stopping(self, ordinal: int) -> bool:
        return any(self._desk.is_stopping(task) for task in self._of(ordinal))

    def _fill(self, spec: StatefulSet, newest: Sequence[int], old: Sequence[int], *, one_by_one: bool) -> bool:
        """Create what lacks; whether that is all for now."""
        pending = False
        for ordinal in range(spec.replicas):
            task = self._active(ordinal)
            if task < 0:
                wanted = (newest if ordinal >= spec.partition else old)[ordinal]
                if self._is_stopping(ordinal) or not self._make(ordinal, wanted) or one_by_one:
                    return True
                pending = True
            elif one_by_one and not self._desk.is_available(task, spec.min_ready_s, self):
                return True
        if not self._held:
            self._retry.done()
        return pending

    def _make(self, ordinal: int, wanted: int) -> bool:
        """Create the pod of an ordinal; whether it was taken, or is on its way."""
        for task in self._of(ordinal):
            if task != wanted and task in self._held:  # of a version that is not wanted any more
                del self._held[task]
                self._desk.delete(task, -1)
        return self._create(wanted)

    def _shrink(self, spec: StatefulSet, *, one_by_one: bool) -> bool:
        """Delete the pods of ordinals that are too many, the last first; whether that is all for now."""
        ordinals = max(len(fleet.tasks) for fleet in self._fleets.values())
        for ordinal in reversed(range(spec.replicas, ordinals)):
            if self._is_stopping(ordinal):
                if one_by_one:
                    return True
            elif (task := self._active(ordinal)) >= 0:
                self._delete(task, f"delete Pod {self._desk.pods[task].name}")
                if one_by_one:
                    return True
        return False

    def _is_new(self, spec: StatefulSet, task: int) -> bool:
        """Whether the pod of a task is as the present version has it, though it was made for an earlier one."""
        alike = {number for _, one, number in self._specs if one.template == spec.template}
        return any(task in self._fleets[number].tasks for number in alike)

    def _is_whole(self, spec: StatefulSet) -> bool:
        """Whether all pods are of the present version, and ready: it is what comes below a partition from then on."""
        tasks = [self._active(ordinal) for ordinal in range(spec.replicas)]
        return all(task >= 0 and self._desk.is_ready(task) and self._is_new(spec, task) for task in tasks)

    def _roll(self, spec: StatefulSet) -> None:
        """Delete the last pod of an old version; none before the one deleted last is there again, and available."""
        for ordinal in reversed(range(spec.partition, spec.replicas)):
            task = self._active(ordinal)
            if task < 0 or self._is_stopping(ordinal):
                return
            if not self._is_new(spec, task):
                self._delete(task, f"delete Pod {self._desk.pods[task].name}")
                return
            if not self._desk.is_available(task, spec.min_ready_s, self):
                return

    def _delete(self, task: int, text: str) -> None:
        row = self._desk.event("SuccessfulDelete", text, about=self.about, task=task)
        self._desk.delete(task, row)
