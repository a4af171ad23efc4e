"""What a run hit: which kinds of events were caused by which, what came together, how tasks ended.

A *feature* is one such fact as a whole number. Schedules that hit one which no run hit before are worth changing
further (as in M. Zalewski's American Fuzzy Lop, whose edges between basic blocks are causes between events here).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.rules import Verdict
from gnomon.model.fault import Fault

_BITS: Final = 7  # of each of the four parts of an edge: all kinds and reasons are below 128
_EDGE, _TOGETHER, _ATTEMPTS, _END, _NEAR = (number << 4 * _BITS for number in range(5))
_FAULTS: Final = tuple(Fault)


def features(facts: Facts, verdicts: Sequence[Verdict]) -> frozenset[int]:
    """All that a run hit.

    - an event's kind and reason, with those of the event that caused it (of a fault: which one it is);
    - two kinds of faults that were there at one time;
    - how many attempts the tasks that had most needed (1, 2, 3-4, 5-8 …), and states in which tasks ended, and why;
    - how near each property is to being broken, in tenths.
    """
    if not len(facts.log):
        return frozenset()
    what = facts.outcome
    ends = (what.state.astype(np.int64) << _BITS) | what.reason
    return frozenset(
        {
            *_edges(facts),
            *_together(facts),
            _ATTEMPTS | (max(int(what.attempts.max(initial=0)) - 1, 0)).bit_length(),
            *(_END | np.unique(ends)).tolist(),
            *(_NEAR | index << _BITS | verdict.near_e4 // 1_000 for index, verdict in enumerate(verdicts)),
        }
    )


def _edges(facts: Facts) -> list[int]:
    log = facts.log
    reason = log.reason.astype(np.int64)
    for one in facts.faults:
        reason[one.row] = _number(one.kind)
    event = (log.kind.astype(np.int64) << _BITS) | reason
    cause = np.where(log.cause >= 0, event[log.cause], 0)
    found: list[int] = np.unique(_EDGE | (event << 2 * _BITS) | cause).tolist()
    return found


def _together(facts: Facts) -> set[int]:
    found: set[int] = set()
    for i, one in enumerate(facts.faults):
        for other in facts.faults[:i]:
            if other.end_ns > one.begin_ns and other.fault != one.fault:
                first, second = sorted((_number(one.kind), _number(other.kind)))
                found.add(_TOGETHER | first << _BITS | second)
    return found


def _number(kind: str) -> int:
    """A kind of fault as a number above 0; 0 where the log does not say which it is."""
    return 1 + _FAULTS.index(Fault(kind)) if kind else 0
