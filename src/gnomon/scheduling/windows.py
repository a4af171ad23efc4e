"""Advance reservations: what a window that is set aside leaves to everybody else.

A task that would still run when a window begins, or that starts inside one, must leave the window's amount free on that
node, together with all other outsiders who will still be there. Users of the window are not held by it.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.ledger import fits, move
from gnomon.engine.world import LINE, World


@kernel
def windows_allow(w: World, n: int, task: int, begin: int, end: int) -> bool:
    """Whether the task may run on node ``n`` from ``begin`` to ``end`` as far as the windows are concerned."""
    for i in range(len(w.window_node)):
        if w.window_node[i] != n or w.window_to[i] <= begin or w.window_from[i] >= end:
            continue
        if w.window_user[i, w.user[task]] == 0 and not _leaves(w, i, task):
            return False
    return True


@kernel
def _leaves(w: World, i: int, task: int) -> bool:
    """Whether window ``i`` still gets its amount if the task joins the outsiders who run into it: capacity less the
    amount less what outsiders will hold when it begins has room for the task."""
    n = w.window_node[i]
    for k in range(w.row.shape[1]):
        w.row[0, k] = w.capacity[n, k] - w.window_amount[i, k]
    for k in range(w.at[LINE]):
        other = w.line[k]
        if w.node[other] == n and w.due[other] > w.window_from[i] and w.window_user[i, w.user[other]] == 0:
            move(w, w.row, 0, w.shape[other], w.devices[other], -1)
    return fits(w, w.row, 0, w.shape[task])
