"""From when on nothing of a task ran: what a failure really costs begins with the fault, not when that is noticed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gnomon.engine.log import Kind
from gnomon.insight.accounting import stop_ns
from gnomon.insight.history import History
from gnomon.model.resources import NEVER


def interrupted_ns(past: History) -> dict[int, int]:
    """For the row of each failure (FAIL) when its task's work stopped, in ns; NEVER if it goes on to the end.

    - The attempt stopped with its node (crash, reboot, a fence behind a partition), else when it failed.
    - A copy that ran on then, or was put in its place (behind a partition without a fence; a speculative one), goes on
      with it: the work stops when the last of those does that took over without a gap.

    A failure before the attempt ran stops what never went: it counts from the failure itself.
    """
    log, places, first = past.log, past.places, len(past.attempts)
    failed = np.flatnonzero((log.kind == Kind.FAIL) & (log.subject >= 0)).tolist()
    if not failed:
        return {}
    until = np.minimum(places.close_ns, stop_ns(past))
    begun = np.minimum(np.where(places.start_ns < NEVER, places.start_ns, places.open_ns), places.close_ns)
    attempt = {int(places.close_row[i]): i for i in np.flatnonzero(places.closed_by[:first] == Kind.FAIL).tolist()}
    beside: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for i in sorted(range(first, len(places)), key=lambda i: int(places.open_ns[i])):
        beside[int(places.task[i])].append((int(places.open_ns[i]), int(until[i])))
    found = {}
    for row in failed:
        stop = int(log.t_ns[row])
        if (i := attempt.get(row, -1)) >= 0:
            stop = max(min(stop, int(until[i])), int(begun[i]))
        for open_ns, end_ns in beside.get(int(log.subject[row]), ()):
            if open_ns <= stop:
                stop = max(stop, end_ns)
        found[row] = stop
    return found
