"""What went wrong in a run, and what was done about it: how soon, at what price, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from gnomon.control.faults import KINDS
from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight import exact
from gnomon.insight.accounting import areas
from gnomon.insight.budgets import breaches
from gnomon.insight.distribution import SECOND, Distribution
from gnomon.insight.history import History
from gnomon.insight.interruptions import interrupted_ns
from gnomon.insight.outages import DOWN, OUTAGES, Outage, Span, by_node, closed, length, merged, outages
from gnomon.insight.rework import overlaps, rework
from gnomon.insight.usage import queue_length
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray

ABOUT: Final = (Kind.FAULT, Kind.FAIL, Kind.UNDO, Kind.COPY, Kind.REFUSE)
"""The kinds of rows without which a log says nothing about recovery."""

PLANNED: Final = tuple(fault.value for fault, kind in KINDS.items() if kind.planned)
"""Faults that someone wants: nothing has to be noticed, and closing a node is all there is to it."""


@dataclass(frozen=True)
class Recovery:
    """What went wrong and what was done about it. Seconds, over the time observed where nothing else is said.

    - ``faults``: how many there were, by kind; one that strikes several nodes at once is one.
    - ``time_to_detect_s``: from a fault to when the control plane takes a node that it struck for lost (FAULT to
      NOTICE); ``time_to_isolate_s``: to when the node takes no new work any more (FAULT to CLOSE; that an operator
      closes a node does not count); one value a node and fault. ``time_to_recover_s``: the time without any
      attempt or copy of a task that ran, from when a failed attempt of it stopped to its next start, for all that
      started again; so it holds detection and eviction (:func:`gnomon.insight.interruptions.interrupted_ns`).
    - ``attempts_failed``: by reason; ``retries``: failures after which the task was queued or started again;
      ``gave_up``: tasks that are failed at the end.
    - ``survival``: tasks done / accepted tasks that are over (done, failed, killed).
    - ``work_lost_s``: run time of attempts whose work was lost when they failed, and of results that were lost after
      the task was done (UNDO). ``work_redone_s``: run time in which tasks did again what they had done before: as far
      as an attempt, from where it went on, got over what the task had reached before.
    - ``copies``: ``speculative`` and ``orphaned``, by how they came; ``won`` (was done first), ``fenced`` (was
      stopped), ``finished_twice`` (ran to its end though it did not count any more), by how they ended.
    - ``ran_twice``: ``tasks`` of which two attempts or copies ran at one time, those of them where not only speculation
      was the cause (``unplanned``), and the time in which two or more ran, summed over tasks (``overlap_s``).
    - ``availability``: of the ``nodes``, 1 - the time that nodes were crashed, rebooting or cut off / nodes x time
      (each node counts alike: MTBF / (MTBF + MTTR) in the long run); of the ``control`` plane, the part of the time
      that it had a leader.
    - ``capacity_available``: the part of CPUs x time on nodes that were not down, and not closed for new work.
    - ``throughput_cpus``: CPU seconds that ran per second; ``goodput_cpus``: those of use, as far as is known at
      the end: of tasks that are done, and saved work. (``goodput`` of the metrics is another ratio: of what has ended,
      the part that was of use; what still runs is in neither of its parts.)
    - ``refusals``: how often a budget forbade a disruption; ``budget_breaches``: how often a job came to have more
      tasks away than a budget allows, which only failures and preemptions can do
      (:func:`gnomon.insight.budgets.breaches`).
    - ``backlog``, after the last outage (the last stretch of time with crashes, reboots, partitions or a lost leader):
      ``peak``, the most tasks that waited from its begin on; ``at_s``, when (on the clock of the run);
      ``catch_up_s``, the time from its end until no more wait than just before it (None: not within the run). With d
      the length of the outage, r the rate of arrivals and c that of service it is d r / (c - r), and never when
      c <= r.
    """

    faults: dict[str, int]
    time_to_detect_s: Distribution
    time_to_isolate_s: Distribution
    time_to_recover_s: Distribution
    attempts_failed: dict[str, int]
    retries: int
    gave_up: int
    survival: float | None
    work_lost_s: float
    work_redone_s: float
    copies: dict[str, int]
    ran_twice: dict[str, float]
    availability: dict[str, float | None]
    capacity_available: float | None
    goodput_cpus: float | None
    throughput_cpus: float | None
    refusals: int
    budget_breaches: int
    backlog: dict[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        """What stands under ``recovery`` in ``metrics.json``."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value.as_dict() if isinstance(value, Distribution) else value for name, value in found.items()}


