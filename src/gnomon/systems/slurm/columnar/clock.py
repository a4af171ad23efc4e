"""Time: jobs come and end, and the two loops wake (:mod:`gnomon.systems.slurm.controller.slurmctld`)."""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import entry_kernel, kernel
from gnomon.engine.log import Kind, Reason
from gnomon.systems.slurm.columnar.books import (
    ARMED,
    ARRIVED,
    ASIDE,
    ASKED,
    BACKFILL,
    BACKFILL_AT,
    BACKFILLS,
    BF_INTERVAL,
    CALCULATION,
    CHANGED,
    CUT,
    DELAY,
    ENDS,
    ENTERS,
    FAILED,
    INSTANT,
    INTERVAL,
    LAST,
    LAST_BACKFILL,
    LAST_FULL,
    MAIN,
    MAIN_AT,
    MOST_SHARES,
    NEEDED,
    NEVER,
    NODES,
    NOW,
    NUMBERS,
    PENDING,
    PERIOD,
    PRIORITY,
    REFUSED,
    RESOURCES,
    ROWS,
    RUNNING,
    SECOND,
    SOMEBODY_FITS,
    STARTS,
    TIMERS,
    TOLD_MORE,
    UNUSABLE,
    WAITING,
    Books,
)
from gnomon.systems.slurm.columnar.passes import backfill_pass, main_pass
from gnomon.systems.slurm.columnar.queue import catch_up, enter, first_priority
from gnomon.systems.slurm.columnar.starting import finish, fits_now, next_ended, use_partition
from gnomon.systems.slurm.columnar.written import emit, look_at_aside, say
from gnomon.systems.slurm.schedulers.planning import Chart, Lined
from gnomon.systems.slurm.select.columns import Demands, Hardware, Occupied, Running, Trial

# What go_on answers.
OVER: Final = 0
PAUSED: Final = 1
NEED_SPACE: Final = 2
LEFT: Final = 3  # it is for the controller

ARRIVE, REJECT = int(Kind.ARRIVE), int(Kind.REJECT)
R_UNUSABLE = int(Reason.UNUSABLE)


@entry_kernel
def go_on(
    h: Hardware,
    o: Occupied,
    f: Occupied,
    d: Demands,
    t: Trial,
    r: Running,
    c: Chart,
    line: Lined,
    b: Books,
    instants: int,
) -> int:
    """Let time pass, for so many instants at most."""
    while instants > 0:
        now = next_time(b)
        if now >= NEVER:
            return OVER
        if not has_space(b, now):
            return NEED_SPACE
        b.at[NOW] = now
        b.at[INSTANT] += 1
        instants -= 1
        while b.at[ENDS] > 0 and b.end_time[0] == now:
            finish(h, o, r, b, next_ended(b))
            ask_for_passes(b)
        if is_over(b):
            return OVER
        while b.at[ARRIVED] < len(b.submit) and b.submit[b.at[ARRIVED]] == now:
            b.at[ARRIVED] += 1
            arrive(h, o, d, t, line, b, int(b.at[ARRIVED]) - 1)
        timer = due_timer(b)
        while timer >= 0:
            b.at[TIMERS + timer] = NEVER
            if timer == MAIN:
                main(h, o, d, t, r, line, b)
            elif timer == CALCULATION:
                calculate(b)
            elif not backfill(h, o, f, d, t, r, c, line, b):
                return LEFT
            timer = due_timer(b)
    return PAUSED


@kernel
def next_time(b: Books) -> int:
    """When something happens next."""
    now = NEVER
    if b.at[ARRIVED] < len(b.submit):
        now = int(b.submit[b.at[ARRIVED]])
    if b.at[ENDS] > 0:
        now = min(now, int(b.end_time[0]))
    for k in range(3):
        now = min(now, int(b.at[TIMERS + k]))
    return now


@kernel
def has_space(b: Books, now: int) -> bool:
    """Whether the log holds what an instant can add: a job in the system, or one that comes, has a few rows at most."""
    coming, jobs = int(b.at[ARRIVED]), int(b.at[PENDING] + b.at[RUNNING])
    while coming < len(b.submit) and b.submit[coming] == now:
        coming += 1
        jobs += 1
    return bool(b.at[ROWS] + 8 * jobs + 8 <= len(b.log_t) and b.at[NODES] + b.at[MOST_SHARES] <= len(b.nodes))


@kernel
def is_over(b: Books) -> bool:
    """Whether nothing is to come: what waits then waits for ever."""
    if b.at[ARRIVED] < len(b.submit) or b.at[RUNNING] > 0:
        return False
    armed = False
    for k in range(3):
        armed = armed or b.at[TIMERS + k] < NEVER
    return not (b.at[PENDING] > 0 and armed)


@kernel
def due_timer(b: Books) -> int:
    """The timer that rings now, -1 none."""
    first = -1
    for k in range(3):
        if b.at[TIMERS + k] <= b.at[NOW] and (first < 0 or b.at[NUMBERS + k] < b.at[NUMBERS + first]):
            first = k
    return first


