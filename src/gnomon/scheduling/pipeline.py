"""The scheduling loop: order → admit → filter → score → commit, and when nothing fits: preempt, backfill, or wait with
a reason.

:func:`advance` is the one transition of the simulated world: it takes the events of the next instant in their
documented order (:mod:`gnomon.scheduling.events`), then runs one pass. :func:`schedule` is that pass. It can stop to
ask a policy written in Python and is entered again with the answer; all that it knows is in the world.
"""

from __future__ import annotations

from gnomon.engine.compiling import entry_kernel, kernel, small_kernel
from gnomon.engine.ledger import copy_rows, fits
from gnomon.engine.log import Reason, State
from gnomon.engine.world import (
    ARRIVED,
    ASK,
    BLOCKED,
    CALL,
    CHOSEN,
    DECIDED,
    EVENTS,
    FROZEN,
    FULL,
    HEADS,
    IDLE,
    INSTANT,
    NEED_EVENTS,
    NEED_NODE,
    NEED_ORDER,
    NEED_SPACE,
    NOW,
    OK,
    OLDEST,
    PAUSED,
    PHASE,
    PROMISED,
    QUIET,
    REPEATING,
    ROWS,
    SAME,
    SCAN,
    SCANNED,
    SEEN,
    SHADOW,
    STARTED,
    TASKS_INSIDE,
    WAITING,
    World,
)
from gnomon.model.resources import NEVER
from gnomon.scheduling.codes import (
    BACKFILL,
    BLOCKS_ALL,
    BY_RANK,
    COMMITTED,
    CONSERVATIVE,
    DROP,
    EASY,
    FILL,
    KEEP,
    ORDER_PYTHON,
    PREEMPT,
    SCAN_SUBMIT,
    SETTLED,
    TENANTS,
)
from gnomon.scheduling.conservative import schedule_conservative
from gnomon.scheduling.easy import ends_in_time, may_use_extra, reserve
from gnomon.scheduling.events import has_space, next_time, refuse, take_events
from gnomon.scheduling.moves import ASKING, NO_ROOM, PLACED, commit, give_way, note_wait, place
from gnomon.scheduling.preempting import find_victims
from gnomon.scheduling.queueing import dequeue, next_unit, over_limit
from gnomon.scheduling.seats import seat_all

S_WAITING = int(State.WAITING)
RESOURCES, RESERVED, ORDER, TURN, BACKFILLING, DROPPED, NO_LEADER = (
    int(r)
    for r in (
        Reason.RESOURCES,
        Reason.RESERVED,
        Reason.ORDER,
        Reason.TURN,
        Reason.BACKFILL,
        Reason.DROPPED,
        Reason.NO_LEADER,
    )
)

# What schedule answers besides a task.
THROUGH = -1
NO_SPACE = -2


@entry_kernel
def advance(w: World, until: int, instants: int, repeats: int, rows: int) -> int:
    """Let the world go on: at most ``instants`` instants, none later than ``until``, at most ``repeats`` at a time, and
    none once the log has ``rows`` rows."""
    while True:
        if w.at[PHASE] == IDLE:
            if w.at[CALL] == 1:
                return NEED_EVENTS
            if instants == 0:
                return PAUSED
            now = next_time(w)
            if now > until or now >= NEVER:
                return OK
            if w.at[ROWS] >= rows:
                return FULL
            if not has_space(w, now):
                return NEED_SPACE
            w.at[SAME] = w.at[SAME] + 1 if now == w.at[NOW] else 0
            if w.at[SAME] > repeats:
                return REPEATING
            w.at[NOW] = now
            w.at[INSTANT] += 1
            instants -= 1
            take_events(w, now)
            if w.at[CALL] == 1:
                w.at[PHASE] = EVENTS
                return NEED_EVENTS
        if w.at[PHASE] == IDLE or w.at[PHASE] == EVENTS:
            w.at[PHASE] = IDLE
            if w.at[FROZEN] == 1:
                note_frozen(w)
                continue
            if w.at[WAITING] == 0 or (w.at[QUIET] == 1 and quiet_pass(w)):
                continue
            begin_pass(w)
            if w.opt[ORDER_PYTHON] == 1:
                return NEED_ORDER
        asked = schedule(w)
        if asked == NO_SPACE:
            return NEED_SPACE
        if asked >= 0:
            w.at[ASK] = asked
            return NEED_NODE


