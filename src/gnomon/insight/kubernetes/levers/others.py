"""Changes of others: pods in the way, nodes that are closed, nodes that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from gnomon.insight.explain.changes import NODES, OTHERS
from gnomon.insight.kubernetes.classes import FIT, quantity
from gnomon.insight.kubernetes.levers.bench import Bench, Effect, Lever
from gnomon.insight.kubernetes.levers.scaling import scaled_down, workload_of
from gnomon.systems.kubernetes.api.constraints import HOSTNAME, ZONE, Requirement
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.scheduler.state import Placed

CONDITIONS = frozenset(
    f"node.kubernetes.io/{name}"
    for name in ("not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable")
)
"""Taints that the cluster takes away when the condition of the node is well again."""

NODES_MAX = 12
"""On how many nodes pods that could go are looked for, those first that come nearest."""

TEMPLATES_MAX = 12
"""Of how many kinds of node one more is tried."""

MAY_YIELD = (FIT, "NodePorts", "InterPodAffinity", "PodTopologySpread", "VolumeRestrictions", "NodeVolumeLimits")
"""Filters that another pod's end may satisfy."""


def uncordon(bench: Bench) -> Iterator[Lever]:
    """Open a node that is cordoned."""
    for node in bench.state.nodes:
        if node.unschedulable and (bench.target is None or bench.state.names[bench.target] == node.name):
            if not bench.found.only("NodeUnschedulable", "TaintToleration")[bench.state.index[node.name]]:
                continue
            taints = tuple(one for one in node.taints if one.key != "node.kubernetes.io/unschedulable")
            opened = replace(node, unschedulable=False, taints=taints)
            yield Lever(
                kind=OTHERS,
                size=0.1,
                phrase=f"uncordon {node.name}",
                object=f"node/{node.name}",
                field="spec.unschedulable",
                before="true",
                after="false",
                attempt=lambda opened=opened: _on_node(bench, opened),  # type: ignore[misc]
                group="uncordon",
            )


def ready_again(bench: Bench) -> Iterator[Lever]:
    """A node that is not as it should be, and is so again: no more than its own taints say keeps the pod away."""
    found = bench.found
    mask = found.only("TaintToleration") & found.masks.get("TaintToleration", np.zeros(len(bench.state.nodes), bool))
    for i in np.flatnonzero(mask).tolist():
        node = bench.state.nodes[i]
        if bench.target not in (None, i):
            continue
        well = replace(node, taints=tuple(one for one in node.taints if one.key not in CONDITIONS))
        if well.taints == node.taints:
            continue
        yield Lever(
            kind=OTHERS,
            size=0.15,
            phrase=f"{node.name} is Ready again",
            object=f"node/{node.name}",
            field="status.conditions[Ready]",
            before="Unknown" if any(one.key.endswith("/unreachable") for one in node.taints) else "False",
            after="True",
            attempt=lambda well=well: _on_node(bench, well),  # type: ignore[misc]
            group="ready again",
        )


def _on_node(bench: Bench, node: Node) -> Effect | None:
    with bench.with_node(node):
        return bench.effect(bench.nodes())


# ------------------------------------------------------------------ pods in the way


def pods_in_the_way(bench: Bench) -> Iterator[Lever]:
    """Remove one pod, the smallest that will do, from a node; or let it ask for less."""
    found, state = bench.found, bench.state
    mask = found.only(*MAY_YIELD)
    mask[found.passing] = False
    mask &= ~(_never(bench))
    if bench.target is not None:
        mask &= np.arange(len(mask)) == bench.target
    shortage = found.shortage()
    nodes = sorted(np.flatnonzero(mask).tolist(), key=lambda node: (shortage[node], node))[:NODES_MAX]
    for node in nodes:
        short = {name: amount - int(found.free(name)[node]) for name, amount in found.asked.items()}
        short = {name: amount for name, amount in short.items() if amount > 0}
        others = [one for one in state.pods[node].values() if not bench.is_sibling(one.pod)]
        for placed in _smallest(others, short):
            yield from _removal(bench, placed, node)
            yield from _shrinking(bench, placed, node, short)


