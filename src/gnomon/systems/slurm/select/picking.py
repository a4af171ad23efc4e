"""The steps that every way of choosing nodes shares: how much of a node is used, what is still wanted.

Source: ``_cpus_to_use``, ``_enough_nodes``, ``_get_rem_max_cpus`` of ``src/plugins/select/cons_tres/job_test.c``
(``src/plugins/topology/common/eval_nodes.c`` from 23.11), ``gres_sched.c``.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Trial
from gnomon.systems.slurm.select.gres_cores import select_cores
from gnomon.systems.slurm.select.offering import cpus_per_core


@kernel
def begin(t: Trial, capped: int) -> None:
    """Nothing is chosen yet. ``capped``: not more nodes than tasks."""
    at_least, wanted = t.at[at.MIN_NODES], t.ask[ask.REQ_NODES]
    t.at[at.NODES_LEFT] = min(at_least, wanted) if t.ask[ask.JOB_COUNTS] else max(at_least, wanted)
    t.at[at.LEAST_LEFT] = at_least
    t.at[at.CPUS_LEFT] = t.ask[ask.MIN_CPUS]
    most = t.ask[ask.MIN_CPUS]
    most = max(most, t.ask[ask.GRES_NODE_CPUS] * t.at[at.NODES_LEFT], t.ask[ask.GRES_CPUS])
    t.at[at.MOST_CPUS_LEFT] = most
    t.at[at.MOST_NODES_LEFT] = t.ask[ask.MOST_NODES]
    tasks = t.ask[ask.TASKS]
    if tasks > 1:
        t.at[at.MOST_NODES_LEFT] = min(t.at[at.MOST_NODES_LEFT], max(tasks, at_least))
    if capped and tasks > 0:
        t.at[at.MOST_NODES_LEFT] = min(t.at[at.MOST_NODES_LEFT], tasks)
    for r in range(t.ask[ask.REQUESTS]):
        t.gathered[r] = 0
    for n in range(len(t.picked)):
        t.picked[n] = 0


@small_kernel
def use_cpus(h: Hardware, t: Trial, n: int, cpus: int) -> int:
    """CPUs of a node to use, so that the nodes after it get some."""
    if t.ask[ask.WHOLE]:
        return cpus
    kept = max(t.at[at.LEAST_LEFT] - 1, 0) * cpus_per_core(h, t, n)
    if h.rule[rule.UNIT] == rule.SOCKET:
        kept *= h.cores[n]
    most = t.at[at.MOST_CPUS_LEFT] - kept
    if cpus > most:
        cpus = int(max(most, t.ask[ask.NODE_CPUS], t.ask[ask.GRES_NODE_CPUS]))
        t.offer[n] = cpus
    t.worth[n] = t.offer[n] + t.gpus[n]
    return cpus


@kernel
def gather(t: Trial, n: int, cpus: int) -> int:
    """Count a node's resources into the counts of the whole job; the CPUs that go with them, if that is said."""
    if not t.ask[ask.JOB_COUNTS] or cpus == 0:
        return cpus
    used = 0
    for r in range(t.ask[ask.REQUESTS]):
        if not t.want[r, ask.W_JOB]:
            continue
        count = t.total[n, r]
        each = t.want[r, ask.W_CPUS]
        if each:
            count = min(count, cpus // each)
            used = max(used, count * each)
        t.gathered[r] += count
    return int(used) if used else cpus


@kernel
def take_node(h: Hardware, t: Trial, n: int, cpus: int) -> int:
    """Choose a node that has so many CPUs; how many of them are used."""
    cpus = gather(t, n, use_cpus(h, t, n, cpus))
    t.picked[n] = 1
    t.at[at.CPUS_LEFT] -= cpus
    t.at[at.MOST_CPUS_LEFT] -= cpus
    t.at[at.NODES_LEFT] -= 1
    t.at[at.LEAST_LEFT] -= 1
    t.at[at.MOST_NODES_LEFT] -= 1
    return cpus


@small_kernel
def has_gathered(t: Trial) -> bool:
    """Whether the counts of the whole job are met."""
    if t.ask[ask.JOB_COUNTS]:
        for r in range(t.ask[ask.REQUESTS]):
            if t.want[r, ask.W_JOB] > t.gathered[r]:
                return False
    return True


@small_kernel
def is_done(t: Trial) -> bool:
    """Whether all that is wanted has been chosen."""
    return t.at[at.NODES_LEFT] <= 0 and t.at[at.CPUS_LEFT] <= 0 and has_gathered(t)


@small_kernel
def enough_nodes(t: Trial, nodes: int) -> bool:
    """Whether so many more nodes make the least number."""
    needed = t.at[at.NODES_LEFT]
    if t.ask[ask.REQ_NODES] > t.at[at.MIN_NODES]:
        needed += t.at[at.MIN_NODES] - t.ask[ask.REQ_NODES]
    return bool(nodes >= needed)


@kernel
def completes(t: Trial, n: int) -> bool:
    """Whether a node alone makes the counts of the whole job complete."""
    for r in range(t.ask[ask.REQUESTS]):
        if t.want[r, ask.W_JOB] and t.gathered[r] + t.total[n, r] < t.want[r, ask.W_JOB]:
            return False
    return True


@kernel
def take_required(h: Hardware, t: Trial) -> int:
    """Choose the nodes that are required: 1 that is all, 0 more is wanted, -1 it cannot be."""
    some = False
    if t.at[at.REQUIRED] == 0:
        return 0
    for n in range(len(t.required)):
        if not t.required[n]:
            continue
        some = True
        if not t.open[n] or t.at[at.MOST_NODES_LEFT] <= 0:
            return -1
        cpus = select_cores(h, t, n)
        cpus = 0 if cpus == 0 else take_node(h, t, n, cpus)
        if cpus == 0:
            return -1
        t.here[n] = cpus
    if some and is_done(t):
        return 1
    return -1 if some and t.at[at.MOST_NODES_LEFT] <= 0 else 0


@kernel
def lightest(t: Trial, above: int) -> int:
    """The least weight above one among the open nodes, -1: there is none."""
    best = ANY_COUNT << 16
    for k in range(t.at[at.OPEN]):
        n = t.listed[k]
        if t.open[n] and above < t.weight[n] < best:
            best = int(t.weight[n])
    return -1 if best == ANY_COUNT << 16 else best
