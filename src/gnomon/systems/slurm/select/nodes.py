"""Whether one node can take part in a job, and with how many CPUs.

Source: ``_verify_node_state``, ``can_job_run_on_node`` of ``src/plugins/select/cons_tres/job_test.c``.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Occupied, Trial
from gnomon.systems.slurm.select.free import is_free
from gnomon.systems.slurm.select.gres_offering import drop_unusable
from gnomon.systems.slurm.select.offering import offer_cores, unit_size


@kernel
def shared_by_others(h: Hardware, o: Occupied, t: Trial, n: int) -> bool:
    """Whether jobs of another partition that is shared run on a node."""
    before = -1
    for q in range(len(h.row_part)):
        p = h.row_part[q]
        if p == before and p != t.ask[ask.PARTITION] and o.part_jobs[h.track[p], n] > 0:
            return True  # its second row: it is shared
        before = int(p)
    return False


@kernel
def sees_through(h: Hardware, t: Trial) -> bool:
    """Whether jobs of lower tiers, which would stand still, are not in the way: rows tell who is (``_bit_or_cond`` of
    node_scheduler.c gives the nodes back that a lower job has whole)."""
    return bool(t.at[at.STEP] == at.ROWS and h.rule[rule.BY_PARTITION])


@kernel
def is_all_free(h: Hardware, o: Occupied, t: Trial, n: int) -> bool:
    """Whether every core of a node is free (``_block_whole_nodes``)."""
    size = int(h.cores[n])
    for c in range(h.sockets[n] * size):
        if not h.barred[n, c] and not is_free(h, o, t, n, c):
            return False
    return True


@kernel
def is_open(h: Hardware, o: Occupied, t: Trial, n: int) -> bool:
    """Whether those who are on a node let the job in."""
    if not sees_through(h, t) and (o.whole[n] or (t.ask[ask.ALONE] and o.jobs[n])):
        return False
    if t.ask[ask.WHOLE] and not h.rule[rule.LINEAR] and not is_all_free(h, o, t, n):
        return False
    share = t.ask[ask.SHARE]
    if o.state[n] >= rule.RESERVED:
        return False
    if o.state[n] >= rule.ONE_ROW:
        return bool(share == rule.ONE_ROW and not shared_by_others(h, o, t, n))
    if share == rule.RESERVED:
        return bool(o.jobs[n] == 0)
    return not (share == rule.ONE_ROW and shared_by_others(h, o, t, n))


@kernel
def free_memory(h: Hardware, o: Occupied, t: Trial, n: int) -> int:
    """Memory of a node that is free, -1: it is not counted."""
    if not h.rule[rule.MEMORY]:
        return -1
    return int(h.memory[n]) if t.at[at.EMPTY] else max(0, int(h.memory[n] - o.memory[n]))


@kernel
def has_memory(h: Hardware, o: Occupied, t: Trial, n: int) -> bool:
    """Whether a node has the memory for the least share of the job."""
    if t.at[at.EMPTY] or not h.rule[rule.MEMORY]:
        return True
    least = t.ask[ask.MEMORY]
    if least < 0:
        return True
    if least == 0:
        return bool(o.memory[n] == 0)
    if t.ask[ask.PER_CPU]:
        least *= max(1, t.ask[ask.TASKS_PER_NODE], t.ask[ask.NODE_CPUS], t.ask[ask.CPUS_PER_TASK])
    return bool(h.memory[n] - o.memory[n] >= least)


@kernel
def with_memory(h: Hardware, t: Trial, n: int, cpus: int, memory: int) -> int:
    """So many of the CPUs as there is memory for."""
    each = t.ask[ask.MEMORY]
    if memory < 0 or each <= 0:
        return cpus
    if not t.ask[ask.PER_CPU]:
        return 0 if each > memory else cpus
    if each * cpus > memory and t.ask[ask.WHOLE]:
        return 0
    if h.rule[rule.UNIT] != rule.CPU and t.ask[ask.TASKS_PER_CORE] == 1 and t.ask[ask.CPUS_PER_TASK] == 1:
        cpus = min(cpus, int(memory // (each * h.tpc[n])))
    else:
        over = each * cpus - memory
        if over > 0:
            size = unit_size(h, t, n)
            cpus = max(0, cpus - int(-(-over // (each * size))) * size)
    if t.ask[ask.CPUS_PER_TASK] > 1 and not h.rule[rule.LINEAR]:
        cpus -= int(cpus % t.ask[ask.CPUS_PER_TASK])
    return 0 if cpus < t.ask[ask.TASKS_PER_NODE] else cpus


@kernel
def least_cpus(t: Trial) -> int:
    """CPUs that the job's share of a node needs."""
    tasks = 1
    if t.ask[ask.TASKS_PER_NODE]:
        tasks = t.ask[ask.TASKS_PER_NODE]
    elif not t.ask[ask.OVERCOMMIT] and t.ask[ask.MAX_NODES] == 1:
        tasks = max(tasks, t.ask[ask.TASKS])
    return int(tasks * t.ask[ask.CPUS_PER_TASK])


