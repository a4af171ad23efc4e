"""Whom a question is about: a pod, the pods of a workload, or a node, by the names that kubectl takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.insight.explain.subjects import CANDIDATES_MAX
from gnomon.model.errors import InputError, nearest
from gnomon.systems.kubernetes.api.objects import Owner, Pod
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.api.snapshot import Objects

POD_WORDS: Final = ("pod", "pods", "po", "task")
NODE_WORDS: Final = ("node", "nodes", "no")
KINDS: Final = {
    "deployment": "Deployment",
    "deployments": "Deployment",
    "deploy": "Deployment",
    "replicaset": "ReplicaSet",
    "replicasets": "ReplicaSet",
    "rs": "ReplicaSet",
    "replicationcontroller": "ReplicationController",
    "replicationcontrollers": "ReplicationController",
    "rc": "ReplicationController",
    "statefulset": "StatefulSet",
    "statefulsets": "StatefulSet",
    "sts": "StatefulSet",
    "daemonset": "DaemonSet",
    "daemonsets": "DaemonSet",
    "ds": "DaemonSet",
    "job": "Job",
    "jobs": "Job",
    "cronjob": "CronJob",
    "cronjobs": "CronJob",
    "cj": "CronJob",
}
"""What may stand before the name of a workload. Source: the short names that ``kubectl api-resources`` lists."""

_SIMILAR_AMONG: Final = 20_000


@dataclass(frozen=True)
class Subject:
    """``name``: as ``pod/namespace/name``; ``pods``: those that are meant, the one that stands for them first."""

    name: str
    pods: tuple[Pod, ...]


def node_named(text: str, objects: Objects) -> str | None:
    """The node that ``node/NAME`` means, or a name that is a node's alone; None for any other text. Raises InputError
    for ``node/`` and one that is not there."""
    kind, slash, name = text.strip().partition("/")
    names = [node.name for node in objects.nodes]
    if not slash:
        pods = (pod for pod in objects.pods if pod.name == kind or (pod.owner is not None and pod.owner.name == kind))
        return kind if kind in names and next(pods, None) is None else None
    if kind_word(kind) not in NODE_WORDS or any(pod.key == text for pod in objects.pods):
        return None
    if name in names:
        return name
    found = [one for one in names if name and name in one]
    if len(found) == 1:
        return found[0]
    raise _unknown("node", name, found or names, several=len(found) > 1)


def kind_word(text: str) -> str:
    """The kind before a name, with its group or without, as ``kubectl get -o name`` writes it.

    >>> kind_word("deployment.apps"), kind_word("Pod")
    ('deployment', 'pod')
    """
    return text.partition(".")[0].lower()


def find_subject(text: str, objects: Objects, pods: Sequence[Pod]) -> Subject:
    """The pod, or the workload's pods, that a text means. Raises InputError, with names that it may be, otherwise.

    That is ``name``, ``namespace/name``, ``pod/...`` or ``deployment/...`` and the like before them (as
    ``deployment.apps/...`` too), or a part of a name that one pod alone has, or the pods of one workload.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError("no subject is given", field="SUBJECT", allowed="the name of a pod, or a part of one")
    kind, slash, rest = wanted.partition("/")
    if slash and kind_word(kind) in KINDS:
        return _of_workload(KINDS[kind_word(kind)], rest, objects, pods)
    name = rest if slash and kind_word(kind) in POD_WORDS else wanted
    found = [pod for pod in pods if name in (pod.key, pod.name)]
    if len(found) == 1:
        return Subject(f"pod/{found[0].key}", (found[0],))
    if len(found) > 1:
        raise _unknown("pod", name, [pod.key for pod in found], several=True)
    return _by_part(name, objects, pods)


def owner_of(pod: Pod, objects: Objects) -> tuple[str, str]:
    """The workload that a pod belongs to in the end, as kind and name; a bare pod is its own."""
    if pod.owner is None:
        return "Pod", pod.name
    kind, name = pod.owner.kind, pod.owner.name
    if kind == "ReplicaSet":
        for one in objects.replica_sets:
            if (one.namespace, one.name) == (pod.namespace, name) and one.owner is not None:
                return one.owner.kind, one.owner.name
        if any((one.namespace, one.name) == (pod.namespace, name) for one in objects.deployments):
            return "Deployment", name
        digest = pod.labels.get(HASH_LABEL, "")
        if digest and name.endswith(f"-{digest}"):
            return "Deployment", name.removesuffix(f"-{digest}")
    return kind, name


