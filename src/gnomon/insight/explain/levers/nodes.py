"""Levers that add to the cluster: more nodes, or more processors in a pool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.case import Case
from gnomon.insight.explain.changes import NODES, Lever
from gnomon.insight.explain.phrases import amounts_of, counted, listed, number
from gnomon.model.cluster import Node
from gnomon.model.resources import Resources

NODES_MAX = 64
"""How many nodes are added at most."""


def nodes(case: Case) -> Iterator[Lever]:
    """Add nodes of the smallest kind that takes it, or processors to a pool."""
    cluster = case.ground.scenario.cluster
    if cluster.pool:
        yield _processors(case)
        return
    like = _fitting_node(case)
    there = sum(replace(node, name="") == replace(like, name="") for node in cluster.nodes)
    capacity = amounts_of({name: like.capacity.amount(name) for name in like.capacity.names()})
    kind = f" of kind {like.kind}" if like.kind else ""
    if wanted := case.ground.work.shapes[case.ground.shape(case.task)].node_labels:
        kind += f" labelled {listed(f'{name}={value}' for name, value in wanted)}"
    most = min(NODES_MAX, max(len(case.ground.unit(case.task)), len(cluster.nodes), 4))
    yield Lever(
        kind=NODES,
        object=f"node/{like.name}" if there else "cluster",
        field="count",
        before=there,
        values=range(1, most + 1),
        scenario=lambda count: vary.with_nodes(case.ground.scenario, like, count),
        size=lambda count: count / len(cluster.nodes),
        phrase=lambda count: f"add {counted(count, 'node')}{kind} with {capacity}{' each' if count > 1 else ''}",
        shown=lambda count: there + count,
    )


def _processors(case: Case) -> Lever:
    """In steps of one, up to twice as many, or twice what it asks for."""
    ground, pool = case.ground, case.ground.scenario.cluster.nodes[0]
    has, asked = pool.capacity.cpu_milli, ground.asked(ground.unit(case.task)).get("cpu", 0)
    return Lever(
        kind=NODES,
        object=f"node/{pool.name}",
        field="cpu",
        before=number("cpu", has),
        values=range(has + 1_000, 2 * max(has, asked) + 1_000, 1_000),
        scenario=lambda value: vary.with_pool(ground.scenario, value),
        size=lambda value: (value - has) / has,
        phrase=lambda value: (
            f"add {counted((value - has) // 1_000, 'processor')} to the {number('cpu', has)} of the pool"
        ),
        shown=lambda value: number("cpu", value),
        guess=max(asked - has, 1_000) // 1_000 - 1,
    )


def _fitting_node(case: Case) -> Node:
    """The smallest node of the cluster that takes the task when it is empty; else the nearest to that, made larger and
    given the kind and the labels that the task wants."""
    ground, cluster_nodes = case.ground, case.ground.scenario.cluster.nodes
    fitting = np.flatnonzero(ground.could_ever(case.task))
    if len(fitting):
        part = (ground.capacity[fitting] / np.maximum(ground.capacity.sum(axis=0), 1)).max(axis=1)
        return cluster_nodes[int(fitting[part.argmin()])]
    wanted = ground.work.shapes[ground.shape(case.task)]
    accepting = np.flatnonzero(ground.accepting(ground.shape(case.task))).tolist() or range(len(cluster_nodes))
    like = cluster_nodes[min(accepting, key=lambda node: ground.shortage(ground.capacity[node], case.task))]
    capacity = _both(like.capacity, wanted.request)
    kind = like.kind if not wanted.node_kinds or like.kind in wanted.node_kinds else wanted.node_kinds[0]
    labels = tuple(sorted({**dict(like.labels), **dict(wanted.node_labels)}.items()))
    return Node(like.name if capacity == like.capacity else f"{like.name}-larger", capacity, kind, labels)


def _both(has: Resources, asked: Resources) -> Resources:
    """The larger of two amounts of each resource."""
    named = {
        name: max(dict(has.named).get(name, 0), dict(asked.named).get(name, 0))
        for name, _ in (*has.named, *asked.named)
    }
    return Resources(
        cpu_milli=max(has.cpu_milli, asked.cpu_milli),
        memory_bytes=max(has.memory_bytes, asked.memory_bytes),
        gpus=max(has.gpus, asked.gpus),
        named=tuple(sorted(named.items())),
    )
