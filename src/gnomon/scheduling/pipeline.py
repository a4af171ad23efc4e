"""The scheduling loop: order → admit → filter → score → commit, and when nothing fits: preempt, backfill, or wait with
a reason.

:func:`advance` is the one transition of the simulated world: it takes the events of the next instant in their
documented order (:mod:`gnomon.engine.agenda`), then runs one pass. :func:`schedule` is that pass. It can stop to
ask a policy written in Python and is entered again with the answer; all that it knows is in the world.
"""

from __future__ import annotations

from gnomon.engine.agenda import next_end, pop_end
from gnomon.engine.compiling import kernel
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.record import emit
from gnomon.engine.world import (
    ARRIVED,
    ASK,
    BLOCKED,
    CHOSEN,
    DECIDED,
    HEADS,
    IDLE,
    INSTANT,
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
    STEPS,
    TASKS_INSIDE,
    TRIGGER,
    WAITING,
    WOKEN,
    World,
)
from gnomon.model.resources import NEVER
from gnomon.scheduling.codes import (
    BACKFILL,
    BLOCKS_ALL,
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
    SINGLE,
)
from gnomon.scheduling.conservative import schedule_conservative
from gnomon.scheduling.easy import candidate_length, ends_in_time, may_use_extra, reserve
from gnomon.scheduling.moves import ASKING, NO_ROOM, PLACED, commit, finish, give_way, note_wait, place
from gnomon.scheduling.preempting import find_victims
from gnomon.scheduling.queueing import dequeue, enqueue, next_unit, over_limit

ARRIVE, REJECT, WAKE = int(Kind.ARRIVE), int(Kind.REJECT), int(Kind.WAKE)
S_WAITING, S_REJECTED = int(State.WAITING), int(State.REJECTED)
RESOURCES, ORDER, BACKFILLING, TENANT_LIMIT, TENANT_RUNNING, DROPPED = (
    int(r)
    for r in (
        Reason.RESOURCES,
        Reason.ORDER,
        Reason.BACKFILL,
        Reason.TENANT_LIMIT,
        Reason.TENANT_RUNNING,
        Reason.DROPPED,
    )
)


@kernel
def advance(w: World, until: int, instants: int, repeats: int) -> int:
    """Let the world go on: at most ``instants`` instants, none later than ``until``, at most ``repeats`` at a time."""
    while True:
        if w.at[PHASE] == IDLE:
            if instants == 0:
                return PAUSED
            now = next_time(w)
            if now > until or now >= NEVER:
                return OK
            if not has_space(w, now):
                return NEED_SPACE
            w.at[SAME] = w.at[SAME] + 1 if now == w.at[NOW] else 0
            if w.at[SAME] > repeats:
                return REPEATING
            w.at[NOW] = now
            w.at[INSTANT] += 1
            instants -= 1
            take_events(w, now)
            if w.at[WAITING] == 0 or (w.at[QUIET] == 1 and quiet_pass(w)):
                continue
            begin_pass(w)
            if w.opt[ORDER_PYTHON] == 1:
                return NEED_ORDER
        asked = schedule(w)
        if asked >= 0:
            w.at[ASK] = asked
            return NEED_NODE


@kernel
def next_time(w: World) -> int:
    """When the next event happens, NEVER if none will."""
    now = next_end(w)
    if w.at[ARRIVED] < len(w.arrivals):
        now = min(now, w.submit[w.member[w.first[w.arrivals[w.at[ARRIVED]]]]])
    if w.at[WOKEN] < len(w.wakes):
        now = min(now, w.wakes[w.at[WOKEN]])
    return now


@kernel
def has_space(w: World, now: int) -> bool:
    """Whether log and profile surely hold what one instant can add: each task that is in the system or enters it now
    has a few rows at most (an arrival, an end, waits, a preemption, a start) and a few steps."""
    entering = w.at[ARRIVED]
    tasks = 0
    while entering < len(w.arrivals):
        u = w.arrivals[entering]
        if w.submit[w.member[w.first[u]]] > now:
            break
        tasks += w.size[u]
        entering += 1
    inside = w.at[TASKS_INSIDE] + tasks
    if w.opt[BACKFILL] == CONSERVATIVE and w.at[STEPS] + 4 * inside + 2 * len(w.window_node) + 8 > len(w.step_time):
        return False
    return w.at[ROWS] + 8 * inside + 2 * tasks + 64 + len(w.wakes) <= len(w.log_t)


@kernel
def take_events(w: World, now: int) -> None:
    """Ends, then windows, then submissions; or only the first of them with ``instants=single``."""
    w.at[SEEN] = w.at[ARRIVED]
    single = w.opt[SINGLE] == 1
    if single and submits_now(w, now):
        arrive(w, w.arrivals[w.at[ARRIVED]])
        w.at[ARRIVED] += 1
        return
    while next_end(w) == now:
        finish(w, pop_end(w))
        w.at[TASKS_INSIDE] -= 1
        if single:
            return
    while w.at[WOKEN] < len(w.wakes) and w.wakes[w.at[WOKEN]] == now:
        row = emit(w, WAKE, -1, -1, -1, 0, 0)
        for n in range(len(w.node_row)):
            w.node_row[n] = row
        w.at[TRIGGER] = row
        w.at[QUIET] = 0
        w.at[WOKEN] += 1
    while submits_now(w, now):
        arrive(w, w.arrivals[w.at[ARRIVED]])
        w.at[ARRIVED] += 1


