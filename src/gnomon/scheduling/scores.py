"""Scores of a node for a shape, one function a policy; the higher, the better, on a scale of 0 to 100.

``w.scale[r]`` turns an amount of resource r into a fraction of the largest node's, and is 0 for resources that the
policy leaves out (``over=cpu/gpu``). Sources: best/worst fit, dot product, GPU packing, GPU clustering and
fragmentation gradient descent follow Weng et al., "Beware of Fragmentation", USENIX ATC'23, and its simulator; least
and most allocated and balanced follow the Kubernetes plugins NodeResourcesFit and NodeResourcesBalancedAllocation, in
fractions.
"""

from __future__ import annotations

import math

from gnomon.engine.compiling import kernel
from gnomon.engine.world import World
from gnomon.model.resources import E4
from gnomon.scheduling.codes import (
    BALANCED,
    BEST_FIT,
    DOT_PRODUCT,
    FGD,
    GPU_CLUSTERING,
    GPU_PACKING,
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    PERCENT,
    PREFER_LOW,
    WORST_FIT,
)


@kernel
def score(w: World, code: int, n: int, s: int) -> float:
    """The score of node ``n`` for shape ``s`` under the policy with this code; 0 everywhere for first fit."""
    if code == BEST_FIT:
        return 100.0 * (1.0 - _left(w, n, s))
    if code == WORST_FIT:
        return 100.0 * _left(w, n, s)
    if code == LEAST_ALLOCATED:
        return 100.0 * (1.0 - _allocated(w, n, s))
    if code == MOST_ALLOCATED:
        return 100.0 * _allocated(w, n, s)
    if code == BALANCED:
        return _balance(w, n, s)
    if code == DOT_PRODUCT:
        return _dot(w, n, s)
    if code == GPU_PACKING:
        return _gpu_packing(w, n, s)
    if code == GPU_CLUSTERING:
        return _gpu_clustering(w, n, s)
    if code == FGD:
        return _fgd(w, n, s)
    return 0.0


@kernel
def points(w: World, value: float) -> float:
    """A score as the policy compares it: as it is, or cut to whole points (``scores=percent``). What is whole but for
    the rounding of floats counts as whole."""
    return float(math.floor(value + 1e-9)) if w.opt[PERCENT] == 1 else value


@kernel
def free_amount(w: World, n: int, r: int) -> int:
    """What is free of resource ``r`` on node ``n``; the last resource is the devices together."""
    plain = w.need.shape[1] - 1
    if r < plain:
        return w.free[n, r]
    left = 0
    for k in range(plain, w.free.shape[1]):
        left += w.free[n, k]
    return left


@kernel
def node_amount(w: World, n: int, r: int) -> int:
    """What node ``n`` has of resource ``r``."""
    plain = w.need.shape[1] - 1
    if r < plain:
        return w.capacity[n, r]
    has = 0
    for k in range(plain, w.free.shape[1]):
        has += w.capacity[n, k]
    return has


@kernel
def _left(w: World, n: int, s: int) -> float:
    """Mean over the resources of what would be left, as fractions of the largest node's."""
    left, parts = 0.0, 0
    for r in range(len(w.scale)):
        if w.scale[r] > 0.0:
            left += (free_amount(w, n, r) - w.need[s, r]) * w.scale[r]
            parts += 1
    return left / max(parts, 1)


@kernel
def _allocated(w: World, n: int, s: int) -> float:
    """Mean over the node's resources of the fraction that would be allocated, the task included."""
    taken, parts = 0.0, 0
    for r in range(len(w.scale)):
        has = node_amount(w, n, r)
        if w.scale[r] > 0.0 and has > 0:
            taken += (has - free_amount(w, n, r) + w.need[s, r]) / has
            parts += 1
    return taken / max(parts, 1)


@kernel
def _balance(w: World, n: int, s: int) -> float:
    """100 less the standard deviation, in points, of the fractions that would be allocated."""
    mean = _allocated(w, n, s)
    squares, parts = 0.0, 0
    for r in range(len(w.scale)):
        has = node_amount(w, n, r)
        if w.scale[r] > 0.0 and has > 0:
            squares += ((has - free_amount(w, n, r) + w.need[s, r]) / has - mean) ** 2
            parts += 1
    return 100.0 * (1.0 - math.sqrt(squares / max(parts, 1)))


@kernel
def _dot(w: World, n: int, s: int) -> float:
    """Alignment of what is free with what is asked. The ATC'23 simulator prefers the *smallest* product (it keeps
    well-stocked nodes for later); ``prefer=high`` is Tetris (Grandl et al., SIGCOMM 2014)."""
    product, parts = 0.0, 0
    for r in range(len(w.scale)):
        if w.scale[r] > 0.0:
            product += (free_amount(w, n, r) * w.scale[r]) * (w.need[s, r] * w.scale[r])
            parts += 1
    mean = product / max(parts, 1)
    return 100.0 * (1.0 - mean) if w.opt[PREFER_LOW] == 1 else 100.0 * mean


