"""The peer of ``batch``: FCFS and EASY over rigid jobs in one pool, in plain Python, written to be read.

The rules are T1 to T7 of docs/backfilling.md. Lists of plain numbers, a heap of ends, one sort of the running jobs a
pass: what an engineer would write in an afternoon.
"""

from __future__ import annotations

import heapq

Job = tuple[int, int, int, int]
"""submit, run time (clipped to the estimate), processors, estimate."""


def starts(jobs: list[Job], processors: int, *, backfill: bool) -> list[int]:
    """The start of every job; ``jobs`` in the order of submission."""
    start = [-1] * len(jobs)
    queue: list[int] = []
    running: dict[int, int] = {}
    ends: list[tuple[int, int]] = []
    free, arrived = processors, 0
    while arrived < len(jobs) or ends:
        now = min(ends[0][0] if ends else jobs[arrived][0], jobs[arrived][0] if arrived < len(jobs) else ends[0][0])
        while ends and ends[0][0] == now:
            ended = heapq.heappop(ends)[1]
            free += jobs[ended][2]
            del running[ended]
        while arrived < len(jobs) and jobs[arrived][0] == now:
            queue.append(arrived)
            arrived += 1
        chosen = heads(jobs, queue, free)
        if backfill and len(chosen) < len(queue):
            chosen += candidates(jobs, queue, chosen, running, free, now)
        for job in chosen:
            start[job] = now
            free -= jobs[job][2]
            running[job] = now + jobs[job][3]
            heapq.heappush(ends, (now + jobs[job][1], job))
        if chosen:
            gone = set(chosen)
            queue = [job for job in queue if job not in gone]
    return start


def heads(jobs: list[Job], queue: list[int], free: int) -> list[int]:
    """Jobs from the front of the queue while they fit."""
    chosen = []
    for job in queue:
        if jobs[job][2] > free:
            break
        free -= jobs[job][2]
        chosen.append(job)
    return chosen


def candidates(
    jobs: list[Job], queue: list[int], chosen: list[int], running: dict[int, int], free: int, now: int
) -> list[int]:
    """Jobs from behind the first that does not fit, which get by without delaying it."""
    free -= sum(jobs[job][2] for job in chosen)
    if free == 0:
        return []
    ends = [(end, jobs[job][2]) for job, end in running.items()]
    ends += [(now + jobs[job][3], jobs[job][2]) for job in chosen]
    head, available, shadow = queue[len(chosen)], free, None
    for end, size in sorted(ends):
        if shadow is not None and end > shadow:
            break
        available += size
        if shadow is None and available >= jobs[head][2]:
            shadow = end
    extra = available - jobs[head][2]
    filled = []
    for job in queue[len(chosen) + 1 :]:
        size, ends_in_time = jobs[job][2], shadow is None or now + jobs[job][3] <= shadow
        if size > free or not (ends_in_time or size <= extra):
            continue
        free -= size
        extra -= 0 if ends_in_time else size
        filled.append(job)
        if free == 0:
            break
    return filled
