"""What becomes of pods that are created while the cluster runs: quotas and limit ranges, and when a controller whose
pod is refused tries again.

A quota does not queue (sheet §5): it refuses, and the controller's work queue comes back after 5 ms, doubled each time
up to 1,000 s (client-go's ItemExponentialFailureRateLimiter, user problem U11); that of Jobs after 1 s, doubled up to
60 s (``pkg/controller/job/job_controller.go``, DefaultJobApiBackOff and MaxJobApiBackOff).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.policies import LimitRange, ResourceQuota
from gnomon.systems.kubernetes.apiserver.limits import limit_rejection
from gnomon.systems.kubernetes.apiserver.quotas import applies, pod_usage, quota_rejection, used

FIRST_NS: Final = 5 * 10**6
MOST_NS: Final = 1_000 * 10**9


JOBS_FIRST_NS: Final = 10**9
JOBS_MOST_NS: Final = 60 * 10**9


def retry_ns(failures: int, first_ns: int = FIRST_NS, most_ns: int = MOST_NS) -> int:
    """The delay before the next try after so many failures in a row.

    >>> [retry_ns(n) // 10**6 for n in (1, 2, 3)], retry_ns(60) // 10**9
    ([5, 10, 20], 1000)
    >>> sum(retry_ns(n) for n in range(1, 16)) / 1e9  # the 15th retry of U11
    163.835
    >>> [retry_ns(n, JOBS_FIRST_NS, JOBS_MOST_NS) // 10**9 for n in (1, 2, 6, 7)]
    [1, 2, 32, 60]
    """
    return min(first_ns << min(failures - 1, 60), most_ns)


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
