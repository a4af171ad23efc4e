"""Which pods workloads make, or may make: a place (a task) for each, in fleets of one owner (``fleet``).

When the pods of a fleet are made is the matter of the controllers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.objects import Labels, Owner, Pod
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL, current, of_template, oldest_first
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import (
    DaemonSet,
    Deployment,
    PodTemplate,
    ReplicaSet,
    StatefulSet,
    Workload,
)
from gnomon.systems.kubernetes.fleets.claim_templates import template_of
from gnomon.systems.kubernetes.fleets.daemon_pods import bound_to, is_steered, should_run, tolerating
from gnomon.systems.kubernetes.fleets.fleet import Change, DaemonRollout, Fleet, JobRun, Rollout

ANNOTATIONS: Final = "gnomon.dev/"
INDEX_LABEL: Final = "batch.kubernetes.io/job-completion-index"
ORDINAL_LABEL: Final = "apps.kubernetes.io/pod-index"
_HASHED: Final = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of ``rand.SafeEncodeString``."""


@dataclass
class Made:
    """Pods by task, when each is created (NEVER: when its controller says so), fleets, and what steers them."""

    pods: list[Pod] = field(default_factory=list)
    submit_ns: list[int] = field(default_factory=list)
    fleets: list[Fleet] = field(default_factory=list)
    rollouts: list[Rollout] = field(default_factory=list)
    daemon_rollouts: list[DaemonRollout] = field(default_factory=list)
    jobs: list[JobRun] = field(default_factory=list)
    replica_sets: list[ReplicaSet] = field(default_factory=list)
    """Those that Deployments make."""


def template_hash(template: PodTemplate) -> str:
    """A name for a template, the same for equal ones. It is not the one that the real controller gives (which hashes
    the memory layout of Go's structures), but has its form."""
    number = 2166136261
    for byte in repr(template).encode():
        number = (number ^ byte) * 16777619 % 2**32
    return "".join(_HASHED[int(digit) % len(_HASHED)] for digit in str(number))


def with_hash(template: PodTemplate) -> PodTemplate:
    """A template as a Deployment's ReplicaSet has it."""
    return replace(template, labels={**template.labels, HASH_LABEL: template_hash(template)})


