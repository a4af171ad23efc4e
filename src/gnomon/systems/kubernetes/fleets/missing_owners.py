"""Owners that pods name, and that are not among the objects: who would make their pods anew is worked out of them.

Whoever fetched the pods alone still has pods of controllers that act. A ReplicaSet keeps as many pods as it has, a
StatefulSet its ordinals, a DaemonSet its nodes, a Job those that run; each makes pods as its pods are. Owners of other
kinds are not known: their pods are not made anew, which is noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.constraints import LabelSelector, NodeSelectorTerm, Requirement
from gnomon.systems.kubernetes.api.objects import Labels, Owner, Pod
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import DaemonSet, Job, PodTemplate, ReplicaSet, StatefulSet

_LISTS: Final[Mapping[str, str]] = {
    "ReplicaSet": "replica_sets",
    "ReplicationController": "replica_sets",
    "StatefulSet": "stateful_sets",
    "Job": "jobs",
    "DaemonSet": "daemon_sets",
}
_ITS_OWN: Final = ("statefulset.kubernetes.io/", "apps.kubernetes.io/", "batch.kubernetes.io/", "controller-uid")
"""Beginnings of the labels that each pod has of its own."""
_STATIC: Final = "Node"
"""The owner of static pods, which are their kubelets' own."""

SHOWN: Final = 5


def with_owners(objects: Objects) -> Objects:
    """The objects, with the owners that lack."""
    pods = _of_missing(objects)
    more: dict[str, list[Any]] = {}
    notes = []
    for (namespace, owner), those in pods.items():
        made = _made(namespace, owner, those, objects)
        field, count = f"{owner.kind} {namespace}/{owner.name}", len(those)
        if made is None:
            notes.append(Note("not modelled", field, "it is not among the objects: its pods are not made anew", count))
            continue
        more.setdefault(_LISTS[owner.kind], []).append(made)
        notes.append(Note("guess", field, "it is not among the objects: it keeps the pods that it has", count))
    lists: dict[str, Any] = {into: (*getattr(objects, into), *new) for into, new in more.items()}
    return replace(objects, notes=(*objects.notes, *_few(notes)), **lists)


def _of_missing(objects: Objects) -> dict[tuple[str, Owner], list[Pod]]:
    """The pods whose owners lack, by owner."""
    there = {
        (one.namespace, getattr(one, "kind", kind), one.name)
        for kind, into in _LISTS.items()
        for one in getattr(objects, into)
    }
    found: dict[tuple[str, Owner], list[Pod]] = {}
    for pod in objects.pods:
        owner = pod.owner
        if owner is None or owner.kind == _STATIC or pod.is_terminal or pod.is_terminating:
            continue
        if (pod.namespace, owner.kind, owner.name) not in there:
            found.setdefault((pod.namespace, owner), []).append(pod)
    return found


def _made(namespace: str, owner: Owner, pods: Sequence[Pod], objects: Objects) -> Any:
    """The owner of pods as they are; None where too little is known of it."""
    pod = pods[0]
    labels = {key: value for key, value in pod.labels.items() if not key.startswith(_ITS_OWN)}
    template = PodTemplate(labels, pod.annotations, pod.spec)
    common: dict[str, Any] = {
        "name": owner.name,
        "namespace": namespace,
        "uid": owner.uid,
        "order": pod.order,
        "selector": _selector(labels),
        "template": template,
    }
    match owner.kind:
        case "ReplicaSet" | "ReplicationController":
            above = _deployment(namespace, owner.name, pod, objects)
            return ReplicaSet(**common, owner=above, kind=owner.kind, replicas=len(pods))
        case "StatefulSet":
            ordinals = [int(one.name.rpartition("-")[2]) for one in pods if one.name.rpartition("-")[2].isdecimal()]
            if len(ordinals) < len(pods):
                return None
            first = min(ordinals)
            return StatefulSet(**common, first_ordinal=first, replicas=max(ordinals) - first + 1)
        case "DaemonSet":
            nodes = tuple(one.node_name for one in pods if one.node_name)
            return DaemonSet(**{**common, "template": _on(template, nodes)})
        case "Job":
            return Job(**common, completions=len(pods), parallelism=len(pods))
    return None


def _on(template: PodTemplate, nodes: tuple[str, ...]) -> PodTemplate:
    """A template for some nodes alone: on others nobody can tell whether there would be pods."""
    term = NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", nodes),))
    affinity = replace(template.spec.affinity, node_required=(term,))
    return replace(template, spec=replace(template.spec, affinity=affinity))


def _selector(labels: Labels) -> LabelSelector | None:
    if not labels:
        return None
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))


def _deployment(namespace: str, name: str, pod: Pod, objects: Objects) -> Owner | None:
    """The Deployment that a ReplicaSet is of, by its name, if that is there: ``web-<hash>`` is of ``web``."""
    digest = pod.labels.get(HASH_LABEL, "")
    for one in objects.deployments:
        if digest and one.namespace == namespace and name == f"{one.name}-{digest}":
            return Owner("Deployment", one.name, one.uid)
    return None


def _few(notes: Sequence[Note]) -> Iterator[Note]:
    """Notes that say the same of many owners: of the first few, and of the others together."""
    for text in dict.fromkeys(note.text for note in notes):
        same = [note for note in notes if note.text == text]
        yield from same[:SHOWN]
        if more := same[SHOWN:]:
            yield replace(more[0], field=f"{len(more)} more owners", count=sum(note.count for note in more))