@kernel
def note_frozen(w: World) -> None:
    """Nobody decides: those who entered at this instant wait for somebody who does."""
    for k in range(w.at[SEEN], w.at[ARRIVED]):
        u = w.arrivals[k]
        if waits(w, u):
            note_wait(w, u, NO_LEADER, -1)


@kernel
def begin_pass(w: World) -> None:
    """Point every tenant's cursor at the head of its queue."""
    w.at[PHASE] = HEADS
    w.at[STARTED] = 0
    w.at[BLOCKED] = -1
    if w.opt[KEEP] == 0:
        w.at[PROMISED] = -1
    for t in range(len(w.head)):
        w.cursor[t] = w.head[t]


@kernel
def quiet_pass(w: World) -> bool:
    """The pass after one arrival, when nothing was given back since the last pass and the same unit still stops the
    queue. Whoever was refused then would be refused again: less is free, the promise is as it was, and time has passed.
    So only the newcomer is looked at. False when that reasoning does not apply and a full pass is needed."""
    if w.at[ARRIVED] != w.at[SEEN] + 1:
        return w.at[ARRIVED] == w.at[SEEN]
    u = w.arrivals[w.at[SEEN]]
    if not waits(w, u):
        return True
    stale = w.at[PROMISED] >= 0 and w.at[SHADOW] < w.at[NOW]  # a task overran, so that the promise has to move
    if stale or w.rank[u] < w.rank[w.at[BLOCKED]]:
        return False
    if w.opt[BACKFILL] == EASY and not nothing_free(w):
        if squeeze(w, u) == PLACED:
            commit(w, u)
        else:
            note_behind(w, u, BACKFILLING)
    end_pass(w)
    w.at[QUIET] = 1
    return True


@kernel
def schedule(w: World) -> int:
    """One pass over the queues. THROUGH; or the task about which a Python placement is asked; or NO_SPACE, when the log
    may not hold what the next unit adds: with preemption a pass has no bound in the number of tasks."""
    if w.opt[BACKFILL] == CONSERVATIVE:
        schedule_conservative(w)
        end_pass(w)
        return THROUGH
    while True:
        if w.opt[PREEMPT] == 1 and w.at[ROWS] + 4 * w.at[TASKS_INSIDE] + 64 > len(w.log_t):
            return NO_SPACE
        u = pick(w)
        if u < 0 or (w.at[PHASE] == SCAN and nothing_free(w)):
            break
        held_by = over_limit(w, u)
        if held_by > 0:
            note_wait(w, u, held_by, w.tenant[u])
            w.at[CHOSEN] = -1
            w.cursor[w.tenant[u]] = -1
            continue
        follower = w.after[u]
        outcome = squeeze(w, u) if w.at[PHASE] == SCAN else place(w, u, False)
        if outcome == ASKING:
            w.at[SCANNED] -= w.at[PHASE] == SCAN and w.opt[SCAN_SUBMIT] == 1  # to be picked again with the answer
            return w.member[w.first[u] + w.at[DECIDED]]
        if outcome == PLACED:
            commit(w, u)
            w.cursor[w.tenant[u]] = follower if w.at[CHOSEN] != u else w.head[w.tenant[u]]
            if w.at[CHOSEN] == u:
                w.at[CHOSEN] = -1
        elif w.at[PHASE] == SCAN:
            note_behind(w, u, BACKFILLING)
            w.cursor[w.tenant[u]] = follower
        elif w.opt[PREEMPT] == 0 or not preempt(w, u):
            block(w, u, follower)
    end_pass(w)
    return THROUGH


@kernel
def pick(w: World) -> int:
    """The unit to try next, -1 none: the one that the scheduler is committed to, else by the order, until one stops all
    others; while scanning for candidates by the order or by submission, past the unit that stopped the first phase."""
    if w.at[PHASE] == HEADS:
        if w.at[BLOCKED] >= 0:
            return -1
        return w.at[CHOSEN] if w.at[CHOSEN] >= 0 else next_unit(w)
    if w.opt[SCAN_SUBMIT] == 1:
        return next_submitted(w)
    u = next_unit(w)
    if u == w.at[BLOCKED]:
        w.cursor[w.tenant[u]] = w.after[u]
        u = next_unit(w)
    return u


@kernel
def next_submitted(w: World) -> int:
    """The next waiting unit by (submit time, position) that this pass has not looked at."""
    while w.at[OLDEST] < w.at[ARRIVED] and not waits(w, w.arrivals[w.at[OLDEST]]):
        w.at[OLDEST] += 1
    w.at[SCANNED] = max(w.at[SCANNED], w.at[OLDEST])
    while w.at[SCANNED] < w.at[ARRIVED]:
        u = w.arrivals[w.at[SCANNED]]
        w.at[SCANNED] += 1
        if u != w.at[BLOCKED] and waits(w, u):
            return u
    return -1


