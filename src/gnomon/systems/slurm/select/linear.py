"""Whole nodes: select/linear. The tightest run of consecutive nodes, whatever their weights.

Source: ``_job_test``, ``_job_count_bitmap`` of ``src/plugins/select/linear/select_linear.c``.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import ask, at
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Trial
from gnomon.systems.slurm.select.picking import enough_nodes, is_done, take_node, take_required


@kernel
def run_end(t: Trial, first: int) -> int:
    """The node after a run of open nodes."""
    n = first
    while n < len(t.open) and t.open[n]:
        n += 1
    return n


@kernel
def best_run(t: Trial) -> int:
    """The first node of the run to take next: the tightest that suffices, else the one with most CPUs; -1 none."""
    best, best_cpus, best_enough = -1, 0, False
    n = 0
    while n < len(t.open):
        if not t.open[n]:
            n += 1
            continue
        end = run_end(t, n)
        cpus, nodes = 0, 0
        for m in range(n, end):
            if not t.picked[m]:
                cpus += t.offer[m]
                nodes += 1
        enough = cpus >= t.at[at.CPUS_LEFT] and enough_nodes(t, nodes)
        if nodes > 0 and (
            best < 0
            or (enough and (not best_enough or cpus < best_cpus))
            or (not enough and not best_enough and cpus > best_cpus)
        ):
            best, best_cpus, best_enough = n, cpus, enough
        n = end
    return best


@kernel
def takes_largest(t: Trial) -> bool:
    """Whether nodes differ, and the smallest would not do: then the largest ones are taken, contiguous or not."""
    low, high = ANY_COUNT, 0
    for k in range(t.at[at.OPEN]):
        n = int(t.listed[k])
        if t.open[n]:
            low = min(low, int(t.offer[n]))
            high = max(high, int(t.offer[n]))
    return bool(low < high and t.at[at.CPUS_LEFT] > low * t.at[at.NODES_LEFT])


@kernel
def largest(t: Trial) -> int:
    """The last of the nodes with most CPUs, -1 none."""
    best = -1
    for k in range(t.at[at.OPEN]):
        n = int(t.listed[k])
        if t.open[n] and not t.picked[n] and (best < 0 or t.offer[n] >= t.offer[best]):
            best = n
    return best


@kernel
def pick_linear(h: Hardware, t: Trial) -> bool:
    """Choose whole nodes."""
    done = take_required(h, t)
    if done != 0:
        return done > 0
    if takes_largest(t):
        while t.at[at.MOST_NODES_LEFT] > 0 and not is_done(t):
            n = largest(t)
            if n < 0:
                break
            take_node(h, t, n, int(t.offer[n]))
        return t.at[at.CPUS_LEFT] <= 0 and enough_nodes(t, 0)
    while t.at[at.MOST_NODES_LEFT] > 0:
        first = best_run(t)
        if first < 0:
            break
        for n in range(first, run_end(t, first)):
            if t.at[at.MOST_NODES_LEFT] > 0 and not is_done(t) and not t.picked[n]:
                take_node(h, t, n, int(t.offer[n]))
        if is_done(t):
            return True
        if t.ask[ask.CONTIGUOUS]:
            return False
        end = run_end(t, first)
        for n in range(first, end):
            t.open[n] = t.picked[n]
    return t.at[at.CPUS_LEFT] <= 0 and enough_nodes(t, 0)