def _never(bench: Bench) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The nodes that are too small even when they are empty."""
    never = np.zeros(len(bench.state.nodes), bool)
    for name, amount in bench.found.asked.items():
        never |= bench.state.allocatable[bench.state.resources[name]] < amount
    return never


def _smallest(pods: Iterable[Placed], short: dict[str, int]) -> list[Placed]:
    """The least important and smallest pods of those whose end leaves enough; those of DaemonSets would come back, and
    those that are terminating go anyway."""
    able = [
        one
        for one in pods
        if not one.pod.is_terminating
        and (one.pod.owner is None or one.pod.owner.kind not in ("DaemonSet", "Node"))
        and all(one.shape.requests.get(name, 0) >= amount for name, amount in short.items())
    ]
    name = max(short, default="")
    return sorted(able, key=lambda one: (one.shape.priority, one.shape.requests.get(name, 0), one.pod.key))[:2]


def _removal(bench: Bench, placed: Placed, node: int) -> Iterator[Lever]:
    """End a bare pod; one that a controller would make anew goes when its workload is scaled down."""
    key, where = placed.pod.key, bench.state.names[node]

    def attempt() -> Effect | None:
        with bench.without([key]):
            nodes = bench.nodes()
            return bench.effect(nodes[nodes == node])

    if placed.pod.owner is not None:
        yield from scaled_down(bench, placed.pod, where, attempt)
        return
    amounts = ", ".join(quantity(name, amount) for name, amount in placed.shape.requests.items())
    yield Lever(
        kind=OTHERS,
        size=1.0,
        phrase=f"delete {key} on {where}" + (f" (it asks for {amounts})" if amounts else ""),
        object=f"pod/{key}",
        field="",
        before="running",
        after=None,
        attempt=attempt,
        group="delete a pod",
    )


def _shrinking(bench: Bench, placed: Placed, node: int, short: dict[str, int]) -> Iterator[Lever]:
    from gnomon.insight.kubernetes.levers.own import with_request

    if len(short) != 1:
        return
    ((name, amount),) = short.items()
    has = placed.shape.requests.get(name, 0)
    if has <= amount:
        return
    changed = with_request(placed.pod.spec, name, has - amount)
    if changed is None:
        return
    spec, field = changed
    smaller = replace(placed.pod, spec=spec)

    def attempt() -> Effect | None:
        with bench.without([placed.pod.key]):
            bench.state.place(smaller, bench.state.names[node])
            try:
                nodes = bench.nodes()
                return bench.effect(nodes[nodes == node])
            finally:
                bench.state.remove(smaller.key)

    less, more = quantity(name, has - amount), quantity(name, has)
    whose, where = f"pod/{smaller.key}", bench.state.names[node]
    who = f"{smaller.key} on {where}"
    if smaller.owner is not None:
        whose = workload_of(smaller, bench.moment.objects)
        who = f"{whose}, of which {smaller.name} is on {where},"
    yield Lever(
        kind=OTHERS,
        size=amount / has,
        phrase=f"let {who} ask for {less} instead of {more}",
        object=whose,
        field=field,
        before=more,
        after=less,
        attempt=attempt,
        group="shrink a pod",
    )


# ------------------------------------------------------------------ one more node


def more_nodes(bench: Bench) -> Iterator[Lever]:
    """One more node like one that is there, with the DaemonSets that run on that; where volumes bind the pod to a
    place, one like it there."""
    templates = _templates(bench)
    if not templates or bench.target is not None:
        return
    wanted = _labels_of_volumes(bench)
    copies: list[tuple[Node, Node, list[tuple[Pod, str]]]] = []
    for node in templates:
        copies.append(_copy(bench, node, {}))
        if wanted and any(node.labels.get(key) != value for key, value in wanted.items()):
            copies.append(_copy(bench, node, wanted))
    nodes = [new for _, new, _ in copies]
    grown = bench.grown(nodes, [pod for _, _, pods in copies for pod in pods])
    fitting = {grown.state.names[node] for node in grown.nodes().tolist()}
    for old, new, pods in copies:
        if new.name in fitting:
            yield _growth(bench, old, new, pods, tried=len(copies) == 1)


def _growth(bench: Bench, old: Node, new: Node, pods: list[tuple[Pod, str]], *, tried: bool) -> Lever:
    """``tried``: it fits on that node when it is the only new one."""

    def attempt() -> Effect | None:
        if tried:
            return Effect("it fits on that")
        grown = bench.grown([new], pods)
        taken = [grown.state.names[node] for node in grown.nodes().tolist()]
        return Effect("it fits on that") if new.name in taken else None

    moved = [
        f"{key}={new.labels[key]}" for key in new.labels if key != HOSTNAME and new.labels[key] != old.labels.get(key)
    ]
    return Lever(
        kind=NODES,
        size=1 / max(len(bench.state.nodes), 1) + 0.01 * len(moved),
        phrase=f"one more node like {old.name}" + (f" with {', '.join(moved)}" if moved else ""),
        object=f"node/{old.name}",
        field="",
        before=len(bench.state.nodes),
        after=len(bench.state.nodes) + 1,
        attempt=attempt,
        group="one more node",
    )


def _templates(bench: Bench) -> list[Node]:
    """One node of each kind, those kinds first that have most: by what they have, their taints and labels."""
    rare = _rare_keys(bench)
    kinds: dict[tuple[object, ...], list[Node]] = {}
    for node in bench.state.nodes:
        labels = tuple(sorted((key, value) for key, value in node.labels.items() if key not in rare))
        key = (tuple(sorted(node.allocatable.items())), node.taints, labels)
        kinds.setdefault(key, []).append(node)
    most = sorted(kinds.values(), key=lambda nodes: -len(nodes))[:TEMPLATES_MAX]
    return [nodes[0] for nodes in most]


def _rare_keys(bench: Bench) -> set[str]:
    """Labels that tell nodes apart, one by one."""
    values: dict[str, set[str]] = {}
    for node in bench.state.nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    return {HOSTNAME} | {key for key, found in values.items() if len(found) > max(8, len(bench.state.nodes) // 4)}


def _copy(bench: Bench, node: Node, labels: dict[str, str]) -> tuple[Node, Node, list[tuple[Pod, str]]]:
    name = f"{node.name}-like" + "".join(f"-{value}" for value in labels.values())
    taints = tuple(one for one in node.taints if not one.key.startswith("node.kubernetes.io/"))
    new = replace(node, name=name, labels={**node.labels, **labels, HOSTNAME: name}, taints=taints, unschedulable=False)
    return node, new, [(replace(pod, name=f"{pod.name}-{name}"), name) for pod in daemons(bench, node)]


def daemons(bench: Bench, node: Node) -> list[Pod]:
    """The pods of DaemonSets, and static ones, on a node: those that every node like it has."""
    there = bench.state.pods[bench.state.index[node.name]].values()
    return [one.pod for one in there if one.pod.owner is not None and one.pod.owner.kind in ("DaemonSet", "Node")]


def _labels_of_volumes(bench: Bench) -> dict[str, str]:
    """The labels of a node from which the volumes of the pod are reached."""
    volumes = bench.state.volumes
    wanted: dict[str, str] = {}
    for key in bench.found.query.shape.claims:
        if zone := volumes.made_in.get(key):
            wanted[ZONE] = zone
        volume = volumes.volumes.get(volumes.bound.get(key, ""))
        for term in (volume.node_required or ())[:1] if volume is not None else ():
            wanted |= {one.key: one.values[0] for one in term.match_expressions if _is_value(one)}
    return wanted


def _is_value(one: Requirement) -> bool:
    return one.operator == "In" and len(one.values) > 0


def largest_ever(bench: Bench) -> str:
    """Why even an empty node would not do: what the largest has, less what every node like it runs besides; empty
    where one would."""
    for name, amount in bench.found.asked.items():
        best: tuple[int, Node, int] | None = None
        for node in _templates(bench):
            beside = sum(pod_requests(pod.spec).get(name, 0) for pod in daemons(bench, node))
            left = node.allocatable.get(name, 0) - beside
            if best is None or left > best[0]:
                best = left, node, beside
        if best is not None and best[0] < amount:
            left, node, beside = best
            if not node.capacity and not node.allocatable:
                return f"{node.name} states no capacity (status.capacity), nor does a node that offers more"
            text = f"an empty node like {node.name} has room for {quantity(name, left)} at most"
            parts = f"allocatable {quantity(name, node.allocatable.get(name, 0))}"
            if name in node.capacity:
                parts = f"capacity {quantity(name, node.capacity[name])}, {parts}"
            return f"{text} ({parts}" + (f", {quantity(name, beside)} for DaemonSets)" if beside else ")")
    return ""