def recovery(past: History) -> Recovery | None:
    """What a run's log says about recovery; None where nothing went wrong."""
    log, state = past.log, past.outcome.state
    counts = np.bincount(log.kind, minlength=max(Kind) + 1)
    if not any(counts[kind] for kind in ABOUT):
        return None
    faults = outages(past)
    lost_ns, redone_ns = rework(past)
    down = by_node(past, faults, DOWN)
    cpu = areas(past).get("cpu")
    return Recovery(
        faults=dict(sorted(Counter({one.fault: one.kind for one in faults}.values()).items())),
        time_to_detect_s=_since_fault(log, Kind.NOTICE, faults),
        time_to_isolate_s=_since_fault(log, Kind.CLOSE, faults),
        time_to_recover_s=Distribution.of_ns(_until_start(past)),
        attempts_failed=_reasons(log.reason[log.kind == Kind.FAIL]),
        retries=_retries(log),
        gave_up=int((state == State.FAILED).sum()),
        survival=exact.ratio(
            int((state == State.DONE).sum()), int(np.isin(state, (State.DONE, State.FAILED, State.KILLED)).sum())
        ),
        work_lost_s=lost_ns / SECOND,
        work_redone_s=redone_ns / SECOND,
        copies=_copies(past),
        ran_twice=_ran_twice(past),
        availability={"nodes": _available(past, down), "control": _led(past)},
        capacity_available=_capacity_available(past, down),
        goodput_cpus=exact.ratio(cpu.useful, 1000 * past.span_ns) if cpu else None,
        throughput_cpus=exact.ratio(cpu.ran, 1000 * past.span_ns) if cpu else None,
        refusals=int(counts[Kind.REFUSE]),
        budget_breaches=breaches(past),
        backlog=_backlog(past, faults),
    )


def _since_fault(log: Log, kind: Kind, faults: Sequence[Outage]) -> Distribution:
    """The time from the fault behind each row of a kind to that row."""
    rows = np.flatnonzero(log.kind == kind)
    root = rows.copy()
    while (on := (root >= 0) & (log.kind[root] != Kind.FAULT)).any():
        cause = log.cause[root[on]]
        root[on] = np.where(cause < root[on], cause, -1)  # a cause comes before what it causes
    planned = np.isin(root, [one.row for one in faults if one.kind in PLANNED])
    kept = (root >= 0) & ~planned
    return Distribution.of_ns(log.t_ns[rows[kept]] - log.t_ns[root[kept]])


def _keys(log: Log, *kinds: Kind) -> IntArray:
    """The rows of some kinds by task and within it by time, as numbers that grow so: task x rows of the log + row."""
    rows = np.flatnonzero(np.isin(log.kind, kinds) & (log.subject >= 0))
    return np.sort(log.subject[rows] * np.int64(len(log)) + rows)