@kernel
def arm(b: Books, timer: int, time: int) -> None:
    """A timer will ring at a time, and not when it would have before."""
    b.at[ARMED] += 1
    b.at[TIMERS + timer], b.at[NUMBERS + timer] = time, b.at[ARMED]


@kernel
def arrive(h: Hardware, o: Occupied, d: Demands, t: Trial, line: Lined, b: Books, job: int) -> None:
    """A job is submitted."""
    arrival = emit(b, ARRIVE, job, -1, -1, 0, 0, 0)
    b.row[job] = arrival
    fate, text = int(b.fate[job]), int(b.text[job])
    if fate == UNUSABLE:
        emit(b, REJECT, job, -1, arrival, R_UNUSABLE, -1, 0)
        return
    if fate != REFUSED:
        b.priority[job] = first_priority(b, job)
        b.at[CHANGED] = 1
    if fate in (REFUSED, FAILED):
        emit(b, REJECT, job, -1, arrival, R_UNUSABLE, -1, text)
    elif fate == ASIDE:
        b.at[PENDING] += 1
        say(b, job, text)
        if b.then[job] > 0:
            b.aside[b.at[TOLD_MORE]] = job
            b.at[TOLD_MORE] += 1
    elif fate == ENTERS:
        b.at[PENDING] += 1
        first_look(h, o, d, t, line, b, job, enter(b, job))
    ask_for_passes(b)
    arm_calculation(b)


@kernel
def first_look(h: Hardware, o: Occupied, d: Demands, t: Trial, line: Lined, b: Books, job: int, place: int) -> None:
    """What a job is told at its submission."""
    look_at_aside(b)
    for i in range(place):
        if b.partition[b.line[i]] == b.partition[job]:
            say(b, job, PRIORITY)
            return
    use_partition(t, line, job)
    if not fits_now(h, o, d, t, line, job):
        say(b, job, RESOURCES)


@kernel
def ask_for_passes(b: Books) -> None:
    """Something has changed."""
    b.at[CHANGED] = 1
    b.at[ASKED] = 1
    arm_both(b)


@kernel
def arm_both(b: Books) -> None:
    """When the two loops look at the queue next."""
    if b.at[PENDING] == 0:
        return
    now, due = int(b.at[NOW]), NEVER
    if b.at[ASKED]:
        due = int(b.at[LAST] + b.at[DELAY])
    if b.at[ASKED] or b.at[CUT]:
        due = min(due, int(b.at[LAST_FULL] + b.at[INTERVAL]))
    if due < NEVER:
        set_timer(b, MAIN, MAIN_AT, due)
    wanted = now if b.at[CHANGED] else int(b.at[NEEDED])
    if b.at[BACKFILLS] and wanted < NEVER:
        set_timer(b, BACKFILL, BACKFILL_AT, max(wanted, int(b.at[LAST_BACKFILL] + b.at[BF_INTERVAL])))


@kernel
def set_timer(b: Books, timer: int, armed: int, due: int) -> None:
    """Arm a timer for the full second from ``due`` on, unless it rings before that anyway."""
    due = max(due, int(b.at[NOW]) + 1)
    due = -(-due // SECOND) * SECOND
    if b.at[armed] <= due and b.at[armed] > b.at[NOW]:
        return
    b.at[armed] = due
    arm(b, timer, due)


@kernel
def main(h: Hardware, o: Occupied, d: Demands, t: Trial, r: Running, line: Lined, b: Books) -> None:
    """The background loop's turn."""
    now, starts = int(b.at[NOW]), int(b.at[STARTS])
    b.at[MAIN_AT] = NEVER
    full = now - b.at[LAST_FULL] >= b.at[INTERVAL]
    b.at[ASKED] = 0
    b.at[LAST] = now
    if full:
        b.at[LAST_FULL] = now
    catch_up(b)
    b.at[CUT] = main_pass(h, o, d, t, r, line, b, int(full))
    if b.at[STARTS] != starts:
        b.at[ASKED] = 1
    arm_both(b)


@kernel
def backfill(
    h: Hardware, o: Occupied, f: Occupied, d: Demands, t: Trial, r: Running, c: Chart, line: Lined, b: Books
) -> bool:
    """Backfill's turn; the background loop goes first."""
    b.at[BACKFILL_AT] = NEVER
    if b.at[MAIN_AT] <= b.at[NOW]:
        main(h, o, d, t, r, line, b)
    b.at[CHANGED] = 0
    b.at[LAST_BACKFILL] = b.at[NOW]
    catch_up(b)
    if not backfill_pass(h, o, f, d, t, r, c, line, b):
        return False
    arm_both(b)
    arm_calculation(b)
    return True


@kernel
def arm_calculation(b: Books) -> None:
    """PriorityCalcPeriod is waited for if somebody could start out of turn."""
    period = int(b.at[PERIOD])
    if period and b.at[WAITING] > 1 and b.at[SOMEBODY_FITS] and b.at[TIMERS + CALCULATION] >= NEVER:
        arm(b, CALCULATION, (int(b.at[NOW]) // period + 1) * period)


@kernel
def calculate(b: Books) -> None:
    """A PriorityCalcPeriod is over."""
    if catch_up(b):
        ask_for_passes(b)
    arm_calculation(b)
