"""Order: one queue a tenant, kept by rank, and whose turn is next.

With one tenant this is a plain queue: first come first served, shortest first, priority... by the rank alone. With
several, the tenant is chosen first (smallest dominant share, least decayed use, turn) and then its first unit.
"""

from __future__ import annotations

import math

from gnomon.engine.compiling import entry_kernel, kernel, small_kernel
from gnomon.engine.log import Reason
from gnomon.engine.world import I32, NOW, SERVED, WAITING, World
from gnomon.scheduling.codes import (
    BY_DECAYED_USE,
    BY_RANK,
    BY_TURN,
    HALF_LIFE_NS,
    LIMITED,
    TENANTS,
)

TENANT_LIMIT, TENANT_RUNNING = int(Reason.TENANT_LIMIT), int(Reason.TENANT_RUNNING)


@kernel
def enqueue(w: World, u: int) -> None:
    """Insert a unit into its tenant's queue, behind all of smaller or equal rank. It is searched from both ends: who
    comes new stands near the tail, who comes back near the head."""
    t = w.tenant[u]
    place, front = w.tail[t], w.head[t]
    while place >= 0 and w.rank[place] > w.rank[u]:
        if w.rank[front] > w.rank[u]:
            place = w.before[front]
            break
        place, front = w.before[place], w.after[front]
    follower = w.head[t] if place < 0 else w.after[place]
    w.before[u] = place
    w.after[u] = follower
    if place < 0:
        w.head[t] = u
    else:
        w.after[place] = u
    if follower < 0:
        w.tail[t] = u
    else:
        w.before[follower] = u
    w.at[WAITING] += 1


@kernel
def dequeue(w: World, u: int) -> None:
    """Take a unit out of its tenant's queue."""
    t = w.tenant[u]
    before, after = w.before[u], w.after[u]
    if before < 0:
        w.head[t] = after
    else:
        w.after[before] = after
    if after < 0:
        w.tail[t] = before
    else:
        w.before[after] = before
    w.at[WAITING] -= 1


@kernel
def next_unit(w: World) -> int:
    """The unit to look at next in this pass, -1 when none is left: the smallest key over the tenants' cursors, ties by
    rank and then by the tenant's number."""
    tenants = len(w.head)
    if tenants == 1:
        return w.cursor[0]
    best = -1
    best_key = math.inf
    for t in range(tenants):
        u = w.cursor[t]
        if u < 0:
            continue
        key = tenant_key(w, t)
        if best < 0 or key < best_key or (key == best_key and w.rank[u] < w.rank[best]):
            best, best_key = u, key
    return best


@kernel
def tenant_key(w: World, t: int) -> float:
    """What tenants are compared by, smallest first; the same for all under a plain order, so that the rank decides."""
    rule = w.opt[TENANTS]
    if rule == BY_RANK:
        return 0.0
    if rule == BY_TURN:
        return float(w.usage[t])
    if rule == BY_DECAYED_USE:
        settle(w, t)
        return float(w.usage[t] / w.weight[t])
    return dominant_share(w, t) / w.weight[t]


@kernel
def dominant_share(w: World, t: int) -> float:
    """The largest of the tenant's shares of the cluster's resources (Ghodsi et al., Dominant Resource Fairness,
    NSDI 2011)."""
    share = 0.0
    for d in range(len(w.total)):
        if w.total[d] > 0:
            share = max(share, w.used[t, d] / w.total[d])
    return share


@kernel
def settle(w: World, t: int) -> None:
    """Bring a tenant's decayed use up to now: with half-life h, use u and constant rate r since dt,
    u·2^(-dt/h) + r·(h/ln 2)·(1 - 2^(-dt/h))."""
    now = w.at[NOW]
    dt = now - w.usage_at[t]
    if dt > 0:
        h = w.rate[HALF_LIFE_NS]
        kept = math.exp(-math.log(2.0) * dt / h)
        w.usage[t] = w.usage[t] * kept + w.used[t, 0] * (h / math.log(2.0)) * (1.0 - kept)
        w.usage_at[t] = now


@small_kernel
def charge(w: World, t: int, s: int, sign: int) -> None:
    """Enter the start (+1) or end (-1) of a task of shape ``s`` into its tenant's account."""
    rule = w.opt[TENANTS]
    if rule == BY_DECAYED_USE:
        settle(w, t)
    for d in range(w.need.shape[1]):
        w.used[t, d] += sign * w.need[s, d]
    w.running[t] += sign
    if rule == BY_TURN and sign > 0:
        w.at[SERVED] += 1
        w.usage[t] = float(w.at[SERVED])


@small_kernel
def over_limit(w: World, u: int) -> int:
    """0 if the unit's tenant may start it, else the Reason: the limit of its resources, or that of running tasks."""
    if w.opt[LIMITED] == 0:
        return 0
    t = w.tenant[u]
    if w.running[t] + w.size[u] > w.most_running[t]:
        return TENANT_RUNNING
    first = w.first[u]
    for d in range(w.need.shape[1]):
        held = w.used[t, d]
        for i in range(first, first + w.size[u]):
            held += w.need[w.shape[w.member[i]], d]
        if held > w.limit[t, d]:
            return TENANT_LIMIT
    return 0


@entry_kernel
def list_waiting(w: World) -> int:
    """Write the units of the only queue into ``World.victims`` (scratch), in order, and return how many there are."""
    count = 0
    u = w.head[0]
    while u >= 0:
        w.victims[count] = u
        count += 1
        u = w.after[u]
    return count


@entry_kernel
def relink(w: World, units: I32) -> None:
    """Put the waiting units of the only queue into the given order."""
    before = -1
    for u in units:
        w.before[u] = before
        w.after[u] = -1
        if before < 0:
            w.head[0] = u
        else:
            w.after[before] = u
        before = u
    w.tail[0] = before
    w.cursor[0] = w.head[0]
