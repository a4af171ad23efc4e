"""Seats for a unit in ``World.rest``, the picture of some later time: every task gets one, or none does."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.ledger import fits, move, pick_devices
from gnomon.engine.world import World
from gnomon.scheduling.placing import allows
from gnomon.scheduling.windows import windows_allow


@kernel
def seat_all(w: World, u: int, time: int) -> bool:
    """Take a seat for every task of the unit on the first node with room, or none. ``time``: when they would start, for
    the advance reservations; -1 when ``rest`` has those taken out already."""
    first = w.first[u]
    for i in range(first, first + w.size[u]):
        task = w.member[i]
        n = first_node(w, task, time)
        if n < 0:
            for k in range(first, i):
                held = w.member[k]
                move(w, w.rest, w.node[held], w.shape[held], w.devices[held], 1)
            return False
        w.node[task] = n
        w.devices[task] = pick_devices(w, w.rest, n, w.shape[task])
        move(w, w.rest, n, w.shape[task], w.devices[task], -1)
    return True


@kernel
def first_node(w: World, task: int, time: int) -> int:
    """The first node with room for the task in ``rest``, -1 none."""
    s = w.shape[task]
    for n in range(len(w.rest)):
        if not (allows(w, n, task) and fits(w, w.rest, n, s)):
            continue
        if time < 0 or len(w.window_node) == 0 or windows_allow(w, w.rest, n, task, time):
            return n
    return -1
