"""ResourceQuotas: what a pod counts with, which quotas it falls under, and why it is refused.

Source: apiserver ``resourcequota/controller.go`` and ``pkg/quota/v1/evaluator/core/pods.go`` (sheet on Kubernetes,
section 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gnomon.systems.kubernetes.api.constraints import PodAffinityTerm
from gnomon.systems.kubernetes.api.objects import Amounts, Container, Pod, PodSpec
from gnomon.systems.kubernetes.api.policies import ResourceQuota, ScopeRequirement
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.api.requests import HUGE_PAGES, is_extended, pod_limits, pod_requests, qos_class

_PLAIN: Final = ("cpu", "memory", "ephemeral-storage")
_DEMANDED: Final = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
"""What every container must say where a quota limits it."""


def pod_usage(pod: Pod) -> dict[str, int]:
    """What a pod counts with, by the names of quotas; a pod that has ended is only an object.

    >>> from gnomon.systems.kubernetes.api.objects import Container
    >>> pod_usage(Pod("p", spec=PodSpec((Container("c", requests={"cpu": 500}, limits={"cpu": 1000}),))))
    {'count/pods': 1, 'pods': 1, 'cpu': 500, 'requests.cpu': 500, 'limits.cpu': 1000}
    """
    if pod.is_terminal:
        return {"count/pods": 1}
    return {"count/pods": 1, "pods": 1, **_compute_usage(pod_requests(pod.spec), pod_limits(pod.spec))}


def applies(quota: ResourceQuota, pod: Pod) -> bool:
    """Whether a pod falls under a quota: it is of its namespace and in all of its scopes."""
    return quota.namespace == pod.namespace and all(_in_scope(scope, pod.spec) for scope in quota.scopes)


def used(quota: ResourceQuota, pods: Iterable[Pod]) -> dict[str, int]:
    """What pods use of a quota, of all that it limits and pods count with."""
    total = dict.fromkeys((name for name in quota.hard if _counts_pods(name)), 0)
    for pod in pods:
        if applies(quota, pod):
            for name, amount in pod_usage(pod).items():
                if name in total:
                    total[name] += amount
    return total


def quota_rejection(
    pod: Pod, quotas: Iterable[ResourceQuota], in_use: Mapping[str, Amounts] | None = None
) -> str | None:
    """Why a quota refuses a pod, as the API server says it; None where none does.

    ``in_use``: what is used of each quota, by name; what the quotas' status says where it is left out.
    """
    usage = pod_usage(pod)
    for quota in quotas:
        if not applies(quota, pod):
            continue
        if missing := _missing(quota, pod.spec):
            return f'pods "{pod.name}" is forbidden: failed quota: {quota.name}: must specify {missing}'
        before = (quota.used or {}) if in_use is None else in_use.get(quota.name, {})
        asked = {name: usage[name] for name in quota.hard if name in usage}
        over = sorted(name for name, amount in asked.items() if before.get(name, 0) + amount > quota.hard[name])
        if over:
            parts = (_listed(amounts, over) for amounts in (asked, before, quota.hard))
            text = "exceeded quota: {}, requested: {}, used: {}, limited: {}".format(quota.name, *parts)
            return f'pods "{pod.name}" is forbidden: {text}'
    return None


def _compute_usage(requests: Amounts, limits: Amounts) -> dict[str, int]:
    usage: dict[str, int] = {}
    for name, amount in requests.items():
        if name in _PLAIN or name.startswith(HUGE_PAGES):
            usage[name] = amount
        if name in _PLAIN or name.startswith(HUGE_PAGES) or is_extended(name):
            usage[f"requests.{name}"] = amount
    usage |= {f"limits.{name}": amount for name, amount in limits.items() if name in _PLAIN}
    return usage


def _counts_pods(name: str) -> bool:
    return (
        name in ("pods", "count/pods")
        or name.removeprefix("requests.").removeprefix("limits.") in _PLAIN
        or name.removeprefix("requests.").startswith(HUGE_PAGES)
        or (name.startswith("requests.") and is_extended(name.removeprefix("requests.")))
    )


def _missing(quota: ResourceQuota, spec: PodSpec) -> str:
    """What containers do not say though the quota limits it: ``limits.cpu for: c1; requests.memory for: c1``.

    Resources of the pod level stand for those of its containers.
    """
    demanded = sorted(set(_DEMANDED) & quota.hard.keys())
    level = _compute_usage(spec.requests or {}, spec.limits or {})
    lacking: dict[str, list[str]] = {}
    for container in (*spec.containers, *spec.init_containers):
        said = _said(container)
        for name in demanded:
            if name not in said and name not in level:
                lacking.setdefault(name, []).append(container.name)
    return "; ".join(f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))


def _said(container: Container) -> Mapping[str, int]:
    return _compute_usage(container.requests, container.limits)


def _in_scope(scope: ScopeRequirement, spec: PodSpec) -> bool:
    match scope.name:
        case "Terminating":
            return spec.active_deadline_s is not None
        case "NotTerminating":
            return spec.active_deadline_s is None
        case "BestEffort":
            return qos_class(spec) == "BestEffort"
        case "NotBestEffort":
            return qos_class(spec) != "BestEffort"
        case "CrossNamespacePodAffinity":
            return any(term.namespaces or term.namespace_selector is not None for term in _terms(spec))
        case "PriorityClass":
            return _of_class(scope, spec.priority_class)
    return False


def _of_class(scope: ScopeRequirement, name: str) -> bool:
    match scope.operator:
        case "In":
            return name in scope.values
        case "NotIn":
            return name not in scope.values
        case "DoesNotExist":
            return not name
    return bool(name)


def _terms(spec: PodSpec) -> tuple[PodAffinityTerm, ...]:
    affinity = spec.affinity
    preferred = (*affinity.pod_preferred, *affinity.anti_preferred)
    return (*affinity.pod_required, *affinity.anti_required, *(one.term for one in preferred))


def _listed(amounts: Amounts, names: Iterable[str]) -> str:
    return ",".join(f"{name}={format_quantity(amounts.get(name, 0), name)}" for name in names)
