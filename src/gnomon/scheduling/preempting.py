"""Preemption by priority: which running units give way so that one of higher priority can start.

On each node the units of lowest priority go first, the latest started first among equals, until the task fits; units
that turn out not to be in the way stay. Among the nodes the one wins whose most important victim matters least, then
the one with fewest victims, then the one that loses least running time, then the first. A gang goes as a whole, and
counts as its most urgent task; once a task of it has ended it is left alone. So is a node on which an advance
reservation stands in the way.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.ledger import copy_row, fits, move
from gnomon.engine.log import State
from gnomon.engine.world import LINE, NOW, World
from gnomon.model.resources import NEVER
from gnomon.scheduling.placing import allows
from gnomon.scheduling.windows import windows_allow

RUNNING = int(State.RUNNING)


@kernel
def find_victims(w: World, task: int) -> int:
    """Write into ``World.victims`` the running tasks whose units must go so that ``task`` fits somewhere, and return
    how many there are; 0 if nothing helps."""
    best, best_count, best_priority, best_time = -1, NEVER, NEVER, NEVER
    for n in range(len(w.free)):
        if not allows(w, n, task):
            continue
        if len(w.window_node) > 0 and not windows_allow(w, w.free, n, task, w.at[NOW]):
            continue
        if fits(w, w.free, n, w.shape[task]):
            return 0  # there is room, and a placement written in Python does not want it
        count = _victims_on(w, n, task)
        if count == 0:
            continue
        priority, lost = -NEVER, 0
        for i in range(count):
            v = w.victims[i]
            priority = max(priority, w.priority[v])
            lost += w.at[NOW] - w.start[v]
        if priority != best_priority:
            better = priority < best_priority
        elif count != best_count:
            better = count < best_count
        else:
            better = lost < best_time
        if best < 0 or better:
            best, best_count, best_priority, best_time = n, count, priority, lost
    return _victims_on(w, best, task) if best >= 0 else 0


@kernel
def _victims_on(w: World, n: int, task: int) -> int:
    """The victims on one node, 0 if even all of lower priority do not make room."""
    s = w.shape[task]
    count = _candidates(w, n, task)
    copy_row(w.row, 0, w.free, n)
    taken = 0
    while taken < count and not fits(w, w.row, 0, s):
        v = w.victims[taken]
        move(w, w.row, 0, w.shape[v], w.devices[v], 1)
        taken += 1
    if not fits(w, w.row, 0, s):
        return 0
    kept = 0
    for i in range(taken - 1, -1, -1):  # the most important first: may it stay after all?
        v = w.victims[i]
        move(w, w.row, 0, w.shape[v], w.devices[v], -1)
        if _negative(w) or not fits(w, w.row, 0, s):
            move(w, w.row, 0, w.shape[v], w.devices[v], 1)
            kept += 1
            w.victims[taken - kept] = v
    for i in range(kept):
        w.victims[i] = w.victims[taken - kept + i]
    return kept


@kernel
def _candidates(w: World, n: int, task: int) -> int:
    """Running tasks of lower priority on the node: lowest priority first, then latest start (ticket)."""
    count = 0
    for k in range(w.at[LINE]):
        v = w.line[k]
        if w.node[v] != n or w.priority[v] >= w.priority[task] or not _runs_whole(w, w.unit[v]):
            continue
        i = count
        while i > 0 and _goes_before(w, v, w.victims[i - 1]):
            w.victims[i] = w.victims[i - 1]
            i -= 1
        w.victims[i] = v
        count += 1
    return count


@kernel
def _runs_whole(w: World, u: int) -> bool:
    """Whether no task of the unit has ended yet."""
    for i in range(w.first[u], w.first[u] + w.size[u]):
        if w.state[w.member[i]] != RUNNING:
            return False
    return True


@kernel
def _goes_before(w: World, a: int, b: int) -> bool:
    if w.priority[a] != w.priority[b]:
        return w.priority[a] < w.priority[b]
    return w.ticket[a] > w.ticket[b]


@kernel
def _negative(w: World) -> bool:
    for k in range(w.row.shape[1]):
        if w.row[0, k] < 0:
            return True
    return False
