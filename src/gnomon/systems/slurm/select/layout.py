"""How many tasks and CPUs each chosen node gets, and how many cores of each socket.

Source: ``dist_tasks_compute_c_b``, ``_compute_plane_dist``, ``_cyclic_sync_core_bitmap``, ``_block_sync_core_bitmap``,
``_clear_spec_cores``, ``_set_task_dist`` of ``src/plugins/select/cons_tres/dist_tasks.c`` (``cons_common`` in 22.05).
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Trial
from gnomon.systems.slurm.select.offering import cpus_per_core
from gnomon.systems.slurm.select.rule import gives_cores


@kernel
def job_cpus(t: Trial, nodes: int, available: int) -> int:
    """CPUs that the job needs on so many nodes."""
    cpus = nodes * max(1, t.ask[ask.TASKS_PER_NODE])
    cpus = max(cpus, t.ask[ask.MIN_CPUS], nodes * t.ask[ask.NODE_CPUS])
    for r in range(t.ask[ask.REQUESTS]):
        each = t.want[r, ask.W_CPUS] if t.want[r, ask.W_CPUS] else t.want[r, ask.W_DEFAULT_CPUS]
        count = t.want[r, ask.W_JOB]
        if not count:
            count = t.want[r, ask.W_NODE] * nodes
        if not count:
            count = t.want[r, ask.W_SOCKET] * nodes * max(1, t.ask[ask.SOCKETS])
        if not count:
            count = t.want[r, ask.W_TASK] * t.ask[ask.TASKS]
        cpus = max(cpus, count * each)
    if t.ask[ask.OVERCOMMIT] and t.ask[ask.TASKS]:
        cpus = min(available, t.ask[ask.TASKS])
    return int(cpus)


@kernel
def task_count(t: Trial, nodes: int, cpus: int) -> int:
    """Tasks that so many CPUs make."""
    tasks = cpus
    if not t.ask[ask.OVERCOMMIT] and t.ask[ask.CPUS_PER_TASK] > 1:
        if t.ask[ask.TASKS_PER_NODE]:
            tasks = int(t.ask[ask.TASKS_PER_NODE]) * nodes
        else:
            tasks = cpus // int(t.ask[ask.CPUS_PER_TASK])
    return max(tasks, 1)


@kernel
def task_limit(t: Trial, n: int) -> int:
    """Tasks that a node has generic resources for."""
    most = ANY_COUNT
    for r in range(t.ask[ask.REQUESTS]):
        if t.want[r, ask.W_TASK]:
            most = min(most, t.total[n, r] // t.want[r, ask.W_TASK])
    return int(most)


@small_kernel
def add_task(t: Trial, i: int) -> None:
    """One more task for the node in place ``i``."""
    t.tasks[i] += 1
    t.cpus[i] = min(t.offer[t.node[i]], t.cpus[i] + t.ask[ask.CPUS_PER_TASK])


@small_kernel
def has_room(t: Trial, i: int) -> bool:
    """Whether the node in place ``i`` takes another task."""
    if t.offer[t.node[i]] - t.cpus[i] < t.ask[ask.CPUS_PER_TASK]:
        return False
    if t.ask[ask.PER_TASK] and task_limit(t, int(t.node[i])) <= t.tasks[i]:
        return False
    return bool(t.ask[ask.TASKS_PER_NODE] == 0 or t.tasks[i] < t.ask[ask.TASKS_PER_NODE])


@kernel
def place_tasks(h: Hardware, t: Trial, nodes: int, tasks: int) -> bool:
    """Place tasks: one on each node, then round after round as many as a core holds. False: not all have a place."""
    each = t.ask[ask.CPUS_PER_TASK]
    placed = 0
    crowded = True
    for i in range(nodes):
        t.tasks[i] = 0
        t.cpus[i] = 0
        if placed < tasks and t.offer[t.node[i]] > 0:
            add_task(t, i)
            placed += 1
            crowded = crowded and t.cpus[i] >= t.offer[t.node[i]]
    for i in range(nodes):  # fill the cores that are begun
        for _ in range((t.cpus[i] % h.tpc[t.node[i]]) // each):
            if placed >= tasks or not has_room(t, i):
                break
            add_task(t, i)
            placed += 1
    if t.ask[ask.OVERCOMMIT] and not t.ask[ask.PER_TASK]:
        return True
    old = h.rule[rule.VERSION] < 2311
    crowded = crowded and old  # up to 23.02 more tasks than CPUs are placed all the same
    while placed < tasks:
        room = False
        for i in range(nodes):
            for _ in range(max(1, h.tpc[t.node[i]] // each)):
                if placed >= tasks or not (crowded or has_room(t, i)):
                    break
                add_task(t, i)
                placed += 1
                room = room or t.offer[t.node[i]] - t.cpus[i] >= each
        if not room and placed < tasks:
            if not old:
                return False
            crowded = True
    return True


@kernel
def place_planes(t: Trial, nodes: int, tasks: int) -> bool:
    """Place tasks in blocks of one size, round after round."""
    placed = 0
    for i in range(nodes):
        t.tasks[i] = 0
        t.cpus[i] = 0
    while placed < tasks:
        before = placed
        for i in range(nodes):
            for _ in range(t.ask[ask.PLANE]):
                if placed < tasks and t.cpus[i] < t.offer[t.node[i]]:
                    add_task(t, i)
                    placed += 1
        if placed == before:
            return False
    return True


@kernel
def place_on_whole(h: Hardware, t: Trial, nodes: int, tasks: int) -> None:
    """The nodes belong to the job: all their cores, and the tasks evenly over them."""
    threads_asked = t.ask[ask.THREADS]
    for i in range(nodes):
        n = t.node[i]
        threads = min(h.tpc[n], threads_asked) if threads_asked > 0 else h.tpc[n]
        t.cpus[i] = 0
        for s in range(h.sockets[n]):
            t.cores[i, s] = h.every[n, s]
            t.cpus[i] += h.every[n, s] * threads
        t.tasks[i] = 1
    placed = nodes
    while placed < tasks:
        before = placed
        for i in range(nodes):
            if placed < tasks and (t.tasks[i] + 1) * t.ask[ask.CPUS_PER_TASK] <= t.cpus[i]:
                t.tasks[i] += 1
                placed += 1
        if placed == before:
            break
    for i in range(nodes):
        n = t.node[i]
        if threads_asked > 0 and threads_asked != h.tpc[n] and gives_cores(h):
            t.cpus[i] *= h.tpc[n]


@kernel
def avoid_sockets(h: Hardware, t: Trial, i: int, threads: int) -> None:
    """Mark sockets to leave out so that no socket has more tasks than asked (``S_AVOID``)."""
    n = t.node[i]
    room = t.ask[ask.TASKS_PER_SOCKET] * t.ask[ask.CPUS_PER_TASK]
    total = 0
    for s in range(h.sockets[n]):
        t.sock[at.S_AVOID, s] = 0
        t.sock[at.S_COUNT, s] = t.keep[n, s] * threads
        total += t.sock[at.S_COUNT, s]
    if t.ask[ask.TASKS_PER_SOCKET] == 0:
        return
    for s in range(h.sockets[n]):
        if total > t.cpus[i] and t.sock[at.S_COUNT, s] > room:
            total -= t.sock[at.S_COUNT, s] - room
            t.sock[at.S_COUNT, s] = room
    for s in range(h.sockets[n]):
        here = t.sock[at.S_COUNT, s]
        if total > t.cpus[i] and here <= room and total - here >= t.cpus[i]:
            t.sock[at.S_AVOID, s] = 1
            total -= here


@kernel
def pack_tasks(h: Hardware, t: Trial, i: int, threads: int) -> int:
    """Put the CPUs of each task on one socket as far as that goes; the CPUs that are left."""
    n = t.node[i]
    each = t.ask[ask.CPUS_PER_TASK]
    cpus = int(t.cpus[i])
    of_task = each
    for s in range(h.sockets[n]):
        here = t.keep[n, s] * threads
        here -= here % each
        while t.cores[i, s] < t.keep[n, s] and here > 0 and cpus > 0:
            t.cores[i, s] += 1
            used = threads
            if t.ask[ask.TASKS_PER_CORE] == 1 and each > threads:
                used = min(of_task, threads)
                of_task = each if of_task <= used else of_task - used
            here = 0 if here < threads else here - used
            cpus = 0 if cpus < threads else int(cpus - used)
    return cpus


@kernel
def spread_cores(h: Hardware, t: Trial, i: int) -> bool:
    """Take the cores of the node in place ``i`` from its sockets in turn; False: there are not enough."""
    n = t.node[i]
    threads = cpus_per_core(h, t, int(n))
    cpus = int(t.cpus[i])
    avoid_sockets(h, t, i, threads)
    if t.ask[ask.TASKS_PER_SOCKET] == 0 and t.ask[ask.CPUS_PER_TASK] > 1:
        cpus = pack_tasks(h, t, i, threads)
    while cpus > 0:
        before = cpus
        for s in range(h.sockets[n]):
            if cpus > 0 and not t.sock[at.S_AVOID, s] and t.cores[i, s] < t.keep[n, s]:
                t.cores[i, s] += 1
                cpus = max(0, cpus - threads)
        if before == cpus:
            return bool(t.ask[ask.OVERCOMMIT] > 0)
    return True


@kernel
def tightest_socket(h: Hardware, t: Trial, i: int, cores: int) -> int:
    """The socket to fill next: the smallest with so many cores left, else the largest; -1: none has any."""
    n = t.node[i]
    best, best_left = -1, 0
    for s in range(h.sockets[n]):
        left = t.keep[n, s] - t.cores[i, s]
        enough, best_enough = left >= cores, best >= 0 and best_left >= cores
        if best_left == 0 or (enough and (not best_enough or left < best_left)) or (not enough and left > best_left):
            best, best_left = s, left
    return best if best_left > 0 else -1


@kernel
def fill_sockets(h: Hardware, t: Trial, i: int) -> bool:
    """Take the cores of the node in place ``i`` socket by socket; False: there are not enough."""
    n = t.node[i]
    threads = cpus_per_core(h, t, int(n))
    each = t.ask[ask.CPUS_PER_TASK]
    one_task = t.ask[ask.TASKS_PER_CORE] == 1 and each > threads
    cpus = int(t.cpus[i])
    cores = -(-cpus // threads)
    if one_task:
        cores = cpus // each * -(-each // threads)
    of_task = each
    while cpus > 0:
        s = tightest_socket(h, t, i, int(cores))
        if s < 0:
            return False
        while cpus > 0 and t.cores[i, s] < t.keep[n, s]:
            t.cores[i, s] += 1
            used = threads
            if one_task and cpus >= threads:
                used = min(of_task, threads)
                of_task = each if of_task <= used else of_task - used
            cpus = max(0, int(cpus - used))
    return True


@kernel
def lay_out(h: Hardware, t: Trial, nodes: int) -> bool:
    """Tasks, CPUs and cores of all chosen nodes; False: it does not come out even."""
    available = 0
    for i in range(nodes):
        available += t.offer[t.node[i]]
        for s in range(h.sockets[t.node[i]]):
            t.cores[i, s] = 0
    tasks = task_count(t, nodes, job_cpus(t, nodes, int(available)))
    if t.ask[ask.WHOLE] or t.ask[ask.SHARE] == rule.RESERVED:
        place_on_whole(h, t, nodes, max(tasks, int(t.ask[ask.TASKS])) if t.ask[ask.TASKS] else tasks)
        return True
    one_each = t.ask[ask.OVERCOMMIT] and not t.ask[ask.PER_TASK]
    if t.ask[ask.PLANE] > 0 and not one_each:
        if not place_planes(t, nodes, tasks):
            return False
    elif not place_tasks(h, t, nodes, tasks):
        return False
    by_socket = t.ask[ask.BLOCK_CORES] == 1 or not gives_cores(h)
    if t.ask[ask.BLOCK_CORES] == -1 and h.rule[rule.BLOCK_CORES]:
        by_socket = True
    for i in range(nodes):
        if not (fill_sockets(h, t, i) if by_socket else spread_cores(h, t, i)):
            return False
        if not gives_cores(h):
            continue
        n = t.node[i]
        t.cpus[i] = 0
        for s in range(h.sockets[n]):
            if h.rule[rule.UNIT] == rule.SOCKET and t.cores[i, s]:
                t.cores[i, s] = h.every[n, s]
            t.cpus[i] += t.cores[i, s] * h.tpc[n]
    return True