def _next(log: Log, keys: IntArray, those: IntArray) -> IntArray:
    """For each key the first of ``those`` after it that is about the same task: its row, or -1."""
    if not len(those):
        return np.full(len(keys), -1, np.int64)
    found = those[np.minimum(np.searchsorted(those, keys, side="right"), len(those) - 1)]
    return np.where((found > keys) & (found // len(log) == keys // len(log)), found % len(log), -1)


def _until_start(past: History) -> IntArray:
    """From when the work of each failed attempt stopped to the next start of its task, where there was one."""
    log = past.log
    failed, stopped = _keys(log, Kind.FAIL), interrupted_ns(past)
    start = _next(log, failed, _keys(log, Kind.START))
    again = start >= 0
    since = np.array([stopped[row] for row in (failed[again] % max(len(log), 1)).tolist()], np.int64)
    away: IntArray = np.maximum(log.t_ns[start[again]] - since, 0)
    return away


def _retries(log: Log) -> int:
    failed = _keys(log, Kind.FAIL)
    again = _next(log, failed, _keys(log, Kind.RETRY, Kind.WAIT, Kind.QUEUE, Kind.START))
    last = _next(log, failed, failed)
    return int(((again >= 0) & ((last < 0) | (again < last))).sum())


def _reasons(codes: IntArray) -> dict[str, int]:
    found = Counter(Reason(code).name.lower() for code in codes.tolist())
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _copies(past: History) -> dict[str, int]:
    came, went = past.copies.opened_why, past.copies.closed_why
    words = {"speculative": Reason.SPECULATIVE, "orphaned": Reason.ORPHANED}
    ends = {"won": Reason.WON, "fenced": Reason.FENCED, "finished_twice": Reason.FINISHED}
    by_begin = {word: int((came == reason).sum()) for word, reason in words.items()}
    return by_begin | {word: int((went == reason).sum()) for word, reason in ends.items()}


def _ran_twice(past: History) -> dict[str, float]:
    every = overlaps(past)
    unplanned = overlaps(past, without=Reason.SPECULATIVE)
    return {"tasks": len(every), "unplanned": len(unplanned), "overlap_s": sum(every.values()) / SECOND}


def _available(past: History, down: dict[int, list[Span]]) -> float | None:
    nodes = len(past.scenario.cluster.nodes)
    lost = sum(length(spans, past.begin_ns, past.end_ns) for spans in down.values())
    return exact.ratio(nodes * past.span_ns - lost, nodes * past.span_ns)


def _led(past: History) -> float | None:
    """The part of the time observed that the control plane had a leader; before the first row about it, it had one."""
    rows = np.flatnonzero(past.log.kind == Kind.LEAD)
    t_ns, nobody = past.log.t_ns[rows].tolist(), (past.log.value[rows] < 0).tolist()
    spans = [span for span, idle in zip(zip(t_ns, [*t_ns[1:], NEVER], strict=False), nobody, strict=True) if idle]
    return exact.ratio(past.span_ns - length(merged(spans), past.begin_ns, past.end_ns), past.span_ns)


def _capacity_available(past: History, down: dict[int, list[Span]]) -> float | None:
    away = dict(down)
    for node, spans in closed(past.log).items():
        away[node] = merged([*away.get(node, []), *spans])
    nodes = past.scenario.cluster.nodes
    cpus = [node.capacity.cpu_milli for node in nodes]
    spans_of = [length(away.get(node, []), past.begin_ns, past.end_ns) for node in range(len(nodes))]
    whole = sum(cpus) * past.span_ns
    return exact.ratio(whole - exact.dot(cpus, spans_of), whole)


def _backlog(past: History, faults: Sequence[Outage]) -> dict[str, float | None]:
    spans = merged(one.span for one in faults if one.kind in OUTAGES)
    if not spans:
        return {"peak": None, "at_s": None, "catch_up_s": None}
    begin, end = spans[-1]
    queue = queue_length(past)
    before = int(np.searchsorted(queue.t_ns, begin)) - 1
    level = queue.value[before] if before >= 0 else 0.0
    # The queue as it is at the fault and at each change from then on.
    t_ns = np.concatenate(([begin], queue.t_ns[before + 1 :]))
    value = np.concatenate(([level], queue.value[before + 1 :]))
    top = int(value.argmax())
    at_end = max(int(np.searchsorted(t_ns, end, side="right")) - 1, 0)
    low = np.flatnonzero(value[at_end:] <= level) if end < NEVER else np.zeros(0, np.int64)
    caught = max(int(t_ns[at_end + low[0]]), end) if len(low) else None
    return {
        "peak": float(value[top]),
        "at_s": int(t_ns[top]) / SECOND,
        "catch_up_s": None if caught is None else (caught - end) / SECOND,
    }
