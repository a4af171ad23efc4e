"""What changes the state: a unit is placed, started, held, ends, gives way. Only these touch ledger and queues."""

from __future__ import annotations

from gnomon.engine.agenda import enter_line, leave_line, push_end
from gnomon.engine.compiling import entry_kernel, kernel
from gnomon.engine.ledger import move, touch
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.record import emit
from gnomon.engine.world import (
    CALL,
    CHOSEN,
    DECIDED,
    FREED,
    HELD,
    NOW,
    OLDEST,
    PROMISED,
    QUIET,
    STARTED,
    STEPS,
    TASKS_INSIDE,
    TICKETS,
    TRIGGER,
    World,
)
from gnomon.model.resources import NEVER
from gnomon.scheduling.codes import BACKFILL, CONSERVATIVE, LIMITED, PLACEMENT, PYTHON, REAL_ENDS, USES_LINE
from gnomon.scheduling.easy import candidate_length
from gnomon.scheduling.placing import ASK_PYTHON, choose_devices, choose_node
from gnomon.scheduling.profile import book
from gnomon.scheduling.queueing import charge, dequeue, enqueue

# Kernels see plain numbers.
START, HOLD, END, KILL, PREEMPT, CANCEL, WAIT = (
    int(k) for k in (Kind.START, Kind.HOLD, Kind.END, Kind.KILL, Kind.PREEMPT, Kind.CANCEL, Kind.WAIT)
)
FAIL, QUEUE = int(Kind.FAIL), int(Kind.QUEUE)
S_WAITING, S_HELD, S_RUNNING, S_DONE, S_KILLED, S_FAILED = (
    int(s) for s in (State.WAITING, State.HELD, State.RUNNING, State.DONE, State.KILLED, State.FAILED)
)
NO_REASON, AT_ESTIMATE, PREEMPTED, PEERS, EXIT = (
    int(r) for r in (Reason.NONE, Reason.AT_ESTIMATE, Reason.PREEMPTED, Reason.PEERS, Reason.EXIT)
)

PLACED = 1
NO_ROOM = 0
ASKING = 2


@kernel
def place(w: World, u: int, spare: bool) -> int:
    """Take places for all tasks of a unit, or for none: PLACED, NO_ROOM, or ASKING (a Python placement).

    ``spare``: it must fit what the reservation leaves over, and takes it.
    """
    first = w.first[u]
    w.at[DECIDED] = 0
    for i in range(first, first + w.size[u]):
        task = w.member[i]
        n = choose_node(w, task, spare)
        if n < 0:
            for k in range(first, i):
                occupy(w, w.member[k], 1, spare)
            if n != ASK_PYTHON:
                forget_decisions(w)
            return ASKING if n == ASK_PYTHON else NO_ROOM
        w.node[task] = n
        w.devices[task] = choose_devices(w, n, task, spare)
        occupy(w, task, -1, spare)
    forget_decisions(w)
    return PLACED


@kernel
def occupy(w: World, task: int, sign: int, spare: bool) -> None:
    """Take (-1) the task's place from the ledger, or give it back (+1); from what is spare as well if so said."""
    n, s, bits = w.node[task], w.shape[task], w.devices[task]
    move(w, w.free, n, s, bits, sign)
    w.families[n, w.family[s]] -= sign
    touch(w, n)
    if spare:
        move(w, w.rest, n, s, bits, sign)


@kernel
def forget_decisions(w: World) -> None:
    """The answers of a Python placement count for one attempt to place one unit."""
    if w.opt[PLACEMENT] == PYTHON:
        for k in range(w.at[DECIDED]):
            w.decided[k] = ASK_PYTHON
        w.at[DECIDED] = 0


@kernel
def commit(w: World, u: int) -> None:
    """Start the tasks of a placed unit; of a job whose other tasks have no place yet, hold them."""
    dequeue(w, u)
    w.at[STARTED] += 1
    if w.at[PROMISED] == u:
        w.at[PROMISED] = -1
    t = w.tenant[u]
    gang = w.size[u] > 1
    for i in range(w.first[u], w.first[u] + w.size[u]):
        task = w.member[i]
        charge(w, t, w.shape[task], 1)
        cause = max(w.arrive_row[task], w.node_row[w.node[task]], w.tenant_row[t])
        if cause == w.arrive_row[task] and w.why[task] != NO_REASON:  # others held it up, who have their places now
            cause = max(cause, w.at[TRIGGER])
        job = w.job[task]
        if w.missing[job] > 0:
            w.missing[job] -= 1
        if gang or w.missing[job] == 0:
            start(w, task, cause)
        else:
            w.state[task] = S_HELD
            w.at[HELD] += 1
            w.start_row[task] = emit(w, HOLD, task, w.node[task], cause, PEERS, w.devices[task])
    if not gang and w.at[HELD] > 0:
        _start_peers(w, w.member[w.first[u]])


