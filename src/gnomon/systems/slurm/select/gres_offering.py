"""Generic resources that a node offers a job, and the sockets that they need.

Source: ``_build_sock_gres_by_topo``, ``…_by_type``, ``…_basic`` of ``gres_sock_list.c`` and
``gres_select_filter_remove_unusable`` of ``gres_select_filter.c`` (``src/plugins/select/cons_tres``, 22.05 to 25.05).
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import Hardware, Occupied, Trial


@small_kernel
def matches(h: Hardware, t: Trial, n: int, r: int, k: int) -> bool:
    """Whether a holder is of the kind and type of a request."""
    wanted = t.want[r, ask.W_TYPE]
    return bool(h.kind[n, k] == t.want[r, ask.W_KIND] and (wanted == 0 or h.type[n, k] == wanted))


@kernel
def has_devices(h: Hardware, n: int, kind: int) -> bool:
    """Whether the resources of a kind are devices on a node, and not only counted."""
    for k in range(h.kind.shape[1]):
        if h.kind[n, k] == kind and (h.number[n, k] >= 0 or h.device[n, k] >= 0):
            return True
    return False


@kernel
def shares_in_use(h: Hardware, o: Occupied, t: Trial, n: int, r: int) -> bool:
    """Whether shares of one device of the node are given out already: no other device gives any then."""
    if t.at[at.EMPTY] or not t.want[r, ask.W_SHARED] or h.rule[rule.SHARES_OF_MANY]:
        return False
    for k in range(h.kind.shape[1]):
        if h.kind[n, k] == t.want[r, ask.W_KIND] and o.taken[n, k] > 0:
            return True
    return False


@kernel
def free_of(h: Hardware, o: Occupied, t: Trial, n: int, k: int) -> int:
    """How much of a holder is free: a device is either given out whole or in shares."""
    if t.at[at.EMPTY]:
        return int(h.capacity[n, k])
    free = h.capacity[n, k] - o.taken[n, k]
    if free <= 0:
        return 0
    if h.device[n, k] >= 0:
        return 0 if o.taken[n, h.device[n, k]] > 0 else int(free)
    for other in range(h.kind.shape[1]):
        if h.device[n, other] == k and o.taken[n, other] > 0:
            return 0
    return int(free)


@kernel
def is_everywhere(h: Hardware, n: int, k: int) -> bool:
    """Whether a holder is bound to no socket, or to all of them, which is the same."""
    return bool(h.near[n, k] == 0 or h.near[n, k] == (1 << h.sockets[n]) - 1)


@kernel
def count_devices(h: Hardware, o: Occupied, t: Trial, n: int, r: int) -> bool:
    """Count the free devices of a request by socket; False: there are none."""
    in_use = shares_in_use(h, o, t, n, r)
    found = False
    for k in range(h.kind.shape[1]):
        if not matches(h, t, n, r, k) or (in_use and o.taken[n, k] == 0):
            continue
        free = free_of(h, o, t, n, k)
        if free == 0:
            continue
        if t.want[r, ask.W_SHARED] and not h.rule[rule.SHARES_OF_MANY] and not t.at[at.EMPTY]:
            t.limit[n, r] = max(t.limit[n, r], free)
        if is_everywhere(h, n, k):
            t.anywhere[n, r] += free
            t.total[n, r] += free
            found = True
            continue
        for s in range(h.sockets[n]):
            if (h.near[n, k] >> s) & 1 and not (t.ask[ask.BIND] and t.sock[at.S_FREE, s] == 0):
                t.near[n, r, s] += free
                found = True
        if found:
            t.total[n, r] += free
    return found


@kernel
def count_pools(h: Hardware, o: Occupied, t: Trial, n: int, r: int) -> bool:
    """Count what is only counted; a pool that is too small for the node's share is left out."""
    least = max(1, t.want[r, ask.W_NODE], t.want[r, ask.W_SOCKET], t.want[r, ask.W_TASK])
    found = False
    for k in range(h.kind.shape[1]):
        if matches(h, t, n, r, k):
            free = free_of(h, o, t, n, k)
            if free >= least:
                t.anywhere[n, r] += free
                t.total[n, r] += free
                found = True
    return found


@kernel
def limit_sockets(h: Hardware, t: Trial, n: int, r: int) -> None:
    """Apply the count for each socket, and with enforce-binding the number of sockets that is expected."""
    per_socket = t.want[r, ask.W_SOCKET]
    if per_socket:
        for s in range(h.sockets[n]):
            if t.near[n, r, s] < per_socket:
                t.total[n, r] -= t.near[n, r, s]
                t.near[n, r, s] = 0
                if t.ask[ask.BIND]:
                    t.sock[at.S_FREE, s] = 0
            else:
                t.total[n, r] -= t.near[n, r, s] - per_socket
                t.near[n, r, s] = per_socket
        return
    expected = t.ask[ask.SOCKETS_EXPECTED]
    if not t.want[r, ask.W_JOB] or not t.ask[ask.BIND] or expected < 0:
        return
    useful = 0
    for s in range(h.sockets[n]):
        useful += t.near[n, r, s] > 0 and t.sock[at.S_FREE, s] > 0
    while useful > expected:
        low = -1
        for s in range(h.sockets[n]):
            if t.near[n, r, s] > 0 and t.sock[at.S_FREE, s] > 0 and (low < 0 or t.near[n, r, s] < t.near[n, r, low]):
                low = s
        t.total[n, r] -= t.near[n, r, low]
        t.near[n, r, low] = 0
        t.sock[at.S_FREE, low] = 0
        useful -= 1


