"""What one node offers a job, before the choice among nodes: cores by socket, CPUs.

Only counts by socket are kept, for whatever narrows the cores of a node takes them away from the end of a socket: a job
may use the first so many free cores of each. Source: ``_allocate_sc``, ``cons_helpers_cpus_per_core`` of
``src/plugins/select/cons_tres`` (``cons_common`` up to 22.05).
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Occupied, Trial
from gnomon.systems.slurm.select.free import free_cores
from gnomon.systems.slurm.select.gres_offering import count_gres


@small_kernel
def cpus_per_core(h: Hardware, t: Trial, n: int) -> int:
    """CPUs of a core of a node that a job can use."""
    threads = int(h.tpc[n])
    if h.rule[rule.ONE_TASK_PER_CORE] and t.ask[ask.GRES_NODE_CPUS] > 0:
        return threads
    most = ANY_COUNT
    if t.ask[ask.TASKS_PER_CORE] > 0:
        most = min(threads, t.ask[ask.TASKS_PER_CORE] * t.ask[ask.CPUS_PER_TASK])
    if t.ask[ask.THREADS] > 0:
        most = min(most, t.ask[ask.THREADS])
    return int(min(threads, most))


@kernel
def unit_size(h: Hardware, t: Trial, n: int) -> int:
    """CPUs of the smallest part of a node that is given out."""
    if h.rule[rule.UNIT] == rule.SOCKET:
        size = h.cores[n] * h.tpc[n]
    elif h.rule[rule.UNIT] == rule.CORE:
        size = h.tpc[n]
    else:
        size = 1
    if t.ask[ask.TASKS_PER_CORE] > 0 or t.ask[ask.THREADS] > 0:
        size = min(size, cpus_per_core(h, t, n))
    return int(size)


@kernel
def partition_room(h: Hardware, o: Occupied, t: Trial, n: int, free_cpus: int) -> int:
    """CPUs that MaxCPUsPerNode leaves, -1: the node cannot be used."""
    most = int(t.ask[ask.PART_NODE_CPUS])
    if most >= ANY_COUNT:
        return most
    slot = h.track[t.ask[ask.PARTITION]]
    used = 0
    if not t.at[at.EMPTY]:
        used = int(o.part_cores[slot, n]) * int(h.tpc[n])
    if free_cpus + used <= most:
        return ANY_COUNT
    if t.ask[ask.WHOLE] or used >= most:
        return -1
    left = most - used
    if left == 1 and (
        t.ask[ask.TASKS_PER_CORE] > 1
        or t.ask[ask.TASKS_PER_SOCKET] > 1
        or t.ask[ask.CPUS_PER_TASK] > 1
        or ((t.ask[ask.TASKS_PER_CORE] > 0 or t.ask[ask.THREADS] > 0) and cpus_per_core(h, t, n) > 1)
    ):
        return -1
    return left


@kernel
def layout_fits(h: Hardware, t: Trial, n: int) -> bool:
    """Whether the hardware has the threads and sockets asked for; sockets with too few free cores are not used."""
    if t.ask[ask.THREADS] > h.tpc[n]:
        return False
    if t.ask[ask.TASKS_PER_SOCKET] > h.tpc[n] * h.cores[n]:
        return False
    least = max(1, t.ask[ask.CORES])
    usable = 0
    for s in range(h.sockets[n]):
        if t.sock[at.S_FREE, s] < least:
            t.sock[at.S_FREE, s] = 0
        else:
            usable += 1
    return bool(usable >= max(1, t.ask[ask.SOCKETS]))


@kernel
def task_cpus(h: Hardware, t: Trial, n: int) -> int:
    """CPUs of the free cores that whole tasks can use; 0: it does not do."""
    threads = cpus_per_core(h, t, n)
    each = int(t.ask[ask.CPUS_PER_TASK])
    per_socket = t.ask[ask.TASKS_PER_SOCKET]
    cpus = 0
    tasks = 0
    for s in range(h.sockets[n]):
        here = t.sock[at.S_FREE, s] * threads
        if t.sock[at.S_NEEDED, s] and here == 0:
            return 0
        cpus += here
        tasks += min(here, per_socket) if per_socket else here
    if h.rule[rule.LINEAR]:
        return cpus
    if cpus < t.ask[ask.NODE_CPUS]:
        return 0
    per_node = t.ask[ask.TASKS_PER_NODE]
    if per_node and h.rule[rule.VERSION] >= 2302 and not t.ask[ask.WHOLE] and t.ask[ask.GRES_NODE_CPUS] == 0:
        tasks = min(tasks, per_node)
    if each < 2:
        cpus = tasks
    elif t.ask[ask.TASKS_PER_CORE] == 1 and each > threads:
        cpus = cpus // (-(-each // threads) * threads) * each
    else:
        tasks = min(tasks, cpus // each)
        cpus = tasks * each
    if per_node and tasks < per_node and not t.ask[ask.OVERCOMMIT]:
        return 0
    if tasks == 0 or cpus < t.ask[ask.NODE_CPUS]:
        return 0
    return int(cpus)


@kernel
def take_core(h: Hardware, t: Trial, n: int, s: int) -> bool:
    """Count one more core of a socket in; False: its tasks have enough there."""
    threads = cpus_per_core(h, t, n)
    per_socket = t.ask[ask.TASKS_PER_SOCKET]
    room = per_socket * max(1, t.ask[ask.CPUS_PER_TASK]) if per_socket else h.cores[n] * h.tpc[n]
    if t.sock[at.S_CPUS, s] and t.sock[at.S_CPUS, s] >= room:
        return False
    t.sock[at.S_CPUS, s] += threads
    t.sock[at.S_FREE, s] -= 1
    t.keep[n, s] += 1
    left = t.at[at.CPUS]
    if left < threads:
        t.at[at.BASE] += left
        t.at[at.CPUS] = 0
        return True
    each = t.ask[ask.CPUS_PER_TASK]
    used = threads
    if t.ask[ask.TASKS_PER_CORE] == 1 and each > threads and t.ask[ask.GRES_NODE_CPUS] == 0:
        used = min(t.at[at.MIN_TASKS], threads)
    t.at[at.CPUS] -= used
    t.at[at.BASE] += used
    t.at[at.MIN_TASKS] = each if t.at[at.MIN_TASKS] <= used else t.at[at.MIN_TASKS] - used
    return True


@kernel
def keep_cores(h: Hardware, t: Trial, n: int, cpus: int) -> int:
    """Keep the cores for so many CPUs, those of needed sockets (``S_NEEDED``) first; the CPUs that they have."""
    t.at[at.CPUS] = cpus
    t.at[at.BASE] = 0
    t.at[at.MIN_TASKS] = t.ask[ask.CPUS_PER_TASK]  # CPUs of a task that are still to come
    needed = 0
    room = 0
    for s in range(h.sockets[n]):
        t.keep[n, s] = 0
        t.sock[at.S_CPUS, s] = 0
        if t.sock[at.S_NEEDED, s]:
            needed += 1
            room += t.sock[at.S_FREE, s] * cpus_per_core(h, t, n)
    most = ANY_COUNT
    if needed and room > cpus:
        most = cpus // needed
    for s in range(h.sockets[n]):
        if not t.sock[at.S_NEEDED, s] or t.at[at.CPUS] <= 0:
            continue
        while t.sock[at.S_FREE, s] > 0 and take_core(h, t, n, s):
            if t.sock[at.S_CPUS, s] > most:
                break
    for s in range(h.sockets[n]):
        while t.sock[at.S_FREE, s] > 0 and t.at[at.CPUS] > 0:
            if not take_core(h, t, n, s):
                break
        if t.at[at.CPUS] <= 0 and h.rule[rule.VERSION] < 2302:
            t.keep[n, s] = t.sock[at.S_ALL, s]  # what comes after the last core that is needed is not looked at
    return int(t.at[at.BASE])


@kernel
def offer_cores(h: Hardware, o: Occupied, t: Trial, n: int) -> int:
    """CPUs that a node offers a job for its tasks, 0 none; ``keep`` says on which cores."""
    free = free_cores(h, o, t, n)
    for s in range(h.sockets[n]):
        t.keep[n, s] = 0
        t.sock[at.S_NEEDED, s] = 0
    if free < 1 or (t.ask[ask.REQUESTS] > 0 and not count_gres(h, o, t, n)):
        return 0
    for s in range(h.sockets[n]):
        t.sock[at.S_ALL, s] = t.sock[at.S_FREE, s]
    t.most[n] = free * h.tpc[n]
    room = partition_room(h, o, t, n, free * int(h.tpc[n]))
    if room < 0 or not layout_fits(h, t, n):
        return 0
    cpus = task_cpus(h, t, n)
    if cpus == 0:
        return 0
    return min(keep_cores(h, t, n, cpus), room)
