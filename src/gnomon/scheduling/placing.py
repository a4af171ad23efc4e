"""Filter and score: which node a task gets.

Among the nodes that pass every filter the highest score wins, the first node at a tie (``ties=shuffled`` gives the
nodes a random order for the whole run). Scores depend on the node's free row and on what the policy looks at of the
shape, so shapes that score alike (``World.kin``) share a line of a table, brought up to date for the nodes that changed
since.
"""

from __future__ import annotations

import math

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.engine.ledger import copy_row, fits, lower_row, pick_devices
from gnomon.engine.world import CHANGES, DECIDED, DRAWN, NOW, World
from gnomon.model.resources import E4
from gnomon.scheduling.codes import FGD, FIRST_FIT, PLACEMENT, PYTHON, RANDOM
from gnomon.scheduling.scores import fgd_device, points, score
from gnomon.scheduling.windows import windows_allow

NOWHERE = -1
ASK_PYTHON = -2


@kernel
def choose_node(w: World, task: int, spare: bool) -> int:
    """The node for a task, or NOWHERE; ASK_PYTHON when the placement is a Python function that has not answered yet.

    ``spare``: it must also fit what the reservation leaves over (``World.rest``).
    """
    s = w.shape[task]
    if w.opt[PLACEMENT] == PYTHON:
        return _decided(w, task, spare)
    if w.opt[PLACEMENT] == RANDOM:
        return _draw(w, task, spare)
    first_fit = w.opt[PLACEMENT] == FIRST_FIT
    slot = _refresh(w, w.kin[s]) if len(w.table_kin) > 0 else -1
    best = NOWHERE
    best_score = -math.inf
    for n in range(len(w.free)):
        value = 0.0
        if not first_fit:
            value = w.table[slot, n] if slot >= 0 else _score(w, n, s)
        if value > best_score and allows(w, n, task) and fits(w, w.free, n, s) and passes(w, n, task, spare):
            best, best_score = n, value
            if first_fit:
                break
    return best


@small_kernel
def allows(w: World, n: int, task: int) -> bool:
    """Whether node ``n`` takes new work and the task accepts it at all: its kind, its labels, what its job avoids."""
    if w.closed[n] != 0:
        return False
    kinds = w.mask[w.shape[task]]
    if kinds >= 0 and w.allowed[kinds, n] == 0:
        return False
    return len(w.avoid) == 0 or w.avoids[w.job[task]] < 0 or w.avoid[w.avoids[w.job[task]], n] == 0


@small_kernel
def passes(w: World, n: int, task: int, spare: bool) -> bool:
    """The filters that look at time: what the reservation leaves over, and advance reservations."""
    if spare and not fits_spare(w, n, w.shape[task]):
        return False
    return len(w.window_node) == 0 or windows_allow(w, w.free, n, task, w.at[NOW])


@kernel
def fits_spare(w: World, n: int, s: int) -> bool:
    """Whether a node has room now and will have it, on the same devices, when the reservation begins. ``World.row``
    then holds what is free both now and then."""
    copy_row(w.row, 0, w.free, n)
    lower_row(w.row, 0, w.rest, n)
    return fits(w, w.row, 0, s)


@kernel
def choose_devices(w: World, n: int, task: int, spare: bool) -> int:
    """The devices (bits) that the task gets on node ``n``; ``spare``: out of those that the reservation leaves over."""
    s = w.shape[task]
    if spare and fits_spare(w, n, s):
        return pick_devices(w, w.row, 0, s)
    if w.gpus[s] == 1 and w.share[s] < E4:
        plain = w.need.shape[1] - 1
        if w.opt[PLACEMENT] == FGD:
            return 1 << fgd_device(w, n, s)
        if w.opt[PLACEMENT] == RANDOM:
            room = 0
            for k in range(plain, w.free.shape[1]):
                room += w.free[n, k] >= w.share[s]
            pick = int(_uniform(w) * room)
            for k in range(plain, w.free.shape[1]):
                if w.free[n, k] >= w.share[s]:
                    if pick == 0:
                        return 1 << (k - plain)
                    pick -= 1
    return pick_devices(w, w.free, n, s)


@kernel
def _score(w: World, n: int, s: int) -> float:
    return points(w, score(w, w.opt[PLACEMENT], n, s))


@kernel
def _refresh(w: World, kin: int) -> int:
    """Bring the table's line for shapes that score alike up to date and return its slot."""
    slot = kin % len(w.table_kin)
    changes, ring = w.at[CHANGES], len(w.changed)
    if w.table_kin[slot] != kin or changes - w.table_seen[slot] > ring:
        for n in range(len(w.free)):
            w.table[slot, n] = _score(w, n, w.kin_shape[kin])
    else:
        for i in range(w.table_seen[slot], changes):
            n = w.changed[i % ring]
            if w.changed_at[n] == i:  # its latest change
                w.table[slot, n] = _score(w, n, w.kin_shape[kin])
    w.table_kin[slot] = kin
    w.table_seen[slot] = changes
    return slot


@kernel
def _feasible(w: World, task: int, spare: bool) -> int:
    """Mark the nodes that pass every filter and return how many do."""
    s = w.shape[task]
    count = 0
    for n in range(len(w.free)):
        good = allows(w, n, task) and fits(w, w.free, n, s) and passes(w, n, task, spare)
        w.feasible[n] = good
        count += good
    return count


@kernel
def _draw(w: World, task: int, spare: bool) -> int:
    count = _feasible(w, task, spare)
    if count == 0:
        return NOWHERE
    pick = int(_uniform(w) * count)
    for n in range(len(w.free)):
        if w.feasible[n]:
            if pick == 0:
                return n
            pick -= 1
    return NOWHERE


@kernel
def _uniform(w: World) -> float:
    """The next of the numbers drawn beforehand from the stream "placement" (they repeat after a long while)."""
    value = w.draws[w.at[DRAWN] % len(w.draws)]
    w.at[DRAWN] += 1
    return value


@kernel
def _decided(w: World, task: int, spare: bool) -> int:
    """The answer of the Python placement to this question of the pass, if it was given."""
    position = w.at[DECIDED]
    if w.decided[position] != ASK_PYTHON:
        w.at[DECIDED] = position + 1
        return w.decided[position]
    if _feasible(w, task, spare) == 0:
        return NOWHERE
    return ASK_PYTHON