@kernel
def _start_peers(w: World, task: int) -> None:
    """When the last task of a job has its place, let those that hold theirs run."""
    job = w.job[task]
    if w.missing[job] > 0:
        return
    row = w.start_row[task]
    w.at[FREED] = 2
    for i in range(w.job_first[job], w.job_first[job] + w.job_count[job]):
        peer = w.member[i]
        if w.state[peer] == S_HELD:
            w.at[HELD] -= 1
            start(w, peer, row)


@kernel
def start(w: World, task: int, cause: int) -> None:
    """Let a task that has its place run from now on."""
    now = w.at[NOW]
    w.state[task] = S_RUNNING
    w.start[task] = now
    w.at[TICKETS] += 1
    w.ticket[task] = w.at[TICKETS]
    end = now + w.duration[task]
    if end < NEVER:
        push_end(w, end, task)
    if w.opt[USES_LINE] == 1:
        w.due[task] = end if w.opt[REAL_ENDS] == 1 else now + w.estimate[task]
        if w.opt[BACKFILL] == CONSERVATIVE and w.opt[REAL_ENDS] == 0:  # places are booked until the longest task ends
            w.due[task] = now + candidate_length(w, w.unit[task])
        enter_line(w, task)
    w.why[task] = NO_REASON
    if w.watch[task] != 0 or w.watch_node[w.node[task]] != 0:
        w.at[CALL] = 1
    w.start_row[task] = emit(w, START, task, w.node[task], cause, NO_REASON, w.devices[task])


@kernel
def finish(w: World, task: int) -> None:
    """A running task ends by itself or at its limit, and gives back what it held."""
    w.state[task] = S_DONE if w.fate[task] == END else S_FAILED if w.fate[task] == FAIL else S_KILLED
    reason = AT_ESTIMATE if w.fate[task] == KILL else EXIT if w.fate[task] == FAIL else NO_REASON
    row = emit(w, w.fate[task], task, w.node[task], w.start_row[task], reason, 0)
    if w.opt[BACKFILL] == CONSERVATIVE and w.at[STEPS] > 0:
        if w.due[task] < w.at[NOW]:
            w.at[STEPS] = 0  # it overran: the profile has to be made anew
        elif w.due[task] > w.at[NOW]:
            book(w, task, w.at[NOW], w.due[task], 1)
            w.at[FREED] = max(w.at[FREED], 1)
    release(w, task, row)


@kernel
def withdraw(w: World, task: int, cause: int) -> None:
    """Take a waiting or held task out of the world, a gang as a whole; nothing for one that is neither. ``cause``: the
    log row that made it so, -1 for none."""
    u = w.unit[task]
    held = w.state[task] == S_HELD
    if w.state[task] == S_WAITING:
        dequeue(w, u)
        if w.at[PROMISED] == u:
            w.at[PROMISED] = -1
        if w.at[CHOSEN] == u:
            w.at[CHOSEN] = -1
        if w.slot[u] < NEVER:
            _return_promise(w, u)
    elif not held:
        return
    for i in range(w.first[u], w.first[u] + w.size[u]):
        member = w.member[i]
        w.state[member] = S_KILLED
        row = emit(w, CANCEL, member, -1, cause, NO_REASON, 0)
        if held:
            w.at[HELD] -= 1
            give_up_hold(w, member, row)
        w.at[TRIGGER] = row
        w.at[TASKS_INSIDE] -= 1
        if not held:
            leave_job(w, member, row)
    w.at[QUIET] = 0


@kernel
def leave_job(w: World, task: int, row: int) -> None:
    """A task that had no place will never have one: its job does not wait for it. ``row`` is the log row that says
    so."""
    job = w.job[task]
    if w.missing[job] > 0:
        w.missing[job] -= 1
        w.start_row[task] = row
        if w.at[HELD] > 0:
            _start_peers(w, task)


@kernel
def _return_promise(w: World, u: int) -> None:
    """Take the promised start of a unit out of the profile."""
    for i in range(w.first[u], w.first[u] + w.size[u]):
        book(w, w.member[i], w.slot[u], w.slot[u] + candidate_length(w, u), 1)
    w.slot[u] = NEVER
    w.at[FREED] = 1