class Maker:
    """Makes all places of a cluster, those of later versions included."""

    def __init__(self, objects: Objects, changes: Sequence[Change], admit: Callable[[Pod], Pod]) -> None:
        self._objects, self._changes, self._admit = objects, changes, admit
        self.made = Made()
        self._order = 1 + max((pod.order for pod in objects.pods), default=0)
        self._have: dict[tuple[str, str, str], list[int]] = {}
        for pod in objects.pods:
            if not pod.is_terminal:
                self._existing(pod)
        self._names = {(pod.namespace, pod.name) for pod in objects.pods}

    def _existing(self, pod: Pod) -> None:
        number = self._add(pod if pod.is_there else self._admit(pod), 0)
        gone = pod.is_terminating and not pod.node_name  # it does not count, but has its name, which a set goes by
        if pod.owner is not None and (not gone or pod.owner.kind == "StatefulSet"):
            self._have.setdefault((pod.namespace, pod.owner.kind, pod.owner.name), []).append(number)

    def _add(self, pod: Pod, submit_ns: int) -> int:
        self.made.pods.append(pod)
        self.made.submit_ns.append(submit_ns)
        return len(self.made.pods) - 1

    def _make(
        self,
        workload: Workload,
        owner: Owner,
        template: PodTemplate,
        name: str,
        submit_ns: int = 0,
        *,
        labels: Labels | None = None,
    ) -> int:
        annotations = {**template.annotations}
        for key, value in workload.annotations.items():
            if key.startswith(ANNOTATIONS):
                annotations.setdefault(key, value)
        pod = Pod(
            name,
            workload.namespace,
            labels={**template.labels, **(labels or {})},
            annotations=annotations,
            spec=template.spec,
            owner=owner,
            order=self._order,
        )
        self._order += 1
        return self._add(self._admit(pod), submit_ns)

    def all(self, jobs: Iterable[JobRun]) -> Made:
        """All of them; ``jobs``: those that are there, or come later (their fleets are made here)."""
        objects = self._objects
        later = {(one.namespace, one.name) for change in self._changes for one in change.objects.deployments}
        steered = later & {(one.namespace, one.name) for one in objects.deployments}
        owned: dict[tuple[str, str], list[ReplicaSet]] = {}
        for one in objects.replica_sets:
            key = one.namespace, one.owner.name if one.owner is not None else ""
            if key[1]:
                owned.setdefault(key, []).append(one)
            if one.template is not None and key not in steered:
                self._replica_set(one)
        for deployment in objects.deployments:
            key = deployment.namespace, deployment.name
            specs = [(0, deployment), *self._later("deployments", key)]
            if key not in owned:
                self._deployment(specs)
            elif key in steered:  # else its ReplicaSets make them
                self._live_deployment(specs, owned[key])
        for stateful in objects.stateful_sets:
            self._stateful([(0, stateful), *self._later("stateful_sets", (stateful.namespace, stateful.name))])
        for daemons in objects.daemon_sets:
            self._daemons([(0, daemons), *self._later("daemon_sets", (daemons.namespace, daemons.name))])
        self._new_ones()
        for run in jobs:
            self._job(run)
        return self.made

    def _later(self, into: str, key: tuple[str, str]) -> Iterator[tuple[int, Any]]:
        for change in self._changes:
            for one in getattr(change.objects, into):
                if (one.namespace, one.name) == key:
                    yield change.at_ns, one

    def _new_ones(self) -> None:
        """What changes bring that was not there before."""
        objects = self._objects
        makers: dict[str, Callable[[list[tuple[int, Any]]], None]] = {
            "deployments": self._deployment,
            "stateful_sets": self._stateful,
            "daemon_sets": self._daemons,
        }
        for into, make in makers.items():
            seen = {(one.namespace, one.name) for one in getattr(objects, into)}
            for change in self._changes:
                for one in getattr(change.objects, into):
                    key = one.namespace, one.name
                    if key not in seen:
                        seen.add(key)
                        make(list(self._later(into, key)))
        for change in self._changes:
            for pod in change.objects.pods:
                self._add(self._admit(pod), change.at_ns)

    def _replica_set(self, one: ReplicaSet, more: int = 0) -> int:
        """Its fleet, with so many places more than it is to have at first."""
        assert one.template is not None
        tasks = list(self._have.get((one.namespace, one.kind, one.name), ()))
        owner, lacking = Owner(one.kind, one.name, one.uid), max(one.replicas - len(tasks), 0)
        for number in range(lacking + more):
            name, submit_ns = self._name(one, f"{one.name}-{number}"), 0 if number < lacking else NEVER
            tasks.append(self._make(one, owner, one.template, name, submit_ns))
        workload = one.owner.name if one.owner is not None else one.name
        return self._fleet(one.kind, one, one.name, tasks, one.replicas, workload=workload)

    def _fleet(self, kind: str, one: Workload, name: str, tasks: Sequence[int], wanted: int = 0, **more: Any) -> int:
        """A fleet; ``workload``: whose name it goes by, its own where nothing is said; ``nodes``: of its pods."""
        workload, nodes = more.get("workload") or one.name, tuple(more.get("nodes", ()))
        self.made.fleets.append(Fleet(kind, one.namespace, name, workload, tuple(tasks), wanted, nodes))
        return len(self.made.fleets) - 1

    def _name(self, workload: Workload, name: str) -> str:
        """A name that no other pod has."""
        while (workload.namespace, name) in self._names:
            name += "-1"
        self._names.add((workload.namespace, name))
        return name

    def _deployment(self, specs: list[tuple[int, Deployment]]) -> None:
        fleets: dict[str, int] = {}
        versions = [template_hash(one.template) for _, one in specs]
        most = _most_places(specs, versions)
        for (at, one), text in zip(specs, versions, strict=True):
            if text not in fleets:
                first = not fleets
                now = one.replicas if first and at == 0 else 0
                fleets[text] = self._version(one, text, most[text], now=now, stem=one.name if first else "")
        self.made.rollouts.append(_rollout(specs, versions, fleets))

    def _version(self, one: Deployment, text: str, places: int, *, now: int = 0, stem: str = "") -> int:
        """A new ReplicaSet of a Deployment, and its fleet; ``now``: how many of its pods are there at first."""
        name, template = f"{one.name}-{text}", with_hash(one.template)
        owner = Owner("ReplicaSet", name)
        tasks = [
            self._make(one, owner, template, self._name(one, f"{stem or name}-{k}"), 0 if k < now else NEVER)
            for k in range(places)
        ]
        self.made.replica_sets.append(_replica_set_of(one, name, template))
        return self._fleet("ReplicaSet", one, name, tasks, now)

    def _live_deployment(self, specs: list[tuple[int, Deployment]], sets: Sequence[ReplicaSet]) -> None:
        """One that runs already, and changes: its ReplicaSets are there, and it goes on from them."""
        sets = oldest_first([one for one in sets if one.template is not None])
        now = current(specs[0][1], sets)
        versions = [now.name]
        for _, one in specs[1:]:
            alike = now if one.template == specs[0][1].template else of_template(one.template, sets)
            versions.append(template_hash(one.template) if alike is None else alike.name)
        most = _most_places(specs, versions, before=(now.name, now.replicas))
        fleets = {one.name: self._replica_set(one, most.get(one.name, 0)) for one in sets}
        old = tuple(fleets[one.name] for one in sets if one is not now)
        for (_, one), text in zip(specs, versions, strict=True):
            if text not in fleets:
                fleets[text] = self._version(one, text, most[text])
        self.made.rollouts.append(_rollout(specs, versions, fleets, old))

    def _stateful(self, specs: list[tuple[int, StatefulSet]]) -> None:
        """A fleet for each change of the template: a pod that is there again has a place of its own."""
        listed: list[tuple[int, Deployment | StatefulSet, int]] = []
        most = max(spec.replicas for _, spec in specs)
        for at, one in specs:
            if listed and template_hash(one.template) == template_hash(listed[-1][1].template):
                fleet = listed[-1][2]
            else:
                mark = f"@{len({number for _, _, number in listed}) + 1}" if listed else ""
                tasks = [self._ordinal(one, one.first_ordinal + k, mark) for k in range(most)]
                fleet = self._fleet("StatefulSet", one, one.name, tasks)
            listed.append((at, one, fleet))
        self.made.rollouts.append(Rollout(tuple(listed)))

    def _ordinal(self, one: StatefulSet, ordinal: int, mark: str) -> int:
        name = f"{one.name}-{ordinal}"
        for task in self._have.get((one.namespace, "StatefulSet", one.name), ()) if not mark else ():
            if self.made.pods[task].name == name:
                return task
        labels = {ORDINAL_LABEL: str(ordinal), "statefulset.kubernetes.io/pod-name": name}
        template = template_of(one, ordinal)
        return self._make(one, Owner("StatefulSet", one.name), template, name + mark, NEVER, labels=labels)

    def _daemons(self, specs: list[tuple[int, DaemonSet]]) -> None:
        """One a node that is to have one, bound to it by node affinity; a fleet for each change of the template."""
        listed: list[tuple[int, DaemonSet, int]] = []
        for at, one in specs:
            if listed and template_hash(one.template) == template_hash(listed[-1][1].template):
                fleet = listed[-1][2]
            else:
                mark = f"@{len({number for _, _, number in listed}) + 1}" if listed else ""
                fleet = self._of_nodes(one, mark, 0 if at == 0 else NEVER)
            listed.append((at, one, fleet))
        if is_steered(specs):
            self.made.daemon_rollouts.append(DaemonRollout(tuple(listed)))

    def _of_nodes(self, one: DaemonSet, mark: str, submit_ns: int) -> int:
        tasks = list(self._have.get((one.namespace, "DaemonSet", one.name), ())) if not mark else []
        nodes = [self.made.pods[task].node_name for task in tasks]
        there, spec, owner = set(nodes), tolerating(one.template.spec), Owner("DaemonSet", one.name)
        for node in self._objects.nodes:
            if node.name not in there and should_run(spec, node):
                name = f"{one.name}-{node.name}{mark}"
                template = bound_to(one.template, spec, node)
                tasks.append(self._make(one, owner, template, name, NEVER if mark else submit_ns))
                nodes.append(node.name)
        wanted = 0 if mark else len(tasks)
        return self._fleet("DaemonSet", one, one.name, tasks, wanted, nodes=nodes)

    def _job(self, run: JobRun) -> None:
        job = run.job
        have = list(self._have.get((job.namespace, "Job", job.name), ()))
        indexed = {self.made.pods[task].labels.get(INDEX_LABEL): task for task in have}
        tasks = [] if job.completion_mode == "Indexed" else have
        for number in range(len(tasks), job.places):
            if job.completion_mode == "Indexed" and str(number) in indexed:
                tasks.append(indexed[str(number)])
                continue
            labels = {INDEX_LABEL: str(number)} if job.completion_mode == "Indexed" else {}
            name = self._name(job, f"{job.name}-{number}")
            tasks.append(self._make(job, Owner("Job", job.name), job.template, name, NEVER, labels=labels))
        self.made.jobs.append(replace(run, fleet=self._fleet("Job", job, job.name, tasks)))