@kernel
def need_sockets(h: Hardware, t: Trial, n: int, r: int, least: int) -> None:
    """Mark the sockets that are needed for so many of a request: those with most of it first."""
    left = least - t.anywhere[n, r]
    for s in range(h.sockets[n]):
        t.sock[at.S_USED, s] = 0
    while left > 0:
        best = -1
        for s in range(h.sockets[n]):
            if t.near[n, r, s] == 0 or t.sock[at.S_USED, s] or t.sock[at.S_FREE, s] == 0:
                continue
            if best < 0 or t.near[n, r, s] > t.near[n, r, best]:
                best = s
        if best < 0:
            return
        t.sock[at.S_NEEDED, best] = 1
        t.sock[at.S_USED, best] = 1
        left -= t.near[n, r, best]


@kernel
def count_gres(h: Hardware, o: Occupied, t: Trial, n: int) -> bool:
    """Count what a node has free of every request; False: too little of one."""
    for r in range(t.ask[ask.REQUESTS]):
        t.total[n, r] = 0
        t.anywhere[n, r] = 0
        t.limit[n, r] = 0
        for s in range(h.sockets[n]):
            t.near[n, r, s] = 0
        if not has_devices(h, n, int(t.want[r, ask.W_KIND])):
            if not count_pools(h, o, t, n, r):
                return False
            continue
        if not count_devices(h, o, t, n, r):
            return False
        limit_sockets(h, t, n, r)
        least = max(t.want[r, ask.W_NODE], t.want[r, ask.W_TASK])
        if t.total[n, r] < least:
            return False
        need_sockets(h, t, n, r, int(least))
    return True


@small_kernel
def cpus_with_each(t: Trial, r: int) -> int:
    """CPUs that go with each one of a request."""
    if t.want[r, ask.W_CPUS]:
        return int(t.want[r, ask.W_CPUS])
    if t.want[r, ask.W_TASKS_EACH]:
        return int(t.want[r, ask.W_TASKS_EACH] * t.ask[ask.CPUS_PER_TASK])
    return int(t.want[r, ask.W_DEFAULT_CPUS])


@kernel
def least_of(t: Trial, n: int, r: int) -> int:
    """How many of a request the job needs on a node at least."""
    if t.ask[ask.WHOLE]:
        least = t.total[n, r]
    else:
        least = max(1, t.want[r, ask.W_NODE])
    if t.want[r, ask.W_SOCKET]:
        least = max(least, t.want[r, ask.W_SOCKET] * max(1, t.ask[ask.SOCKETS_EXPECTED]))
    if t.want[r, ask.W_TASK]:
        least = max(least, t.want[r, ask.W_TASK] * max(1, t.ask[ask.TASKS_PER_NODE]))
    return int(least)


@kernel
def memory_allows(t: Trial, n: int, r: int, memory: int) -> bool:
    """Memory that goes with each: limits how many; False: there is not enough for one. ``memory`` -1: any."""
    each = t.want[r, ask.W_MEMORY] if t.want[r, ask.W_MEMORY] else t.want[r, ask.W_DEFAULT_MEMORY]
    if each == 0 or memory < 0:
        return True
    if memory < each:
        return False
    t.limit[n, r] = memory // each
    t.total[n, r] = min(t.total[n, r], memory // each)
    return True


@kernel
def drop_unusable(h: Hardware, t: Trial, n: int, cpus: int, memory: int) -> int:
    """Take away what the remaining cores and memory cannot use; how many useful GPUs are near them, -1: too few."""
    near_gpus = 0
    cores = 0
    for s in range(h.sockets[n]):
        cores += t.keep[n, s]
    t.gpus[n] = 0
    for r in range(t.ask[ask.REQUESTS]):
        each = cpus_with_each(t, r)
        wanted = max(t.want[r, ask.W_NODE], t.want[r, ask.W_TASK], t.want[r, ask.W_SOCKET], 1)
        if (each and wanted > cpus // each) or not memory_allows(t, n, r, memory):
            return -1
        near = t.total[n, r]
        for s in range(h.sockets[n]):
            if t.keep[n, s] == 0:
                near -= t.near[n, r, s]
                if t.ask[ask.BIND]:
                    t.total[n, r] -= t.near[n, r, s]
                    t.near[n, r, s] = 0
        per_node = t.want[r, ask.W_NODE] if t.want[r, ask.W_NODE] else t.want[r, ask.W_JOB]
        if per_node and not t.ask[ask.WHOLE] and (t.limit[n, r] == 0 or t.limit[n, r] > per_node):
            t.limit[n, r] = per_node
        if each and not (t.ask[ask.WHOLE] and t.want[r, ask.W_TASKS_EACH]):
            most = cores * h.tpc[n] // each
            if most == 0:
                return -1
            t.limit[n, r] = min(t.limit[n, r], most) if t.limit[n, r] else most
        least = least_of(t, n, r)
        if t.total[n, r] < least or (t.limit[n, r] and t.limit[n, r] < least):
            return -1
        if t.want[r, ask.W_KIND] == h.rule[rule.GPU]:
            t.gpus[n] += t.total[n, r]
            near_gpus = min(255, near_gpus + (min(near, t.limit[n, r]) if t.limit[n, r] else near))
    return int(near_gpus)
