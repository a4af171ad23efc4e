"""Whether the API server lets a pod be evicted: PodDisruptionBudgets, by the pods that are there and ready.

Source: ``pkg/controller/disruption/disruption.go`` (getExpectedPodCount, updatePdbStatus) and
``pkg/registry/core/pod/storage/eviction.go`` of v1.34. What a budget's status says is not looked at: it is worked out
of the pods of the run. A pod that is not ready may go where enough others are (IfHealthyBudget).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gnomon.systems.kubernetes.api.objects import PodDisruptionBudget
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.rollout import resolved
from gnomon.systems.kubernetes.fleets.fleet import Fleet, Rollout

VIOLATED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL: Final = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class Disruptions:
    """The budgets of a run. ``fleets`` and ``rollouts``: how many pods each workload is to have."""

    def __init__(
        self, budgets: Iterable[PodDisruptionBudget], desk: Desk, fleets: Sequence[Fleet], rollouts: Iterable[Rollout]
    ) -> None:
        self._desk, self._fleets = desk, fleets
        self._fleet_of = {task: number for number, fleet in enumerate(fleets) for task in fleet.tasks}
        self._rollout_of = {
            number: one for one in rollouts for number in (*(fleet for _, _, fleet in one.specs), *one.old)
        }
        self._tasks = {
            id(budget): [
                task
                for task, pod in enumerate(desk.pods)
                if pod.namespace == budget.namespace and selects(budget.selector, pod.labels)
            ]
            for budget in budgets
        }
        self._of: dict[int, list[PodDisruptionBudget]] = {}
        for budget in budgets:
            for task in self._tasks[id(budget)]:
                self._of.setdefault(task, []).append(budget)

    def refusal(self, task: int) -> str | None:
        """Why a pod may not be evicted now, in the words of the API server; None: it may."""
        budgets = self._of.get(task, [])
        if not budgets:
            return None
        if len(budgets) > 1:
            return SEVERAL
        healthy, desired = self._counts(budgets[0])
        if not self._desk.is_ready(task):
            return None if healthy >= desired > 0 else VIOLATED
        return None if healthy > desired else VIOLATED

    def _counts(self, budget: PodDisruptionBudget) -> tuple[int, int]:
        """How many pods of a budget are ready, and how many have to be."""
        there = [task for task in self._tasks[id(budget)] if task in self._desk.created]
        healthy = sum(self._desk.is_ready(task) for task in there)
        least = budget.min_available
        if budget.max_unavailable is not None:
            wanted = self._wanted(there)
            return healthy, max(wanted - resolved(budget.max_unavailable, wanted, up=True), 0)
        if least is None:
            return healthy, 0
        return healthy, least if isinstance(least, int) else resolved(least, self._wanted(there), up=True)

    def _wanted(self, tasks: Sequence[int]) -> int:
        """How many pods the workloads of some pods are to have together; a pod without any counts as one."""
        wanted: dict[object, int] = {}
        for task in tasks:
            number = self._fleet_of.get(task)
            if number is None:
                wanted[task] = 1
            elif (rollout := self._rollout_of.get(number)) is not None:
                now = [spec for at, spec, _ in rollout.specs if at <= self._desk.now]
                wanted[id(rollout)] = now[-1].replicas if now else 0
            else:
                wanted[self._fleets[number]] = self._fleets[number].wanted
        return sum(wanted.values())
