"""Conservative backfilling: everybody who waits has a promised start, and nobody may delay one (Mualem & Feitelson,
IEEE TPDS 2001).

A unit gets the earliest slot on arrival. When something is given back early, the slots are tightened in queue order,
each unit taking the earliest slot while all others keep theirs: so a promise only ever gets earlier. When tasks
overrun their estimates (``kill_at_limit`` off) or hold a place for their peers (``gang`` off), promises cannot all be
kept, and the profile is made anew. A unit that is expected to take no time books nothing: its promise may slip.

With ``ends=actual`` running tasks are expected to end when they really will. As that is known from their start only,
all slots are made anew at each pass.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.ledger import copy_rows, has_place
from gnomon.engine.log import Reason
from gnomon.engine.world import FREED, HELD, LINE, NOW, STEPS, World
from gnomon.model.resources import NEVER
from gnomon.scheduling.codes import REAL_ENDS
from gnomon.scheduling.easy import candidate_length
from gnomon.scheduling.moves import commit, note_wait, occupy
from gnomon.scheduling.profile import book, find_slot, forget_past, split
from gnomon.scheduling.queueing import next_unit, over_limit

RESOURCES = int(Reason.RESOURCES)


@kernel
def schedule_conservative(w: World) -> None:
    """One pass: bring the profile up to now, tighten if something was freed, start what is due now."""
    now = w.at[NOW]
    fresh = w.at[STEPS] == 0 or w.at[FREED] == 2 or w.at[HELD] > 0 or w.opt[REAL_ENDS] == 1 or _overrun(w)
    if fresh:
        _rebuild(w)
    else:
        forget_past(w)
    tighten = fresh or w.at[FREED] == 1 or len(w.head) > 1
    w.at[FREED] = 0
    while True:
        u = next_unit(w)
        if u < 0:
            return
        t = w.tenant[u]
        w.cursor[t] = w.after[u]
        held_by = over_limit(w, u)
        if held_by > 0:
            if w.slot[u] < NEVER:
                _lift(w, u)
                w.slot[u] = NEVER
                w.at[FREED] = max(w.at[FREED], 1)
            note_wait(w, u, held_by, t)
            continue
        if tighten or w.slot[u] >= NEVER:
            before = w.slot[u]
            _improve(w, u)
            if w.slot[u] < before < NEVER:
                w.at[FREED] = max(w.at[FREED], 1)  # those in front may gain from it at the next pass
        if w.slot[u] <= now and _take_places(w, u):
            commit(w, u)
        else:
            note_wait(w, u, RESOURCES, w.slot[u])


@kernel
def _take_places(w: World, u: int) -> bool:
    """Take the places that are promised for now, or none: who was expected to take no time may still hold one, until
    the next pass of this instant."""
    first = w.first[u]
    for i in range(first, first + w.size[u]):
        task = w.member[i]
        if not has_place(w, task):
            for k in range(first, i):
                occupy(w, w.member[k], 1, False)
            return False
        occupy(w, task, -1, False)
    return True


@kernel
def _overrun(w: World) -> bool:
    """Whether a running task has passed its expected end."""
    return w.at[LINE] > 0 and w.line_due[0] <= w.at[NOW]


@kernel
def _rebuild(w: World) -> None:
    """The profile from nothing: what is free now, and running tasks by their expected ends; one that has passed it is
    expected to take its whole estimate once more. All promises are void."""
    now = w.at[NOW]
    w.at[STEPS] = 1
    w.step_time[0] = now
    copy_rows(w.step_free[0], w.free)
    for k in range(w.at[LINE]):
        task = w.line[k]
        due = w.due[task] if w.due[task] > now else now + max(w.estimate[task], 1)
        if due < NEVER:
            book(w, task, due, NEVER, 1)
    for i in range(len(w.window_node)):
        _book_window(w, i, -1)
    for t in range(len(w.head)):
        u = w.head[t]
        while u >= 0:
            w.slot[u] = NEVER
            u = w.after[u]


@kernel
def _book_window(w: World, i: int, sign: int) -> None:
    """Take (-1) what a window sets aside out of the profile, or give it back (+1)."""
    begin, end = max(w.window_from[i], w.at[NOW]), w.window_to[i]
    if begin >= end:
        return
    first = split(w, begin)
    last = split(w, end) if end < NEVER else w.at[STEPS]
    n = w.window_node[i]
    for step in range(first, last):
        for k in range(w.step_free.shape[2]):
            w.step_free[step, n, k] += sign * w.window_amount[i, k]


@kernel
def _improve(w: World, u: int) -> None:
    """Give the unit the earliest slot while all others keep theirs, or leave it its own. Its windows are open to it."""
    length = candidate_length(w, u)
    bound = w.slot[u] + 1 if w.slot[u] < NEVER else NEVER
    _lift(w, u)
    _open_windows(w, u, 1)
    slot = find_slot(w, u, length, bound)
    _open_windows(w, u, -1)
    w.slot[u] = min(slot, w.slot[u])  # who takes no time has nothing booked, so that its slot may not be found again
    _book_unit(w, u, length, -1)


@kernel
def _open_windows(w: World, u: int, sign: int) -> None:
    user = w.user[w.member[w.first[u]]]
    for i in range(len(w.window_node)):
        if w.window_user[i, user] == 1:
            _book_window(w, i, sign)


@kernel
def _lift(w: World, u: int) -> None:
    """Take the unit's promise out of the profile."""
    _book_unit(w, u, candidate_length(w, u), 1)


@kernel
def _book_unit(w: World, u: int, length: int, sign: int) -> None:
    if w.slot[u] >= NEVER:
        return
    for i in range(w.first[u], w.first[u] + w.size[u]):
        book(w, w.member[i], w.slot[u], w.slot[u] + length, sign)
