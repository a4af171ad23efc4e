"""Levers of how the cluster is run, of others on the same node, and of the node itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.case import Case
from gnomon.insight.explain.changes import LIMIT, NODES, OTHERS, Lever
from gnomon.insight.explain.crowd import peak
from gnomon.insight.explain.levers.recovery import asked_more, larger, shorter
from gnomon.insight.explain.phrases import size, span, written
from gnomon.model.operation import Heartbeat, Operation, Speculation
from gnomon.model.quantity import NS_PER_S

OTHERS_MAX = 3
"""How many others on the node are tried, those who use most beyond what they asked for first."""


def _operation(
    case: Case,
    field: str,
    before: Any,
    values: list[Any],
    change: Callable[[Operation, Any], Operation],
    *,
    phrase: Callable[[Any], str],
    size: Callable[[Any], float] = lambda _: 1.0,
    shown: Callable[[Any], Any] = lambda value: value,
) -> Lever:
    scenario = case.ground.scenario
    return Lever(
        kind=LIMIT,
        object="scenario",
        field=f"operation.{field}",
        before=before,
        values=values,
        scenario=lambda value: replace(scenario, operation=change(scenario.operation, value)),
        size=size,
        phrase=phrase,
        shown=shown,
    )


def detection(case: Case) -> Iterator[Lever]:
    """Take silent nodes for lost sooner."""
    rule = case.ground.scenario.operation.detection
    if not isinstance(rule, Heartbeat) or not rule.grace_ns:
        return
    grace = rule.grace_ns
    if values := shorter(grace, rule.beat_ns):
        yield _operation(
            case,
            "detection.grace",
            span(grace),
            values,
            lambda operation, value: replace(operation, detection=replace(rule, grace_ns=value)),
            phrase=lambda value: f"take nodes for lost after {span(value)} of silence instead of {span(grace)}",
            size=lambda value: (grace - value) / grace,
            shown=span,
        )


def eviction(case: Case) -> Iterator[Lever]:
    """Give lost nodes up sooner."""
    rule = case.ground.scenario.operation.eviction
    after = rule.after_ns
    if values := shorter(after):
        yield _operation(
            case,
            "eviction.after",
            span(after),
            values,
            lambda operation, value: replace(operation, eviction=replace(rule, after_ns=value)),
            phrase=lambda value: f"give lost nodes up {span(value)} after they are noticed instead of {span(after)}",
            size=lambda value: (after - value) / after,
            shown=span,
        )


def fence(case: Case, overlap_ns: int) -> Iterator[Lever]:
    """Let nodes that hear nothing stop their tasks, before those are started elsewhere (``overlap_ns``: how long after
    the fault that was)."""
    has = case.ground.scenario.operation.fence_ns
    most = min(overlap_ns, has - 1) // NS_PER_S
    step = 1 if most < 600 else 10 if most < 7200 else 60
    values = [second * NS_PER_S for second in range(most, 0, -step)]
    if values:
        yield _operation(
            case,
            "fence",
            span(has),
            values,
            lambda operation, value: replace(operation, fence_ns=value),
            phrase=lambda value: f"let nodes that hear nothing for {span(value)} stop their tasks",
            size=lambda value: (values[0] - value) / values[0],
            shown=span,
        )


def orphans(case: Case) -> Iterator[Lever]:
    """Start nothing anew until it is known that the first attempt has stopped."""
    if case.ground.scenario.operation.orphans != "wait":
        yield _operation(
            case,
            "orphans",
            "replace",
            ["wait"],
            lambda operation, value: replace(operation, orphans=value),
            phrase=lambda _: "replace tasks of a lost node only when it is known that they have stopped",
        )


def replaced(case: Case) -> Iterator[Lever]:
    """Replace tasks of lost nodes without knowing that they have stopped."""
    if case.ground.scenario.operation.orphans == "wait":
        yield _operation(
            case,
            "orphans",
            "wait",
            ["replace"],
            lambda operation, value: replace(operation, orphans=value),
            phrase=lambda _: "replace tasks of a lost node though they may still run there",
        )


def speculation(case: Case) -> Iterator[Lever]:
    """Give slow tasks of a job a second copy."""
    job = case.ground.work.job
    if case.ground.scenario.operation.speculation is None and (job == job[case.task]).sum() > 1:
        yield _operation(
            case,
            "speculation.check",
            None,
            [10 * NS_PER_S],
            lambda operation, value: replace(operation, speculation=Speculation(value)),
            phrase=lambda value: f"look every {span(value)} for slow tasks, and start second copies of them",
            shown=span,
        )


def leaders(case: Case) -> Iterator[Lever]:
    """More members of the control plane, or a shorter lease."""
    rule = case.ground.scenario.operation.control
    values = [count for count in (3, 5, 7) if count > rule.members]
    if values:
        yield _operation(
            case,
            "control.members",
            rule.members,
            values,
            lambda operation, value: replace(operation, control=replace(rule, members=value)),
            phrase=lambda value: f"run {value} members of the control plane instead of {rule.members}",
            size=lambda value: (value - rule.members) / rule.members,
        )
    if rule.lease_ns:
        yield _operation(
            case,
            "control.lease",
            span(rule.lease_ns),
            shorter(rule.lease_ns),
            lambda operation, value: replace(operation, control=replace(rule, lease_ns=value)),
            phrase=lambda value: f"let leases of leaders last {span(value)} instead of {span(rule.lease_ns)}",
            size=lambda value: (rule.lease_ns - value) / rule.lease_ns,
            shown=span,
        )


def unenforced(case: Case, field: str) -> Iterator[Lever]:
    """Do not hold use to a limit of memory, or of processors."""
    off: Any = "none" if field == "memory" else False
    on: Any = "kill" if field == "memory" else True
    phrase = {
        "memory": "let nobody be killed for his own limit of memory",
        "quota": "let limits of processors not hold",
    }
    yield _operation(
        case,
        f"enforcement.{field}",
        on,
        [off],
        lambda operation, value: replace(operation, enforcement=replace(operation.enforcement, **{field: value})),
        phrase=lambda _: phrase[field],
    )


# ------------------------------------------------------------------ others on the node, and the node


def _neighbours(case: Case, node: int) -> list[int]:
    """Others on a node who come to use more memory than they asked for, those with most of that first."""
    ground = case.ground
    there = dict.fromkeys(case.here.holders[case.here.node == node].tolist())
    beyond = {
        task: peak(ground, task, "memory") - ground.work.shapes[ground.shape(task)].request.memory_bytes
        for task in there
        if task not in case.tasks
    }
    return sorted((task for task in beyond if beyond[task] > 0), key=lambda task: (-beyond[task], task))


def neighbours(case: Case, node: int) -> Iterator[Lever]:
    """Let others on the node ask for what they use, or use less."""
    ground = case.ground
    for task in _neighbours(case, node)[:OTHERS_MAX]:
        shape = ground.work.shapes[ground.shape(task)]
        label, most = f"task/{ground.work.id(task)}", peak(ground, task, "memory")
        if values := larger("memory", shape.request.memory_bytes, most):
            yield asked_more(case, label, (task,), "memory", values, kind=OTHERS)
        if not shape.limit.memory_bytes or shape.limit.memory_bytes > shape.request.memory_bytes:
            yield _lower_limit(case, task)


def _lower_limit(case: Case, task: int) -> Lever:
    """Another that may use no more than he asked for: then it is he who dies."""
    ground, name = case.ground, case.ground.work.id(task)
    shape = ground.work.shapes[ground.shape(task)]
    asked, has = shape.request.memory_bytes, shape.limit.memory_bytes
    before = written("memory", has) if has else None
    return Lever(
        kind=OTHERS,
        object=f"task/{name}",
        field="limits.memory",
        before=before,
        values=[asked] if asked else [],
        scenario=lambda value: vary.with_limit(ground.scenario, (task,), "memory", value),
        size=lambda value: (has - value) / has if has else 1.0,
        phrase=lambda value: f"limit {name} to the {size(value)} of memory that it asked for",
        shown=lambda value: written("memory", value),
    )


def node_memory(case: Case, node: int) -> Iterator[Lever]:
    """More memory in the node."""
    cluster = case.ground.scenario.cluster
    has = cluster.nodes[node].capacity.memory_bytes
    want = sum(peak(case.ground, task, "memory") for task in case.here.holders[case.here.node == node].tolist())
    name = cluster.nodes[node].name
    values = larger("memory", has, want)
    if not values or cluster.nodes[node].machine.memory_bytes:
        return
    yield Lever(
        kind=NODES,
        object=f"node/{name}",
        field="memory",
        before=written("memory", has),
        values=values,
        scenario=lambda value: vary.with_node_memory(case.ground.scenario, node, value),
        size=lambda value: (value - has) / has,
        phrase=lambda value: f"give {name} {written('memory', value)} of memory instead of {written('memory', has)}",
        shown=lambda value: written("memory", value),
    )
