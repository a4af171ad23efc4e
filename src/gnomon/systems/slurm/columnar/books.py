"""The columns of a run: jobs in the order in which they come, the queue, what will end, the log."""

from __future__ import annotations

from typing import Final, NamedTuple

from gnomon.engine.world import F64, I8, I32, I64, F64x2

NEVER: Final = 1 << 62
SECOND: Final = 10**9
MINUTE: Final = 60 * SECOND

# What becomes of a submission: ``Books.fate``.
ENTERS: Final = 0
ASIDE: Final = 1  # larger than its partition: it waits for that to change
REFUSED: Final = 2  # there is no job
FAILED: Final = 3  # there is one, which can never run
UNUSABLE: Final = 4  # the row of the trace makes none

# What a job waits for: ``Books.reason``, and ``Books.log_text`` of the row that says so.
NOTHING: Final = 0
RESOURCES: Final = 1
PRIORITY: Final = 2
TEXTS: Final = 3  # and above: other texts of the run
BY_MAIN: Final = -1  # log_text of a start
BY_BACKFILL: Final = -2

# Parts of a priority that stay, in columns of ``Books.lasting``.
ASSOC, JOBSIZE, PARTITION, QOS, TRES, SITE, NICE = range(7)
LASTING: Final = 7


class Books(NamedTuple):
    """n jobs, P partitions, K kinds of jobs whose priorities have the same lasting parts."""

    # jobs, fixed
    task: I32  # its number in the work
    submit: I64
    run: I64  # how long it runs by itself, ns
    limit: I64  # minutes, -1: none
    over: I64  # what it may overrun its limit by, ns
    partition: I32
    kind: I32
    fate: I8
    text: I32  # what it is told where it does not enter
    then: I32  # what it is told of that when somebody looks next, 0: nothing else
    # jobs, changing
    priority: I64
    reason: I8
    row: I32  # the last row about it while it waits
    start_row: I32
    slot: I32  # where its shares begin, in ``Running``
    planned: I64  # the start that it was promised last, seconds; -1 none
    killed: I8
    first: I64  # where its nodes begin in ``nodes``, if it has several
    width: I32  # how many they are
    # partitions
    tier: I64
    failed: I8
    # what stays of priorities
    lasting: F64x2  # (K, LASTING)
    weight: F64  # of age and fair share, and the age that counts in full (s)
    # who waits, in order; who runs, in a heap by (end, number of the start)
    line: I32
    aside: I32  # who is still to be told more
    end_time: I64
    end_number: I64
    end_job: I32
    # free rows of ``Running``
    free_slot: I32
    free_share: I32
    nodes: I32  # the nodes of jobs that have several, one after the other
    # log
    log_t: I64
    log_instant: I32
    log_kind: I8
    log_subject: I32
    log_node: I32
    log_cause: I32
    log_reason: I8
    log_value: I64
    log_text: I32
    at: I64


# Positions in ``Books.at``.
NOW: Final = 0
INSTANT: Final = 1
ROWS: Final = 2
ARRIVED: Final = 3
WAITING: Final = 4  # jobs in the line
PENDING: Final = 5  # those and the ones aside
RUNNING: Final = 6
ENDS: Final = 7  # entries in the heap
STARTS: Final = 8  # so far
FREE_SLOTS: Final = 9
FREE_SHARES: Final = 10
NODES: Final = 11  # entries in nodes
PERIODS: Final = 12  # PriorityCalcPeriods that are over
# the two loops, as in Controller
ASKED: Final = 13
CUT: Final = 14
CHANGED: Final = 15
LAST: Final = 16
LAST_FULL: Final = 17
LAST_BACKFILL: Final = 18
NEEDED: Final = 19
SOMEBODY_FITS: Final = 20
MAIN_AT: Final = 21
BACKFILL_AT: Final = 22
TIMERS: Final = 23  # when each timer rings, NEVER: it is not armed
NUMBERS: Final = 26  # the number by which those of one time are in order
ARMED: Final = 29  # timers armed so far
TOLD_MORE: Final = 46  # entries in aside
# settings
DELAY: Final = 30
INTERVAL: Final = 31
DEPTH: Final = 32
PERIOD: Final = 33  # PriorityCalcPeriod, ns; 0: priorities stay as they are
BACKFILLS: Final = 34
BF_INTERVAL: Final = 35
BF_STEP: Final = 36
BF_WINDOW: Final = 37
BF_UP: Final = 38
BF_TESTS: Final = 39
BF_SLOTS: Final = 40
BF_STARTS: Final = 41
BASIC: Final = 42  # priority/basic: the priority of the next job; 0: multifactor
CHECK: Final = 43  # time limits are looked at so often, ns
MOST_SHARES: Final = 44
WHOLE: Final = 45  # backfill looks at everybody, for the sake of the plan
AT_SIZE: Final = 48

# The timers.
MAIN: Final = 0
BACKFILL: Final = 1
CALCULATION: Final = 2
