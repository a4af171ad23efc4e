"""Changes of who keeps pods and of how many there are, tried by simulating a run again: a controller for a pod that has
none, one replica less of another workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.changes import CONSTRAINT, NODES, OTHERS, Change, Simulate
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import span
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.kubernetes.runs.reruns import in_step
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.objects import Owner
from gnomon.systems.kubernetes.api.workloads import Deployment, Job, PodTemplate, StatefulSet
from gnomon.systems.kubernetes.fleets.fleet import Fleet, JobRun
from gnomon.systems.kubernetes.fleets.native import Native, native_of
from gnomon.systems.kubernetes.operation import recovery_of

WORKLOADS_MAX = 6
"""Of how many workloads one replica less is tried, those of the lowest priority first."""

_SCALABLE = ("ReplicaSet", "ReplicationController", "StatefulSet")


_TAKEN: Final = (Reason.NODE, Reason.EVICTED, Reason.PREEMPTED, Reason.DRAINED)
"""What a pod is lost to as a whole, and its controller would make another for."""

_NOT_FOR_ROOM: Final = (Reason.GATED, Reason.NO_NODE_KIND, Reason.PEERS)


def against_loss(ground: Ground, task: int, simulate: Simulate) -> list[Change]:
    """What helps a pod that is lost for good."""
    log = ground.past.log
    fails = rows_of(log, (task,), Kind.FAIL).tolist()
    found: list[Change] = []
    if not fails or Reason(int(log.reason[fails[-1]])) not in _TAKEN:
        return found
    found += controlled(ground, task, simulate)
    if log.reason[fails[-1]] in (Reason.EVICTED, Reason.PREEMPTED):
        found += fewer_replicas(ground, task, simulate, stays(task))
        found += one_more_node(ground, int(log.node[fails[-1]]), simulate, stays(task))
    return found


def against_waiting(ground: Ground, task: int, row: int, simulate: Simulate) -> list[Change]:
    """What helps a pod that waits from a row of the log on, or whose node is not there."""
    reason = Reason(int(ground.past.log.reason[row]))
    if reason is Reason.UNATTENDED:
        deleted = int(ground.past.outcome.state[task]) == State.KILLED
        return list(controlled(ground, task, simulate)) if deleted else []
    if reason in _NOT_FOR_ROOM:
        return []
    return list(fewer_replicas(ground, task, simulate, sooner(task, ground.past.log, row, ground.node_name)))


# ------------------------------------------------------------------ a controller


def controlled(ground: Ground, task: int, simulate: Simulate) -> Iterator[Change]:
    """A controller for a pod that was lost and that nobody made anew."""
    pod = native_of(ground.scenario).pods[task]
    if pod.owner is not None:
        return
    ends = int(ground.work.duration_ns[task]) < NEVER or pod.spec.restart_policy != "Always"
    kind = "Job" if ends else "Deployment"
    log = simulate(with_controller(ground.scenario, task, kind))
    before = len(rows_of(ground.past.log, (task,), Kind.START))
    if starts := rows_of(log, (task,), Kind.START).tolist()[before:]:
        when, where = span(int(log.t_ns[starts[0]])), ground.node_name(int(log.node[starts[0]]))
        text = f"give it a controller, as a {kind} is: another pod starts at {when} on {where}"
        yield Change(text, f"pod/{pod.key}", "metadata.ownerReferences", None, kind, CONSTRAINT + 0.5, confirmed=True)


def with_controller(scenario: Scenario, task: int, kind: str) -> Scenario:
    """A scenario in which a bare pod is one that a Deployment (its ReplicaSet), or a Job, made."""
    native = native_of(scenario)
    pod = native.pods[task]
    owner = Owner("Job" if kind == "Job" else "ReplicaSet", pod.name)
    owned = replace(pod, owner=owner)
    pods = (*native.pods[:task], owned, *native.pods[task + 1 :])
    fleets = (*native.fleets, Fleet(owner.kind, pod.namespace, pod.name, pod.name, (task,), 1))
    jobs = native.jobs
    if kind == "Job":
        template = PodTemplate(pod.labels, pod.annotations, pod.spec)
        jobs = (*jobs, JobRun(0, Job(pod.name, pod.namespace, template=template), len(fleets) - 1))
    varied = vary.with_recovery(scenario, (task,), recovery_of(owned))
    return replace(varied, native=replace(native, pods=pods, fleets=fleets, jobs=jobs))


# ------------------------------------------------------------------ fewer replicas


def fewer_replicas(ground: Ground, task: int, simulate: Simulate, effect: Callable[[Log], str]) -> Iterator[Change]:
    """One replica less of another workload. ``effect``: what comes of it by the log; empty if it does not help."""
    native = native_of(ground.scenario)
    own = {number for number, fleet in enumerate(native.fleets) if task in fleet.tasks}
    found = [
        number
        for number, fleet in enumerate(native.fleets)
        if number not in own and fleet.kind in _SCALABLE and _replicas(native, number) > 0
    ]
    found.sort(key=lambda number: (native.pods[native.fleets[number].tasks[0]].priority, number))
    for number in found[:WORKLOADS_MAX]:
        before = _replicas(native, number)
        if text := effect(simulate(with_replicas(ground.scenario, number, before - 1))):
            what = _workload(native, number)
            cost = round(OTHERS + (1 / before) / (1 + 1 / before), 4)
            said = f"scale {what} from {before} to {before - 1}: {text}"
            yield Change(said, what, "spec.replicas", before, before - 1, cost, confirmed=True)


def _workload(native: Native, number: int) -> str:
    """A workload as in ``deployment/namespace/name``."""
    fleet = native.fleets[number]
    kind = fleet.kind
    for rollout in native.rollouts:
        if any(one == number for _, _, one in rollout.specs):
            kind = type(rollout.specs[0][1]).__name__
    return f"{kind.lower()}/{fleet.namespace}/{fleet.workload}"


def _replicas(native: Native, number: int) -> int:
    """How many pods of a fleet are wanted, at first."""
    for rollout in native.rollouts:
        if rollout.specs[0][2] == number:
            return rollout.specs[0][1].replicas
        if any(one == number for _, _, one in rollout.specs):
            return 0
    return native.fleets[number].wanted


def with_replicas(scenario: Scenario, number: int, replicas: int) -> Scenario:
    """A scenario in which a workload (by its first fleet) never has more replicas than these: its last are not made."""
    native = native_of(scenario)
    fleet = native.fleets[number]
    rollouts = tuple(
        replace(one, specs=tuple((at, _at_most(spec, replicas), place) for at, spec, place in one.specs))
        if one.specs[0][2] == number
        else one
        for one in native.rollouts
    )
    wanted = min(fleet.wanted, replicas)
    fleets = (*native.fleets[:number], replace(fleet, wanted=wanted), *native.fleets[number + 1 :])
    varied = vary.with_column(scenario, "submit_ns", fleet.tasks[replicas:], NEVER)
    return replace(varied, native=replace(native, fleets=fleets, rollouts=rollouts))


def _at_most(spec: Deployment | StatefulSet, replicas: int) -> Deployment | StatefulSet:
    return replace(spec, replicas=min(spec.replicas, replicas))


# ------------------------------------------------------------------ one more node


def one_more_node(ground: Ground, like: int, simulate: Simulate, effect: Callable[[Log], str]) -> Iterator[Change]:
    """One more node like one that there is. ``effect``: as for :func:`fewer_replicas`."""
    cluster = ground.scenario.cluster
    grown = in_step(ground.scenario, vary.with_nodes(ground.scenario, cluster.nodes[like], 1))
    if grown is not None and (text := effect(simulate(grown))):
        size = 1 / len(cluster.nodes)
        yield Change(
            f"one more node like {cluster.nodes[like].name}: {text}",
            f"node/{cluster.nodes[like].name}",
            "",
            len(cluster.nodes),
            len(cluster.nodes) + 1,
            round(NODES + size / (1 + size), 4),
            confirmed=True,
        )


# ------------------------------------------------------------------ effects


def stays(task: int) -> Callable[[Log], str]:
    """The effect that a pod is not lost."""

    def effect(log: Log) -> str:
        return "" if len(rows_of(log, (task,), Kind.FAIL)) else "it stays"

    return effect


def sooner(task: int, before: Log, row: int, node_name: Callable[[int], str]) -> Callable[[Log], str]:
    """The effect that a pod which waits from a row on starts, or does so earlier."""
    since = int(before.t_ns[row])
    then = _next_start(before, task, since)

    def effect(log: Log) -> str:
        found = _next_start(log, task, since)
        if found is None or (then is not None and found[0] >= then[0]):
            return ""
        return f"it starts at {span(found[0])} on {node_name(found[1])}"

    return effect


def _next_start(log: Log, task: int, since: int) -> tuple[int, int] | None:
    rows = [row for row in rows_of(log, (task,), Kind.START).tolist() if log.t_ns[row] >= since]
    return (int(log.t_ns[rows[0]]), int(log.node[rows[0]])) if rows else None
