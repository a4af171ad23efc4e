"""The map that backfill plans on, and its pass over plain jobs, as kernels.

The map has slots of time, each with the nodes that nobody is promised in it. Source: ``_attempt_backfill``,
``_add_reservation``, ``_test_resv_overlap`` of ``src/plugins/sched/backfill/backfill.c`` (22.05 to 25.05).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from gnomon.engine.compiling import entry_kernel, kernel
from gnomon.engine.world import I8, I32, I64, I8x2, I64x2
from gnomon.systems.slurm.schedulers.idle_cpus import foresee, soonest, soonest_on
from gnomon.systems.slurm.select import at as places
from gnomon.systems.slurm.select.columns import BITS, Demands, Hardware, Occupied, Running, Trial
from gnomon.systems.slurm.select.future import NEVER, plan, restore
from gnomon.systems.slurm.select.testing import SOON, test

# Positions in ``Chart.at``.
COUNT: Final = 0  # slots in use
TIME: Final = 1  # now, seconds
STEP: Final = 2  # bf_resolution
WINDOW_S: Final = 3  # bf_window
NEXT: Final = 4  # the job of the line to look at next
TESTS: Final = 5  # jobs tested so far
MOST_TESTS: Final = 6
MOST_SLOTS: Final = 7
LATER: Final = 8  # when more nodes are free, as over_slots found; 0: never
START: Final = 9  # the start that try_job found
LENGTH: Final = 10  # jobs in the line
COUNTED: Final = 11  # 1: the job at hand counts among TESTS already
UP: Final = 12  # what is added before the end of a promise is cut to whole steps
SOONEST: Final = 13  # before then the job at hand cannot start, whatever is promised: too few CPUs are idle
AT_SIZE: Final = 16

# What look answers besides a job of the line that can start now.
THROUGH: Final = -1
ASK: Final = -2  # the job at NEXT is for Python
FULL: Final = -3  # as many tests, or slots, as may be

_NOTHING: Final = 0  # try_job: no use
_FOUND: Final = 1
_LATER: Final = 2  # look again from at[START]

TRIES: Final = 10_000


class Chart(NamedTuple):
    """The map: slots in order, ``open`` the nodes that nobody is promised, a bit each (:func:`packed`); and masks to
    work with."""

    begin: I64  # (S,) seconds
    end: I64
    open: I64x2  # (S, W)
    have: I64  # (W,): the nodes that a job may use
    left: I64  # (W,): what slots leave of them
    mask: I8  # (N,)
    at: I64


# Fields of ``Lined.value``.
DEMAND: Final = 0  # row of Demands
USABLE: Final = 1  # row of masks
REQUIRED: Final = 2  # row of masks
MINUTES: Final = 3  # with how long it is planned
NODES: Final = 4  # at least
CPUS: Final = 5
KIND: Final = 6  # PLAIN, or PYTHON
PLANNED: Final = 7  # the promised start in seconds, -1 none
FIELDS: Final = 8

PLAIN: Final = 0
PYTHON: Final = 1


class Lined(NamedTuple):
    """The pending jobs in their order."""

    order: I32  # (L,): rows of value
    value: I64x2  # (rows, FIELDS)
    masks: I8x2  # (M, N)
    words: I64x2  # (M, W): the same, packed


def chart_for(nodes: int, slots: int) -> Chart:
    """An empty map with room."""
    words = -(-nodes // BITS)
    return Chart(
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros((slots, words), np.int64),
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
        np.zeros(nodes, np.int8),
        np.zeros(AT_SIZE, np.int64),
    )


def packed(mask: Any) -> Any:
    """A mask of nodes as bits in words.

    >>> packed(np.array([True, False, True])).tolist()
    [5]
    """
    words = -(-len(mask) // BITS)
    bits = np.zeros(words * BITS, np.int64)
    bits[: len(mask)] = mask
    return (bits.reshape(words, BITS) << np.arange(BITS)).sum(axis=1)


@kernel
def is_open(c: Chart, i: int, n: int) -> int:
    """Whether nobody is promised a node in a slot."""
    return int((c.open[i, n // BITS] >> (n % BITS)) & 1)


@entry_kernel
def over_slots(c: Chart, t: Trial, start: int, end: int) -> None:
    """Take from the usable nodes those that others are promised from start to end: see :func:`narrow`."""
    for w in range(len(c.have)):
        c.have[w] = 0
    for n in range(len(c.mask)):
        c.have[n // BITS] |= int(t.usable[n]) << (n % BITS)
    narrow(c, start, end)
    for n in range(len(c.mask)):
        t.usable[n] = (c.left[n // BITS] >> (n % BITS)) & 1


@kernel
def narrow(c: Chart, start: int, end: int) -> None:
    """Of the nodes that a job has, those that nobody is promised from start to end are left; ``LATER``: when the nodes
    of the first slot are not all that is left (0: never)."""
    words, later = len(c.have), 0
    for w in range(words):
        c.left[w] = c.have[w]
    count = int(c.at[COUNT])
    for i in range(count):
        if c.end[i] <= start:
            continue
        if later == 0 and i + 1 < count:
            for w in range(words):
                if c.have[w] & c.open[i + 1, w] & ~(c.left[w] & c.open[i, w]):
                    later = int(c.end[i])
                    break
        if c.begin[i] <= end:
            for w in range(words):
                c.left[w] &= c.open[i, w]
        else:
            if later == 0 and i + 2 < count:
                later = int(c.end[i + 1])
            break
    c.at[LATER] = later


@kernel
def span_begin(c: Chart, start: int) -> int:
    """Where a promise begins in the map."""
    step = int(c.at[STEP])
    return int(max(start // step * step, c.begin[0]))


@kernel
def span_end(c: Chart, start: int, minutes: int) -> int:
    """Where it ends."""
    step = int(c.at[STEP])
    return int(max((start + minutes * 60 + c.at[UP]) // step * step, span_begin(c, start) + step))


@entry_kernel
def overlaps(c: Chart, t: Trial, start: int, minutes: int) -> bool:
    """Whether nodes of the answer are promised in that time."""
    begin, end = span_begin(c, start), span_end(c, start, minutes)
    for i in range(int(c.at[COUNT])):
        if c.begin[i] < end and c.end[i] > begin:
            for k in range(int(t.at[places.COUNT_NODES])):
                if not is_open(c, i, int(t.node[k])):
                    return True
    return False


@kernel
def copy_slot(c: Chart, source: int, target: int) -> None:
    """The nodes of one slot to another."""
    for w in range(len(c.have)):
        c.open[target, w] = c.open[source, w]


@kernel
def cut(c: Chart, time: int) -> None:
    """Let a slot end, and another begin, at a time inside the map."""
    count = int(c.at[COUNT])
    for i in range(count):
        if c.begin[i] < time < c.end[i]:
            for k in range(count, i + 1, -1):
                c.begin[k], c.end[k] = c.begin[k - 1], c.end[k - 1]
                copy_slot(c, k - 1, k)
            c.begin[i + 1], c.end[i + 1] = time, c.end[i]
            copy_slot(c, i, i + 1)
            c.end[i] = time
            c.at[COUNT] = count + 1
            return


@entry_kernel
def promise(c: Chart, t: Trial, start: int, minutes: int) -> None:
    """Take the nodes of the answer out of the map from a start on."""
    take(c, t, span_begin(c, start), span_end(c, start, minutes))


@entry_kernel
def take(c: Chart, t: Trial, begin: int, end: int) -> None:
    """Take the nodes of the answer out of the map from one time to another."""
    cut(c, begin)
    cut(c, end)
    for i in range(int(c.at[COUNT])):
        if c.begin[i] >= begin and c.end[i] <= end:
            for k in range(int(t.at[places.COUNT_NODES])):
                c.open[i, int(t.node[k]) // BITS] &= ~(1 << (int(t.node[k]) % BITS))


@kernel
def copy_occupied(o: Occupied, f: Occupied) -> None:
    """Make another occupancy the same."""
    nodes, cores, sockets, holders = len(o.idle), o.cores.shape[1], o.free.shape[1], o.taken.shape[1]
    for n in range(nodes):
        f.idle[n], f.memory[n], f.jobs[n] = o.idle[n], o.memory[n], o.jobs[n]
        f.whole[n], f.state[n] = o.whole[n], o.state[n]
        for k in range(cores):
            f.cores[n, k] = o.cores[n, k]
        for k in range(sockets):
            f.free[n, k] = o.free[n, k]
        for k in range(holders):
            f.taken[n, k] = o.taken[n, k]
    for p in range(len(o.part_jobs)):
        for n in range(nodes):
            f.part_jobs[p, n], f.part_cores[p, n] = o.part_jobs[p, n], o.part_cores[p, n]
    for q in range(len(o.rows)):
        for n in range(nodes):
            for k in range(cores):
                f.rows[q, n, k] = o.rows[q, n, k]


@kernel
def leaves_enough(c: Chart, line: Lined, j: int) -> bool:
    """Whether the nodes that a job requires are left, and as many as it wants at least."""
    required, least, count = line.value[j, REQUIRED], line.value[j, NODES], 0
    for w in range(len(c.left)):
        if line.words[required, w] & ~c.left[w]:
            return False
    for w in range(len(c.left)):
        left = c.left[w]
        while left and count < least:
            left &= left - 1
            count += 1
    return bool(count >= least)


@kernel
def try_job(
    h: Hardware, o: Occupied, f: Occupied, d: Demands, t: Trial, r: Running, c: Chart, line: Lined, j: int, later: int
) -> int:
    """Look for nodes of a job from a time on; the start, or the time to look again from, is in ``START``."""
    now, step = int(c.at[TIME]), int(c.at[STEP])
    window_end = int(c.end[c.at[COUNT] - 1])
    if later > window_end:
        return _NOTHING
    minutes = int(line.value[j, MINUTES])
    for w in range(len(c.have)):
        c.have[w] = line.words[line.value[j, USABLE], w]
    narrow(c, later, later + minutes * 60)
    again = int(c.at[LATER])
    enough = leaves_enough(c, line, j)
    if enough and c.at[COUNTED] == 0:
        c.at[COUNTED] = 1
        c.at[TESTS] += 1
    found, least = NEVER, int(c.at[SOONEST])
    if enough and least != NEVER and not (again and least > again):
        least = soonest_on(h, o, d, r, c.left, int(line.value[j, DEMAND]), now)
        if least != NEVER and not (again and least > again):
            found = when(h, o, f, d, t, r, c, line, j, least > now)
    if found == NEVER or (again and max(found, later) > again):
        c.at[START] = again
        return _LATER if again else _NOTHING
    begins = max(found, later)
    if begins > now and overlaps(c, t, begins, minutes):
        c.at[START] = begins + (step if begins == later else 0)
        return _LATER
    c.at[START] = begins
    return _FOUND


@kernel
def when(
    h: Hardware,
    o: Occupied,
    f: Occupied,
    d: Demands,
    t: Trial,
    r: Running,
    c: Chart,
    line: Lined,
    j: int,
    busy: int,
) -> int:
    """When a job could start on the nodes that are left, NEVER: not by the end of what runs. ``busy``: not now."""
    row, now = int(line.value[j, DEMAND]), int(c.at[TIME])
    for n in range(len(c.mask)):
        c.mask[n] = (c.left[n // BITS] >> (n % BITS)) & 1
        t.usable[n] = c.mask[n]
        t.required[n] = line.masks[line.value[j, REQUIRED], n]
    if not busy:
        if test(h, o, d, t, row, SOON):
            return now
        for n in range(len(c.mask)):
            t.usable[n] = c.mask[n]
    if len(h.row_part) > 0:
        copy_occupied(o, f)
        return int(plan(h, f, d, t, r, row, now))
    found = plan(h, o, d, t, r, row, now)
    restore(h, o, r)
    return int(found)


@entry_kernel
def look(h: Hardware, o: Occupied, f: Occupied, d: Demands, t: Trial, r: Running, c: Chart, line: Lined) -> int:
    """Go on along the line: the place of a job that can start now (``NEXT`` is behind it), or THROUGH, ASK, FULL."""
    foresee(h, o, r)
    while c.at[NEXT] < c.at[LENGTH]:
        place = int(c.at[NEXT])
        j = int(line.order[place])
        if c.at[TESTS] >= c.at[MOST_TESTS] or c.at[COUNT] > c.at[MOST_SLOTS]:
            return FULL
        if line.value[j, KIND] == PYTHON:
            return ASK
        c.at[NEXT] = place + 1
        later = int(c.at[TIME])
        c.at[COUNTED] = 0
        c.at[SOONEST] = soonest(h, d, r, int(line.value[j, DEMAND]), later)
        outcome = _LATER
        tries = 0
        while outcome == _LATER and tries < TRIES:
            outcome = try_job(h, o, f, d, t, r, c, line, j, later)
            later = int(c.at[START])
            tries += 1
        if outcome == _FOUND:
            if later <= c.at[TIME]:
                return place
            line.value[j, PLANNED] = later
            if later <= c.at[TIME] + c.at[WINDOW_S]:
                promise(c, t, later, int(line.value[j, MINUTES]))
    return THROUGH
