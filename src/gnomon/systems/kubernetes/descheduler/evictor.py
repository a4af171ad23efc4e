"""Whom the descheduler may send away: DefaultEvictor, the limits of a cycle, and the eviction itself.

Source: kubernetes-sigs/descheduler (as of v0.34) ``pkg/framework/plugins/defaultevictor/defaultevictor.go`` (Filter,
PreEvictionFilter) and ``pkg/descheduler/evictions/evictions.go`` (EvictPod).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api import descheduling as policy
from gnomon.systems.kubernetes.api.descheduling import DeschedulerPolicy, Evictor
from gnomon.systems.kubernetes.api.objects import MIRROR, PodDisruptionBudget, PriorityClass
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.descheduler.view import Seen, View

CRITICAL_FROM: Final = 2 * 10**9
"""``SystemCriticalPriority`` (``pkg/utils/priority.go``)."""

_SOURCE: Final = "kubernetes.io/config.source"
_EVICT: Final = "descheduler.alpha.kubernetes.io/evict"
_PREFER_NOT: Final = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
_LOCAL: Final = ("emptyDir", "hostPath")
_BUILT_IN: Final = {"system-cluster-critical": CRITICAL_FROM, "system-node-critical": CRITICAL_FROM + 1000}

Facts = Mapping[str, int | str]
"""Numbers behind an eviction, for its row in the log."""

Evict = Callable[[Seen, str, Facts], bool]
"""``evict(pod, plugin, facts)``: ask the API server; whether it did."""


class Done(Enum):
    """What came of an eviction."""

    EVICTED = auto()
    REFUSED = auto()
    NODE_LIMIT = auto()
    TOTAL_LIMIT = auto()


class Limits:
    """The evictions of one cycle, which the policy limits."""

    def __init__(self, limits: DeschedulerPolicy, evict: Evict) -> None:
        self._limits, self._evict = limits, evict
        self._of_node: Counter[str] = Counter()
        self._of_namespace: Counter[str] = Counter()
        self.gone: set[int] = set()

    def evict(self, one: Seen, plugin: str, facts: Facts) -> Done:
        """Send a pod away, if the limits and the API server let it go."""
        limits, space = self._limits, one.pod.namespace
        if one.task in self.gone:
            return Done.REFUSED
        if limits.total is not None and len(self.gone) >= limits.total:
            return Done.TOTAL_LIMIT
        if limits.per_node is not None and self._of_node[one.node] >= limits.per_node:
            return Done.NODE_LIMIT
        if limits.per_namespace is not None and self._of_namespace[space] >= limits.per_namespace:
            return Done.REFUSED
        if not self._evict(one, plugin, facts):
            return Done.REFUSED
        self._of_node[one.node] += 1
        self._of_namespace[space] += 1
        self.gone.add(one.task)
        return Done.EVICTED


def threshold_of(evictor: Evictor, classes: Iterable[PriorityClass]) -> int | None:
    """From which priority on pods are spared; None: from none. Raises InputError for an unknown priority class."""
    if not evictor.priority_class:
        return evictor.priority_threshold
    known = {**_BUILT_IN, **{one.name: one.value for one in classes}}
    if evictor.priority_class not in known:
        raise InputError(
            "unknown priority class",
            field=f"{policy.POLICY}, DefaultEvictor.priorityThreshold.name",
            found=evictor.priority_class,
            allowed=", ".join(sorted(known)),
        )
    return known[evictor.priority_class]


class Filter:
    """DefaultEvictor of a profile in one cycle. ``threshold``: see :func:`threshold_of`; ``now_ns``: the present."""

    def __init__(
        self,
        evictor: Evictor,
        view: View,
        *,
        threshold: int | None,
        budgets: Iterable[PodDisruptionBudget],
        now_ns: int,
    ) -> None:
        self._evictor, self._view, self._threshold, self._now = evictor, view, threshold, now_ns
        self._budgets = tuple(budgets)
        self._targets = view.selected(evictor.node_selector)
        self._owned = Counter((one.pod.namespace, one.pod.owner) for there in view.pods.values() for one in there)

    def may_go(self, one: Seen) -> bool:
        """Filter: whether a pod may be sent away at all."""
        pod, evictor = one.pod, self._evictor
        if one.terminates:
            return False
        if _EVICT in pod.annotations:
            return True
        if evictor.mandatory and _PREFER_NOT in pod.annotations:
            return False
        if MIRROR in pod.annotations or pod.annotations.get(_SOURCE, "api") != "api":
            return False
        if evictor.label_selector is not None and not selects(evictor.label_selector, pod.labels):
            return False
        if evictor.min_replicas > 1 and pod.owner and self._owned[pod.namespace, pod.owner] < evictor.min_replicas:
            return False
        if self._now - one.start_ns < evictor.min_pod_age_ns:
            return False
        return not self._is_protected(one)

    def _is_protected(self, one: Seen) -> bool:
        pod, spec = one.pod, one.pod.spec
        kept = self._evictor.protections
        if pod.owner is None:  # that it may go if it has failed does not matter here: it has no place then
            return True
        if policy.CRITICAL in kept and (
            pod.priority >= CRITICAL_FROM or (self._threshold is not None and pod.priority >= self._threshold)
        ):
            return True
        if policy.DAEMONS in kept and pod.owner.kind == "DaemonSet":
            return True
        if policy.LOCAL_STORAGE in kept and any(volume.kind in _LOCAL for volume in spec.volumes):
            return True
        if policy.CLAIMS in kept and any(volume.kind == "persistentVolumeClaim" for volume in spec.volumes):
            return True
        if policy.DEVICES in kept and spec.resource_claims:
            return True
        return policy.NO_BUDGET in kept and not any(
            budget.namespace == pod.namespace and selects(budget.selector, pod.labels) for budget in self._budgets
        )

    def fits(self, one: Seen) -> bool:
        """PreEvictionFilter: with nodeFit whether another node would take a pod."""
        return not self._evictor.node_fit or self._view.fits_elsewhere(one, self._targets)
