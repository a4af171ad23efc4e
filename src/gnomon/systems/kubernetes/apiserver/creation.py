"""What becomes of pods that are created while the cluster runs: quotas and limit ranges.

A quota does not queue (sheet §5): it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.policies import LimitRange, ResourceQuota
from gnomon.systems.kubernetes.apiserver.limits import limit_rejection
from gnomon.systems.kubernetes.apiserver.quotas import applies, pod_usage, quota_rejection, used


class Usage:
    """What the pods that are there use of each quota, those that are terminating included.

    What a quota's status tells beyond the pods that were read counts as used by others, for good. ``changes`` counts
    what may let in who was refused before.
    """

    def __init__(self, quotas: Iterable[ResourceQuota], ranges: Iterable[LimitRange], present: Sequence[Pod]) -> None:
        self._quotas: dict[str, list[ResourceQuota]] = {}
        self._ranges: dict[str, list[LimitRange]] = {}
        self._others: dict[tuple[str, str], dict[str, int]] = {}
        self._pods: dict[str, dict[object, Pod]] = {}
        self._total: dict[tuple[str, str], dict[str, int]] = {}
        self.changes = 0
        for quota in quotas:
            self.set(quota)
            if quota.used is not None:
                ours = used(quota, present)
                self._others[quota.namespace, quota.name] = {
                    name: max(0, amount - ours.get(name, 0)) for name, amount in quota.used.items()
                }
        for one in ranges:
            self._ranges.setdefault(one.namespace, []).append(one)

    def set(self, quota: ResourceQuota) -> None:
        """A quota is there from now on, in place of an earlier one of its name."""
        self.changes += 1
        same = self._quotas.setdefault(quota.namespace, [])
        same[:] = [one for one in same if one.name != quota.name] + [quota]
        self._total[quota.namespace, quota.name] = used(quota, self._pods.get(quota.namespace, {}).values())

    def matters(self, namespace: str) -> bool:
        """Whether anything limits what is created in a namespace."""
        return namespace in self._quotas or namespace in self._ranges

    def add(self, key: object, pod: Pod) -> None:
        """A pod is there; ``key`` tells it from all others."""
        if pod.namespace in self._quotas:
            self._pods.setdefault(pod.namespace, {})[key] = pod
            self._count(pod, 1)

    def drop(self, key: object, namespace: str) -> None:
        """It is gone."""
        pod = self._pods.get(namespace, {}).pop(key, None)
        if pod is not None:
            self.changes += 1
            self._count(pod, -1)

    def _count(self, pod: Pod, sign: int) -> None:
        usage = pod_usage(pod)
        for quota in self._quotas[pod.namespace]:
            if applies(quota, pod):
                total = self._total[quota.namespace, quota.name]
                for name, amount in usage.items():
                    if name in total:
                        total[name] += sign * amount

    def in_use(self, namespace: str) -> Mapping[str, Mapping[str, int]]:
        """What is used of each quota of a namespace, by name."""
        found: dict[str, Mapping[str, int]] = {}
        for quota in self._quotas.get(namespace, ()):
            total = dict(self._total[namespace, quota.name])
            for name, amount in self._others.get((namespace, quota.name), {}).items():
                total[name] = total.get(name, 0) + amount
            found[quota.name] = total
        return found

    def rejection(self, pod: Pod) -> str | None:
        """Why the API server refuses a pod now, in its words; None: it takes it."""
        if not self.matters(pod.namespace):
            return None
        text = limit_rejection(pod, self._ranges.get(pod.namespace, ()))
        return text or quota_rejection(pod, self._quotas.get(pod.namespace, ()), self.in_use(pod.namespace))
