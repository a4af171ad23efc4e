"""A pod whose containers are killed, or that is sent away, again and again: how often, and what would end that.

What helps is looked for whether or not the run stops between two of these: that it runs again is no end of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.changes import OWN, Change, Simulate, cost_of
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import loss
from gnomon.insight.explain.phrases import counted, size, span
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.kubernetes.runs.probing import against_probe
from gnomon.insight.kubernetes.runs.reruns import against_eviction, most_used
from gnomon.insight.kubernetes.runs.resizing import against_loss
from gnomon.model.quantity import format_memory
from gnomon.model.work import Shape
from gnomon.systems.kubernetes.api.constraints import UNREACHABLE, Toleration
from gnomon.systems.kubernetes.api.objects import PodSpec
from gnomon.systems.kubernetes.fleets.native import native_of

SETTINGS: Final = frozenset(("limits.memory", "memory", "cpu", "priority", "count", "request"))
"""What general changes are about that one can set in a cluster of Kubernetes: others are no settings of it."""

_OWN: Final = (Reason.MEMORY, Reason.KILLED, Reason.EXIT)
_MI: Final = 2**20
LEAST_S: Final = 30
"""The tolerationSeconds that are tried in the place of the 300 that the API server sets."""


def against_mishap(ground: Ground, task: int, simulate: Simulate, again: Simulate, *, back: bool) -> list[Change]:
    """What keeps it from happening again. ``back``: it runs at the end, or is done."""
    found = [*against_probe(ground, task, simulate), *against_memory(ground, task, again)]
    log = ground.past.log
    fails = rows_of(log, (task,), Kind.FAIL).tolist()
    sent_away = bool(fails) and Reason(int(log.reason[fails[-1]])) is Reason.EVICTED
    if sent_away:
        found += against_eviction(ground, task, again)
    if fails and Reason(int(log.reason[fails[-1]])) is Reason.NODE:
        found += sooner_elsewhere(ground, task, simulate)
    if sent_away or not back:
        found += against_loss(ground, task, simulate)
    return found


def unlike(changes: Iterable[Change]) -> list[Change]:
    """Changes in their order, of those of one field of one object the first that is listed."""
    found: dict[tuple[str, str, str], Change] = {}
    for one in changes:
        found.setdefault((one.object, one.field, "" if one.field == "spec.replicas" else str(one.after)), one)
    return sorted(found.values(), key=lambda one: one.cost)


def repeated(ground: Ground, task: int) -> str:
    """That a pod failed by its own doing, or was evicted, several times, in one sentence; empty if it was not."""
    log = ground.past.log
    fails = _fails(log, task)
    reasons = {Reason(int(log.reason[row])) for row in fails}
    if len(fails) < 2 or not (reasons <= {*_OWN} or reasons == {Reason.EVICTED}):
        return ""
    last = fails[-1]
    then = f"the last time at {span(int(log.t_ns[last]))} on {ground.node_name(int(log.node[last]))}"
    alike = {int(log.value[row]) for row in fails}
    each = f", each time after {span(alike.pop())}" if len(alike) == 1 else ""
    often = f"{counted(len(fails), 'time')}{each}"
    return f"{ground.work.id(task)} {_deed(ground, last)} {often}, {then}; {_now(ground, task)}."


def last_words(ground: Ground, task: int) -> str:
    """The last event of a pod that failed by its own doing; empty if it did not."""
    log = ground.past.log
    if not repeated(ground, task):
        return ""
    rows = rows_of(log, (task,), Kind.EVENT).tolist()
    facts = [log.details[row] for row in rows if row in log.details and "message" in log.details[row]]
    said = [one for one in facts if one.get("reason") == "CrashLoopBackOff"] or facts
    return f"{said[-1]['reason']}: {said[-1]['message']}" if said and "reason" in said[-1] else ""


def _deed(ground: Ground, row: int) -> str:
    """What happened each time."""
    log, facts = ground.past.log, ground.past.log.details.get(row, {})
    reason = Reason(int(log.reason[row]))
    if reason is Reason.MEMORY:
        return f"was OOMKilled over its own limit of {size(int(facts.get('limit', 0)))} memory"
    if reason is Reason.EVICTED:
        return f"was evicted as the memory of its node was used up, using {size(int(facts.get('used', 0)))},"
    if reason is Reason.KILLED and "message" in facts:
        text = str(facts["message"]).removeprefix("Container ").removesuffix(", will be restarted")
        return f"was killed ({text})"
    return loss(ground, row, timed=False).removeprefix("it ")


def too_large(ground: Ground, task: int) -> str:
    """That a pod which was evicted comes to use more memory than any node has; empty if one has as much."""
    fails, nodes = _fails(ground.past.log, task), ground.scenario.cluster.nodes
    if not fails or ground.past.log.reason[fails[-1]] != Reason.EVICTED:
        return ""
    used, most = most_used(ground, task), max(nodes, key=lambda one: one.capacity.memory_bytes)
    least = int(ground.past.log.details.get(fails[-1], {}).get("below", 0))
    if used + least <= most.capacity.memory_bytes:
        return ""
    has = f"{size(most.capacity.memory_bytes)}, of which {size(least)} are to stay free"
    there = f"{most.name}, the largest node, has {has}"
    return f"it comes to use {size(used)} of memory, and {there}: a larger node, or less use, helps"


def _now(ground: Ground, task: int) -> str:
    log, state = ground.past.log, State(int(ground.past.outcome.state[task]))
    starts = rows_of(log, (task,), Kind.START).tolist()
    if state is State.RUNNING:
        return f"it runs again since {span(int(log.t_ns[starts[-1]]))}"
    tries = rows_of(log, (task,), Kind.RETRY).tolist()
    if state is State.FAILED or not tries:
        return f"it is {state.label}"
    return f"its next start is due at {span(int(log.value[tries[-1]]))}"


def against_memory(ground: Ground, task: int, again: Simulate) -> list[Change]:
    """A limit as high as what the containers come to use, for all pods of the workload."""
    native = native_of(ground.scenario)
    log = ground.past.log
    if not any(log.reason[row] == Reason.MEMORY for row in rows_of(log, (task,), Kind.FAIL).tolist()):
        return []
    has, used = ground.work.shapes[ground.shape(task)].limit.memory_bytes, most_used(ground, task)
    value = -(-used // _MI) * _MI
    if value <= has:
        return []
    owner = native.pods[task].owner
    alike = [
        one
        for one, pod in enumerate(native.pods)
        if one == task or (owner is not None and (pod.namespace, pod.owner) == (native.pods[task].namespace, owner))
    ]
    varied = vary.with_shapes(ground.scenario, alike, lambda shape: _limited(shape, value))
    if any(Reason(int(after.reason[row])) in _OWN for after in [again(varied)] for row in _fails(after, task)):
        return []
    grown = (value - has) / max(has, 1)
    text = f"raise its limit of memory from {format_memory(has)} to {format_memory(value)}: it is not killed"
    cost = cost_of(OWN, grown)
    path = "spec.containers[*].resources.limits.memory"
    object_ = f"pod/{native.pods[task].key}"
    return [Change(text, object_, path, format_memory(has), format_memory(value), cost, confirmed=True)]


def sooner_elsewhere(ground: Ground, task: int, simulate: Simulate) -> list[Change]:
    """Another pod in the place of one whose node is lost, sooner: by a shorter ``tolerationSeconds``."""
    native, log = native_of(ground.scenario), ground.past.log
    owner, space = native.pods[task].owner, native.pods[task].namespace
    if owner is None or owner.kind in ("StatefulSet", "DaemonSet"):
        return []
    pods = tuple(
        replace(one, spec=_tolerating(one.spec, LEAST_S)) if (one.namespace, one.owner) == (space, owner) else one
        for one in native.pods
    )
    after = simulate(replace(ground.scenario, native=replace(native, pods=pods)))
    lost = [row for row in _fails(log, task) if log.reason[row] == Reason.NODE]
    since = int(log.t_ns[lost[0]])
    then = [int(log.t_ns[row]) for row in rows_of(log, (task,), Kind.START).tolist() if log.t_ns[row] >= since]
    first = [row for row in _fails(after, task) if after.reason[row] == Reason.NODE]
    if not first or not then:
        return []
    begun = int(after.t_ns[first[0]])
    starts = [row for row in rows_of(after, (task,), Kind.START).tolist() if after.t_ns[row] >= begun]
    if not starts or int(after.t_ns[starts[0]]) >= then[0]:
        return []
    when, where = int(after.t_ns[starts[0]]), ground.node_name(int(after.node[starts[0]]))
    text = f"tolerationSeconds of {UNREACHABLE} 300 → {LEAST_S}: another starts at {span(when)} on {where}"
    kept = next((one.seconds for one in native.pods[task].spec.tolerations if _is_of_loss(one)), 300)
    text = text.replace("300", str(kept))
    path = "spec.tolerations[*].tolerationSeconds"
    cost = round(OWN + 0.5, 4)
    return [Change(text, f"pod/{native.pods[task].key}", path, kept, LEAST_S, cost, confirmed=True)]


def _tolerating(spec: PodSpec, seconds: int) -> PodSpec:
    kept = tuple(one for one in spec.tolerations if not _is_of_loss(one))
    return replace(spec, tolerations=(Toleration(UNREACHABLE, "Exists", "", "NoExecute", seconds), *kept))


def _is_of_loss(one: Toleration) -> bool:
    return one.key == UNREACHABLE and one.effect == "NoExecute" and one.seconds is not None


def _limited(shape: Shape, value: int) -> Shape:
    return replace(shape, limit=vary.with_amount(shape.limit, "memory", value))


def _fails(log: Log, task: int) -> list[int]:
    found: list[int] = rows_of(log, (task,), Kind.FAIL).tolist()
    return found
