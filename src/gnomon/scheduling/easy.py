"""EASY backfilling: one reservation, for the first unit that does not fit (Lifka, JSSPP 1995; Mualem & Feitelson, IEEE
TPDS 2001). What papers leave open are options; the defaults are rules T1 to T7 of ``docs/backfilling.md``.

The reservation is a time (``SHADOW``) and a place: ``World.rest`` is what will be free at that time on each node, less
the holder. Whoever does not end by then must fit the rest, and takes from it.
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.engine.ledger import copy_rows, fits, move
from gnomon.engine.world import LINE, NOW, PROMISED, SHADOW, WOKEN, World
from gnomon.model.resources import NEVER
from gnomon.scheduling.codes import EXTRA, KEEP, REAL_CANDIDATES, STRICT
from gnomon.scheduling.seats import seat_all


@kernel
def reserve(w: World, u: int) -> None:
    """Promise unit ``u`` the earliest time at which it fits, going by the expected ends of the running tasks."""
    rest, line, due, node, shape, devices = w.rest, w.line, w.line_due, w.node, w.shape, w.devices
    copy_rows(rest, w.free)
    kept = w.at[SHADOW] if w.opt[KEEP] == 1 and w.at[PROMISED] == u and w.at[SHADOW] < NEVER else -1
    w.at[PROMISED] = u
    gang, windows = w.size[u] > 1, len(w.wakes) > 0
    s = w.shape[w.member[w.first[u]]]
    last, i, time = w.at[LINE], 0, w.at[NOW]
    while True:
        following = NEVER if i == last else max(due[i], w.at[NOW])
        if windows:
            following = min(following, _next_wake(w, time))
        if kept >= 0 and following > kept:
            seat_all(w, u, kept)  # what the holder does not find at the kept time, nobody can take from it
            return
        time = following
        hope = gang or windows or time >= NEVER
        while i < last and due[i] <= time:
            task = line[i]
            n = node[task]
            move(w, rest, n, shape[task], devices[task], 1)
            hope = hope or fits(w, rest, n, s)
            i += 1
        if kept < 0 and hope and (seat_all(w, u, time) or time >= NEVER):
            w.at[SHADOW] = time
            return


@kernel
def _next_wake(w: World, time: int) -> int:
    """When the next window after ``time`` begins or ends, NEVER if none does."""
    for k in range(w.at[WOKEN], len(w.wakes)):
        if w.wakes[k] > time:
            return w.wakes[k]
    return NEVER


@small_kernel
def ends_in_time(w: World, u: int) -> bool:
    """Whether a candidate is expected to end by the time of the reservation."""
    end = w.at[NOW] + candidate_length(w, u)
    return end < w.at[SHADOW] or (end == w.at[SHADOW] and w.opt[STRICT] == 0)


@small_kernel
def candidate_length(w: World, u: int) -> int:
    """How long a candidate is expected to run: the longest of its tasks."""
    length = 0
    for i in range(w.first[u], w.first[u] + w.size[u]):
        task = w.member[i]
        length = max(length, w.duration[task] if w.opt[REAL_CANDIDATES] == 1 else w.estimate[task])
    return length


@small_kernel
def may_use_extra(w: World) -> bool:
    """Whether candidates that end too late may use what the holder leaves over."""
    return w.opt[EXTRA] == 1
