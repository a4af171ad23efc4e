"""The world: the whole state of a run as columns, and what the kernels call its parts.

A *unit* is what commits together: a single task, or all tasks of a gang. A *tenant* is whom the order looks at (a user,
a queue, or one for all). ``rows`` of capacity are per node: D plain dimensions (cpu, memory, named...), then one column
for each of the K device slots of the largest node; so devices are vectors, never sums. Where totals matter (tenants),
a row has D columns and one for the devices together.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt

# Columns by element type and number of axes, all C-contiguous.
I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
I8x2 = Annotated[I8, 2]
I32x2 = Annotated[I32, 2]
I64x2 = Annotated[I64, 2]
I64x3 = Annotated[I64, 3]
F64x2 = Annotated[F64, 2]


class World(NamedTuple):
    """n tasks, m units, T tenants, S shapes, N nodes, D plain dimensions, K device slots."""

    # tasks, fixed
    submit: I64
    duration: I64  # how long it will run, after the kill at its limit; NEVER: ends by an external event only
    estimate: I64
    fate: I8  # Kind.END, or Kind.KILL when it reaches its limit
    shape: I32
    unit: I32
    job: I32
    user: I32
    priority: I64
    # tasks, changing
    state: I8
    why: I8  # the Reason of its last WAIT row, 0 none
    start: I64
    due: I64  # when it is expected to end, as the backfill sees it
    node: I32
    devices: I64  # bit k: it uses device slot k
    ticket: I64  # number of its current start; an agenda entry with another ticket is void
    arrive_row: I32
    start_row: I32
    watch: I8  # 1: Python events follow its starts and its ends
    # units
    first: I32  # its members are member[first : first + size]
    size: I32
    member: I32
    tenant: I32
    rank: I64  # position in the order: the smaller, the earlier
    verdict: I8  # a Reason for which it can never run, 0 none
    after: I32  # next and previous unit in the tenant's queue, -1 none
    before: I32
    arrivals: I32  # units by (submit, position)
    slot: I64  # conservative backfill: the promised start, NEVER none
    # jobs
    missing: I32  # tasks of the job that have no place yet, until it has begun
    job_first: I32  # its tasks are member[job_first : job_first + job_count]
    job_count: I32
    avoids: I32  # row of avoid, -1: it goes anywhere
    avoid: I8x2  # (rows, N): 1: not there
    # tenants
    head: I32
    tail: I32
    cursor: I32  # the unit to look at next in this pass, -1 none
    weight: F64
    used: I64x2  # (T, D+1)
    limit: I64x2  # (T, D+1)
    running: I64
    most_running: I64
    usage: F64  # decayed use, millicore-ns
    usage_at: I64
    tenant_row: I32  # the log row that last gave something back to a tenant, if there are limits
    # shapes
    need: I64x2  # (S, D+1), the last: device total
    gpus: I32
    share: I64
    family: I32  # GPU clustering: which kind of device task it is, 0 none
    kin: I32  # shapes with equal numbers score alike
    mask: I32  # row of allowed, -1 anywhere
    allowed: I8x2  # (A, N)
    # nodes
    capacity: I64x2  # (N, D+K)
    free: I64x2  # (N, D+K)
    rest: I64x2  # (N, D+K): what will be free at the reservation, less what is promised
    withheld: I64x2  # (N, D+K): neither free nor held by a task that counts: copies, lost devices
    closed: I8  # why it takes no new work, in bits; 0: it does
    watch_node: I8  # 1: Python events follow starts and ends here
    node_row: I32  # the log row that last gave something back here
    families: I32x2  # (N, F): how many running tasks of each family
    total: I64  # (D+1): over all nodes
    least: I64  # (D): the smallest request of each plain dimension
    # agenda of ends: a heap by (time, ticket); line: running tasks by (due, ticket)
    end_time: I64
    end_ticket: I64
    end_task: I32
    line: I32
    line_due: I64  # their expected ends
    wakes: I64  # times at which a window begins or ends, sorted
    # advance reservations, one row a node
    window_node: I32
    window_from: I64
    window_to: I64
    window_amount: I64x2  # (W, D+K)
    window_user: I8x2  # (W, U): may use it
    # profile of what will be free: row i holds from step_time[i] to step_time[i + 1]
    step_time: I64
    step_free: I64x3  # (steps, N, D+K)
    # placement
    scale: F64  # (D+1): weight of a unit of each resource in scores
    table: F64x2  # (slots, N): score of shapes that score alike
    table_kin: I32
    table_seen: I64  # how many changes the line has seen
    kin_shape: I32  # one shape of each kin
    changed: I32  # ring of nodes whose free row changed
    changed_at: I64  # (N): number of the latest change
    classes: F64x2  # FGD: (classes, 4): weight, cpu, devices, share; see scores
    class_mask: I32
    draws: F64  # uniform numbers for random choices
    feasible: I8  # (N): for a placement written in Python
    decided: I32
    # scratch of kernels, which allocate nothing
    row: I64x2  # (2, D+K)
    victims: I32
    # log
    log_t: I64
    log_instant: I32
    log_kind: I8
    log_subject: I32
    log_node: I32
    log_cause: I32
    log_reason: I8
    log_value: I64
    # scalars and options, by the names below
    at: I64
    opt: I64
    rate: F64


# Positions in ``World.at``.
NOW: Final = 0
INSTANT: Final = 1
ARRIVED: Final = 2  # how many of arrivals have entered
SEEN: Final = 3  # how many had entered before this instant
ENDS: Final = 4  # entries in the agenda
LINE: Final = 5  # entries in line
WOKEN: Final = 6  # wakes that have passed
TICKETS: Final = 7
ROWS: Final = 8  # rows in the log buffer
TASKS_INSIDE: Final = 9  # tasks that have entered and neither ended nor been refused
WAITING: Final = 10  # units in the queues
PHASE: Final = 11
CHOSEN: Final = 12  # the unit the scheduler is committed to, -1 none
PROMISED: Final = 13  # the unit that holds the reservation, -1 none
SHADOW: Final = 14  # when the reservation begins
STARTED: Final = 15  # starts in this pass
CHANGES: Final = 16  # entries ever put into changed
DRAWN: Final = 17
DECIDED: Final = 18
ASK: Final = 19  # the task that a Python placement is asked about
SAME: Final = 20  # passes at one time
TRIGGER: Final = 21  # the last row that changed something in this instant
HELD: Final = 22  # tasks that hold a place and wait for their peers
SERVED: Final = 23  # round robin: turns given so far
STEPS: Final = 24  # steps of the profile
FREED: Final = 25  # profile: 1 something was given back before its expected end, or a promise moved; 2 it is wrong
BLOCKED: Final = 26  # the unit that stopped the first phase of this pass
SCANNED: Final = 27  # position in arrivals of a scan in the order of submission
OLDEST: Final = 28  # no unit before this position in arrivals waits any more
QUIET: Final = 29  # 1: the last pass ended with BLOCKED stopping the queue, and nothing was given back since
TIMER: Final = 30  # when the next event that Python handles is due
CALL: Final = 31  # 1: Python has something to look at now
FROZEN: Final = 32  # 1: nobody decides, so that nothing is placed
AT_SIZE: Final = 40

# Phases of a pass.
IDLE: Final = 0
HEADS: Final = 1
SCAN: Final = 2
EVENTS: Final = 3  # Python handles events; then the pass follows

# What advance and schedule answer.
OK: Final = 0  # nothing is left before ``until``
PAUSED: Final = 1  # as many instants as asked for
NEED_SPACE: Final = 2  # the log or the profile may not hold the next instant
NEED_ORDER: Final = 3
NEED_NODE: Final = 4
REPEATING: Final = 5
FULL: Final = 6  # the log has as many rows as it may
NEED_EVENTS: Final = 7  # events that Python handles
