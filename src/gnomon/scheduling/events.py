"""The events of an instant, in their documented order (:mod:`gnomon.engine.agenda`), and who enters the queues."""

from __future__ import annotations

from gnomon.engine.agenda import next_end, pop_end
from gnomon.engine.compiling import kernel
from gnomon.engine.log import Kind, State
from gnomon.engine.record import emit
from gnomon.engine.world import (
    ARRIVED,
    CALL,
    QUIET,
    ROWS,
    SEEN,
    STEPS,
    TASKS_INSIDE,
    TIMER,
    TRIGGER,
    WAITING,
    WOKEN,
    World,
)
from gnomon.scheduling.codes import BACKFILL, CONSERVATIVE, SINGLE
from gnomon.scheduling.moves import finish
from gnomon.scheduling.queueing import enqueue

ARRIVE, REJECT, WAKE = int(Kind.ARRIVE), int(Kind.REJECT), int(Kind.WAKE)
S_WAITING, S_REJECTED = int(State.WAITING), int(State.REJECTED)


@kernel
def next_time(w: World) -> int:
    """When the next event happens, NEVER if none will."""
    now = next_end(w)
    if w.at[ARRIVED] < len(w.arrivals):
        now = min(now, w.submit[w.member[w.first[w.arrivals[w.at[ARRIVED]]]]])
    if w.at[WOKEN] < len(w.wakes) and (w.at[WAITING] > 0 or w.at[ARRIVED] < len(w.arrivals)):
        now = min(now, w.wakes[w.at[WOKEN]])  # of interest only to those who wait, or will
    return min(now, w.at[TIMER])


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
    """Ends, then windows, then submissions, then what Python handles; or only the first of them with
    ``instants=single``."""
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
    if w.at[TIMER] <= now:
        w.at[CALL] = 1


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
