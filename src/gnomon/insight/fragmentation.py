"""Fragmentation: the part of the free capacity that the tasks of the mix cannot use, because of where it is.

The measure is that of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
Gradient Descent", USENIX ATC 2023: on a node with an amount I of the measured resource free, a class of tasks loses

- all of I, if it asks for none of it, may not use the node, or does not fit there;
- otherwise, of devices, what is left on those that have less left than it needs of each; of other resources, nothing.

The loss of the cluster is the sum over nodes and classes, each class weighted by its part of the tasks. Measured are
devices where the cluster has any, else processors. A class is a distinct request; a class fits by processors and
devices or, where processors are measured, by processors and memory. The classes are taken by count (the larger request
first where they tie) until they cover 95 % of the tasks, at most 1,000.

:func:`fragmentation` relates it to what is free, averaged over the time observed: the area of what is lost / the area
of what is free. 0 in a pool, and where nothing is ever free. :func:`fragmented` gives it over time, as a part of all
there is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gnomon.insight.history import FloatArray, History
from gnomon.insight.usage import Steps
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
    """States that nodes were in: columns of equal length, by node and then time. ``lasts_ns``: for how long.

    ``free``: by resource, "cpu" and, where measured, "memory"; ``devices``: one column a device, what is left on it.
    """

    node: IntArray
    begin_ns: IntArray
    lasts_ns: IntArray
    free: dict[str, IntArray]
    devices: tuple[npt.NDArray[np.int32], ...]

    def left(self, measured: str) -> IntArray:
        """What is free of the measured resource, on all devices together."""
        return np.sum(self.devices, axis=0, dtype=np.int64) if measured == "gpu" else self.free[measured]


def fragmentation(past: History) -> float:
    """The part of the free capacity, over time, that the mix could not use: from 0 to 1."""
    measured = _measured(past)
    if past.scenario.cluster.pool or not measured or not len(past.attempts):
        return 0.0
    states = node_states(past, measured)
    lasts_ns = states.lasts_ns.astype(np.float64)
    free = float(lasts_ns @ states.left(measured))
    lost = float(lasts_ns @ _lost(past, states, task_classes(past.scenario.work, measured)))
    return lost / free if free else 0.0


def fragmented(past: History, mix: Work | None = None) -> Steps:
    """The part of the cluster's capacity that is free and that the mix cannot use, as it changes: from 0 to 1.

    ``mix``: the tasks whose classes count (None: those of the run).
    """
    measured = _measured(past)
    if past.scenario.cluster.pool or not measured or not past.span_ns:
        return Steps(np.zeros(1, np.int64), np.zeros(1))
    states = node_states(past, measured)
    lost = _lost(past, states, task_classes(past.scenario.work if mix is None else mix, measured))
    change = np.diff(lost, prepend=0.0)
    first = np.flatnonzero(np.diff(states.node, prepend=-1))
    change[first] = lost[first]
    order = np.argsort(states.begin_ns, kind="stable")
    t_ns = states.begin_ns[order]
    last = np.flatnonzero(np.append(t_ns[1:] != t_ns[:-1], True))
    return Steps(t_ns[last], np.cumsum(change[order])[last] / past.capacity[measured])


def _measured(past: History) -> str:
    """Which resource counts: devices, else processors; empty where the cluster has neither."""
    return next((name for name in ("gpu", "cpu") if name in past.capacity), "")


def _lost(past: History, states: NodeStates, classes: list[TaskClass]) -> FloatArray:
    """For each state, what of the free amount a task drawn from the classes cannot use, on average."""
    measured = "gpu" if states.devices else "cpu"
    free = np.asarray(states.left(measured), np.float64)
    lost = free.copy()
    wanting = [one for one in classes if one.shape.request.amount(measured)]
    for share_e4, some in groupby(wanting, lambda one: one.shape.request.gpu_share_e4):
        enough, too_small = _devices_left(states, share_e4)
        lost -= _weight_that_fits(states, enough, list(some), past.scenario.cluster) * (free - too_small)
    return lost


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
    cluster, stays = past.scenario.cluster, past.places
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
    return NodeStates(node[kept], t_ns[kept], lasts[kept], free, left)


def _changes(past: History) -> tuple[IntArray, IntArray, IntArray]:
    """Every change of what is free: the attempt (index), the row, and -1 where it takes or +1 where it gives back."""
    stays = past.places
    closed = np.flatnonzero(stays.close_row >= 0)
    stay = np.concatenate((np.arange(len(stays)), closed))
    row = np.concatenate((stays.open_row, stays.close_row[closed]))
    return stay, row, np.where(np.arange(len(stay)) < len(stays), -1, 1)


def _devices_left(states: NodeStates, share_e4: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each state: on how many devices so much is left; and what is left on the others."""
    enough, too_small = np.zeros((2, len(states.node)), np.int32)
    for left in states.devices:
        fits = left >= share_e4
        enough += fits
        too_small += np.where(fits, 0, left)
    return enough, too_small


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
