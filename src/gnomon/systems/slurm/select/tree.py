"""Nodes by the switches over them: topology/tree.

Source: ``_eval_nodes_topo`` of ``src/plugins/select/cons_tres/job_test.c`` (22.05, 23.02),
``src/plugins/topology/tree/eval_nodes_tree.c`` (from 23.11: only switches with enough CPUs are a fit).
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Trial
from gnomon.systems.slurm.select.gres_cores import select_cores
from gnomon.systems.slurm.select.picking import (
    enough_nodes,
    has_gathered,
    is_done,
    lightest,
    take_node,
    take_required,
)

# Trial.switch: for each switch
NODES: Final = 0  # of the best nodes under it
CPUS: Final = 1  # of all open nodes under it
NEEDED: Final = 2  # a chosen node is under it
AWAY: Final = 3  # its distance from the chosen ones


@kernel
def lightest_below(h: Hardware, t: Trial, w: int) -> int:
    """The least weight of an open node under a switch, -1: there is none."""
    best = -1
    for n in range(len(t.open)):
        if h.below[w, n] and t.open[n] and (best < 0 or t.weight[n] < best):
            best = int(t.weight[n])
    return best


@kernel
def count_below(h: Hardware, t: Trial, w: int) -> None:
    """Count open nodes and their CPUs under a switch; whether a required one is there."""
    t.switch[NODES, w] = 0
    t.switch[CPUS, w] = 0
    t.switch[NEEDED, w] = 0
    t.switch[AWAY, w] = 0
    for n in range(len(t.open)):
        if h.below[w, n] and t.open[n]:
            t.switch[NODES, w] += 1
            t.switch[CPUS, w] += t.offer[n]
            t.switch[NEEDED, w] |= t.required[n]


@kernel
def top_switch(h: Hardware, t: Trial, some_required: bool) -> int:
    """The highest switch over the required nodes, or over the lightest ones; -1: there is none."""
    top, top_weight = -1, 0
    for w in range(len(h.level)):
        count_below(h, t, w)
        if some_required:
            if t.switch[NEEDED, w] and (top < 0 or h.level[w] > h.level[top]):
                top = w
            continue
        if h.rule[rule.VERSION] >= 2311 and (
            not enough_nodes(t, int(t.switch[NODES, w])) or t.at[at.CPUS_LEFT] > t.switch[CPUS, w]
        ):
            continue
        weight = lightest_below(h, t, w)
        if weight >= 0 and (top < 0 or (h.level[w] >= h.level[top] and weight <= top_weight)):
            top, top_weight = w, weight
    return top


@kernel
def meets(t: Trial, nodes: int, cpus: int, exactly: bool) -> bool:
    """Whether so many best nodes do; ``exactly``: for the number of nodes that is wanted, not for the least."""
    if cpus < t.at[at.CPUS_LEFT]:
        return False
    if nodes < t.at[at.NODES_LEFT] if exactly else not enough_nodes(t, nodes):
        return False
    for r in range(t.ask[ask.REQUESTS]):
        if t.want[r, ask.W_JOB] and t.gathered[r] + t.run_total[0, r] < t.want[r, ask.W_JOB]:
            return False
    return True


@kernel
def find_best(h: Hardware, t: Trial, top: int) -> int:
    """Mark the best nodes (``here`` > 0), weight after weight till they suffice; the last weight, -1: too few."""
    nodes, cpus = 0, 0
    for r in range(t.ask[ask.REQUESTS]):
        t.run_total[0, r] = 0
    for n in range(len(t.open)):
        t.here[n] = 0
    weight = lightest(t, -1)
    enough = False
    while True:
        for n in range(len(t.open)):
            if not t.open[n] or t.required[n] or t.weight[n] != weight or not h.below[top, n]:
                continue
            t.here[n] = select_cores(h, t, n)
            if t.here[n] == 0:
                t.open[n] = 0
                continue
            nodes += 1
            cpus += t.here[n]
            for r in range(t.ask[ask.REQUESTS]):
                t.run_total[0, r] += t.total[n, r]
        enough = enough or meets(t, nodes, cpus, False)
        if meets(t, nodes, cpus, True) or (enough and h.rule[rule.VERSION] < 2311):
            return weight
        following = lightest(t, weight)
        if following < 0:
            return weight if enough else -1
        weight = following


@kernel
def fits(h: Hardware, t: Trial, w: int) -> bool:
    """Whether all that is wanted is under a switch."""
    if t.switch[NODES, w] < t.at[at.NODES_LEFT]:
        return False
    return bool(h.rule[rule.VERSION] < 2311 or t.switch[CPUS, w] >= t.at[at.CPUS_LEFT])


@kernel
def compare(h: Hardware, t: Trial, i: int, j: int) -> int:
    """1: switch ``i`` is the tighter fit, -1: switch ``j``, 0: neither."""
    while True:
        i_fits, j_fits = fits(h, t, i), fits(h, t, j)
        if i_fits and j_fits:
            if t.switch[NODES, i] != t.switch[NODES, j]:
                return 1 if t.switch[NODES, i] < t.switch[NODES, j] else -1
            break
        if i_fits or j_fits:
            return 1 if i_fits else -1
        if (h.parent[i] == i and h.parent[j] == j) or h.parent[i] == h.parent[j]:
            break
        i, j = int(h.parent[i]), int(h.parent[j])
    if t.switch[NODES, i] != t.switch[NODES, j]:
        return 1 if t.switch[NODES, i] > t.switch[NODES, j] else -1
    if h.level[i] != h.level[j]:
        return 1 if h.level[i] < h.level[j] else -1
    return 0


@kernel
def next_leaf(h: Hardware, t: Trial) -> int:
    """The leaf switch to take nodes of next: the nearest that fits, the tightest among equally near ones; -1 none."""
    best = -1
    for w in range(len(h.level)):
        if h.level[w] != 0 or t.switch[NEEDED, w] or t.switch[NODES, w] == 0 or t.switch[AWAY, w] >= ANY_COUNT:
            continue
        if best < 0:
            best = w
            continue
        better = compare(h, t, w, best)
        near = fits(h, t, w) if h.rule[rule.VERSION] >= 2311 else better >= 0
        if (t.switch[AWAY, w] < t.switch[AWAY, best] and near) or (
            t.switch[AWAY, w] == t.switch[AWAY, best] and better > 0
        ):
            best = w
    return best


@kernel
def move_to(h: Hardware, t: Trial, w: int) -> None:
    """Count distances from one more switch in."""
    for i in range(len(h.level)):
        t.switch[AWAY, i] = min(ANY_COUNT, t.switch[AWAY, i] + h.distance[w, i])


@kernel
def take_leaf(h: Hardware, t: Trial, w: int) -> bool:
    """Choose best nodes under a leaf switch, by number; whether that is all."""
    for n in range(len(t.open)):
        if t.at[at.MOST_NODES_LEFT] <= 0:
            return False
        if h.below[w, n] and not t.picked[n] and t.here[n] > 0:
            take_node(h, t, n, int(t.here[n]))
            if is_done(t):
                return True
    return False


@kernel
def take_lighter(h: Hardware, t: Trial, weight: int) -> None:
    """Choose all best nodes that are lighter than the last weight that was needed."""
    for n in range(len(t.open)):
        if t.here[n] > 0 and t.weight[n] < weight and not t.picked[n] and t.at[at.MOST_NODES_LEFT] > 0:
            take_node(h, t, n, int(t.here[n]))


@kernel
def count_best(h: Hardware, t: Trial, top: int) -> bool:
    """Count the best nodes under each switch, and mark those that are needed; whether some are."""
    some = False
    for w in range(len(h.level)):
        t.switch[NODES, w] = 0
        t.switch[NEEDED, w] = 0
        for n in range(len(t.open)):
            if h.below[w, n] and h.below[top, n] and (t.here[n] > 0 or t.picked[n]):
                t.switch[NODES, w] += 1
                t.switch[NEEDED, w] |= t.picked[n]
        some = some or t.switch[NEEDED, w] > 0
    return some


@kernel
def take_leaves(h: Hardware, t: Trial, top: int, weight: int) -> bool:
    """Choose nodes, leaf after leaf."""
    take_lighter(h, t, weight)
    if is_done(t):
        return True
    if t.at[at.MOST_NODES_LEFT] <= 0:
        return False
    if count_best(h, t, top):
        for w in range(len(h.level)):
            if t.switch[NEEDED, w] and h.level[w] == 0 and take_leaf(h, t, w):
                return True
    for w in range(len(h.level)):
        if t.switch[NEEDED, w]:
            move_to(h, t, w)
    before = t.at[at.NODES_LEFT] + 1
    while before != t.at[at.NODES_LEFT]:
        before = t.at[at.NODES_LEFT]
        w = next_leaf(h, t)
        if w < 0:
            break
        move_to(h, t, w)
        if take_leaf(h, t, w):
            return True
        t.switch[NODES, w] = 0
    return t.at[at.LEAST_LEFT] <= 0 and t.at[at.CPUS_LEFT] <= 0 and has_gathered(t)


@kernel
def too_spread(h: Hardware, t: Trial) -> bool:
    """Whether the choice is on more leaf switches than asked, and the wait for fewer is not over."""
    if t.ask[ask.SWITCHES] <= 0 or t.ask[ask.WAITED]:
        return False
    leaves = 0
    for w in range(len(h.level)):
        if h.level[w] == 0:
            used = False
            for n in range(len(t.open)):
                used = used or (h.below[w, n] > 0 and t.picked[n] > 0)
            leaves += used
    return bool(leaves > t.ask[ask.SWITCHES])


@kernel
def pick_tree(h: Hardware, t: Trial) -> bool:
    """Choose by switches."""
    some_required = False
    for n in range(len(t.required)):
        some_required = some_required or t.required[n] > 0
    done = take_required(h, t)
    found = done > 0
    if done == 0:
        top = top_switch(h, t, some_required)
        if top < 0:
            return False
        for n in range(len(t.required)):
            if t.required[n] and not h.below[top, n]:
                return False
        weight = find_best(h, t, top)
        found = weight >= 0 and take_leaves(h, t, top, weight)
    if found and too_spread(h, t):
        t.at[at.FEWER_SWITCHES] = 1
        return False
    return found
