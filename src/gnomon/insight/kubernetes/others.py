"""Objects of a snapshot that are no pods: claims, budgets and quotas, and which pods they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.phrases import counted, listed
from gnomon.insight.explain.subjects import CANDIDATES_MAX
from gnomon.insight.kubernetes.classes import written
from gnomon.insight.kubernetes.moment import in_use
from gnomon.insight.kubernetes.subjects import KINDS, cron_job_of, kind_word, owner_of
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.objects import Pod, PodDisruptionBudget
from gnomon.systems.kubernetes.api.policies import ResourceQuota
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.api.storage import PersistentVolumeClaim
from gnomon.systems.kubernetes.api.workloads import CronJob, Deployment, StatefulSet, Workload
from gnomon.systems.kubernetes.fleets.native import Native

SHOWN: Final = 4
"""How many pods are named."""

_Told = tuple[str, str]
_KINDS: Final = {
    "persistentvolumeclaim": "persistentvolumeclaim",
    "persistentvolumeclaims": "persistentvolumeclaim",
    "pvc": "persistentvolumeclaim",
    "poddisruptionbudget": "poddisruptionbudget",
    "poddisruptionbudgets": "poddisruptionbudget",
    "pdb": "poddisruptionbudget",
    "resourcequota": "resourcequota",
    "resourcequotas": "resourcequota",
    "quota": "resourcequota",
}


def explain_other(subject: str, native: Native) -> Explanation | None:
    """What there is to tell of a claim, a budget or a quota; None where a text means none of these. Raises InputError
    for one that is not there, or that several namespaces have."""
    word, slash, name = subject.strip().partition("/")
    kind = _KINDS.get(kind_word(word), "") if slash else ""
    if not kind:
        return _of_workload_without_pods(KINDS.get(kind_word(word), "") if slash else "", name, native)
    one = _named(kind, name, native)
    state, text = _TELLERS[kind](one, native)
    return Explanation(f"{kind}/{one.namespace}/{one.name}", state, text, text)


def _of_workload_without_pods(kind: str, name: str, native: Native) -> Explanation | None:
    """A workload of which there is no pod, and of which none is to be made now."""
    objects = native.objects
    every: dict[str, Sequence[Workload]] = {
        "Deployment": objects.deployments,
        "StatefulSet": objects.stateful_sets,
        "DaemonSet": objects.daemon_sets,
        "Job": objects.jobs,
        "CronJob": objects.cron_jobs,
    }
    found = [one for one in every.get(kind, ()) if name in (one.name, f"{one.namespace}/{one.name}")]
    if len(found) != 1:
        return None
    (one,) = found
    for pod in (*native.pods, *objects.pods):
        if not pod.name.startswith(one.name):
            continue
        owners = {owner_of(pod, objects), ("CronJob", cron_job_of(pod, objects))}
        if pod.namespace == one.namespace and (kind, one.name) in owners:
            return None
    key, why = f"{one.namespace}/{one.name}", "no pod of it is there, and none is to be made"
    if isinstance(one, CronJob):
        why = f"it makes a Job by {one.schedule!r}, and no pod of one is there" + (
            " (suspended)" if one.suspend else ""
        )
    elif isinstance(one, Deployment | StatefulSet):
        why = f"it wants {counted(one.replicas, 'replica')}, and no pod of it is there"
    text = f"{key}: {why}"
    return Explanation(f"{kind.lower()}/{key}", "idle", text, text)


_Other = PersistentVolumeClaim | PodDisruptionBudget | ResourceQuota


def _named(kind: str, name: str, native: Native) -> _Other:
    objects = native.objects
    every: dict[str, Sequence[_Other]] = {
        "persistentvolumeclaim": objects.claims,
        "poddisruptionbudget": objects.disruption_budgets,
        "resourcequota": objects.resource_quotas,
    }
    found = [one for one in every[kind] if name in (one.name, f"{one.namespace}/{one.name}")]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} {kind}s have this name" if found else f"no {kind} has this name"
    names = [f"{one.namespace}/{one.name}" for one in found or every[kind]]
    raise InputError(problem, field="SUBJECT", found=name, allowed=", ".join(names[:CANDIDATES_MAX]) or "none is there")


def _of_claim(one: _Other, native: Native) -> _Told:
    assert isinstance(one, PersistentVolumeClaim)
    users = [
        pod
        for pod in native.pods
        if pod.namespace == one.namespace
        and any(volume.kind == "persistentVolumeClaim" and volume.source == one.name for volume in pod.spec.volumes)
    ]
    key, by = f"{one.namespace}/{one.name}", f", used by {_names(users)}" if users else ", used by no pod"
    if one.volume:
        return "bound", f"{key} is bound to {one.volume}{by}"
    classes = {found.name: found for found in native.objects.storage_classes}
    name = one.storage_class
    if name is None:
        name = next((found.name for found in native.objects.storage_classes if found.is_default), "")
    if name not in classes:
        return "pending", f"{key} is not bound, and its class {name or '(none)'} is not among the objects{by}"
    return "pending", f"{key} is not bound; its class {name} binds it by {classes[name].binding_mode}{by}"


def _of_budget(one: _Other, native: Native) -> _Told:
    assert isinstance(one, PodDisruptionBudget)
    chosen = [pod for pod in native.pods if pod.namespace == one.namespace and selects(one.selector, pod.labels)]
    placed = [pod for pod in chosen if pod.node_name]
    rule = (
        f"minAvailable {one.min_available}" if one.max_unavailable is None else f"maxUnavailable {one.max_unavailable}"
    )
    text = f"{one.namespace}/{one.name} has {rule} and selects {counted(len(chosen), 'pod')}"
    text += f" ({_names(chosen)}), {len(placed)} of them on nodes" if chosen else ""
    allowed = one.disruptions_allowed
    if allowed is None:
        return "no status", text
    return ("open" if allowed else "closed"), f"{text}; its status allows {counted(allowed, 'disruption')} now"


def _of_quota(one: _Other, native: Native) -> _Told:
    assert isinstance(one, ResourceQuota)
    used = in_use(one, [pod for pod in native.pods if pod.is_there])
    parts = [
        f"{written(_resource(name), used.get(name, 0))} of {written(_resource(name), hard)} {name}"
        for name, hard in one.hard.items()
    ]
    full = [name for name, hard in one.hard.items() if used.get(name, 0) >= hard]
    text = f"{one.namespace}/{one.name}: {listed(parts)}" if parts else f"{one.namespace}/{one.name} limits nothing"
    return ("full" if full else "open"), text


def _resource(name: str) -> str:
    return name.removeprefix("requests.").removeprefix("limits.")


def _names(pods: Sequence[Pod]) -> str:
    return listed([pod.name for pod in pods], SHOWN)


_TELLERS: Final[dict[str, Callable[[_Other, Native], _Told]]] = {
    "persistentvolumeclaim": _of_claim,
    "poddisruptionbudget": _of_budget,
    "resourcequota": _of_quota,
}
