"""Nodes one by one in an order: the least loaded, the last, those in use, or all that there are; weights before that.

Source: ``_eval_nodes_lln``, ``_eval_nodes_serial``, ``_eval_nodes_busy``, ``_eval_nodes_spread`` of
``src/plugins/select/cons_tres/job_test.c``, ``src/plugins/topology/common/eval_nodes.c`` from 23.11.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import at
from gnomon.systems.slurm.select.columns import Hardware, Occupied, Trial
from gnomon.systems.slurm.select.gres_cores import select_cores
from gnomon.systems.slurm.select.picking import has_gathered, is_done, lightest, take_node, take_required


@kernel
def try_node(h: Hardware, t: Trial, n: int) -> bool:
    """Choose a node if it has CPUs; whether that ends the choice."""
    cpus = select_cores(h, t, n)
    if cpus == 0:
        return False
    take_node(h, t, n, cpus)
    return is_done(t) or t.at[at.MOST_NODES_LEFT] == 0


@kernel
def is_left(t: Trial, n: int, weight: int) -> bool:
    """Whether a node of a weight can still be chosen."""
    return t.open[n] > 0 and t.weight[n] == weight and not t.picked[n]


@kernel
def is_less_loaded(h: Hardware, t: Trial, n: int, other: int) -> bool:
    """Whether a larger part of a node's CPUs is free than of another's (recorded, 22.05)."""
    return bool(int(t.most[n]) * int(h.cpus[other]) > int(t.most[other]) * int(h.cpus[n]))


@kernel
def least_loaded(h: Hardware, t: Trial, weight: int) -> int:
    """The least loaded node, -1 none."""
    best = -1
    for k in range(t.at[at.OPEN]):
        n = int(t.listed[k])
        if is_left(t, n, weight) and t.here[n] > 0 and (best < 0 or is_less_loaded(h, t, n, best)):
            best = n
    return best


@kernel
def take_least_loaded(h: Hardware, t: Trial, weight: int) -> bool:
    """Choose nodes of a weight, the one with the most free CPUs each time."""
    for k in range(t.at[at.OPEN]):
        n = int(t.listed[k])
        if is_left(t, n, weight):
            t.here[n] = t.offer[n]
    while True:
        n = least_loaded(h, t, weight)
        if n < 0:
            return False
        if try_node(h, t, n):
            return True
        t.here[n] = 0


@kernel
def take_in_order(h: Hardware, o: Occupied, t: Trial, weight: int, order: int) -> bool:
    """Choose nodes of a weight by number; ``order`` 1: from the last one, 2: those in use first, 3: idle ones."""
    count = int(t.at[at.OPEN])
    for k in range(count):
        n = int(t.listed[count - 1 - k if order == 1 else k])
        if not is_left(t, n, weight):
            continue
        if (order == 2 and o.jobs[n] == 0) or (order == 3 and o.jobs[n] > 0):
            continue
        if try_node(h, t, n):
            return True
    return False


@kernel
def pick_in_order(h: Hardware, o: Occupied, t: Trial, order: int) -> bool:
    """Choose in an order: 0 by number (spread), 1 the last first, 2 those in use first, 4 the least loaded first."""
    done = take_required(h, t)
    if done != 0:
        return done > 0
    weight = lightest(t, -1)
    over = False
    while weight >= 0 and not over:
        if order == 4:
            over = take_least_loaded(h, t, weight)
        else:
            over = take_in_order(h, o, t, weight, order)
            if order == 2 and not over:
                over = take_in_order(h, o, t, weight, 3)
        weight = lightest(t, weight)
    if is_done(t):
        return True
    return t.at[at.CPUS_LEFT] <= 0 and t.at[at.LEAST_LEFT] <= 0 and has_gathered(t)
