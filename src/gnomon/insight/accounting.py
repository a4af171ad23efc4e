"""What became of the time that tasks ran: whose was of use, and whose was wasted.

A node that stopped runs nothing from that moment on, though its tasks fail (FAIL) only when that is noticed: this time
counts as held, not as run. What a failed attempt had saved is of use, unless its task was given up or killed in the
end. A result that was lost later (UNDO) was wasted, and so was an attempt that a copy was faster than.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight import exact
from gnomon.insight.history import History
from gnomon.insight.outages import STOPPED, Span, by_node, merged, outages
from gnomon.model.fault import Fault
from gnomon.model.resources import NEVER
from gnomon.model.work import BoolArray, IntArray


@dataclass(frozen=True)
class Spent:
    """Columns over :attr:`History.places` (attempts, then copies), in ns within the time observed.

    ``held_ns``: how long it had its place; ``ran_ns``: how long it ran; ``kept_ns``: how much of that a failed attempt
    had saved; ``useful_ns``; ``ended``: whether it is over. What has ended and was of no use was wasted.
    """

    held_ns: IntArray
    ran_ns: IntArray
    kept_ns: IntArray
    useful_ns: IntArray
    ended: BoolArray

    @property
    def wasted_ns(self) -> IntArray:
        """The time that ended without being of use."""
        return np.where(self.ended, self.ran_ns - self.useful_ns, 0)


def spent(past: History) -> Spent:
    """The time of each attempt and copy."""
    places = past.places
    until = np.minimum(places.close_ns, past.end_ns)
    held = np.maximum(until - places.open_ns, 0)
    alive = np.minimum(until, stop_ns(past))
    ran = np.maximum(alive - places.start_ns, 0)
    useful = np.where(places.closed_by == Kind.END, ran, 0)
    ended = places.closed_by != 0
    kept = np.zeros(len(ran), np.int64)
    kinds = np.bincount(past.log.kind, minlength=max(Kind) + 1)
    if kinds[Kind.FAIL]:
        state = past.outcome.state[places.task]
        kept = _kept(past, ran)
        useful += np.where((state == State.FAILED) | (state == State.KILLED), 0, kept)
    if kinds[Kind.COPY]:
        _give_to_copies(past, useful, ran)
    if kinds[Kind.UNDO]:
        undone = np.full(len(past.scenario.work), -1, np.int64)
        rows = np.flatnonzero(past.log.kind == Kind.UNDO)
        undone[past.log.subject[rows]] = rows
        useful[(places.close_row >= 0) & (places.close_row < undone[places.task])] = 0
    return Spent(held, ran, kept, useful, ended)


def stop_ns(past: History) -> IntArray:
    """When the node of each attempt and copy stopped while it was there, or stopped it as it heard nothing any more (a
    fence): NEVER (or later than it) if neither did."""
    places = past.places
    found = places.close_ns.copy()
    if not (past.log.kind == Kind.FAULT).any():
        return found
    where = np.maximum(places.node, 0)
    begun = np.where(places.start_ns < NEVER, places.start_ns, places.open_ns)
    for node, spans in _stops(past).items():
        begin, end = np.array(spans, np.int64).T
        mine = np.flatnonzero(where == node)
        # The first stop that is not over when it starts; reboots that take no time count as well.
        first = np.searchsorted(end, begun[mine], side="right")
        hit = first < len(end)
        mine, first = mine[hit], first[hit]
        found[mine] = np.minimum(found[mine], begin[first])
    return found


def _stops(past: History) -> dict[int, list[Span]]:
    """By node, when it ran nothing."""
    faults, fence = outages(past), past.scenario.operation.fence_ns
    found = by_node(past, faults, STOPPED)
    if fence < NEVER:
        for node, spans in by_node(past, faults, (Fault.PARTITION.value,)).items():
            fenced = [(begin + fence, end) for begin, end in spans if begin + fence < end]
            if fenced:
                found[node] = merged([*found.get(node, ()), *fenced])
    return found


def _kept(past: History, ran: IntArray) -> IntArray:
    """What of its time each failed attempt had saved, of tasks that save at all.

    FAIL counts what was lost in time at full speed; "ran" in its details is all the attempt did, in the same (if it is
    not said: it went at full speed). The same part of the time that it took counts as saved.
    """
    places, work, log = past.places, past.scenario.work, past.log
    kept = np.zeros(len(ran), np.int64)
    saves = np.array([one.checkpoint is not None for one in work.recoveries], np.bool_)
    if not saves.any():
        return kept
    of_task = np.full(len(work), saves[0]) if work.recovery is None else saves[work.recovery]
    for i in np.flatnonzero((places.closed_by == Kind.FAIL) & of_task[places.task]).tolist():
        row, took = int(places.close_row[i]), int(ran[i])
        did = int(log.details.get(row, {}).get("ran", took))
        kept[i] = took * max(did - int(log.value[row]), 0) // did if did else 0
    return kept


def _give_to_copies(past: History, useful: IntArray, ran: IntArray) -> None:
    """A copy that won was of use; the attempt that it beat, which ends at the same moment, was not. What a copy did
    that became the attempt that counts was of use if this was."""
    places, first = past.places, len(past.attempts)
    won = first + np.flatnonzero(past.copies.closed_why == Reason.WON)
    useful[won] = ran[won]
    decided = set(zip(places.task[won].tolist(), places.close_ns[won].tolist(), strict=True))
    for i in np.flatnonzero((places.closed_by == Kind.END) & np.isin(places.task, places.task[won])).tolist():
        if (int(places.task[i]), int(places.close_ns[i])) in decided:
            useful[i] = 0
    for attempt, copy in promoted(past).items():
        useful[copy] = ran[copy] if places.closed_by[attempt] == Kind.END and useful[attempt] else 0


def promoted(past: History) -> dict[int, int]:
    """The attempts that began as a copy (which ends for no reason and goes on as the attempt that counts): both as
    places."""
    places, first = past.places, len(past.attempts)
    over = first + np.flatnonzero((past.copies.closed_why == Reason.NONE) & (past.copies.close_row >= 0))
    if not len(over):
        return {}
    ends = {(int(places.task[c]), int(places.node[c]), int(places.close_ns[c])): c for c in over.tolist()}
    found = {}
    for i in np.flatnonzero(np.isin(past.attempts.task, places.task[over])).tolist():
        copy = ends.get((int(places.task[i]), int(places.node[i]), int(places.open_ns[i])))
        if copy is not None and places.open_row[i] > places.close_row[copy]:
            found[i] = copy
    return found


@dataclass(frozen=True, slots=True)
class Area:
    """Resource x time, exact, in ledger units x ns: held, ran, of use, and ended in waste."""

    held: int
    ran: int
    useful: int
    wasted: int


def areas(past: History) -> dict[str, Area]:
    """The areas of each of the cluster's resources."""
    shape, shapes = past.scenario.work.shape[past.places.task], len(past.scenario.work.shapes)
    time = spent(past)
    times = [
        exact.total_by(column, shape, shapes) for column in (time.held_ns, time.ran_ns, time.useful_ns, time.wasted_ns)
    ]
    return {name: Area(*(exact.dot(amount.tolist(), one) for one in times)) for name, amount in past.demand.items()}
