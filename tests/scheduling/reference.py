"""FCFS, EASY and conservative backfilling in a pool, written afresh from docs/backfilling.md, to be read, not fast.

Nothing of Gnomon is used here, so that what agrees with it was found twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numpy import inf


@dataclass(frozen=True)
class Job:
    """A rigid job: whole seconds, whole processors."""

    submit: int
    size: int
    run: int
    estimate: int


@dataclass
class Pool:
    """Jobs by their position in the input, and where they are."""

    jobs: list[Job]
    free: int
    queue: list[int]
    start: dict[int, int]
    running: dict[int, int]
    """Real end of each running job."""
    kill: bool

    def launch(self, i: int, now: int) -> None:
        job = self.jobs[i]
        self.queue.remove(i)
        self.free -= job.size
        self.start[i] = now
        self.running[i] = now + (min(job.run, job.estimate) if self.kill else job.run)

    def expected_end(self, i: int) -> int:
        return self.start[i] + self.jobs[i].estimate


def starts(jobs: list[Job], processors: int, policy: str, *, kill: bool = True) -> list[int | None]:
    """The start of every job, None for one that is larger than the pool. Rules T1 and T7."""
    schedulers: dict[str, Callable[[Pool, int], None]] = {"fcfs": fcfs, "easy": easy, "conservative": Conservative()}
    scheduler = schedulers[policy]
    pool = Pool(jobs, processors, [], {}, {}, kill)
    coming = sorted((i for i in range(len(jobs)) if jobs[i].size <= processors), key=lambda i: (jobs[i].submit, i))
    while coming or pool.running:
        now = min([*pool.running.values(), *(jobs[i].submit for i in coming[:1])])
        for i in [i for i, end in pool.running.items() if end == now]:
            del pool.running[i]
            pool.free += jobs[i].size
        while coming and jobs[coming[0]].submit == now:
            pool.queue.append(coming.pop(0))
        scheduler(pool, now)
    return [pool.start.get(i) for i in range(len(jobs))]


def fcfs(pool: Pool, now: int) -> None:
    """T2 and T3: from the head of the queue while the head fits."""
    while pool.queue and pool.jobs[pool.queue[0]].size <= pool.free:
        pool.launch(pool.queue[0], now)


def easy(pool: Pool, now: int) -> None:
    """T3, then T4: one reservation for the head, then T5: candidates in order."""
    fcfs(pool, now)
    if not pool.queue:
        return
    needed, free_then, shadow = pool.jobs[pool.queue[0]].size, pool.free, now
    for end, size in sorted((max(now, pool.expected_end(i)), pool.jobs[i].size) for i in pool.running):
        if free_then >= needed and end > shadow:
            break
        free_then, shadow = free_then + size, end
    extra = free_then - needed
    for i in pool.queue[1:]:
        job = pool.jobs[i]
        if job.size > pool.free:
            continue
        if now + job.estimate <= shadow:
            pool.launch(i, now)
        elif job.size <= extra:
            extra -= job.size
            pool.launch(i, now)


class Conservative:
    """Everybody who waits has a promised start: at each pass, in the order of the queue, the earliest at which the job
    fits while all others keep what they have. Jobs must not run longer than estimated."""

    def __init__(self) -> None:
        self.promised: dict[int, float] = {}

    def __call__(self, pool: Pool, now: int) -> None:
        for i in list(pool.queue):
            self.promised[i] = min(self.earliest(pool, i, now), self.promised.get(i, inf))
            if self.promised[i] <= now and pool.jobs[i].size <= pool.free:
                pool.launch(i, now)
                del self.promised[i]

    def bookings(self, pool: Pool, but: int) -> Iterator[tuple[float, float, int]]:
        """Who holds how many processors, from when to when, as far as is known now."""
        for i in pool.running:
            yield pool.start[i], pool.expected_end(i), pool.jobs[i].size
        for i, begin in self.promised.items():
            if i != but:
                yield begin, begin + pool.jobs[i].estimate, pool.jobs[i].size

    def earliest(self, pool: Pool, i: int, now: int) -> float:
        job, booked = pool.jobs[i], list(self.bookings(pool, i))
        total = pool.free + sum(pool.jobs[k].size for k in pool.running)

        def free_at(time: float) -> int:
            return total - sum(size for begin, end, size in booked if begin <= time < end)

        for begin in sorted({float(now), *(end for _, end, _ in booked if end > now)}):
            changes = [b for b, _, _ in booked if begin < b < begin + job.estimate]
            if all(free_at(time) >= job.size for time in (begin, *changes)):
                return begin
        raise AssertionError("a job that fits an empty pool always finds a time")