@kernel
def submits_now(w: World, now: int) -> bool:
    """Whether the next unit to be submitted is so now."""
    if w.at[ARRIVED] >= len(w.arrivals):
        return False
    return w.submit[w.member[w.first[w.arrivals[w.at[ARRIVED]]]]] == now


@kernel
def arrive(w: World, u: int) -> None:
    """Admit a unit to its queue, or refuse it for ever."""
    for i in range(w.first[u], w.first[u] + w.size[u]):
        task = w.member[i]
        w.state[task] = S_WAITING
        w.arrive_row[task] = emit(w, ARRIVE, task, -1, -1, 0, 0)
    if w.verdict[u] != 0:
        refuse(w, u, w.verdict[u])
        return
    w.at[TASKS_INSIDE] += w.size[u]
    enqueue(w, u)


@kernel
def refuse(w: World, u: int, reason: int) -> None:
    """Reject all tasks of a unit."""
    for i in range(w.first[u], w.first[u] + w.size[u]):
        task = w.member[i]
        w.state[task] = S_REJECTED
        emit(w, REJECT, task, -1, w.arrive_row[task], reason, -1)


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
    if w.rank[u] < w.rank[w.at[BLOCKED]]:
        return False
    if w.opt[BACKFILL] == EASY and not nothing_free(w) and squeeze(w, u) == PLACED:
        commit(w, u)
    end_pass(w)
    w.at[QUIET] = 1
    return True


@kernel
def schedule(w: World) -> int:
    """One pass over the queues. -1 when it is through; else the task about which a Python placement is asked."""
    if w.opt[BACKFILL] == CONSERVATIVE:
        schedule_conservative(w)
        end_pass(w)
        return -1
    while True:
        u = pick(w)
        if u < 0 or (w.at[PHASE] == SCAN and nothing_free(w)):
            break
        over = over_limit(w, u)
        if over > 0:
            note_wait(w, u, TENANT_RUNNING if over == 2 else TENANT_LIMIT, w.tenant[u])
            w.at[CHOSEN] = -1
            w.cursor[w.tenant[u]] = -1
            continue
        follower = w.after[u]
        outcome = place(w, u, candidate_length(w, u), False) if w.at[PHASE] == HEADS else squeeze(w, u)
        if outcome == ASKING:
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
    return -1


@kernel
def pick(w: World) -> int:
    """The unit to try next, -1 none: the one that the scheduler is committed to, else by the order; while scanning for
    candidates by the order or by submission, past the unit that stopped the first phase."""
    if w.at[PHASE] == HEADS:
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


@kernel
def waits(w: World, u: int) -> bool:
    """Whether a unit is in a queue."""
    return w.state[w.member[w.first[u]]] == S_WAITING


@kernel
def preempt(w: World, u: int) -> bool:
    """Make room for a single task by sending away running units of lower priority; the pass then tries it again."""
    if w.size[u] > 1:
        return False
    task = w.member[w.first[u]]
    count = find_victims(w, task)
    for i in range(count):
        v = w.victims[i]
        if w.ticket[v] >= 0:  # not gone already with its gang
            give_way(w, w.unit[v], task)
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
    if w.opt[COMMITTED] == 1:
        w.at[CHOSEN] = u
    if w.opt[BACKFILL] == EASY:
        begin_scan(w, u)
        w.cursor[w.tenant[u]] = follower if w.opt[COMMITTED] == 0 else w.head[w.tenant[u]]
    elif w.opt[BLOCKS_ALL] == 1:
        for t in range(len(w.cursor)):
            w.cursor[t] = -1
        w.at[BLOCKED] = u
    else:
        w.cursor[w.tenant[u]] = -1
    note_wait(w, u, RESOURCES, w.at[SHADOW] if w.at[PROMISED] == u else -1)


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


@kernel
def squeeze(w: World, u: int) -> int:
    """Start a candidate ahead of its turn if that delays nobody who holds a reservation."""
    length = candidate_length(w, u)
    if w.at[PROMISED] < 0 or ends_in_time(w, u):
        return place(w, u, length, False)
    if may_use_extra(w):
        return place(w, u, length, True)
    return NO_ROOM


@kernel
def nothing_free(w: World) -> bool:
    """Whether a pool has too little left for even the smallest request, so that the scan may end."""
    if len(w.free) > 1:
        return False
    for d in range(len(w.least)):
        if w.free[0, d] < w.least[d]:
            return True
    return False


@kernel
def note_behind(w: World, u: int, reason: int) -> None:
    """Log once that a unit waits behind others."""
    if w.why[w.member[w.first[u]]] == 0:
        ahead = w.at[PROMISED]
        note_wait(w, u, reason, w.member[w.first[ahead]] if ahead >= 0 else -1)


@kernel
def end_pass(w: World) -> None:
    """Give those who entered at this instant and still wait their reason."""
    w.at[PHASE] = IDLE
    w.at[QUIET] = w.opt[SETTLED] == 1 and w.at[BLOCKED] >= 0
    for k in range(w.at[SEEN], w.at[ARRIVED]):
        if waits(w, w.arrivals[k]):
            note_behind(w, w.arrivals[k], ORDER)
    w.at[SEEN] = w.at[ARRIVED]