@kernel
def _gpu_packing(w: World, n: int, s: int) -> float:
    """Prefer devices in use, then free devices of nodes in use, then idle nodes; in whole points."""
    wanted = w.gpus[s]
    if wanted == 0:
        return 0.0
    plain = w.need.shape[1] - 1
    devices, idle = 0, 0
    for k in range(plain, w.free.shape[1]):
        devices += w.capacity[n, k] > 0
        idle += w.free[n, k] == E4
    if idle == devices:
        return float(max(33 - devices, devices))
    share = w.share[s]
    if share == E4:
        return float(max(50 - wanted, 33))
    least = E4 + 1  # a share goes to one device: the one with least left that has room
    for k in range(plain, w.free.shape[1]):
        if w.free[n, k] >= share:
            least = min(least, w.free[n, k])
    if least == E4:
        return float(max(50 - 1, 33))
    return float(max(100 - least // 1000, 50))


@kernel
def _gpu_clustering(w: World, n: int, s: int) -> float:
    """Prefer nodes that run tasks of the same kind: a share, or so many whole devices."""
    if w.gpus[s] == 0:
        return 0.0
    plain = w.need.shape[1] - 1
    most = 0.0
    if w.scale[plain] > 0.0:
        most = 1.0 / w.scale[plain]
    in_use = most - free_amount(w, n, plain)
    base = float(math.floor(25.0 * in_use / most)) if most > 0 else 0.0
    same = w.families[n, w.family[s]] > 0
    kinds = 0
    for f in range(1, w.families.shape[1]):
        kinds += w.families[n, f] > 0
    if kinds == 0:
        return base + 25.0
    if same:
        return base + (75.0 if kinds == 1 else 50.0)
    return base


@kernel
def _fgd(w: World, n: int, s: int) -> float:
    """How steeply fragmentation falls; of a share on the best of the devices with room."""
    before = fragmentation(w, n, 0, -1, 0)
    if w.gpus[s] != 1 or w.share[s] == E4:
        return _steepness(before - fragmentation(w, n, w.need[s, 0], -1 - w.gpus[s], E4))
    plain, best = w.need.shape[1] - 1, 0.0
    for k in range(w.free.shape[1] - plain):
        if w.free[n, plain + k] >= w.share[s]:
            best = max(best, _steepness(before - fragmentation(w, n, w.need[s, 0], k, w.share[s])))
    return best


@kernel
def fgd_device(w: World, n: int, s: int) -> int:
    """The device slot on which a share of shape ``s`` scores best, the lowest at a tie."""
    before = fragmentation(w, n, 0, -1, 0)
    plain, best, best_score = w.need.shape[1] - 1, -1, 0.0
    for k in range(w.free.shape[1] - plain):
        if w.free[n, plain + k] >= w.share[s]:
            value = points(w, _steepness(before - fragmentation(w, n, w.need[s, 0], k, w.share[s])))
            if best < 0 or value > best_score:
                best, best_score = k, value
    return best


@kernel
def _steepness(gain: float) -> float:
    """100/(1 + exp(-gain)), with the gain, here in 1/10,000, in devices."""
    return 100.0 / (1.0 + math.exp(-gain / E4))


@kernel
def fragmentation(w: World, n: int, cpu: int, slot: int, amount: int) -> float:
    """Expected device amount of node ``n`` that a task drawn from the work's classes cannot use (ATC'23, section 3),
    after taking ``cpu`` and, of device ``slot``, ``amount``; ``slot`` -1-g: the g first whole free devices.

    A class loses all that is left when it asks for no device, may not use the node, or does not fit; otherwise what is
    left on devices with less than its share.
    """
    plain = w.need.shape[1] - 1
    slots = w.free.shape[1] - plain
    left = 0
    for k in range(slots):
        left += _after(w, n, k, slot, amount)
    lost = 0.0
    for c in range(len(w.classes)):
        share = w.classes[c, 3]
        barred = w.class_mask[c] >= 0 and w.allowed[w.class_mask[c], n] == 0
        if w.classes[c, 2] == 0.0 or barred or w.free[n, 0] - cpu < w.classes[c, 1]:
            lost += w.classes[c, 0] * left
            continue
        small, room = 0, 0
        for k in range(slots):
            rest = _after(w, n, k, slot, amount)
            if rest < share:
                small += rest
            else:
                room += 1
        lost += w.classes[c, 0] * (small if room >= w.classes[c, 2] else left)
    return lost


@kernel
def _after(w: World, n: int, k: int, slot: int, amount: int) -> int:
    """What device slot ``k`` has left after the move that :func:`fragmentation` describes."""
    plain = w.need.shape[1] - 1
    rest = w.free[n, plain + k]
    if slot >= 0:
        return rest - amount if k == slot else rest
    if slot < -1 and rest == E4:
        earlier = 0
        for j in range(k):
            earlier += w.free[n, plain + j] == E4
        if earlier < -1 - slot:
            return 0
    return rest