@kernel
def is_plain(h: Hardware, t: Trial) -> bool:
    """Whether nothing but the number of free cores matters, so that the cores need not be looked at."""
    return bool(
        t.ask[ask.REQUESTS] == 0
        and t.ask[ask.TASKS_PER_SOCKET] == 0
        and t.ask[ask.TASKS_PER_CORE] == 0
        and t.ask[ask.SOCKETS] <= 1
        and t.ask[ask.CORES] <= 1
        and t.ask[ask.THREADS] <= 0
        and t.ask[ask.PART_NODE_CPUS] >= ANY_COUNT
        and h.rule[rule.UNIT] != rule.SOCKET
        and not h.rule[rule.LINEAR]
    )


@kernel
def offer_plain(h: Hardware, o: Occupied, t: Trial, n: int) -> int:
    """What :func:`offer_cores` says of a job that is plain; it does not fill ``keep``."""
    free = int(o.idle[n])
    if t.at[at.EMPTY]:
        free = 0
        for s in range(h.sockets[n]):
            free += h.every[n, s]
    cpus = free * int(h.tpc[n])
    t.most[n] = cpus
    if cpus == 0 or cpus < t.ask[ask.NODE_CPUS]:
        return 0
    each, per_node = t.ask[ask.CPUS_PER_TASK], t.ask[ask.TASKS_PER_NODE]
    if each < 2 and per_node == 0:
        return cpus
    tasks = cpus
    if per_node and h.rule[rule.VERSION] >= 2302 and not t.ask[ask.WHOLE]:
        tasks = min(tasks, per_node)
    if each >= 2:
        tasks = min(tasks, cpus // each)
    if tasks == 0 or tasks * each < t.ask[ask.NODE_CPUS] or (tasks < per_node and not t.ask[ask.OVERCOMMIT]):
        return 0
    return int(tasks * max(1, each))


@kernel
def offer_node(h: Hardware, o: Occupied, t: Trial, n: int) -> int:
    """CPUs that a node offers the job, 0: it cannot take part. Fills the node's row of the trial."""
    t.weight[n] = (h.weight[n] + t.extra[n]) << 8
    t.gpus[n] = 0
    if not t.at[at.EMPTY] and not is_open(h, o, t, n):
        return 0
    if not has_memory(h, o, t, n):
        return 0
    cpus = offer_plain(h, o, t, n) if t.at[at.PLAIN] else offer_cores(h, o, t, n)
    if cpus == 0 or (cpus < least_cpus(t) and not h.rule[rule.LINEAR]):
        return 0
    memory = free_memory(h, o, t, n)
    if t.ask[ask.REQUESTS] > 0:
        near = drop_unusable(h, t, n, cpus, memory)
        if near < 0:
            return 0
        t.weight[n] += 255 - near  # nodes with more GPUs near free cores are favoured
    return with_memory(h, t, n, cpus, memory)
