"""Fragmentation: the part of the free capacity that the tasks of the mix cannot use, because of where it is.

The measure is that of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
Gradient Descent", USENIX ATC 2023: on a node with an amount I of the measured resource free, a class of tasks loses

- all of I, if it asks for none of it, may not use the node, or does not fit there;
- otherwise, of devices, what is left on those that have less left than it needs of each; of other resources, nothing.

The loss of the cluster is the sum over nodes and classes, each class weighted by its part of the tasks. Measured are
devices where the cluster has any, else processors. A class is a distinct request; a class fits by processors and
devices or, where processors are measured, by processors and memory. The classes are taken by count (the larger request
first where they tie) until they cover 95 % of the tasks, at most 1,000.

Here it is related to what is free, and averaged over the time observed: the area of what is lost / the area of what is
free. 0 in a pool, and where nothing is ever free.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gnomon.insight.history import FloatArray, History
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import E4, Resources
from gnomon.model.work import IntArray, Shape, Work

COVERED = 0.95
MOST_CLASSES = 1000


@dataclass(frozen=True, slots=True)
class TaskClass:
    """Tasks of equal request and equal choice of nodes, and their part of all tasks considered (``weight``)."""

    shape: Shape
    weight: float


@dataclass(frozen=True)
class NodeStates:
    """States that nodes were in: columns of equal length. ``lasts_ns``: for how long.

    ``free``: by resource, "cpu" and, where measured, "memory"; ``devices``: one column a device, what is left on it.
    """

    node: IntArray
    lasts_ns: IntArray
    free: dict[str, IntArray]
    devices: tuple[npt.NDArray[np.int32], ...]


def fragmentation(past: History) -> float:
    """The part of the free capacity, over time, that the mix could not use: from 0 to 1."""
    cluster, work = past.scenario.cluster, past.scenario.work
    measured = "gpu" if "gpu" in past.capacity else "cpu"
    if cluster.pool or measured not in past.capacity or not len(past.attempts):
        return 0.0
    states = node_states(past, measured)
    free = sum(states.devices) if measured == "gpu" else states.free[measured]
    area = states.lasts_ns * np.asarray(free, np.float64)
    if not area.any():
        return 0.0
    wanting = [one for one in task_classes(work, measured) if one.shape.request.amount(measured)]
    useful = 0.0
    for share_e4, some in groupby(wanting, lambda one: one.shape.request.gpu_share_e4):
        enough, too_small = _devices_left(states, share_e4)
        useful += float(_weight_that_fits(states, enough, list(some), cluster) @ (area - too_small))
    return 1.0 - useful / float(area.sum())


def task_classes(work: Work, measured: str) -> list[TaskClass]:
    """The classes of the mix, by the share of a device that they ask for. ``measured``: "gpu" or "cpu"."""
    counts: Counter[Shape] = Counter()
    for shape, count in zip(work.shapes, np.bincount(work.shape, minlength=len(work.shapes)).tolist(), strict=True):
        request = shape.request
        kept = Resources(
            cpu_milli=request.cpu_milli,
            memory_bytes=0 if measured == "gpu" else request.memory_bytes,
            gpus=request.gpus if measured == "gpu" else 0,
            gpu_share_e4=request.gpu_share_e4 if measured == "gpu" else E4,
        )
        counts[Shape(kept, shape.node_kinds, shape.node_labels)] += count

    def frequent_and_large(item: tuple[Shape, int]) -> tuple[int, int, int, int, tuple[str, ...], object]:
        shape, count = item
        request = shape.request
        size = (-request.amount("gpu"), -request.cpu_milli, -request.memory_bytes)
        return (-count, *size, shape.node_kinds, shape.node_labels)

    taken: list[tuple[Shape, int]] = []
    covered = 0
    for shape, count in sorted(counts.items(), key=frequent_and_large):
        if covered >= COVERED * len(work) or len(taken) == MOST_CLASSES:
            break
        taken.append((shape, count))
        covered += count
    classes = [TaskClass(shape, count / covered) for shape, count in taken]
    return sorted(classes, key=lambda one: one.shape.request.gpu_share_e4)


def node_states(past: History, measured: str) -> NodeStates:
    """Every state that a node was in for some time: what of each resource was free, and on each device."""
    cluster, stays = past.scenario.cluster, past.attempts
    count, rows = len(cluster.nodes), len(past.log)
    stay, row, sign = _changes(past)
    nodes = np.concatenate((np.arange(count), stays.node[stay]))
    order = np.argsort(nodes * np.int64(rows + 1) + np.concatenate((np.zeros(count, np.int64), row + 1)))
    node = nodes[order]
    first = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
    length = np.diff(np.append(first, len(node)))
    t_ns = np.concatenate((np.full(count, past.begin_ns), past.log.t_ns[row]))[order]
    lasts = np.append(t_ns[1:], past.end_ns)
    lasts[first[1:] - 1] = past.end_ns
    lasts -= t_ns
    kept = lasts > 0

    def running(initial: IntArray, change: IntArray) -> IntArray:
        level = np.cumsum(np.concatenate((initial, change))[order])
        before = np.concatenate(([0], level[first[1:] - 1]))
        now: IntArray = level - np.repeat(before, length)
        return now[kept]

    shape = past.scenario.work.shape[stays.task[stay]]
    free = {
        name: running(np.array([node.capacity.amount(name) for node in cluster.nodes], np.int64), sign * need[shape])
        for name, need in past.demand.items()
        if name == "cpu" or (name == "memory" and measured == "cpu")
    }
    devices = np.array([node.capacity.gpus for node in cluster.nodes]) if measured == "gpu" else np.zeros(1, np.int64)
    share = np.array([shape.request.gpu_share_e4 for shape in past.scenario.work.shapes], np.int64)[shape]
    mask = stays.devices[stay]
    left = tuple(
        running(np.where(devices > device, E4, 0), sign * share * ((mask >> device) & 1)).astype(np.int32)
        for device in range(int(devices.max()))
    )
    return NodeStates(node[kept], lasts[kept], free, left)


def _changes(past: History) -> tuple[IntArray, IntArray, IntArray]:
    """Every change of what is free: the attempt (index), the row, and -1 where it takes or +1 where it gives back."""
    stays = past.attempts
    closed = np.flatnonzero(stays.close_row >= 0)
    stay = np.concatenate((np.arange(len(stays)), closed))
    row = np.concatenate((stays.open_row, stays.close_row[closed]))
    return stay, row, np.where(np.arange(len(stay)) < len(stays), -1, 1)


def _devices_left(states: NodeStates, share_e4: int) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """For each state: on how many devices so much is left; and what is left on the others, x for how long."""
    enough, too_small = np.zeros((2, len(states.node)), np.int32)
    for left in states.devices:
        fits = left >= share_e4
        enough += fits
        too_small += np.where(fits, 0, left)
    return enough, too_small.astype(np.float64) * states.lasts_ns


def _weight_that_fits(
    states: NodeStates, devices: npt.NDArray[np.int32], some: list[TaskClass], cluster: Cluster
) -> FloatArray:
    """For each state, the weight of the classes that may use the node and have room there.

    Classes with the same choice of nodes differ in three needs, so their weights, summed up over all needs below, are a
    table in which each state looks up what is free.
    """
    weight = np.zeros(len(states.node))
    for choice in {(one.shape.node_kinds, one.shape.node_labels) for one in some}:
        classes = [one for one in some if (one.shape.node_kinds, one.shape.node_labels) == choice]
        needs = [(states.free[name], [one.shape.request.amount(name) for one in classes]) for name in states.free]
        needs.append((devices.astype(np.int64), [one.shape.request.gpus for one in classes]))
        levels = [np.unique(np.array(need, np.int64)) for _, need in needs]
        table = np.zeros([len(level) + 1 for level in levels])
        cells = tuple(np.searchsorted(level, need) + 1 for level, (_, need) in zip(levels, needs, strict=True))
        np.add.at(table, cells, [one.weight for one in classes])
        for axis in range(table.ndim):
            table = table.cumsum(axis=axis)
        room = (np.searchsorted(level, free, side="right") for level, (free, _) in zip(levels, needs, strict=True))
        found = table[tuple(room)]
        usable = np.array([_may_use(node, classes[0].shape) for node in cluster.nodes], np.bool_)
        weight += np.where(usable[states.node], found, 0.0)
    return weight


def _may_use(node: Node, shape: Shape) -> bool:
    if shape.node_kinds and node.kind not in shape.node_kinds:
        return False
    return set(shape.node_labels) <= set(node.labels)
