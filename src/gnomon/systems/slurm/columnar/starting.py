"""Jobs take their nodes and give them back; who ends when, in truth and by the time limits."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.heap import pop, push
from gnomon.engine.log import Kind, Reason
from gnomon.systems.slurm.cluster.ends import UNLIMITED
from gnomon.systems.slurm.columnar.books import (
    CHANGED,
    CHECK,
    ENDS,
    FREE_SHARES,
    FREE_SLOTS,
    MINUTE,
    NEVER,
    NODES,
    NOTHING,
    NOW,
    PENDING,
    RUNNING,
    SECOND,
    STARTS,
    Books,
)
from gnomon.systems.slurm.columnar.queue import catch_up, leave
from gnomon.systems.slurm.columnar.written import emit
from gnomon.systems.slurm.schedulers.planning import CPUS, DEMAND, USABLE, Lined
from gnomon.systems.slurm.select import ask
from gnomon.systems.slurm.select import at as places
from gnomon.systems.slurm.select.columns import Demands, Hardware, Occupied, Running, Trial
from gnomon.systems.slurm.select.taking import ALL, shift
from gnomon.systems.slurm.select.testing import NOW as AS_IT_IS
from gnomon.systems.slurm.select.testing import test

START, END, KILL = int(Kind.START), int(Kind.END), int(Kind.KILL)
AT_ESTIMATE = int(Reason.AT_ESTIMATE)


@kernel
def free_cpus(h: Hardware, o: Occupied, t: Trial) -> int:
    """CPUs that are free on the usable nodes."""
    free = 0
    for n in range(len(t.usable)):
        free += int(t.usable[n]) * int(o.idle[n]) * int(h.tpc[n])
    return free


@kernel
def fits_now(h: Hardware, o: Occupied, d: Demands, t: Trial, line: Lined, job: int) -> bool:
    """Whether a job gets nodes among the usable ones now; they are in the trial."""
    if line.value[job, CPUS] > free_cpus(h, o, t):
        return False
    for n in range(len(t.required)):
        t.required[n] = 0
    return bool(test(h, o, d, t, int(line.value[job, DEMAND]), AS_IT_IS))


@kernel
def use_partition(t: Trial, line: Lined, job: int) -> None:
    """The usable nodes are those of its partition."""
    for n in range(len(t.usable)):
        t.usable[n] = line.masks[line.value[job, USABLE], n]


@kernel
def start(h: Hardware, o: Occupied, t: Trial, r: Running, b: Books, job: int, scheduler: int) -> None:
    """A job starts on the nodes of the trial."""
    now = int(b.at[NOW])
    leave(b, job)
    b.at[PENDING] -= 1
    b.at[RUNNING] += 1
    b.reason[job], b.planned[job] = NOTHING, -1
    take_shares(h, t, r, b, job)
    shift(h, o, r, int(b.slot[job]), 1, ALL)
    b.at[CHANGED] = 1
    b.at[STARTS] += 1
    limit = NEVER
    expected = UNLIMITED
    if b.limit[job] >= 0:
        end = now + b.limit[job] * MINUTE
        expected = end // SECOND
        limit = end + b.over[job]
    line_up(r, int(b.slot[job]), int(expected))
    natural = min(now + b.run[job], NEVER)
    check = NEVER
    if limit < NEVER:
        check = -(-limit // b.at[CHECK]) * b.at[CHECK]
    b.killed[job] = check < natural
    enter_end(b, int(min(check, natural)), job)
    b.start_row[job] = emit(b, START, job, int(t.node[0]), int(b.row[job]), 0, 0, scheduler)


@kernel
def take_shares(h: Hardware, t: Trial, r: Running, b: Books, job: int) -> None:
    """Keep what the trial gives a job: a share for each of its nodes."""
    count = int(t.at[places.COUNT_NODES])
    b.at[FREE_SLOTS] -= 1
    slot = int(b.free_slot[b.at[FREE_SLOTS]])
    b.slot[job] = slot
    b.width[job] = count
    r.partition[slot], r.row[slot] = t.ask[ask.PARTITION], -1
    r.whole[slot], r.share[slot] = t.ask[ask.ALONE], t.ask[ask.SHARE]
    following = -1
    for i in range(count - 1, -1, -1):
        b.at[FREE_SHARES] -= 1
        m = int(b.free_share[b.at[FREE_SHARES]])
        r.node[m], r.memory[m] = t.node[i], t.memory[i]
        r.cpus[m] = 0
        for k in range(r.cores.shape[1]):
            r.cores[m, k] = t.words[i, k]
            left = int(t.words[i, k])
            while left:
                left &= left - 1
                r.cpus[m] += h.tpc[t.node[i]]
        for k in range(r.devices.shape[1]):
            r.devices[m, k] = t.devices[i, k]
        r.after[m] = following
        following = m
    r.first[slot] = following
    if count > 1:
        b.first[job] = b.at[NODES]
        for i in range(count):
            b.nodes[b.at[NODES] + i] = t.node[i]
        b.at[NODES] += count


@kernel
def line_up(r: Running, slot: int, end_s: int) -> None:
    """Among those who run it stands behind all that are expected to end by then."""
    low, count = 0, int(r.listed[0])
    high = count
    while low < high:
        middle = (low + high) // 2
        if r.ends[middle] <= end_s:
            low = middle + 1
        else:
            high = middle
    for i in range(count, low, -1):
        r.order[i], r.ends[i] = r.order[i - 1], r.ends[i - 1]
    r.order[low], r.ends[low] = slot, end_s
    r.listed[0] = count + 1


@kernel
def line_down(r: Running, slot: int) -> None:
    """It runs no more."""
    count = int(r.listed[0]) - 1
    place = 0
    while r.order[place] != slot:
        place += 1
    for i in range(place, count):
        r.order[i], r.ends[i] = r.order[i + 1], r.ends[i + 1]
    r.listed[0] = count


@kernel
def enter_end(b: Books, time: int, job: int) -> None:
    """A job will end at a time."""
    if time < NEVER:
        push(b.end_time, b.end_number, b.end_job, int(b.at[ENDS]), time, int(b.at[STARTS]), job)
        b.at[ENDS] += 1


@kernel
def next_ended(b: Books) -> int:
    """The job that ends first; it is out of the heap then."""
    entries = int(b.at[ENDS])
    b.at[ENDS] = entries - 1
    return pop(b.end_time, b.end_number, b.end_job, entries)


@kernel
def finish(h: Hardware, o: Occupied, r: Running, b: Books, job: int) -> None:
    """A job is over, by itself or at its limit."""
    killed = b.killed[job] > 0
    slot = int(b.slot[job])
    node = int(r.node[r.first[slot]])
    emit(b, KILL if killed else END, job, node, int(b.start_row[job]), AT_ESTIMATE if killed else 0, 0, 0)
    catch_up(b)
    b.at[RUNNING] -= 1
    line_down(r, slot)
    shift(h, o, r, slot, -1, ALL)
    m = int(r.first[slot])
    while m >= 0:
        b.free_share[b.at[FREE_SHARES]] = m
        b.at[FREE_SHARES] += 1
        m = int(r.after[m])
    r.first[slot] = -1
    b.free_slot[b.at[FREE_SLOTS]] = slot
    b.at[FREE_SLOTS] += 1