def cron_job_of(pod: Pod, objects: Objects) -> str:
    """The CronJob that made the Job of a pod; empty if none did."""
    if pod.owner is None or pod.owner.kind != "Job":
        return ""
    for one in objects.jobs:
        if (one.namespace, one.name) == (pod.namespace, pod.owner.name) and one.owner is not None:
            return one.owner.name if one.owner.kind == "CronJob" else ""
    names = [one.name for one in objects.cron_jobs if one.namespace == pod.namespace]
    stem = pod.owner.name.rpartition("-")[0]
    return stem if stem in names else ""


def _of_workload(kind: str, name: str, objects: Objects, pods: Sequence[Pod]) -> Subject:
    namespace, slash, alone = name.partition("/")
    namespace, alone = (namespace, alone) if slash else ("", name)
    found: dict[str, list[Pod]] = {}
    names: dict[str, None] = {}
    for pod in pods:
        if pod.owner is None:
            continue
        owners = {owner_of(pod, objects), (pod.owner.kind, pod.owner.name)}
        if kind == "CronJob" and (name_of := cron_job_of(pod, objects)):
            owners.add((kind, name_of))
        for own_kind, own_name in owners:
            if own_kind == kind:
                names[f"{pod.namespace}/{own_name}"] = None
                if own_name == alone and namespace in ("", pod.namespace):
                    found.setdefault(pod.namespace, []).append(pod)
    if len(found) == 1:
        ((namespace, members),) = found.items()
        return Subject(f"{kind.lower()}/{namespace}/{alone}", _urgent_first(members))
    candidates = [f"{space}/{alone}" for space in found] or list(names)
    raise _unknown(kind.lower(), name, candidates, several=bool(found))


def _urgent_first(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Those without a node before the others, those that there are before those that are yet to be made."""
    return tuple(sorted(pods, key=lambda pod: (bool(pod.node_name), not pod.uid and not pod.creation_ns, pod.order)))


def _of_owner(name: str, objects: Objects, pods: Sequence[Pod]) -> Subject | None:
    """The one workload that has exactly this name, with or without its namespace; None if there is none, or several."""
    owners: dict[tuple[str, Owner], tuple[str, str]] = {}
    found: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in pods:
        if pod.owner is None:
            continue
        key = pod.namespace, pod.owner
        if key not in owners:
            owners[key] = owner_of(pod, objects)
        kind, alone = owners[key]
        if name in (alone, f"{pod.namespace}/{alone}"):
            found.setdefault((pod.namespace, kind, alone), []).append(pod)
    if len(found) != 1:
        return None
    (((namespace, kind, alone), members),) = found.items()
    return Subject(f"{kind.lower()}/{namespace}/{alone}", _urgent_first(members))


def _by_part(part: str, objects: Objects, pods: Sequence[Pod]) -> Subject:
    owned = _of_owner(part, objects, pods)
    if owned is not None:
        return owned
    found = [pod for pod in pods if part in pod.key]
    if len(found) == 1:
        return Subject(f"pod/{found[0].key}", (found[0],))
    owners = {(pod.namespace, *owner_of(pod, objects)) for pod in found[:1000]}
    if len(owners) == 1 and len(found) <= 1000:
        namespace, kind, name = owners.pop()
        return Subject(f"{kind.lower()}/{namespace}/{name}", _urgent_first(found))
    makers = {owner_of(pod, objects)[1] for pod in pods[:_SIMILAR_AMONG] if pod.owner is not None}
    raise _unknown("pod", part, [pod.key for pod in found or pods], several=bool(found), also=makers)


def _unknown(kind: str, name: str, names: Sequence[str], *, several: bool, also: Collection[str] = ()) -> InputError:
    """``also``: names of other kinds that may be meant."""
    more = len(names) - CANDIDATES_MAX
    listed = ", ".join(names[:CANDIDATES_MAX]) + (f" and {more:,} more" if more > 0 else "")
    if several:
        problem = f"{len(names):,} {kind}s have this in their name"
    else:
        among = [*also, *names, *(one.rpartition("/")[2] for one in names)]
        problem = f"no {kind} has this name" + nearest(name, among)
    return InputError(problem, field="SUBJECT", found=name, allowed=listed)
