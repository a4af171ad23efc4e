"""Which devices a job gets on its nodes: their indexes.

Source: ``gres_select_filter_select_and_set`` and what it calls in
``src/plugins/select/cons_tres/gres_select_filter.c``; the choice for a count on each node is another one from 24.05 on.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, Hardware, Occupied, Trial
from gnomon.systems.slurm.select.gres_offering import (
    free_of,
    has_devices,
    is_everywhere,
    matches,
    shares_in_use,
)


@small_kernel
def is_near(h: Hardware, n: int, k: int, s: int) -> bool:
    """Whether a holder is bound to a socket; -1: to none in particular."""
    if s < 0:
        return is_everywhere(h, n, k)
    return (h.near[n, k] >> s) & 1 > 0 and not is_everywhere(h, n, k)


@kernel
def can_take(h: Hardware, o: Occupied, t: Trial, i: int, r: int, k: int) -> bool:
    """Whether a device is free for a request."""
    n = int(t.node[i])
    return matches(h, t, n, r, k) and t.devices[i, k] == 0 and free_of(h, o, t, n, k) > 0


@kernel
def take_device(h: Hardware, t: Trial, i: int, r: int, k: int) -> None:
    """Take a device, and count the links of the others to it."""
    n = t.node[i]
    t.devices[i, k] = 1
    t.need[i, r] += 1
    if h.link_table[n] >= 0:
        for other in range(len(t.linked)):
            if other != k:
                t.linked[other] += h.links[h.link_table[n], k, other]


@kernel
def forget_links(t: Trial) -> None:
    """No device is chosen yet."""
    for k in range(len(t.linked)):
        t.linked[k] = 0


@kernel
def best_link(t: Trial) -> int:
    """The most links of a device to the chosen ones, scaled to at most 4 as the source does it."""
    best = 0
    for k in range(len(t.linked)):
        best = max(best, t.linked[k])
    if best > 4:
        step = (best + 3) // 4
        best = 0
        for k in range(len(t.linked)):
            t.linked[k] //= step
            best = max(best, t.linked[k])
    return int(best)


@kernel
def take_linked(h: Hardware, o: Occupied, t: Trial, i: int, r: int, used: int) -> None:
    """Take devices near the sockets that are used (1) or not (0) up to the count of a node, the best linked first."""
    n = int(t.node[i])
    known = h.link_table[n] >= 0
    level = best_link(t) if known else 0
    while level >= 0:
        for s in range(-1 if used else 0, h.sockets[n]):
            if s >= 0 and (t.cores[i, s] > 0) != (used > 0):
                continue
            for k in range(h.kind.shape[1]):
                if t.need[i, r] >= t.want[r, ask.W_NODE]:
                    return
                if is_near(h, n, k, s) and can_take(h, o, t, i, r, k) and not (known and t.linked[k] < level):
                    t.devices[i, k] = 1
                    t.need[i, r] += 1
        level -= 1


@kernel
def first_near(h: Hardware, o: Occupied, t: Trial, i: int, r: int, s: int) -> int:
    """The first device that is free near a socket, -1 none; from 24.05 on the least linked, once one is taken."""
    best = -1
    for k in range(h.kind.shape[1]):
        if not is_near(h, int(t.node[i]), k, s) or not can_take(h, o, t, i, r, k):
            continue
        if best < 0 or (h.rule[rule.VERSION] >= 2405 and t.linked[k] < t.linked[best]):
            best = k
    return best


@kernel
def take_near(h: Hardware, o: Occupied, t: Trial, i: int, r: int, s: int, most: int) -> int:
    """Take up to so many devices near a socket, in order; how many."""
    count = 0
    while count < most:
        k = first_near(h, o, t, i, r, s)
        if k < 0:
            break
        take_device(h, t, i, r, k)
        count += 1
    return count


@kernel
def take_for_node(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> None:
    """A count for each node: one near each socket, more there, then others; from 24.05 on by the cores of a socket."""
    n = int(t.node[i])
    wanted = int(t.want[r, ask.W_NODE])
    if h.rule[rule.VERSION] < 2405:
        for s in range(-1, h.sockets[n]):
            if t.need[i, r] < wanted and (s < 0 or t.cores[i, s] > 0):
                take_near(h, o, t, i, r, s, 1)
        take_linked(h, o, t, i, r, 1)
        take_linked(h, o, t, i, r, 0)
        return
    cores = 0
    for s in range(h.sockets[n]):
        cores += t.cores[i, s]
    for s in range(h.sockets[n]):
        if t.cores[i, s] > 0:
            part = t.cores[i, s] * wanted // cores
            take_near(h, o, t, i, r, s, int(min(part, wanted - t.need[i, r])))
    take_near(h, o, t, i, r, -1, int(wanted - t.need[i, r]))
    for used in range(2):
        if used == 1 and t.ask[ask.BIND]:
            return
        for s in range(h.sockets[n]):
            if (t.cores[i, s] > 0) == (used == 0):
                take_near(h, o, t, i, r, s, int(wanted - t.need[i, r]))


@kernel
def take_for_sockets(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> None:
    """A count for each socket in use."""
    for s in range(h.sockets[t.node[i]]):
        if t.cores[i, s] > 0:
            count = take_near(h, o, t, i, r, s, int(t.want[r, ask.W_SOCKET]))
            take_near(h, o, t, i, r, -1, int(t.want[r, ask.W_SOCKET]) - count)


@kernel
def take_for_tasks(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> bool:
    """A count for each task: near its socket, then anywhere; False: too few."""
    n = int(t.node[i])
    each = int(t.want[r, ask.W_TASK])
    left = int(t.tasks[i])
    wanted = left * each
    for s in range(h.sockets[n]):
        tasks = min(left, int(max(t.cores[i, s] > 0, t.cores[i, s] * h.tpc[n] // t.ask[ask.CPUS_PER_TASK])))
        left -= tasks
        take_near(h, o, t, i, r, s, tasks * each)
    for s in range(-1, h.sockets[n]):
        take_near(h, o, t, i, r, s, int(wanted - t.need[i, r]))
    return bool(t.need[i, r] >= wanted)


@kernel
def drop_least_linked(h: Hardware, t: Trial, i: int, r: int, most: int) -> None:
    """Give devices back, down to so many: those with the fewest links to the one that has the best link."""
    n = t.node[i]
    table = h.link_table[n]
    best, anchor = -1, -1
    for k in range(h.kind.shape[1]):
        for other in range(k + 1, h.kind.shape[1]):
            if t.devices[i, k] and t.devices[i, other] and h.links[table, k, other] > best:
                best, anchor = h.links[table, k, other], k
    while t.need[i, r] > most and anchor >= 0:
        worst = -1
        for k in range(h.kind.shape[1]):
            if k == anchor or not t.devices[i, k]:
                continue
            if worst < 0 or h.links[table, anchor, k] < h.links[table, anchor, worst]:
                worst = k
        t.devices[i, worst] = 0
        t.need[i, r] -= 1


@kernel
def take_for_job(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> None:
    """A part of a count for the whole job: near the cores; the nodes after it get one each at least."""
    n = int(t.node[i])
    most = int(t.want[r, ask.W_JOB] - t.gathered[r] - (t.at[at.COUNT_NODES] - i - 1))
    cores = 0
    for s in range(h.sockets[n]):
        cores += t.cores[i, s]
    each = t.want[r, ask.W_CPUS] if t.want[r, ask.W_CPUS] else t.want[r, ask.W_TASKS_EACH] * t.ask[ask.CPUS_PER_TASK]
    if each:
        most = min(most, int(cores * h.tpc[n] // each))
    picked = ANY_COUNT if most > 1 and h.link_table[n] >= 0 else most
    for s in range(-1, h.sockets[n]):
        if s < 0 or t.cores[i, s] > 0:
            take_near(h, o, t, i, r, s, int(picked - t.need[i, r]))
    for s in range(h.sockets[n]):
        if t.need[i, r] == 0:
            take_near(h, o, t, i, r, s, 1)
    if t.need[i, r] > most and h.link_table[n] >= 0:
        drop_least_linked(h, t, i, r, most)


@kernel
def complete_job(h: Hardware, o: Occupied, t: Trial, r: int) -> bool:
    """Take what a count for the whole job still lacks wherever it is; False: it stays too little."""
    for i in range(t.at[at.COUNT_NODES]):
        for s in range(-1, h.sockets[t.node[i]]):
            lacks = int(t.want[r, ask.W_JOB] - t.gathered[r])
            if lacks > 0:
                t.gathered[r] += take_near(h, o, t, i, r, s, lacks)
    return bool(t.gathered[r] >= t.want[r, ask.W_JOB])


@kernel
def take_shares(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> bool:
    """Shares of one device: near the cores if one there has enough, else any; False: none has."""
    n = int(t.node[i])
    wanted = t.want[r, ask.W_NODE]
    in_use = shares_in_use(h, o, t, n, r)
    for turn in range(2):
        for s in range(-1, h.sockets[n]):
            if turn == 0 and s >= 0 and t.cores[i, s] == 0:
                continue
            for k in range(h.kind.shape[1]):
                if is_near(h, n, k, s) and can_take(h, o, t, i, r, k) and free_of(h, o, t, n, k) >= wanted:
                    if in_use and o.taken[n, k] == 0:
                        continue
                    t.devices[i, k] = wanted
                    t.need[i, r] = wanted
                    return True
    return False


@kernel
def take_pool(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> bool:
    """So many of what is only counted; False: there are too few."""
    n = int(t.node[i])
    if t.want[r, ask.W_NODE]:
        wanted = t.want[r, ask.W_NODE]
    elif t.want[r, ask.W_SOCKET]:
        wanted = 0
        for s in range(h.sockets[n]):
            wanted += t.want[r, ask.W_SOCKET] * (t.cores[i, s] > 0)
    elif t.want[r, ask.W_TASK]:
        wanted = t.want[r, ask.W_TASK] * t.tasks[i]
    else:
        wanted = t.want[r, ask.W_JOB] - t.gathered[r] - (t.at[at.COUNT_NODES] - i - 1)
        wanted = min(wanted, t.total[n, r])
    for k in range(h.kind.shape[1]):
        if matches(h, t, n, r, k):
            count = min(wanted - t.need[i, r], free_of(h, o, t, n, k) - t.devices[i, k])
            t.devices[i, k] += count
            t.need[i, r] += count
    return bool(t.need[i, r] >= wanted)


@kernel
def take_request(h: Hardware, o: Occupied, t: Trial, i: int, r: int) -> bool:
    """One request on the node in place ``i``; False: it cannot be met."""
    forget_links(t)
    if not has_devices(h, int(t.node[i]), int(t.want[r, ask.W_KIND])):
        return take_pool(h, o, t, i, r)
    if t.want[r, ask.W_NODE]:
        if t.want[r, ask.W_SHARED]:
            return take_shares(h, o, t, i, r)
        take_for_node(h, o, t, i, r)
        return bool(t.need[i, r] >= t.want[r, ask.W_NODE])
    if t.want[r, ask.W_SOCKET]:
        take_for_sockets(h, o, t, i, r)
    elif t.want[r, ask.W_TASK]:
        return take_for_tasks(h, o, t, i, r)
    else:
        take_for_job(h, o, t, i, r)
    return True


@kernel
def take_whole(h: Hardware, t: Trial, i: int) -> None:
    """A node that belongs to the job: all its devices, and what is only counted (``…_select_whole_node``)."""
    n = t.node[i]
    for k in range(h.kind.shape[1]):
        t.devices[i, k] = h.capacity[n, k] if h.kind[n, k] >= 0 and h.device[n, k] < 0 else 0
    for r in range(t.ask[ask.REQUESTS]):
        for k in range(h.kind.shape[1]):
            if matches(h, t, int(n), r, k):
                t.need[i, r] += t.devices[i, k]


@kernel
def take_devices(h: Hardware, o: Occupied, t: Trial) -> bool:
    """All requests on all nodes; False: one cannot be met."""
    for r in range(t.ask[ask.REQUESTS]):
        t.gathered[r] = 0
    for i in range(t.at[at.COUNT_NODES]):
        for k in range(h.kind.shape[1]):
            t.devices[i, k] = 0
        for r in range(t.ask[ask.REQUESTS]):
            t.need[i, r] = 0
        if t.ask[ask.WHOLE]:
            take_whole(h, t, i)
            continue
        for r in range(t.ask[ask.REQUESTS]):
            if not take_request(h, o, t, i, r):
                return False
            t.gathered[r] += t.need[i, r]
    if t.ask[ask.WHOLE]:
        return True
    for r in range(t.ask[ask.REQUESTS]):
        if t.want[r, ask.W_JOB] > t.gathered[r] and not complete_job(h, o, t, r):
            return False
    return True
