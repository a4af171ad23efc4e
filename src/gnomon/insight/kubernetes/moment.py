"""The cluster as its scheduler has it when a pod's turn comes: of a snapshot, or of a run at a row of its log.

Of a snapshot nothing is simulated: pods that are bound are where they are, those that the API server would have to
create are held to quotas and limits, and the pods in front of the one that is asked about are tried in the order of the
queue (sheet on Kubernetes, sections 3 and 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import IntArray
from gnomon.systems.kubernetes.api.objects import Amounts, Pod
from gnomon.systems.kubernetes.api.policies import LimitRange, ResourceQuota
from gnomon.systems.kubernetes.api.profile import Settings
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import Deployment
from gnomon.systems.kubernetes.apiserver.limits import limit_rejection, with_limit_defaults
from gnomon.systems.kubernetes.apiserver.quotas import pod_usage, quota_rejection, used
from gnomon.systems.kubernetes.controllers.job_rules import settled
from gnomon.systems.kubernetes.controllers.leaving import deleting_message
from gnomon.systems.kubernetes.controllers.probes import first_kill
from gnomon.systems.kubernetes.fleets.native import Native
from gnomon.systems.kubernetes.read.configuration import read_configuration
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler
from gnomon.systems.kubernetes.scheduler.queue import gate_message, unscheduled_message
from gnomon.systems.kubernetes.scheduler.state import State, Surroundings


@dataclass
class Moment:
    """``state``: the cluster just before the pod's turn; ``pod``: the one that is asked about, as it was created;
    ``refused``: what the API server said where it did not create it.

    ``before``: the pods that were tried in front of it, each with the node that it got (empty: none), and ``victims``:
    whom they preempt; ``created``: those that there were when it was to be created, ``in_use`` what was used of each
    quota then (``namespace/name``), and ``missing`` how many pods of its workload are to be created from it on;
    ``refusals``: what the API server said of those that it did not create, up to this one;
    ``row``: of the log, -1 without a run, and ``went_to``: the node that it got there."""

    objects: Objects
    state: State
    settings: Settings
    pod: Pod
    refused: str = ""
    before: tuple[tuple[Pod, str], ...] = ()
    victims: dict[str, tuple[str, ...]] = field(default_factory=dict)
    created: tuple[Pod, ...] = ()
    in_use: Mapping[str, Amounts] = field(default_factory=dict)
    missing: int = 1
    refusals: dict[str, str] = field(default_factory=dict)
    row: int = -1
    went_to: str = ""

    @cached_property
    def scheduler(self) -> Scheduler:
        """The scheduler that has its turn."""
        return Scheduler(self.state, self.settings)

    @cached_property
    def attempt(self) -> Attempt:
        """What comes of the pod's turn."""
        return self.scheduler.attempt(self.pod)

    @property
    def unscheduled(self) -> bool:
        """Whether no scheduler that is set up has the name that it asks for."""
        return self.pod.spec.scheduler_name not in self.settings.profiles

    @property
    def idle(self) -> str:
        """Why it does not even enter the queue; empty: it does."""
        if self.unscheduled:
            return unscheduled_message(self.pod)
        if self.pod.is_terminating:
            return deleting_message(self.pod)
        return gate_message(self.pod) or ""

    @property
    def is_placed(self) -> bool:
        """Whether the scheduler has nothing to decide: it is on a node."""
        return bool(self.pod.node_name)