def _rollout(
    specs: Sequence[tuple[int, Deployment]], versions: Sequence[str], fleets: Mapping[str, int], old: Sequence[int] = ()
) -> Rollout:
    pairs = zip(specs, versions, strict=True)
    return Rollout(tuple((at, one, fleets[text]) for (at, one), text in pairs), tuple(old))


def _most_places(
    specs: Sequence[tuple[int, Deployment]], versions: Sequence[str], before: tuple[str, int] = ("", 0)
) -> dict[str, int]:
    """How many places each version needs: a pod that was deleted to scale down is not made again in its old place.
    ``before``: the version that is there already, and how many places it has."""
    most: dict[str, int] = {}
    for (_, one), text in zip(specs, versions, strict=True):
        grown = one.replicas - (before[1] if before[0] == text else 0)
        most[text] = most.get(text, 0) + max(0, grown)
        before = text, one.replicas
    return most


def _replica_set_of(one: Deployment, name: str, template: PodTemplate) -> ReplicaSet:
    mark = Requirement(HASH_LABEL, "In", (template.labels[HASH_LABEL],))
    requirements = one.selector.requirements if one.selector is not None else ()
    return ReplicaSet(
        name,
        one.namespace,
        labels=template.labels,
        owner=Owner("Deployment", one.name, one.uid),
        replicas=one.replicas,
        selector=LabelSelector((*requirements, mark)),
        template=template,
    )
