"""Deployments: from one version to the next by scaling ReplicaSets, within its bounds (rules in ``rollout``)."""

from __future__ import annotations

from typing import Final

from gnomon.systems.kubernetes.api.workloads import Deployment
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.replica_sets import ReplicaSetController
from gnomon.systems.kubernetes.controllers.rollout import Count, Rescale, fenceposts, recreate, rolling
from gnomon.systems.kubernetes.fleets.fleet import Rollout

_MOST_STEPS: Final = 10_000


class DeploymentController:
    """One Deployment; ``sets``: its ReplicaSets, which make its pods, by their fleets, the oldest first."""

    def __init__(self, rollout: Rollout, sets: dict[int, ReplicaSetController], desk: Desk) -> None:
        self._rollout, self._sets, self._desk = rollout, sets, desk
        self._known: list[int] = list(rollout.old)
        self._seen: tuple[int, int, int, int] | None = None
        self._since = desk.now
        self._told = self._whole = False
        self._current = -1
        for at_ns, _, _ in rollout.specs:
            desk.at(at_ns, self)

    def sync(self) -> None:
        """Scale until nothing is to be scaled as things are."""
        at, spec, fleet = [one for one in self._rollout.specs if one[0] <= self._desk.now][-1:][0]
        assert isinstance(spec, Deployment)
        if at != self._current:
            self._current, self._since, self._told, self._whole = at, self._desk.now, False, False
        if fleet not in self._known:
            self._known.append(fleet)
        old = [number for number in self._known if number != fleet]
        if not spec.paused:
            for _ in range(_MOST_STEPS):
                if (step := self._step(spec, self._sets[fleet], [self._sets[number] for number in old])) is None:
                    break
                self._apply(step, [*old, fleet])
        self._watch(spec, self._sets[fleet], [self._sets[number] for number in old])

    def _step(self, spec: Deployment, new: ReplicaSetController, old: list[ReplicaSetController]) -> Rescale | None:
        counts = [self._count(spec, one) for one in old]
        if spec.strategy == "Recreate":
            tasks = [task for one in old for task in one.tasks]
            left = sum(task in self._desk.created or self._desk.is_stopping(task) for task in tasks)
            return recreate(spec.replicas, self._count(spec, new), counts, old_pods=left)
        surge, unavailable = fenceposts(spec.max_surge, spec.max_unavailable, spec.replicas)
        return rolling(spec.replicas, surge, unavailable, self._count(spec, new), counts)

    def _count(self, spec: Deployment, one: ReplicaSetController) -> Count:
        available = sum(self._desk.is_available(task, spec.min_ready_s, self) for task in one.active())
        return Count(one.wanted, available)

    def _apply(self, step: Rescale, numbers: list[int]) -> None:
        for place, wanted in step.to:
            one = self._sets[numbers[place]]
            word = "up" if wanted > one.wanted else "down"
            text = f"Scaled {word} replica set {one.fleet.name} from {one.wanted} to {wanted}"
            one.scale(wanted, self._desk.event("ScalingReplicaSet", text, about=self._about(one)))

    def _about(self, one: ReplicaSetController) -> str:
        return f"Deployment {one.fleet.namespace}/{one.fleet.workload}"

    def _watch(self, spec: Deployment, new: ReplicaSetController, old: list[ReplicaSetController]) -> None:
        """Whether it progresses: new pods come, old ones go, more are ready or available; else, after a while, it is
        said that it does not (``util/deployment_util.go``, DeploymentProgressing and DeploymentTimedOut)."""
        desk = self._desk
        ready = sum(desk.is_ready(task) for one in (new, *old) for task in one.active())
        available = sum(self._count(spec, one).available for one in (new, *old))
        updated, left = len(new.active()), sum(len(one.active()) for one in old)
        now = updated, -left, ready, available
        before = self._seen if self._seen is not None else now
        if any(later > earlier for later, earlier in zip(now, before, strict=True)):
            self._since, self._told = desk.now, False
        self._seen = now
        if updated == available == spec.replicas and not left:
            if not self._whole and self._current > 0:
                text = f'ReplicaSet "{new.fleet.name}" has successfully progressed.'
                desk.event("NewReplicaSetAvailable", text, about=self._about(new))
            self._whole = True
            return
        if self._whole or self._told or spec.paused:
            return  # a Deployment that was whole once is not timed any more
        until = self._since + spec.progress_deadline_s * 10**9
        if desk.now >= until:
            self._told = True
            text = f'ReplicaSet "{new.fleet.name}" has timed out progressing.'
            desk.event("ProgressDeadlineExceeded", text, about=self._about(new))
        else:
            desk.at(until, self)

    def is_busy(self) -> bool:
        """Whether a change is still to come, or a pod is still to be made in this instant."""
        return self._rollout.specs[-1][0] > self._desk.now
