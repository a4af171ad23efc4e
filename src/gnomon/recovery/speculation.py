"""Speculation: which running tasks deserve a second copy.

The rule is that of Spark's TaskSetManager: enough tasks are done, and the task has run for more than a multiple of
their median.
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.model.operation import Speculation
from gnomon.model.resources import E4


def candidates(
    now: int,
    running: Sequence[tuple[int, int]],
    done_durations: Sequence[int],
    total: int,
    speculation: Speculation,
) -> list[int]:
    """The tasks of ``running`` (task, start [ns]) of one job that deserve a copy at ``now``, the longest-running first.

    ``done_durations`` [ns]: of the successful tasks of the job, of ``total``. Of an even number the median is the mean
    of the two in the middle. Leave out of ``running`` what has a copy already.

    Three of four are done, in 10, 20 and 30 ns, so 1.5 * 20 ns is the threshold:

    >>> candidates(100, [(7, 69), (8, 70)], [30, 10, 20], 4, Speculation(check_ns=1))
    [7]
    """
    if len(done_durations) < max(1, total * speculation.quantile_e4 // E4):
        return []
    ordered = sorted(done_durations)
    median_twice = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
    slow = [
        (start, task)
        for task, start in running
        if (now - start) * 2 * E4 > median_twice * speculation.multiplier_e4 and now - start >= speculation.least_ns
    ]
    return [task for _, task in sorted(slow)]
