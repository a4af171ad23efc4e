"""Advance reservations: what a window that is set aside leaves to everybody else.

A task that would still run when a window begins, or that starts inside one, must leave the window's amount free on that
node, together with all other outsiders who will still be there. Users of the window are not held by it.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.ledger import fits, move
from gnomon.engine.world import LINE, I64x2, World


@kernel
def windows_allow(w: World, rows: I64x2, n: int, task: int, begin: int) -> bool:
    """Whether the task may run on node ``n`` from ``begin`` until its expected end as far as the windows are concerned.
    ``rows``: what is free at ``begin``."""
    end = begin + w.estimate[task]
    for i in range(len(w.window_node)):
        if w.window_node[i] != n or w.window_to[i] <= begin or w.window_from[i] >= end:
            continue
        if w.window_user[i, w.user[task]] == 0 and not _leaves(w, rows, i, task, begin):
            return False
    return True


@kernel
def _leaves(w: World, rows: I64x2, i: int, task: int, begin: int) -> bool:
    """Whether window ``i`` still gets its amount if the task joins the outsiders who run into it: what is free at
    ``begin`` and what is given back between then and the window, or held by its own users, less its amount."""
    n = w.window_node[i]
    for k in range(w.row.shape[1]):
        w.row[0, k] = rows[n, k] - w.window_amount[i, k]
    for k in range(w.at[LINE]):
        other, due = w.line[k], w.line_due[k]
        its_own = w.window_user[i, w.user[other]] == 1
        if w.node[other] == n and due > begin and (its_own or due <= w.window_from[i]):
            move(w, w.row, 0, w.shape[other], w.devices[other], 1)
    return fits(w, w.row, 0, w.shape[task])