@small_kernel
def waits(w: World, u: int) -> bool:
    """Whether a unit is in a queue."""
    return w.state[w.member[w.first[u]]] == S_WAITING


@kernel
def preempt(w: World, u: int) -> bool:
    """Make room for a single task by sending away running units of lower priority; the pass then tries it again, before
    those who just lost their places."""
    if w.size[u] > 1:
        return False
    task = w.member[w.first[u]]
    count = find_victims(w, task)
    for i in range(count):
        v = w.victims[i]
        if w.ticket[v] >= 0:  # not gone already with its gang
            give_way(w, w.unit[v], task)
    if count > 0:
        w.at[CHOSEN] = u
    return count > 0


@kernel
def block(w: World, u: int, follower: int) -> None:
    """The first unit does not fit: it stops everybody, or its tenant only, or gets the reservation, or is dropped."""
    if w.opt[DROP] == 1:
        dequeue(w, u)
        w.at[TASKS_INSIDE] -= w.size[u]
        refuse(w, u, DROPPED)
        w.cursor[w.tenant[u]] = follower
        return
    w.at[CHOSEN] = u if w.opt[COMMITTED] == 1 else -1
    reason = what_holds(w, u)
    if w.opt[BACKFILL] == EASY:
        begin_scan(w, u)
        w.cursor[w.tenant[u]] = follower if w.opt[COMMITTED] == 0 else w.head[w.tenant[u]]
    elif w.opt[BLOCKS_ALL] == 1 or w.opt[COMMITTED] == 1:
        w.at[BLOCKED] = u
    else:
        w.cursor[w.tenant[u]] = -1
    note_wait(w, u, reason, w.at[SHADOW] if w.at[PROMISED] == u else -1)


@kernel
def what_holds(w: World, u: int) -> int:
    """The reason for which a unit does not fit: too little is free, or what is free is set aside for others."""
    if len(w.window_node) == 0:
        return RESOURCES
    copy_rows(w.rest, w.free)
    return RESERVED if seat_all(w, u, -1) else RESOURCES


@kernel
def begin_scan(w: World, u: int) -> None:
    """Promise the blocked unit its start, and look for candidates behind it. With ``after-start=fill`` nobody has a
    promise in a pass that started something."""
    w.at[PHASE] = SCAN
    w.at[BLOCKED] = u
    w.at[SCANNED] = 0
    if w.opt[FILL] == 0 or w.at[STARTED] == 0:
        reserve(w, u)
    else:
        w.at[PROMISED] = -1


@small_kernel
def squeeze(w: World, u: int) -> int:
    """Start a candidate ahead of its turn if that delays nobody who holds a reservation."""
    if len(w.free) == 1 and not fits(w, w.free, 0, w.shape[w.member[w.first[u]]]):
        return NO_ROOM  # most often, in a pool
    spare = w.at[PROMISED] >= 0 and not ends_in_time(w, u)
    if spare and not may_use_extra(w):
        return NO_ROOM
    return place(w, u, spare)


@kernel
def nothing_free(w: World) -> bool:
    """Whether a pool has too little left for even the smallest request, so that the scan may end."""
    if len(w.free) > 1:
        return False
    for d in range(len(w.least)):
        if w.free[0, d] < w.least[d]:
            return True
    return False


@small_kernel
def note_behind(w: World, u: int, reason: int) -> None:
    """Log once that a unit waits behind others."""
    if w.why[w.member[w.first[u]]] == 0:
        ahead = w.at[PROMISED] if w.at[PROMISED] >= 0 else w.at[BLOCKED]
        note_wait(w, u, reason, w.member[w.first[ahead]] if ahead >= 0 else -1)


@kernel
def end_pass(w: World) -> None:
    """Give those who entered at this instant and still wait their reason."""
    w.at[PHASE] = IDLE
    w.at[QUIET] = w.opt[SETTLED] == 1 and w.at[BLOCKED] >= 0
    for k in range(w.at[SEEN], w.at[ARRIVED]):
        u = w.arrivals[k]
        if waits(w, u):
            others_turn = w.opt[TENANTS] != BY_RANK and w.before[u] < 0
            note_behind(w, u, TURN if others_turn else ORDER)
    w.at[SEEN] = w.at[ARRIVED]
