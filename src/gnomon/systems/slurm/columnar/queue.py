"""The pending jobs in order (:mod:`gnomon.systems.slurm.schedulers.line`), and their priorities (:mod:`~.ranking`)."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.columnar.books import (
    ASSOC,
    BASIC,
    JOBSIZE,
    NICE,
    NOW,
    PARTITION,
    PERIOD,
    PERIODS,
    QOS,
    SECOND,
    SITE,
    TRES,
    WAITING,
    Books,
)
from gnomon.systems.slurm.priority.formula import PRIORITY_MAX


@kernel
def goes_before(b: Books, one: int, other: int) -> bool:
    """Whether a job is before another: by tier, priority, and who came first."""
    tier, others = b.tier[b.partition[one]], b.tier[b.partition[other]]
    if tier != others:
        return bool(tier > others)
    if b.priority[one] != b.priority[other]:
        return bool(b.priority[one] > b.priority[other])
    return one < other


@kernel
def place_of(b: Books, job: int) -> int:
    """Where a job stands in the line, or would."""
    low, high = 0, int(b.at[WAITING])
    while low < high:
        middle = (low + high) // 2
        if goes_before(b, int(b.line[middle]), job):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def enter(b: Books, job: int) -> int:
    """A job joins the line; its place."""
    place, count = place_of(b, job), int(b.at[WAITING])
    for i in range(count, place, -1):
        b.line[i] = b.line[i - 1]
    b.line[place] = job
    b.at[WAITING] = count + 1
    return place


@kernel
def leave(b: Books, job: int) -> None:
    """A job leaves it."""
    count = int(b.at[WAITING]) - 1
    for i in range(place_of(b, job), count):
        b.line[i] = b.line[i + 1]
    b.at[WAITING] = count


@kernel
def reorder(b: Books) -> bool:
    """Priorities are others now. Whether the order is."""
    same = True
    for i in range(1, int(b.at[WAITING])):
        job = int(b.line[i])
        k = i
        while k > 0 and goes_before(b, job, int(b.line[k - 1])):
            b.line[k] = b.line[k - 1]
            k -= 1
            same = False
        b.line[k] = job
    return not same


@kernel
def priority_of(b: Books, job: int, waited_s: int) -> int:
    """The priority of a job that has gathered so much age: added in Slurm's order (:class:`~.priority.Lasting`)."""
    kind = b.kind[job]
    age = 0.0
    if b.weight[0] != 0.0:
        age = waited_s / b.weight[2] if waited_s < b.weight[2] else 1.0
    total = age * b.weight[0] + b.lasting[kind, ASSOC]
    total = total + 0.0 * b.weight[1]
    total = total + b.lasting[kind, JOBSIZE] + b.lasting[kind, PARTITION] + b.lasting[kind, QOS]
    total = total + b.lasting[kind, TRES] + b.lasting[kind, SITE] - b.lasting[kind, NICE]
    return int(min(max(total, 1.0), float(PRIORITY_MAX)))


@kernel
def catch_up(b: Books) -> bool:
    """Work priorities out anew, if a PriorityCalcPeriod is over since that was done; whether the order is another."""
    if b.at[PERIOD] == 0 or b.at[BASIC] != 0:
        return False
    due = b.at[NOW] // b.at[PERIOD]
    if b.at[PERIODS] >= due:
        return False
    b.at[PERIODS] = due
    now_s = due * b.at[PERIOD] // SECOND
    for i in range(int(b.at[WAITING])):
        job = int(b.line[i])
        b.priority[job] = priority_of(b, job, int(max(0, now_s - b.submit[job] // SECOND)))
    return reorder(b)


@kernel
def first_priority(b: Books, job: int) -> int:
    """That of a job that is submitted."""
    if b.at[BASIC] == 0:
        catch_up(b)
        return priority_of(b, job, 0)
    priority = int(b.at[BASIC])
    b.at[BASIC] = max(1, priority - 1)
    return min(max(1, priority), PRIORITY_MAX)
