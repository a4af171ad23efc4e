"""Changes to what happens in a run, tried by simulating it again: what the scheduler reads is changed with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gnomon.engine.log import Kind, Log
from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.changes import OWN, Change, Simulate, cost_of
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import Plain
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.kubernetes.levers.own import with_request
from gnomon.model.cluster import Node as ModelNode
from gnomon.model.quantity import format_memory
from gnomon.model.resources import E4, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Work
from gnomon.systems.kubernetes.api.constraints import HOSTNAME
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.fleets.daemon_pods import node_of
from gnomon.systems.kubernetes.fleets.native import native_of


def rerun(base: Scenario, log: Log, simulate: Simulate) -> Simulate:
    """Simulates variations of a scenario; of one that has no meaning for its objects the log is that of the scenario
    as it is, so that nothing is promised of it."""

    def again(one: Scenario) -> Log:
        varied = in_step(base, one) if _is_settable(base, one) else None
        return log if varied is None else simulate(varied)

    return again


def _is_settable(base: Scenario, one: Scenario) -> bool:
    """Whether a variation is of what one can set in a cluster of Kubernetes: not of how tasks are tried again, nor of
    how the cluster is operated and which order its queue has."""
    same = all(mine is its for mine, its in ((base.operation, one.operation), (base.policy, one.policy)))
    return same and one.work.recoveries == base.work.recoveries and one.preempt == base.preempt


def in_step(base: Scenario, one: Scenario) -> Scenario | None:
    """A variation of a scenario with its objects as its tasks and nodes are: requests, priorities, and more nodes like
    those that there are. None: they have no meaning for the objects, which is for the scheduling cycle to try."""
    native = native_of(base)
    nodes = native.objects.nodes if one.cluster is base.cluster else _nodes_in_step(base, one)
    if len(one.work) != len(base.work) or nodes is None:
        return None
    if one.work is base.work and nodes is native.objects.nodes:
        return one
    if nodes is not native.objects.nodes:
        native = replace(native, objects=replace(native.objects, nodes=nodes))
    if one.work is not base.work:
        pods = tuple(_in_step(pod, base.work, one.work, task) for task, pod in enumerate(native.pods))
        native = replace(native, pods=pods)
    return replace(one, native=native)


def _nodes_in_step(base: Scenario, one: Scenario) -> tuple[Node, ...] | None:
    """The nodes as objects, those that were added included (``n1+1`` is like n1)."""
    native = native_of(base)
    names, there = [node.name for node in one.cluster.nodes], [node.name for node in base.cluster.nodes]
    if names[: len(there)] != there:
        return None
    known = {node.name: node for node in native.objects.nodes}
    found = list(native.objects.nodes)
    for added in one.cluster.nodes[len(there) :]:
        stem = added.name.rpartition("+")[0]
        like = known.get(stem) or known.get(stem.removesuffix("-larger"))
        if like is None:
            return None
        found.append(_new_node(like, added, _daemons_on(like, native.pods)))
    return tuple(found) if len(found) > len(there) else native.objects.nodes


def _new_node(like: Node, added: ModelNode, daemons: Mapping[str, int]) -> Node:
    """An object for a node that was added: as one that is there when it is new, less what its DaemonSets ask for."""
    taints = tuple(taint for taint in like.taints if not taint.key.startswith("node.kubernetes.io/"))
    offers = {
        name: max(amount, _of_object(added.capacity, name)) - daemons.get(name, 0)
        for name, amount in like.allocatable.items()
    }
    labels = {**like.labels, HOSTNAME: added.name}
    return replace(like, name=added.name, labels=labels, taints=taints, unschedulable=False, allocatable=offers)


def _of_object(capacity: Resources, name: str) -> int:
    amount = capacity.amount(name)
    return amount if name in ("cpu", "memory") else amount // E4


def _daemons_on(node: Node, pods: Iterable[Pod]) -> Counter[str]:
    """What those pods ask for that every node like this one runs."""
    found: Counter[str] = Counter()
    for pod in pods:
        if pod.owner is None or pod.owner.kind not in ("DaemonSet", "Node"):
            continue
        if node.name in (pod.node_name, node_of(pod)):
            found.update({**pod_requests(pod.spec), "pods": 1})
    return found


def _in_step(pod: Pod, before: Work, after: Work, task: int) -> Pod:
    spec = pod.spec
    if before.shape[task] != after.shape[task] or before.shapes is not after.shapes:
        old, new = before.shapes[before.shape[task]].request, after.shapes[after.shape[task]].request
        for name in {**pod_requests(spec), **dict.fromkeys(new.names())}.keys() - {"pods"}:
            wanted = new.amount(name) if name in ("cpu", "memory") else new.amount(name) // E4
            if old.amount(name) != new.amount(name):
                changed = _asking(pod, name, wanted)
                spec = spec if changed is None else changed.spec
                pod = replace(pod, spec=spec)
    priority = int(after.priority[task])
    if priority != int(before.priority[task]):
        pod = replace(pod, spec=replace(spec, priority=priority))
    return pod


def _asking(pod: Pod, name: str, amount: int) -> Pod | None:
    """The pod with another request: less of its largest containers, or more of its first."""
    has = pod_requests(pod.spec).get(name, 0)
    if amount <= has:
        less = with_request(pod.spec, name, amount)
        return None if less is None else replace(pod, spec=less[0])
    first, *rest = pod.spec.containers
    more = replace(first, requests={**first.requests, name: first.requests.get(name, 0) + amount - has})
    return replace(pod, spec=replace(pod.spec, containers=(more, *rest)))


def against_eviction(ground: Ground, task: int, again: Simulate) -> list[Change]:
    """What keeps a pod that was sent away under memory pressure, and has no end, where it is: an honest request, a
    higher priority; each simulated."""
    base, work = ground.scenario, ground.work
    key, asked, used = work.id(task), work.shapes[ground.shape(task)].request.memory_bytes, most_used(ground, task)
    priority = int(work.priority.max()) + 1
    tried: list[tuple[Scenario, float, tuple[str, Plain, Plain], str]] = [
        (
            vary.with_more(base, (task,), "memory", used),
            (used - asked) / max(asked, 1),
            ("spec.containers[*].resources.requests.memory", format_memory(asked), format_memory(used)),
            f"ask for {format_memory(used)} memory, as much as it uses, instead of {format_memory(asked)}",
        ),
        (
            vary.with_column(base, "priority", (task,), priority),
            (priority - int(work.priority[task])) / max(abs(int(work.priority[task])), 1),
            ("spec.priority", int(work.priority[task]), priority),
            f"give it the priority {priority}",
        ),
    ]
    found: list[Change] = []
    for scenario, size, (field, before, after), phrase in tried:
        log = again(scenario)
        fails = rows_of(log, (task,), Kind.FAIL)
        if not len(fails):
            others = {work.id(int(who)) for who in log.subject[log.kind == Kind.FAIL].tolist()}
            text = f"{phrase}: it stays" + (f", and {', '.join(sorted(others))} goes instead" if others else "")
            cost = cost_of(OWN, size)
            found.append(Change(text, f"pod/{key}", field, before, after, cost, confirmed=True))
    return sorted(found, key=lambda one: one.cost)


def most_used(ground: Ground, task: int) -> int:
    """The most memory that a pod comes to use, as far as is known."""
    usage = ground.work.usage_of(task)
    profile = usage.profile("memory") if usage is not None else None
    return max((amount for _, amount in profile.points), default=0) if profile is not None else 0