def snapshot_moment(objects: Objects, pods: Iterable[Pod], pod: Pod) -> Moment:
    """The turn of a pod in a snapshot. ``pods``: all of them, those that workloads are yet to make included."""
    settings = read_configuration(objects.configuration)
    state = State(objects.nodes, Surroundings.of(objects))
    known = state.index
    queue: list[Pod] = []
    made: list[Pod] = []
    there: list[Pod] = []
    for one in pods:
        if one.node_name:
            there.append(one)
            if one.node_name in known and one.key != pod.key:
                state.place(one, one.node_name)
        elif one.is_there:
            there.append(one)
            queue.append(one)
        else:
            made.append(one)
    gate, refusals = Gatekeeper(objects, there), dict[str, str]()
    for one in made:
        admitted, text = gate.admit(one)
        if text:
            refusals[one.key] = text
        if one.key == pod.key and text:
            peers = sum(1 for other in made[made.index(one) :] if one.owner and is_peer(one, other))
            return Moment(
                objects,
                state,
                settings,
                admitted,
                text,
                created=tuple(gate.created),
                in_use=gate.in_use,
                missing=max(peers, 1),
                refusals=refusals,
            )
        if not text:
            queue.append(admitted)
    ordered = sorted(queue, key=_order)
    pod = next((one for one in ordered if one.key == pod.key), pod)
    moment = Moment(objects, state, settings, pod, created=tuple(gate.created))
    if not pod.node_name:
        for one in ordered:
            if one.key != pod.key and one.nominated_node in known:
                state.nominate(one, one.nominated_node)
        moment.before = tuple(_tried(moment, ordered))
    return moment


def pods_now(native: Native, submit_ns: IntArray) -> list[Pod]:
    """The pods that are there, and those that their controllers make at once: of a Job as many as may run in parallel,
    of a workload no later version."""
    later: set[int] = set()
    for rollout in native.rollouts:
        first = rollout.specs[0][2]
        for _, _, fleet in rollout.specs:
            if fleet != first:
                later.update(native.fleets[fleet].tasks)
        if isinstance(rollout.specs[0][1], Deployment):
            later.update(native.fleets[first].tasks[native.fleets[first].wanted :])
    for daemons in native.daemon_rollouts:
        first = daemons.specs[0][2]
        later.update(task for _, _, fleet in daemons.specs if fleet != first for task in native.fleets[fleet].tasks)
    for run in native.jobs:
        tasks = native.fleets[run.fleet].tasks
        job = run.job
        left = job.places - sum(map(len, settled(job)))
        active = 0 if job.suspend or run.at_ns > 0 else min(job.parallelism, left)
        there = [task for task in tasks if native.pods[task].is_there]
        new = [task for task in tasks if not native.pods[task].is_there]
        later.update(new[max(active - len(there), 0) :])
    steered = {task for fleet in native.fleets for task in fleet.tasks}
    for task in np.flatnonzero(submit_ns > 0).tolist():
        if task not in steered:
            later.add(task)
    return [pod for task, pod in enumerate(native.pods) if pod.is_there or task not in later]


def happens(scenario: Scenario) -> bool:
    """Whether something happens by itself, so that a run has a story to tell: faults, or pods that end."""
    work, ends = scenario.work, scenario.limits.until_ns < NEVER
    later = (work.duration_ns < NEVER) | ((work.submit_ns > 0) & (work.submit_ns < NEVER))
    native = scenario.native
    changes = isinstance(native, Native) and bool(native.changes or native.objects.descheduler)
    if scenario.faults or work.usages or changes or later.any():
        return True
    return isinstance(native, Native) and any(
        first_kill(pod) is not None or (ends and pod.spec.active_deadline_s is not None) for pod in native.pods
    )


def key_of(pod: Pod) -> str:
    """A pod as one names it: one that is terminating has another key where its successor has its name.

    >>> key_of(Pod("web-0~3", deletion_ns=1))
    'default/web-0'
    """
    return pod.key.partition("~")[0]


def is_peer(one: Pod, other: Pod) -> bool:
    """Whether two pods are of one workload."""
    mine, its = one.owner, other.owner
    same = mine is not None and its is not None and (mine.kind, mine.name) == (its.kind, its.name)
    return one.namespace == other.namespace and same


def _order(pod: Pod) -> tuple[int, int, int, int]:
    """The order of the queue (``PrioritySort``): by priority, then by the time of entering it, for which the time of
    creation stands. That has whole seconds; of one second the resource version tells, which a pod has from its creation
    or from its last attempt. kubectl lists by name, so that the order of the list is the last resort."""
    return -pod.priority, pod.creation_ns or 0, pod.version, pod.order


