"""The profile of the future: what will be free on each node from when on, given expected ends and promised starts."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.ledger import copy_row, copy_rows, fits, lower_row, move, pick_devices
from gnomon.engine.world import NOW, STEPS, World
from gnomon.model.resources import NEVER
from gnomon.scheduling.placing import allows
from gnomon.scheduling.seats import seat_all


@kernel
def split(w: World, time: int) -> int:
    """Make a step begin at ``time`` (now or later) and return its position."""
    i = step_at(w, time)
    if w.step_time[i] == time:
        return i
    last = w.at[STEPS]
    for k in range(last, i + 1, -1):
        w.step_time[k] = w.step_time[k - 1]
        copy_rows(w.step_free[k], w.step_free[k - 1])
    w.step_time[i + 1] = time
    copy_rows(w.step_free[i + 1], w.step_free[i])
    w.at[STEPS] = last + 1
    return i + 1


@kernel
def step_at(w: World, time: int) -> int:
    """The position of the step that holds at ``time``."""
    low, high = 0, w.at[STEPS] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if w.step_time[middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def book(w: World, task: int, begin: int, end: int, sign: int) -> None:
    """Take (-1) the task's place out of the profile from ``begin`` to ``end``, or give it back (+1)."""
    if begin >= end:
        return
    first = split(w, begin)
    last = split(w, end) if end < NEVER else w.at[STEPS]
    for i in range(first, last):
        move(w, w.step_free[i], w.node[task], w.shape[task], w.devices[task], sign)


@kernel
def forget_past(w: World) -> None:
    """Drop the steps that are over, and join neighbours that are equal."""
    now = w.at[NOW]
    first = step_at(w, now)
    kept = 0
    for i in range(first, w.at[STEPS]):
        if i > first and _same(w, kept - 1, i):
            continue
        if kept != i:
            w.step_time[kept] = w.step_time[i]
            copy_rows(w.step_free[kept], w.step_free[i])
        kept += 1
    w.step_time[0] = now
    w.at[STEPS] = kept


@kernel
def _same(w: World, a: int, b: int) -> bool:
    for n in range(w.step_free.shape[1]):
        for k in range(w.step_free.shape[2]):
            if w.step_free[a, n, k] != w.step_free[b, n, k]:
                return False
    return True


@kernel
def find_slot(w: World, u: int, length: int, bound: int) -> int:
    """The earliest time before ``bound`` from which the unit fits for ``length``, or ``bound``; its tasks get their
    nodes and devices. The first node wins among those with the same time."""
    if w.size[u] > 1:
        return _find_gang_slot(w, u, length, bound)
    task = w.member[w.first[u]]
    best = bound
    for n in range(len(w.free)):
        if not allows(w, n, task):
            continue
        time = _find_on_node(w, n, w.shape[task], length, best)
        if time < best:
            best = time
            w.node[task] = n
            w.devices[task] = pick_devices(w, w.rest, n, w.shape[task])
    return best


@kernel
def _find_on_node(w: World, n: int, s: int, length: int, bound: int) -> int:
    """Earliest start on one node; on success ``rest[n]`` holds the least that is free during the run."""
    i = 0
    while i < w.at[STEPS]:
        begin = max(w.step_time[i], w.at[NOW])
        if begin >= bound:
            return bound
        copy_row(w.rest, n, w.step_free[i], n)
        j = i
        while fits(w, w.rest, n, s):
            j += 1
            if j == w.at[STEPS] or w.step_time[j] >= begin + length:
                return begin
            lower_row(w.rest, n, w.step_free[j], n)
        # A step that does not fit by itself fails every start up to it; devices may fail only together.
        i = j + 1 if j == i or not fits(w, w.step_free[j], n, s) else i + 1
    return bound


@kernel
def _find_gang_slot(w: World, u: int, length: int, bound: int) -> int:
    for i in range(w.at[STEPS]):
        begin = max(w.step_time[i], w.at[NOW])
        if begin >= bound:
            return bound
        copy_rows(w.rest, w.step_free[i])
        for j in range(i + 1, w.at[STEPS]):
            if w.step_time[j] >= begin + length:
                break
            for n in range(len(w.rest)):
                lower_row(w.rest, n, w.step_free[j], n)
        if seat_all(w, u, -1):
            return begin
    return bound
