"""What the API server makes of a pod when it is created: defaults, priority, tolerations, labels of namespaces.

Pure functions that compose: each takes a pod and gives it back changed, or the same object where nothing changes.
Limit ranges are in ``limits``, quotas in ``quotas``. Sources: ``pkg/apis/core/v1/defaults.go``, the admission plugins
``priority`` and ``defaulttolerationseconds``, ``pkg/registry/core/pod/strategy.go`` of v1.34.1 (sheet, sections 1, 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Final

from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.constraints import (
    Affinity,
    PodAffinityTerm,
)
from gnomon.systems.kubernetes.api.objects import (
    Amounts,
    Container,
    ContainerPort,
    Labels,
    Namespace,
    Pod,
    PodSpec,
    PriorityClass,
)
from gnomon.systems.kubernetes.api.requests import container_requests, is_pod_level
from gnomon.systems.kubernetes.api.selectors import with_label_keys
from gnomon.systems.kubernetes.api.snapshot import Objects, Rejection
from gnomon.systems.kubernetes.api.workloads import Workload
from gnomon.systems.kubernetes.read.pod_rules import refused_amounts

NAMESPACE_LABEL: Final = "kubernetes.io/metadata.name"
SYSTEM_CLASSES: Final[Mapping[str, int]] = MappingProxyType(
    {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
)
PREEMPT_LOWER: Final = "PreemptLowerPriority"


class AdmissionError(Exception):
    """The API server refuses an object, and says why."""


def as_created(objects: Objects) -> Objects:
    """All objects as the API server keeps them: pods defaulted and with priorities, namespaces complete and labelled.

    What is already so, as in a snapshot of a cluster, stays so. Nothing is checked: see
    :func:`invalid`, ``limits`` and ``quotas``. Pods of a priority class that is not there
    stay as they are and are among the rejections, unless the cluster has them: then their priority is not known.
    """
    defaults = Defaults(objects.priority_classes)
    zeroed: dict[int, tuple[PodSpec, PodSpec]] = {}
    pods, rejections, unknown = [], [], Counter[str]()
    for pod in objects.pods:
        try:
            pods.append(defaults.of(pod))
        except AdmissionError as error:
            if pod.is_there:
                unknown[pod.spec.priority_class] += 1
                kept = zeroed.setdefault(id(pod.spec), (pod.spec, replace(pod.spec, priority=0)))
                pods.append(defaults.of(replace(pod, spec=kept[1])))
                continue
            pods.append(pod)
            rejections.append(Rejection(pod.key, str(error)))
    namespaces, notes = completed_namespaces(objects)
    return replace(
        objects,
        pods=tuple(pods),
        namespaces=namespaces,
        rejections=objects.rejections + tuple(rejections),
        notes=(*objects.notes, *notes, *(_unknown_class(name, count) for name, count in unknown.items())),
    )


def _unknown_class(name: str, pods: int) -> Note:
    text = f"the PriorityClass {name} is not among the objects: pods that do not say their priority have 0"
    return Note("guess", "Pod spec.priority", text, pods)


class Defaults:
    """Gives pods their defaults and priorities; pods that share a spec share the new one."""

    def __init__(self, classes: Iterable[PriorityClass] = ()) -> None:
        self._classes = {one.name: one for one in classes}
        self._kept: dict[tuple[int, tuple[str | None, ...]], tuple[PodSpec, PodSpec]] = {}

    def of(self, pod: Pod) -> Pod:
        """The pod with limits as requests, ports of the host network, priority and label keys filled in.

        Raises :class:`AdmissionError` for an unknown priority class.
        """
        spec = pod.spec
        key = (id(spec), tuple(pod.labels.get(name) for name in _label_keys(spec)))
        kept = self._kept.get(key)
        if kept is None:
            try:
                admitted = with_priority(merged_label_keys(defaulted(spec), pod.labels), self._classes)
            except AdmissionError as error:
                raise AdmissionError(f'pods "{pod.name}" is forbidden: {error}') from None
            kept = self._kept[key] = (spec, admitted)  # the spec is kept, so that its id stays its own
        return pod if kept[1] is spec else replace(pod, spec=kept[1])


def defaulted(spec: PodSpec) -> PodSpec:
    """A spec with the API's defaults: limits become requests, and the host network's ports become host ports.

    >>> defaulted(PodSpec((Container("c", limits={"cpu": 500}),))).containers[0].requests
    {'cpu': 500}
    """
    containers = tuple(_with_defaults(one, host_network=spec.host_network) for one in spec.containers)
    initial = tuple(_with_defaults(one, host_network=spec.host_network) for one in spec.init_containers)
    if any(map(_is_not, containers + initial, spec.containers + spec.init_containers)):
        spec = replace(spec, containers=containers, init_containers=initial)
    if spec.requests or spec.limits:
        requests = _pod_level_requests(spec)
        if requests != (spec.requests or {}):
            spec = replace(spec, requests=requests)
    return spec


def with_priority(spec: PodSpec, classes: Mapping[str, PriorityClass]) -> PodSpec:
    """A spec with the priority of its class, of the default class or 0, and the class's preemption policy.

    A priority that is there already is kept: the pod was admitted before. Of several default classes the lowest
    counts. Raises :class:`AdmissionError` for an unknown class.

    >>> with_priority(PodSpec(priority_class="system-node-critical"), {}).priority
    2000001000
    >>> with_priority(PodSpec(priority_class="gold"), {})
    Traceback (most recent call last):
    gnomon.systems.kubernetes.apiserver.admission.AdmissionError: no PriorityClass with name gold was found
    """
    name = spec.priority_class
    defaults = [one for one in classes.values() if one.global_default]
    if not name and defaults and spec.priority is None:
        name = min(defaults, key=lambda one: one.value).name
    found = classes.get(name)
    if found is None and name and name not in SYSTEM_CLASSES and spec.priority is None:
        raise AdmissionError(f"no PriorityClass with name {name} was found")
    value = found.value if found is not None else SYSTEM_CLASSES.get(name, 0)
    priority = value if spec.priority is None else spec.priority
    policy = spec.preemption_policy or (found.preemption_policy if found is not None else "") or PREEMPT_LOWER
    if (name, priority, policy) == (spec.priority_class, spec.priority, spec.preemption_policy):
        return spec
    return replace(spec, priority_class=name, priority=priority, preemption_policy=policy)


def merged_label_keys(spec: PodSpec, labels: Labels) -> PodSpec:
    """A spec whose matchLabelKeys and mismatchLabelKeys are merged into the selectors beside them."""
    if not any(True for _ in _label_keys(spec)):
        return spec
    affinity = spec.affinity
    merged = Affinity(
        node_required=affinity.node_required,
        node_preferred=affinity.node_preferred,
        pod_required=tuple(_merged(term, labels) for term in affinity.pod_required),
        pod_preferred=tuple(replace(one, term=_merged(one.term, labels)) for one in affinity.pod_preferred),
        anti_required=tuple(_merged(term, labels) for term in affinity.anti_required),
        anti_preferred=tuple(replace(one, term=_merged(one.term, labels)) for one in affinity.anti_preferred),
    )
    spread = tuple(
        replace(one, label_selector=with_label_keys(one.label_selector, labels, one.match_label_keys))
        for one in spec.topology_spread_constraints
    )
    return replace(spec, affinity=merged, topology_spread_constraints=spread)


def completed_namespaces(objects: Objects) -> tuple[tuple[Namespace, ...], tuple[Note, ...]]:
    """The namespaces with their label, and those that objects stand in and nobody made, which is noted."""
    named = {one.name: one for one in objects.namespaces}
    made_by: Iterable[Workload] = chain(
        objects.replica_sets,
        objects.deployments,
        objects.stateful_sets,
        objects.daemon_sets,
        objects.jobs,
        objects.cron_jobs,
    )
    used = dict.fromkeys(one.namespace for one in chain[Pod | Workload](objects.pods, made_by))
    missing = [name for name in used if name not in named]
    labelled = [_labelled(one) for one in (*objects.namespaces, *map(Namespace, missing))]
    made = [name for name in missing if name not in ("default", "kube-system")]
    text = f"namespaces that are not among the objects are made: {', '.join(made[:5])}{'...' if made[5:] else ''}"
    return tuple(labelled), (Note("default", "Namespace", text, len(made)),) if made else ()


def invalid(spec: PodSpec) -> Iterator[str]:
    """What validation says of the resources of a spec after its defaults, one text for each field.

    >>> list(invalid(PodSpec((Container("c", requests={"cpu": 2000}, limits={"cpu": 1000}),))))
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1']
    """
    for place, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for position, container in enumerate(containers):
            for key, text in refused_amounts(container.requests, container.limits):
                yield f"spec.{place}[{position}].resources.{key}: {text}"


def _with_defaults(container: Container, *, host_network: bool) -> Container:
    missing = {name: amount for name, amount in container.limits.items() if name not in container.requests}
    ports: tuple[ContainerPort, ...] = container.ports
    if host_network and any(not port.host_port for port in ports):
        ports = tuple(replace(port, host_port=port.host_port or port.container_port) for port in ports)
    if not missing and ports is container.ports:
        return container
    return replace(container, requests={**container.requests, **missing}, ports=ports)


def _pod_level_requests(spec: PodSpec) -> Amounts:
    """Those of spec.resources: what is not said is what the containers ask for together, else the pod's limit."""
    together = {name: amount for name, amount in container_requests(spec).items() if is_pod_level(name)}
    limits = {name: amount for name, amount in (spec.limits or {}).items() if is_pod_level(name)}
    return {**limits, **together, **(spec.requests or {})}


def _label_keys(spec: PodSpec) -> Iterator[str]:
    """The labels of the pod that its own selectors look at."""
    affinity = spec.affinity
    weighted = (*affinity.pod_preferred, *affinity.anti_preferred)
    for term in (*affinity.pod_required, *affinity.anti_required, *(one.term for one in weighted)):
        yield from term.match_label_keys
        yield from term.mismatch_label_keys
    for constraint in spec.topology_spread_constraints:
        yield from constraint.match_label_keys


def _merged(term: PodAffinityTerm, labels: Labels) -> PodAffinityTerm:
    selector = with_label_keys(term.label_selector, labels, term.match_label_keys, term.mismatch_label_keys)
    return term if selector is term.label_selector else replace(term, label_selector=selector)


def _labelled(namespace: Namespace) -> Namespace:
    if namespace.labels.get(NAMESPACE_LABEL) == namespace.name:
        return namespace
    return replace(namespace, labels={**namespace.labels, NAMESPACE_LABEL: namespace.name})


def _is_not(one: object, other: object) -> bool:
    return one is not other
