"""Where changes are tried: the scheduling cycle is run again for a changed pod, or on a changed cluster.

What is changed is put back, so that each change is tried alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gnomon.insight.explain.changes import Change, cost_of
from gnomon.insight.explain.phrases import Plain, counted, listed
from gnomon.insight.kubernetes.classes import Judged, judged
from gnomon.insight.kubernetes.moment import Moment
from gnomon.insight.kubernetes.subjects import owner_of
from gnomon.systems.kubernetes.api.objects import Node, Pod, PodSpec
from gnomon.systems.kubernetes.api.profile import PreemptionArgs, Settings
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler
from gnomon.systems.kubernetes.scheduler.preemption import Candidate
from gnomon.systems.kubernetes.scheduler.state import Ints, Placed, State, Surroundings

TRIALS_MAX = 400
"""How many changes are tried at most."""

NAMED_MAX = 3
"""How many nodes that take the pod are named."""


@dataclass(frozen=True, kw_only=True)
class Lever:
    """A change that may help: as of :class:`~gnomon.insight.explain.changes.Change`, and how to try it: the numbers of
    the nodes that take the pod then, with what else there is to tell."""

    kind: int
    size: float
    phrase: str
    object: str
    field: str
    before: Plain | None
    after: Plain | None
    attempt: Callable[[], Effect | None]
    group: str = ""
    """Of one group only the cheapest that helps is told."""
    spec: PodSpec | None = None
    """The pod's spec after the change, if that is what changes: then another change may be tried on top of it."""

    @property
    def cost(self) -> float:
        """See :func:`~gnomon.insight.explain.changes.cost_of`."""
        return cost_of(self.kind, self.size)

    def told(self, effect: Effect) -> Change:
        """As a change that was tried."""
        return Change(
            f"{self.phrase}: {effect.text}", self.object, self.field, self.before, self.after, self.cost, confirmed=True
        )


@dataclass(frozen=True)
class Effect:
    """What comes of a change, as a clause."""

    text: str
    nodes: int = 1


