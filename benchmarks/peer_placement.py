"""The peer of ``placement``: the same choices in NumPy, for each task over all nodes at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.insight.fragmentation import TaskClass

Array = Any
WHOLE = 10_000


class Nodes:
    """What is free: ``cpu``, ``memory``, and ``gpu`` (nodes, slots) in 1/10,000; ``kind``: names."""

    def __init__(self, cluster: Any) -> None:
        has = [node.capacity for node in cluster.nodes]
        slots = max(each.gpus for each in has)
        self.cpu = np.array([each.cpu_milli for each in has])
        self.memory = np.array([each.memory_bytes for each in has])
        self.gpu = np.array([[WHOLE * (k < each.gpus) for k in range(slots)] for each in has])
        self.kind = np.array([node.kind for node in cluster.nodes])

    def fits(self, shape: Any) -> Array:
        """Which nodes have room for it and are of its kind."""
        asked = shape.request
        room = (self.cpu >= asked.cpu_milli) & (self.memory >= asked.memory_bytes)
        if asked.gpus:
            room &= (self.gpu >= asked.gpu_share_e4).sum(axis=1) >= asked.gpus
        return room & np.isin(self.kind, shape.node_kinds) if shape.node_kinds else room

    def take(self, node: int, asked: Any, devices: Array) -> None:
        self.cpu[node] -= asked.cpu_milli
        self.memory[node] -= asked.memory_bytes
        self.gpu[node, devices] -= asked.gpu_share_e4


def best_fit(nodes: Nodes, shape: Any) -> tuple[Array, Array]:
    """The score of each node, in whole points, and the device for a share of one: that with least left."""
    asked = shape.request
    left = (nodes.cpu - asked.cpu_milli) * (1 / 128_000) + (nodes.gpu.sum(axis=1) - asked.amount("gpu")) * (1 / 80_000)
    room = np.where(nodes.gpu >= asked.gpu_share_e4, nodes.gpu, WHOLE + 1)
    return points(100 * (1 - left / 2)), room.argmin(axis=1)


def fgd(classes: list[TaskClass]) -> Callable[[Nodes, Any], tuple[Array, Array]]:
    """The same for fragmentation-gradient descent."""

    def lost(kind: Array, cpu: Array, gpu: Array) -> Array:
        left = gpu.sum(axis=-1)
        total = np.zeros(left.shape)
        for one in classes:
            asked = one.shape.request
            room = gpu >= asked.gpu_share_e4
            usable = (cpu >= asked.cpu_milli) & (room.sum(axis=-1) >= asked.gpus) & (asked.gpus > 0)
            if one.shape.node_kinds:
                usable &= np.isin(kind, one.shape.node_kinds)
            total += one.weight * np.where(usable, np.where(room, 0, gpu).sum(axis=-1), left)
        return total

    def score(nodes: Nodes, shape: Any) -> tuple[Array, Array]:
        asked, before = shape.request, lost(nodes.kind, nodes.cpu, nodes.gpu)
        cpu = nodes.cpu - asked.cpu_milli
        if asked.gpu_share_e4 == WHOLE:
            whole = nodes.gpu == WHOLE
            after = np.where(whole & (whole.cumsum(axis=1) <= asked.gpus), 0, nodes.gpu)
            return steepness(before - lost(nodes.kind, cpu, after)), np.zeros(len(cpu), np.int64)
        slots = nodes.gpu.shape[1]
        after = nodes.gpu[:, None, :] - asked.gpu_share_e4 * np.eye(slots, dtype=np.int64)
        gain = before[:, None] - lost(nodes.kind[:, None], cpu[:, None], after)
        each = np.where(nodes.gpu >= asked.gpu_share_e4, steepness(gain), -1)
        return each.max(axis=1), each.argmax(axis=1)

    return score


def steepness(gain: Array) -> Array:
    return points(100 / (1 + np.exp(-gain / WHOLE)))


def points(value: Array) -> Array:
    return np.floor(value + 1e-9)


def place(cluster: Any, shapes: list[Any], score: Callable[[Nodes, Any], tuple[Array, Array]]) -> list[int]:
    """The node of each task, -1 for one that fits nowhere; the first node wins a tie."""
    nodes, chosen = Nodes(cluster), []
    for shape in shapes:
        room = nodes.fits(shape)
        if not room.any():
            chosen.append(-1)
            continue
        value, device = score(nodes, shape)
        node = int(np.where(room, value, -1).argmax())
        asked = shape.request
        if asked.gpu_share_e4 < WHOLE:
            devices = np.array([device[node]])
        else:
            devices = np.flatnonzero(nodes.gpu[node] == WHOLE)[: asked.gpus]
        nodes.take(node, asked, devices)
        chosen.append(node)
    return chosen