@kernel
def release(w: World, task: int, row: int) -> None:
    """Give back a task's place; ``row`` is the log row that did it."""
    n, t = w.node[task], w.tenant[w.unit[task]]
    if w.opt[USES_LINE] == 1:
        leave_line(w, task)
    occupy(w, task, 1, False)
    charge(w, t, w.shape[task], -1)
    w.ticket[task] = -1
    w.node_row[n] = row
    if w.opt[LIMITED] == 1:
        w.tenant_row[t] = row
    w.at[TRIGGER] = row
    w.at[QUIET] = 0
    if w.watch[task] != 0 or w.watch_node[n] != 0:
        w.at[CALL] = 1


@entry_kernel
def retime(w: World, task: int, end: int) -> None:
    """A running task will end at another time than expected (NEVER: by an event from outside)."""
    if w.opt[USES_LINE] == 1:
        leave_line(w, task)
    w.at[TICKETS] += 1
    w.ticket[task] = w.at[TICKETS]
    w.duration[task] = end - w.start[task] if end < NEVER else NEVER
    if end < NEVER:
        push_end(w, end, task)
    if w.opt[USES_LINE] == 1:
        if w.opt[REAL_ENDS] == 1:
            w.due[task] = end
        enter_line(w, task)


@entry_kernel
def lose(w: World, task: int, reason: int, cause: int, lost: int) -> int:
    """A task that has a place loses it; ``lost``: ns of its work that are lost. The row."""
    row = emit(w, FAIL, task, w.node[task], cause, reason, lost)
    if w.state[task] == S_HELD:
        w.at[HELD] -= 1
        w.missing[w.job[task]] += 1
        give_up_hold(w, task, row)
    else:
        release(w, task, row)
    w.state[task] = S_FAILED
    w.at[TASKS_INSIDE] -= 1
    return row


@kernel
def give_up_hold(w: World, task: int, row: int) -> None:
    """Give back the place of a task that is held; ``row`` is the log row that did it."""
    t = w.tenant[w.unit[task]]
    occupy(w, task, 1, False)
    charge(w, t, w.shape[task], -1)
    w.node_row[w.node[task]] = row
    if w.opt[LIMITED] == 1:
        w.tenant_row[t] = row
    w.at[TRIGGER] = row
    w.at[QUIET] = 0


@entry_kernel
def end(w: World, task: int, fate: int, cause: int) -> int:
    """A running task ends now, other than it was expected to: END or CANCEL. The row."""
    row = emit(w, fate, task, w.node[task], cause, NO_REASON, 0)
    release(w, task, row)
    w.state[task] = S_DONE if fate == END else S_KILLED
    w.fate[task] = fate
    w.duration[task] = w.at[NOW] - w.start[task]
    w.at[TASKS_INSIDE] -= 1
    return row


@entry_kernel
def queue_again(w: World, u: int, cause: int, attempts: int) -> None:
    """The tasks of a unit, none of which is in the system, stand in their queue again, at their old rank."""
    for i in range(w.first[u], w.first[u] + w.size[u]):
        task = w.member[i]
        w.state[task] = S_WAITING
        w.why[task] = NO_REASON
        w.arrive_row[task] = emit(w, QUEUE, task, -1, cause, NO_REASON, attempts)
        w.at[TRIGGER] = w.arrive_row[task]
        w.at[TASKS_INSIDE] += 1
    enqueue(w, u)
    w.at[OLDEST] = 0
    w.at[QUIET] = 0


@kernel
def withhold(w: World, n: int, s: int, bits: int, sign: int) -> None:
    """Set aside (+1) what shape ``s`` needs of node ``n``, or give it back (-1)."""
    move(w, w.free, n, s, bits, -sign)
    move(w, w.withheld, n, s, bits, sign)
    touch(w, n)
    w.at[QUIET] = 0


@kernel
def give_way(w: World, u: int, preemptor: int) -> None:
    """All tasks of a running unit lose their place to ``preemptor`` and queue again at their old rank."""
    for i in range(w.first[u], w.first[u] + w.size[u]):
        task = w.member[i]
        row = emit(w, PREEMPT, task, w.node[task], w.arrive_row[preemptor], PREEMPTED, preemptor)
        release(w, task, row)
        w.state[task] = S_WAITING
        w.why[task] = PREEMPTED
    enqueue(w, u)
    w.at[OLDEST] = 0
    t = w.tenant[u]
    if w.cursor[t] < 0 or w.rank[u] < w.rank[w.cursor[t]]:
        w.cursor[t] = u


@kernel
def note_wait(w: World, u: int, reason: int, value: int) -> None:
    """Log that a unit waits, if the reason is another than before; its first task stands for it in ``why``."""
    first = w.first[u]
    if w.why[w.member[first]] == reason:
        return
    for i in range(first, first + w.size[u]):
        task = w.member[i]
        w.why[task] = reason
        emit(w, WAIT, task, -1, max(w.arrive_row[task], w.at[TRIGGER]), reason, value)
