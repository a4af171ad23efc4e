"""One pass of the main scheduler (``schedulers.main_scheduler``), one of backfill (``schedulers.backfill``)."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.cluster.ends import UNLIMITED
from gnomon.systems.slurm.columnar.books import (
    BF_SLOTS,
    BF_STARTS,
    BF_STEP,
    BF_TESTS,
    BF_UP,
    BF_WINDOW,
    BY_BACKFILL,
    BY_MAIN,
    DEPTH,
    NEEDED,
    NEVER,
    NOTHING,
    NOW,
    PRIORITY,
    RESOURCES,
    SECOND,
    SOMEBODY_FITS,
    WAITING,
    WHOLE,
    Books,
)
from gnomon.systems.slurm.columnar.starting import fits_now, free_cpus, start, use_partition
from gnomon.systems.slurm.columnar.written import look_at_aside, say
from gnomon.systems.slurm.schedulers.planning import (
    COUNT,
    CPUS,
    LENGTH,
    MOST_SLOTS,
    MOST_TESTS,
    PLANNED,
    STEP,
    THROUGH,
    TIME,
    UP,
    WINDOW_S,
    Chart,
    Lined,
    look,
)
from gnomon.systems.slurm.select.columns import BITS, Demands, Hardware, Occupied, Running, Trial


@kernel
def main_pass(h: Hardware, o: Occupied, d: Demands, t: Trial, r: Running, line: Lined, b: Books, full: int) -> int:
    """One pass; ``full``: however long the queue is. Whether some of it was not looked at."""
    look_at_aside(b)
    for p in range(len(b.failed)):
        b.failed[p] = 0
    tested, i = 0, 0
    while i < b.at[WAITING]:
        job = int(b.line[i])
        p = b.partition[job]
        tested += 1
        if not full and tested > b.at[DEPTH] + 1:
            return 1
        if b.failed[p]:
            if b.reason[job] == NOTHING or b.reason[job] == RESOURCES:
                say(b, job, PRIORITY)
            i += 1
            continue
        use_partition(t, line, job)
        if fits_now(h, o, d, t, line, job):
            start(h, o, t, r, b, job, BY_MAIN)
        else:
            say(b, job, RESOURCES)
            b.failed[p] = 1
            i += 1
    return 0


@kernel
def begin_map(c: Chart, b: Books, length: int) -> None:
    """An empty map over the window, with all nodes."""
    now, step = b.at[NOW] // SECOND, b.at[BF_STEP]
    c.begin[0], c.end[0] = now // step * step, (now + b.at[BF_WINDOW]) // step * step
    for w in range(c.open.shape[1]):
        c.open[0, w] = 0
    for n in range(len(c.mask)):
        c.open[0, n // BITS] |= 1 << (n % BITS)
    for k in range(len(c.at)):
        c.at[k] = 0
    c.at[COUNT], c.at[TIME], c.at[STEP] = 1, now, step
    c.at[WINDOW_S], c.at[LENGTH], c.at[UP] = b.at[BF_WINDOW], length, b.at[BF_UP]
    c.at[MOST_TESTS], c.at[MOST_SLOTS] = b.at[BF_TESTS], b.at[BF_SLOTS]


@kernel
def set_up(h: Hardware, o: Occupied, t: Trial, line: Lined, b: Books) -> int:
    """Line everybody up; how many are worth while to look at: nobody behind the last one that could start."""
    look_at_aside(b)
    for n in range(len(t.usable)):
        t.usable[n] = 1
    free, length = free_cpus(h, o, t), 0
    for i in range(int(b.at[WAITING])):
        job = b.line[i]
        line.order[i] = job
        line.value[job, PLANNED] = -1
        if b.at[WHOLE] or line.value[job, CPUS] <= free:
            length = i + 1
    return length


@kernel
def backfill_pass(
    h: Hardware, o: Occupied, f: Occupied, d: Demands, t: Trial, r: Running, c: Chart, line: Lined, b: Books
) -> bool:
    """One pass; False: something came of it that is left to the controller."""
    length = set_up(h, o, t, line, b)
    b.at[SOMEBODY_FITS] = length > 0
    begin_map(c, b, length)
    starts, answer = 0, 0
    while answer >= 0 and not (b.at[BF_STARTS] and starts >= b.at[BF_STARTS]):
        answer = look(h, o, f, d, t, r, c, line) if length > 0 else THROUGH
        if answer >= 0:
            job = int(line.order[answer])
            for n in range(len(t.usable)):
                t.usable[n] = c.mask[n]
            if not fits_now(h, o, d, t, line, job):
                return False
            start(h, o, t, r, b, job, BY_BACKFILL)
            starts += 1
    b.at[NEEDED] = note_plans(r, line, b, length)
    return True


@kernel
def note_plans(r: Running, line: Lined, b: Books, length: int) -> int:
    """Jobs know what start they were promised. When it is worth while to look again though nothing happens."""
    now_s, soonest = b.at[NOW] // SECOND, NEVER
    for i in range(length):
        job = line.order[i]
        planned = line.value[job, PLANNED]
        if planned >= 0:
            b.planned[job] = planned
        if planned > now_s:
            soonest = min(soonest, int(planned))
    if length == 0:
        return NEVER
    low, high = 0, int(r.listed[0])
    while low < high:
        middle = (low + high) // 2
        if r.ends[middle] <= now_s:
            low = middle + 1
        else:
            high = middle
    if low < r.listed[0] and r.ends[low] < UNLIMITED:
        soonest = min(soonest, int(r.ends[low]))
    return int(soonest * SECOND) if soonest < NEVER else NEVER
