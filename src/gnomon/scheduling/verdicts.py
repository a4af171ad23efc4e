"""Who can never run, and why: found once, before a run begins."""

from __future__ import annotations

import numpy as np

from gnomon.engine.log import Reason
from gnomon.engine.world import I32, World
from gnomon.scheduling.seats import seat_all


def judge(world: World, usable: np.ndarray) -> None:
    """Set the verdict of every unit: the first reason for which one of its tasks can never run, 0 if all can.
    ``usable``: of each task, whether it can run as it stands."""
    shape_says = _judge_shapes(world)
    says = np.where(usable, shape_says[world.shape] if len(shape_says) else 0, int(Reason.UNUSABLE))
    by_member = says[world.member]
    worst = np.maximum.reduceat(by_member, world.first) if len(world.first) else by_member
    world.verdict[:] = worst
    single = (world.size == 1) & (worst == 0)
    over = (world.need[world.shape[world.member[world.first]]] > world.limit[world.tenant]).any(axis=1)
    world.verdict[single & over] = Reason.OVER_LIMIT
    fitting: dict[bytes, bool] = {}
    for u in np.flatnonzero((world.size > 1) & (worst == 0)).tolist():
        world.verdict[u] = _judge_gang(world, u, fitting)


def _judge_gang(world: World, u: int, fitting: dict[bytes, bool]) -> int:
    """``fitting``: whether gangs of these shapes, in their order, fit the empty cluster, as far as that is known."""
    tasks = world.member[world.first[u] : world.first[u] + world.size[u]]
    shapes = world.shape[tasks]
    needs = world.need[shapes].sum(axis=0)
    if (needs > world.limit[world.tenant[u]]).any() or len(tasks) > world.most_running[world.tenant[u]]:
        return int(Reason.OVER_LIMIT)
    kind = shapes.tobytes()
    if kind not in fitting:
        world.rest[:] = world.capacity
        fitting[kind] = bool(seat_all(world, u, -1))
        world.node[tasks] = -1
        world.devices[tasks] = 0
    return 0 if fitting[kind] else int(Reason.GANG_TOO_LARGE)


def _judge_shapes(world: World) -> I32:
    """For each shape the Reason for which no empty node could ever run it, 0 if one could."""
    need, capacity, plain = world.need, world.capacity, world.need.shape[1] - 1
    verdict = np.zeros(len(need), np.int32)
    for row in sorted(set(world.mask.tolist())):
        members = np.flatnonzero(world.mask == row)
        nodes = np.arange(len(capacity)) if row < 0 else np.flatnonzero(world.allowed[row])
        if not len(nodes):
            verdict[members] = Reason.NO_NODE_KIND
            continue
        # Many nodes are alike, so that only distinct ones are compared.
        kinds = np.unique(capacity[nodes], axis=0)
        fits = np.zeros(len(members), np.bool_)
        for kind in kinds:
            enough = (need[members, :plain] <= kind[:plain]).all(axis=1)
            devices = (kind[plain:][None, :] >= world.share[members][:, None]).sum(axis=1)
            fits |= enough & (devices >= world.gpus[members])
        verdict[members[~fits]] = Reason.TOO_LARGE
    return verdict
