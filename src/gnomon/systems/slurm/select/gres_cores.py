"""Which cores of a node go with its generic resources, and how many tasks that makes.

Source: ``gres_select_filter_sock_core`` of ``src/plugins/select/cons_tres/gres_select_filter.c`` (22.05 to 25.05),
``_select_cores`` of ``job_test.c``.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Trial
from gnomon.systems.slurm.select.gres_offering import cpus_with_each, has_devices


@kernel
def task_bounds(h: Hardware, t: Trial, n: int) -> None:
    """How many tasks a node gets, at least and at most (``MIN_TASKS``, ``MAX_TASKS``)."""
    tasks = t.ask[ask.TASKS]
    low, high = 1, ANY_COUNT
    if t.ask[ask.TASKS_PER_NODE]:
        low, high = t.ask[ask.TASKS_PER_NODE], t.ask[ask.TASKS_PER_NODE]
    elif t.ask[ask.TASKS_PER_SOCKET]:
        low, high = t.ask[ask.TASKS_PER_SOCKET], t.ask[ask.TASKS_PER_SOCKET] * h.sockets[n]
    elif t.ask[ask.TASKS_PER_CORE]:
        low, high = t.ask[ask.TASKS_PER_CORE], t.ask[ask.TASKS_PER_CORE] * h.sockets[n] * h.cores[n]
    elif t.ask[ask.TASKS_PER_GPU]:
        if t.ask[ask.MIN_NODES] > 0 and t.ask[ask.MIN_NODES] == t.ask[ask.MAX_NODES]:
            low, high = tasks // t.ask[ask.MIN_NODES], tasks // t.ask[ask.MIN_NODES]
        else:
            low, high = t.ask[ask.TASKS_PER_GPU], tasks
    elif t.ask[ask.MAX_NODES] == 1 and tasks:
        low, high = tasks, tasks
    elif tasks == 1 or (tasks and tasks == t.ask[ask.MIN_NODES] and tasks == t.ask[ask.MAX_NODES]):
        high = 1
    if not t.ask[ask.OVERCOMMIT]:
        fit = t.offer[n] // t.ask[ask.CPUS_PER_TASK]
        high = 0 if fit < low else min(high, fit)
    t.at[at.MIN_TASKS] = low
    t.at[at.MAX_TASKS] = high


@kernel
def cut_core(h: Hardware, t: Trial, n: int, s: int) -> None:
    """Leave the last core of a socket out; ``BASE``: cores left, ``CPUS``: CPUs."""
    t.keep[n, s] -= 1
    t.at[at.BASE] -= 1
    if t.at[at.BASE] * h.tpc[n] < t.at[at.CPUS]:
        t.at[at.CPUS] -= h.tpc[n]


@kernel
def order_sockets(h: Hardware, t: Trial, n: int) -> None:
    """Sockets by the number of their cores, most first, in ``S_ORDER``."""
    for i in range(h.sockets[n]):
        j = i
        while j > 0 and t.keep[n, t.sock[at.S_ORDER, j - 1]] < t.keep[n, i]:
            t.sock[at.S_ORDER, j] = t.sock[at.S_ORDER, j - 1]
            j -= 1
        t.sock[at.S_ORDER, j] = i


@kernel
def least_cores(h: Hardware, t: Trial, n: int) -> int:
    """Cores for the least number of tasks."""
    cpus = max(t.at[at.MIN_TASKS], 1) * max(t.ask[ask.CPUS_PER_TASK], 1)
    return int((cpus + h.tpc[n] - 1) // h.tpc[n])


@kernel
def use_sockets(h: Hardware, t: Trial, n: int, r: int) -> int:
    """Mark the sockets whose resources are used (``S_USED``) and count what they have; cores of sockets without any are
    given up where it is not needed otherwise."""
    strict = t.ask[ask.BIND] or t.at[at.FIRST_PASS]
    each = cpus_with_each(t, r)
    total = t.anywhere[n, r]
    least = least_cores(h, t, n)
    enough = False
    order_sockets(h, t, n)
    for s in range(h.sockets[n]):
        t.sock[at.S_USED, s] = 0
    for i in range(h.sockets[n]):
        s = t.sock[at.S_ORDER, i]
        here = t.near[n, r, s]
        if strict and each:
            here = min(here, t.keep[n, s] * h.tpc[n] // each)
        both = t.anywhere[n, r] + here
        if t.want[r, ask.W_SOCKET] > both or both == 0:
            if t.want[r, ask.W_SOCKET] > both or t.ask[ask.BIND]:
                t.total[n, r] -= t.near[n, r, s]
                t.near[n, r, s] = 0
            if t.at[at.FIRST_PASS]:
                while t.keep[n, s] > 0 and t.at[at.BASE] > least:
                    cut_core(h, t, n, int(s))
        if strict and t.keep[n, s] == 0:
            continue
        total += here
        if not enough:
            t.sock[at.S_USED, s] = 1
        if t.want[r, ask.W_NODE] and total >= t.want[r, ask.W_NODE] and t.anywhere[n, r] == 0:
            enough = True
    return int(total)


@kernel
def bound_tasks(t: Trial, n: int, r: int, total: int, steps: int) -> None:
    """What the resources allow of tasks; counts stay multiples of ``steps``."""
    if total == 0 or t.want[r, ask.W_NODE] > total or t.want[r, ask.W_TASK] > total:
        t.at[at.MAX_TASKS] = 0
    if t.want[r, ask.W_TASK]:
        t.at[at.MAX_TASKS] = min(t.at[at.MAX_TASKS], total // t.want[r, ask.W_TASK])
    if t.at[at.MAX_TASKS] < ANY_COUNT:
        t.at[at.MAX_TASKS] = t.at[at.MAX_TASKS] // steps * steps
    t.at[at.MIN_TASKS] = t.at[at.MIN_TASKS] // steps * steps


@kernel
def cores_for(h: Hardware, t: Trial, n: int, r: int, total: int) -> int:
    """Cores that the tasks and the CPUs of the resources need; fewer tasks where the cores do not suffice."""
    threads = int(h.tpc[n])
    if t.ask[ask.THREADS] > 0:
        threads = min(threads, t.ask[ask.THREADS])
    cores = t.at[at.MAX_TASKS] * t.ask[ask.CPUS_PER_TASK]
    while t.at[at.MAX_TASKS] >= t.at[at.MIN_TASKS]:
        cores = (cores + threads - 1) // threads
        if cores <= t.at[at.BASE]:
            break
        t.at[at.MAX_TASKS] -= 1
        cores = t.at[at.MAX_TASKS]  # without its CPUs, as the source has it
    each = cpus_with_each(t, r)
    if each:
        if t.want[r, ask.W_NODE]:
            count = t.want[r, ask.W_NODE]
        elif t.want[r, ask.W_SOCKET]:
            count = 0
            for s in range(h.sockets[n]):
                count += t.want[r, ask.W_SOCKET] * t.sock[at.S_USED, s]
        elif t.want[r, ask.W_TASK]:
            count = t.want[r, ask.W_TASK] * t.at[at.MAX_TASKS]
        else:
            count = max(total, 1)
        cores = max(cores, (count * each + h.tpc[n] - 1) // h.tpc[n])
    return int(cores)


@kernel
def cut_others(h: Hardware, t: Trial, n: int, cores: int) -> None:
    """Give up cores of sockets that are not used, down to ``cores`` in all."""
    for s in range(h.sockets[n]):
        while not t.sock[at.S_USED, s] and t.keep[n, s] > 0 and t.at[at.BASE] > cores:
            cut_core(h, t, n, s)


@kernel
def cut_used(h: Hardware, t: Trial, n: int, cores: int) -> None:
    """Give up cores of the used sockets, each time one of the fullest, so that all keep some near their resources."""
    while t.at[at.BASE] > cores:
        full = -1
        for s in range(h.sockets[n]):
            if t.sock[at.S_USED, s] and t.keep[n, s] and (full < 0 or t.keep[n, full] < t.keep[n, s]):
                full = s
        if full < 0:
            return
        cut_core(h, t, n, full)


@kernel
def fit_request(h: Hardware, t: Trial, n: int, r: int, steps: int) -> bool:
    """Fit cores and tasks of a node to one request; False: it cannot be met there."""
    if t.limit[n, r]:
        most = t.limit[n, r]
        left = t.want[r, ask.W_JOB] - t.gathered[r]
        if t.want[r, ask.W_JOB] and 0 < left < most:
            most = left
        if t.want[r, ask.W_NODE] > most or t.want[r, ask.W_SOCKET] * max(1, t.ask[ask.SOCKETS]) > most:
            return False
    total = use_sockets(h, t, n, r)
    each = cpus_with_each(t, r)
    if each:
        total = min(total, t.at[at.CPUS] // each)
    bound_tasks(t, n, r, total, steps)
    if t.at[at.MAX_TASKS] == 0:
        return False
    strict = t.ask[ask.BIND] or t.at[at.FIRST_PASS]
    if strict:
        cut_others(h, t, n, 0)
    if t.at[at.MAX_TASKS] < ANY_COUNT:
        cores = cores_for(h, t, n, r, total)
        if cores > t.at[at.BASE]:
            return False
        if not strict:
            cut_others(h, t, n, cores)
        cut_used(h, t, n, cores)
    if each:
        t.total[n, r] = min(t.at[at.CPUS] // each, t.total[n, r])
        if t.at[at.MAX_TASKS] < ANY_COUNT and max(t.want[r, ask.W_NODE], t.want[r, ask.W_TASK]) > t.total[n, r]:
            return False
    return True


@kernel
def fit_gres(h: Hardware, t: Trial, n: int) -> None:
    """Fit cores and tasks of a node to all requests: those bound to devices and sockets first."""
    steps = int(t.at[at.MIN_TASKS])
    t.at[at.CPUS] = t.offer[n]
    t.at[at.BASE] = 0
    for s in range(h.sockets[n]):
        t.at[at.BASE] += t.keep[n, s]
    for turn in range(4):
        for r in range(t.ask[ask.REQUESTS]):
            late = 1 if t.want[r, ask.W_SOCKET] else 2
            late += 1 if has_devices(h, n, int(t.want[r, ask.W_KIND])) else 3
            if late - 2 != turn or t.at[at.MAX_TASKS] == 0:
                continue
            if not fit_request(h, t, n, r, steps):
                t.at[at.MAX_TASKS] = 0
    if t.ask[ask.CPUS_PER_TASK] > 1 or not h.rule[rule.ONE_TASK_PER_CORE]:
        t.at[at.CPUS] = min(t.at[at.CPUS], t.at[at.MAX_TASKS] * t.ask[ask.CPUS_PER_TASK])


@kernel
def select_cores(h: Hardware, t: Trial, n: int) -> int:
    """CPUs of a node that the job can use when it is looked at in turn (``_select_cores``)."""
    task_bounds(h, t, n)
    cpus = int(t.offer[n])
    if t.ask[ask.REQUESTS] > 0 and t.at[at.MAX_TASKS] > 0:
        fit_gres(h, t, n)
        cpus = int(t.at[at.CPUS])
    if t.at[at.MAX_TASKS] == 0:
        return 0
    if h.rule[rule.ONE_TASK_PER_CORE] and t.ask[ask.TASKS_PER_CORE] == 0 and t.ask[ask.GRES_NODE_CPUS] == 0:
        cpus = 0
        for s in range(h.sockets[n]):
            cpus += t.keep[n, s]
    return cpus