class Bench:
    """Tries changes for one pod at one moment. ``target``: the only node that counts, None: any."""

    def __init__(self, moment: Moment, target: int | None = None) -> None:
        self.moment = moment
        self.state = moment.state
        self.pod = replace(moment.pod, nominated_node="", node_name="")
        if moment.unscheduled:
            spec = replace(moment.pod.spec, scheduler_name=next(iter(moment.settings.profiles)))
            self.pod = replace(self.pod, spec=spec)
        self.target = target
        self.trials = 0
        self._owners: dict[tuple[str, str, str], tuple[str, str]] = {}
        self._plain = Scheduler(self.state, _without_preemption(moment.settings))

    @cached_property
    def found(self) -> Judged:
        """All nodes judged for the pod as it is."""
        return judged(self._plain, self.pod)

    def nodes(self, pod: Pod | None = None) -> Ints:
        """The nodes that take a pod (the one asked about as it is)."""
        self.trials += 1
        pod = pod or self.pod
        if pod.spec.scheduling_gates:
            return np.zeros(0, np.int64)
        nodes = judged(self._plain, pod).passing
        return nodes if self.target is None else nodes[nodes == self.target]

    def of_spec(
        self,
        spec: PodSpec,
        *,
        kind: int,
        size: float,
        phrase: str,
        field: str,
        before: Plain | None,
        after: Plain | None,
        group: str = "",
    ) -> Lever:
        """A change of the pod's own spec."""
        return Lever(
            kind=kind,
            size=size,
            phrase=phrase,
            object=f"pod/{self.pod.key}",
            field=field,
            before=before,
            after=after,
            attempt=lambda: self.with_spec(spec),
            group=group,
            spec=spec,
        )

    def with_spec(self, spec: PodSpec) -> Effect | None:
        """What comes of another spec of the pod."""
        return self.effect(self.nodes(replace(self.pod, spec=spec)))

    def effect(self, nodes: Ints, names: Iterable[str] | None = None) -> Effect | None:
        """That these nodes take it; None where none does."""
        if not len(nodes):
            return None
        named = [self.state.names[node] for node in nodes[: NAMED_MAX + 1].tolist()] if names is None else list(names)
        if len(nodes) == 1:
            return Effect(f"it fits on {named[0]}")
        rest = len(nodes) - NAMED_MAX
        texts = named[:NAMED_MAX] if rest <= 0 else [*named[: NAMED_MAX - 1], f"{len(nodes) - NAMED_MAX + 1:,} more"]
        return Effect(f"{counted(len(nodes), 'node')} take it then ({listed(texts)})", len(nodes))

    # ------------------------------------------------------------------ its own workload

    @cached_property
    def _sets(self) -> frozenset[str]:
        """The ReplicaSets of the Deployment that the pod belongs to."""
        kind, name = owner_of(self.pod, self.moment.objects)
        return frozenset(
            one.name
            for one in self.moment.objects.replica_sets
            if one.namespace == self.pod.namespace and one.owner is not None and one.owner.kind == kind == "Deployment"
            and one.owner.name == name
        )  # fmt: skip

    def owner(self, pod: Pod) -> tuple[str, str]:
        """The workload of a pod, as kind and name, looked up once an owner."""
        key = pod.namespace, "" if pod.owner is None else pod.owner.kind, (pod.owner or pod).name
        if key not in self._owners:
            self._owners[key] = owner_of(pod, self.moment.objects)
        return self._owners[key]

    def is_sibling(self, other: Pod) -> bool:
        """Whether another pod is of the same workload: what the pod's template says is true of it too, and it is made
        anew when it goes."""
        mine, its = self.pod.owner, other.owner
        if mine is None or its is None or other.namespace != self.pod.namespace:
            return False
        if (mine.kind, mine.name) == (its.kind, its.name) or {mine.name, its.name} <= self._sets:
            return True
        stems = [
            one.owner.name.removesuffix(f"-{one.labels.get(HASH_LABEL, '-')}") for one in (self.pod, other) if one.owner
        ]
        return mine.kind == its.kind == "ReplicaSet" and HASH_LABEL in other.labels and stems[0] == stems[1]

    def preempting_strangers(self, pod: Pod) -> Candidate | None:
        """As :meth:`preempting` for a pod of another priority, which all of its workload then have."""
        chosen = self.preempting(pod)
        if chosen is None or not any(self.is_sibling(one.pod) for one in chosen.victims):
            return chosen
        raised = [one for there in self.state.pods for one in there.values() if self.is_sibling(one.pod)]
        with self.without([one.pod.key for one in raised]) as taken:
            for placed, where in taken:
                spec = replace(placed.pod.spec, priority=max(pod.priority, placed.pod.priority))
                self.state.place(replace(placed.pod, spec=spec), self.state.names[where], start_ns=placed.start_ns)
            try:
                return self.preempting(pod)
            finally:
                for placed, _ in taken:
                    self.state.remove(placed.pod.key)

    # ------------------------------------------------------------------ with preemption

    def preempting(self, pod: Pod) -> Candidate | None:
        """The victims that a pod would find, on a node that a few tries show."""
        self.trials += 1
        attempt = self.attempt_with_preemption(pod)
        chosen = attempt.preemption.chosen
        return chosen if chosen is None or self.target in (None, chosen.node) else None

    def attempt_with_preemption(self, pod: Pod) -> Attempt:
        """The whole cycle, with few nodes tried for preemption."""
        return Scheduler(self.state, _few_candidates(self.moment.settings)).attempt(pod)

    # ------------------------------------------------------------------ another cluster

    @contextmanager
    def without(self, keys: Iterable[str]) -> Iterator[list[tuple[Placed, int]]]:
        """The cluster without some of its pods, which are given with the numbers of their nodes."""
        taken: list[tuple[Placed, int]] = []
        for key in keys:
            where = self.state.where[key]
            taken.append((self.state.remove(key), where))
        try:
            yield taken
        finally:
            for placed, where in taken:
                self.state.put(placed, where)

    @contextmanager
    def with_node(self, node: Node) -> Iterator[None]:
        """The cluster with one of its nodes changed."""
        old = self.state.nodes[self.state.index[node.name]]
        self.state.replace_node(node)
        try:
            yield
        finally:
            self.state.replace_node(old)

    def grown(self, nodes: list[Node], pods: Iterable[tuple[Pod, str]]) -> Bench:
        """A bench on the cluster with more nodes, and pods on them."""
        objects = self.moment.objects
        state = State([*self.state.nodes, *nodes], Surroundings.of(objects))
        state.volumes.bound, state.volumes.made_in = dict(self.state.volumes.bound), dict(self.state.volumes.made_in)
        for number, there in enumerate(self.state.pods):
            for placed in there.values():
                state.place(placed.pod, self.state.names[number], start_ns=placed.start_ns)
        for name, waiting in self.state.nominated.items():
            for placed in waiting.values():
                state.nominate(placed.pod, name)
        for pod, name in pods:
            state.place(replace(pod, node_name=name), name)
        moment = replace_moment(self.moment, state)
        return Bench(moment)


def replace_moment(moment: Moment, state: State) -> Moment:
    """The same moment on another state."""
    return Moment(moment.objects, state, moment.settings, moment.pod, created=moment.created)


def _without_preemption(settings: Settings) -> Settings:
    profiles = {name: replace(one, post_filters=()) for name, one in settings.profiles.items()}
    return replace(settings, profiles=profiles)


def _few_candidates(settings: Settings) -> Settings:
    few = PreemptionArgs(0, 10)
    profiles = {name: replace(one, preemption=few) for name, one in settings.profiles.items()}
    return replace(settings, profiles=profiles)


def search(candidates: Iterable[Lever], bench: Bench, most: int) -> list[Change]:
    """The changes that help, the cheapest first. Of a group the cheapest that helps is taken, the rest not tried."""
    told: list[Change] = []
    done: set[str] = set()
    for one in sorted(candidates, key=lambda one: one.cost):
        if one.group in done or bench.trials >= TRIALS_MAX:
            continue
        effect = one.attempt()
        if effect is not None:
            told.append(one.told(effect))
            if one.group:
                done.add(one.group)
    return told[:most]