def _tried(moment: Moment, ordered: list[Pod]) -> Iterable[tuple[Pod, str]]:
    """The pods in front take their places. Those alike one that was refused are not tried again while nothing came."""
    state, refused = moment.state, set[int]()
    for pod in ordered:
        if pod.key == moment.pod.key:
            return
        if gate_message(pod) is not None or pod.spec.scheduler_name not in moment.settings.profiles:
            continue
        shape = state.shape(pod).index
        if shape in refused and not pod.nominated_node:
            continue
        attempt = moment.scheduler.attempt(pod)
        if attempt.chosen >= 0:
            name = state.names[attempt.chosen]
            moment.scheduler.assume(replace(attempt, pod=replace(pod, node_name=name)))
            refused.clear()
            yield pod, name
            continue
        refused.add(shape)
        chosen = attempt.preemption.chosen
        if chosen is not None:
            name = state.names[chosen.node]
            moment.victims[pod.key] = tuple(victim.pod.key for victim in chosen.victims)
            for victim in chosen.victims:  # it is there as long as it stops, and some filters pass over it
                state.remove(victim.pod.key)
                deleted = victim.pod.deletion_ns if victim.pod.is_terminating else 0
                state.place(replace(victim.pod, deletion_ns=deleted), name, start_ns=victim.start_ns)
            state.nominate(replace(pod, nominated_node=name), name)
            refused.clear()
        yield pod, ""


class Gatekeeper:
    """Creates pods as the API server would: with the limit ranges' defaults, and within quotas and limits."""

    def __init__(self, objects: Objects, there: Iterable[Pod], in_use_now: Mapping[str, Amounts] | None = None) -> None:
        self.created = list(there)
        self._never = {one.pod: one.text for one in objects.rejections}
        self._quotas: dict[str, list[ResourceQuota]] = {}
        self._ranges: dict[str, list[LimitRange]] = {}
        for quota in objects.resource_quotas:
            self._quotas.setdefault(quota.namespace, []).append(quota)
        for limits in objects.limit_ranges:
            self._ranges.setdefault(limits.namespace, []).append(limits)
        self.in_use = {
            quota_key(quota): in_use(quota, self.created) if in_use_now is None else {**in_use_now[quota_key(quota)]}
            for quota in objects.resource_quotas
        }

    def admit(self, pod: Pod) -> tuple[Pod, str]:
        """The pod with its defaults, and why it is refused (empty: it is created)."""
        ranges, quotas = self._ranges.get(pod.namespace, []), self._quotas.get(pod.namespace, [])
        if ranges:
            pod = replace(pod, spec=with_limit_defaults(pod.spec, ranges))
        used_now = {quota.name: self.in_use[quota_key(quota)] for quota in quotas}
        text = self._never.get(pod.key) or limit_rejection(pod, ranges) or quota_rejection(pod, quotas, used_now) or ""
        if not text:
            self.created.append(pod)
            for quota in quotas:
                _charge(self.in_use[quota_key(quota)], quota, pod)
        return pod, text


def quota_key(quota: ResourceQuota) -> str:
    """``namespace/name``."""
    return f"{quota.namespace}/{quota.name}"


def in_use(quota: ResourceQuota, pods: Iterable[Pod]) -> dict[str, int]:
    """What is used of a quota: by its status, else by the pods that there are."""
    return {**(quota.used if quota.used is not None else used(quota, pods))}


def _charge(in_use: dict[str, int], quota: ResourceQuota, pod: Pod) -> None:
    for name, amount in used(quota, [pod]).items():
        in_use[name] = in_use.get(name, 0) + amount


def usage_of(quota: ResourceQuota, pod: Pod) -> Amounts:
    """What a pod counts with in a quota."""
    usage = pod_usage(pod)
    return {name: usage[name] for name in quota.hard if name in usage}
