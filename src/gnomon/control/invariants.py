"""Invariants of what happens after placement, one checker each, beside those of the world
(:mod:`gnomon.engine.invariants`). On in tests after every instant, on request elsewhere.

A checker returns what is wrong, or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gnomon.control.board import LOST, Board
from gnomon.control.copies import Copies
from gnomon.control.faults import named
from gnomon.control.machines import Machines
from gnomon.control.plane import Plane
from gnomon.control.plans import Plans
from gnomon.control.redistribution import Redistribution
from gnomon.control.results import Results
from gnomon.control.timers import Timers
from gnomon.engine.invariants import Broken, story
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import FROZEN, NOW, ROWS, TASKS_INSIDE, World
from gnomon.model.errors import InvariantError
from gnomon.model.operation import Probe
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

_INSIDE: Final = np.isin(np.arange(len(State)), (State.WAITING, State.HELD, State.RUNNING))
"""By state: whether a task is in the system."""


@dataclass
class Parts:
    """All that the checkers look at: the parts of a :class:`~gnomon.control.control.Control`, and how far the log has
    been read. ``sent_away``: the tasks of each job that are away for a drain's sake."""

    scenario: Scenario
    board: Board
    timers: Timers
    plans: Plans
    machines: Machines
    plane: Plane
    again: Redistribution
    copies: Copies
    results: Results
    seen: int = 0
    frozen: bool = False
    sent_away: set[int] = field(default_factory=set)

    @property
    def w(self) -> World:
        """The world."""
        return self.board.w


def withheld_is_accounted_for(p: Parts) -> Broken:
    """What is neither free nor held by a task that counts: copies, room kept for retries, lost devices."""
    w = p.w
    expected = np.zeros_like(w.withheld)
    kept = [(task, node, bits) for task, (node, bits) in p.again.kept.items()]
    kept += [(attempt.task, attempt.node, attempt.devices) for attempt in p.machines.copies()]
    plain = w.need.shape[1] - 1
    for task, node, bits in kept:
        shape = int(w.shape[task])
        expected[node, :plain] += w.need[shape, :plain]
        for k in range(w.free.shape[1] - plain):
            expected[node, plain + k] += (bits >> k & 1) * w.share[shape]
    for (node, number), amount in p.board.lost_devices.items():
        expected[node, plain + number] += amount
        if w.free[node, plain + number]:
            yield f"device {number} of node {node} is lost, and {w.free[node, plain + number]} of it is free", -1
    if not np.array_equal(expected, w.withheld):
        node = int(np.flatnonzero((expected != w.withheld).any(axis=1))[0])
        yield f"of node {node} is withheld {w.withheld[node]}, and accounted for {expected[node]}", -1


def everybody_is_somewhere(p: Parts) -> Broken:
    """A task that is delayed waits for a time or for results, its unit once; all others do not. Those inside are
    counted."""
    w = p.w
    inside = int(_INSIDE[w.state].sum())
    if inside != w.at[TASKS_INSIDE]:
        yield f"{inside} tasks are in the system, {w.at[TASKS_INSIDE]} are counted", -1
    beside = p.again.placer.waiting() if p.again.placer is not None else ()
    waiting = *p.again.waiting, *p.again.in_doubt, *p.results.waiting, *beside
    entries = Counter(int(w.unit[task]) for task in waiting)
    delayed = np.flatnonzero(w.state == State.DELAYED)
    for task in delayed.tolist():
        if entries[int(w.unit[task])] != 1:
            yield f"task {task} is delayed, and its unit has {entries[int(w.unit[task])]} entries", task
    for unit in set(entries) - set(w.unit[delayed].tolist()):
        yield f"unit {unit} waits for something, and is not delayed", int(w.member[w.first[unit]])
    for task, timer in p.again.waiting.items():
        if not p.timers.holds(timer):
            yield f"task {task} waits for a moment that does not come", task
    for task in p.again.kept:
        if task not in p.again.waiting:
            yield f"room is kept for task {task}, which does not wait", task


def attempts_are_those_of_tasks(p: Parts) -> Broken:
    """An attempt that counts is that of a running task, in its place; each task has one at most. Whoever has a place on
    a node that is silent is looked at."""
    w = p.w
    for attempt in p.machines.attempts.values():
        task = attempt.task
        if not attempt.counts:
            if attempt.copy_row < 0:
                yield f"a copy of task {task} has no row", task
            continue
        if p.machines.of(task) is not attempt:
            yield f"two attempts of task {task} count", task
        if w.state[task] != State.RUNNING:
            yield f"an attempt of task {task} counts, which does not run", task
        elif w.node[task] != attempt.node or w.devices[task] != attempt.devices:
            yield f"the attempt of task {task} is on node {attempt.node}, the task on node {w.node[task]}", task
    for node in p.machines.dead | p.machines.cut:
        for task in p.board.placed(node):
            if w.state[task] == State.RUNNING and p.machines.of(task) is None:
                yield f"nobody looks at task {task} on node {node}, which is silent", task


def nobody_is_done_twice(p: Parts) -> Broken:
    """No attempt has done more than its plan, and no more is saved of a task than it has to do."""
    for task, saved in p.plans.saved_ns.items():
        if not 0 <= saved <= p.plans.work_ns[task]:
            yield f"{saved} ns of the {p.plans.work_ns[task]} ns of task {task} are saved", task
    for attempt in p.machines.attempts.values():
        if not 0 <= p.machines.elapsed_ns(attempt) <= attempt.plan_ns:
            done = p.machines.elapsed_ns(attempt)
            yield f"an attempt of task {attempt.task} has done {done} ns of {attempt.plan_ns}", attempt.task


def the_dead_do_nothing(p: Parts) -> Broken:
    """Nothing goes on on a node that is dead, nor does an attempt that has stopped."""
    for attempt in p.machines.attempts.values():
        goes_on = attempt.begun_ns < NEVER and not attempt.finished
        if goes_on and (not attempt.alive or attempt.node in p.machines.dead):
            yield f"an attempt of task {attempt.task} goes on on node {attempt.node}, which is dead", attempt.task


def ends_are_entered(p: Parts) -> Broken:
    """The end of an attempt is in the loop's agenda when the control plane will hear of it, else with the timers."""
    w = p.w
    for attempt in p.machines.attempts.values():
        task, hidden = attempt.task, not attempt.counts or attempt.node in p.machines.cut
        timed = p.timers.holds(attempt.timer)
        if hidden:
            if attempt.counts and w.start[task] + w.duration[task] < NEVER:
                yield f"the loop knows when task {task} ends, on node {attempt.node}, which is cut off", task
            if (attempt.alive and attempt.end_ns < NEVER) != timed:
                yield f"an attempt of task {task} is to end at {attempt.end_ns}, and nobody sees to it", task
        elif timed:
            yield f"an attempt of task {task} ends by a timer and by the loop", task
        elif attempt.alive and not attempt.finished:
            end = min(attempt.end_ns, int(w.start[task]) + p.plans.limit_ns(task), NEVER)
            if min(int(w.start[task] + w.duration[task]), NEVER) != max(end, int(w.start[task])):
                yield f"task {task} is to end at {end}, for the loop at {w.start[task] + w.duration[task]}", task


def silence_is_one(p: Parts) -> Broken:
    """A node is cut off for the control plane and for itself; closed as lost while it is taken for lost; nobody leads
    while the loop is frozen, and of leaders by a majority there is one at most."""
    if not p.plane.frozen and p.plane.apart != p.machines.cut:
        yield f"cut off are {sorted(p.machines.cut)}, for the control plane {sorted(p.plane.apart)}", -1
    closed = set(np.flatnonzero(p.w.closed & LOST).tolist())
    if closed != p.plane.taken_for_lost:
        yield f"closed as lost are {sorted(closed)}, taken for lost {sorted(p.plane.taken_for_lost)}", -1
    if bool(p.w.at[FROZEN]) != p.plane.frozen:
        yield f"the loop is frozen: {p.w.at[FROZEN]}, the leader {p.plane.leader}", -1
    if p.scenario.operation.control.quorum and len(p.plane.leaders) > 1:
        yield f"{p.plane.leaders} lead", -1


def copies_do_not_overlap(p: Parts) -> Broken:
    """A stateful task (``orphans: wait``) is never replaced while it may run; nor is any when nodes that are cut off
    stop their tasks before they are given up."""
    operation, w = p.scenario.operation, p.w
    fenced = operation.fence_ns < _soonest_given_up_ns(p.scenario)
    for attempt in p.machines.copies():
        if attempt.speculative:
            continue
        if operation.orphans == "wait" and w.state[attempt.task] in (State.WAITING, State.RUNNING, State.HELD):
            yield f"task {attempt.task} is to run, and may still do so on node {attempt.node}", attempt.task
        if w.log_reason[w.log_cause[attempt.copy_row]] != Reason.NODE:
            continue
        if operation.orphans == "wait":
            yield f"task {attempt.task} was given up on node {attempt.node}, which was not known to stop", attempt.task
        if fenced and attempt.alive and attempt.runs and not _by_messages(p, attempt.copy_row):
            yield f"task {attempt.task} runs on on node {attempt.node}, which has been fenced", attempt.task


def _by_messages(p: Parts, row: int) -> bool:
    """Whether a copy is there because messages were late or lost: of that a node does not know, and is not fenced."""
    while row >= 0 and p.w.log_kind[row] != Kind.FAULT:
        row = int(p.w.log_cause[row])
    kind = named(p.board.details.get(row, {}).get("kind"))
    return kind is not None and kind.false_alarm


def _soonest_given_up_ns(scenario: Scenario) -> int:
    """The shortest time from a silence to the moment at which a node is given up for it."""
    rule, after = scenario.operation.detection, scenario.operation.eviction.after_ns
    if isinstance(rule, Probe):
        return (rule.misses - 1) * rule.period_ns + rule.timeout_ns + after
    return max(0, rule.grace_ns - rule.beat_ns) + after


def retries_are_limited(p: Parts) -> Broken:
    """No task is tried again more often than its rules allow."""
    for task, attempts in p.again.ladders.items():
        for rule, row in zip(p.scenario.work.recovery_of(task).retries, attempts.rows, strict=False):
            if 0 <= rule.limit < row.count:
                yield f"task {task} has been tried again {row.count} times, of {rule.limit}", task


def rows_make_sense(p: Parts) -> Broken:
    """Every new row has an earlier cause; while nobody leads nothing is placed, noticed or given up; drains keep to the
    disruption budgets. Details belong to rows."""
    w, rows = p.w, int(p.w.at[ROWS])
    if p.board.details and max(p.board.details) >= rows:
        yield f"details of row {max(p.board.details)}, of {rows} rows", -1
    for row in range(p.seen, rows):
        kind, task, cause = Kind(int(w.log_kind[row])), int(w.log_subject[row]), int(w.log_cause[row])
        reason = Reason(int(w.log_reason[row]))
        if not -1 <= cause < row:
            yield f"row {row} has the cause {cause}", task
        if kind is Kind.LEAD:
            p.frozen = w.log_value[row] < 0
        if p.frozen and _is_decision(w, row, kind, reason):
            yield f"row {row}, {kind.name}, is decided by nobody", task
        _follow_drains(p, kind, task, cause, reason)
    p.seen = rows
    yield from _budgets_hold(p)


def _is_decision(w: World, row: int, kind: Kind, reason: Reason) -> bool:
    """Whether a row is a decision of the control plane, and not what a node or an operator does himself."""
    if kind is Kind.START:
        return w.log_kind[w.log_cause[row]] not in (Kind.FAIL, Kind.RETRY, Kind.COPY_END, Kind.CANCEL)
    if kind is Kind.FAIL and reason is Reason.NODE:
        return bool(w.log_kind[w.log_cause[row]] == Kind.CLOSE)
    return kind in (Kind.NOTICE, Kind.HOLD) or (kind is Kind.CLOSE and reason is Reason.LOST)


def _follow_drains(p: Parts, kind: Kind, task: int, cause: int, reason: Reason) -> None:
    if kind is Kind.FAIL:
        with_gang = reason is Reason.PEER and p.w.log_subject[cause] in p.sent_away
        if reason is Reason.DRAINED or with_gang:
            p.sent_away.add(task)
        else:
            p.sent_away.discard(task)
    elif kind in (Kind.START, Kind.HOLD, Kind.CANCEL, Kind.END, Kind.KILL):
        p.sent_away.discard(task)


def _budgets_hold(p: Parts) -> Broken:
    budgets = p.scenario.operation.budgets
    away = Counter(p.scenario.work.job_name(task) for task in p.sent_away) if budgets else {}
    for job, count in sorted(away.items()):
        for budget in budgets:
            if budget.job in (job, "*") and count > budget.unavailable:
                yield f"{count} tasks of job {job} are away for a drain, of {budget.unavailable}", -1


INVARIANTS: Final[tuple[Callable[[Parts], Broken], ...]] = (
    withheld_is_accounted_for,
    everybody_is_somewhere,
    attempts_are_those_of_tasks,
    nobody_is_done_twice,
    the_dead_do_nothing,
    ends_are_entered,
    silence_is_one,
    copies_do_not_overlap,
    retries_are_limited,
    rows_make_sense,
)


def check(p: Parts) -> None:
    """Run every checker. Raises InvariantError at the first that finds something."""
    for invariant in INVARIANTS:
        for what, task in invariant(p):
            problem = f"{invariant.__name__}: {what}, at {p.w.at[NOW]} ns"
            raise InvariantError(problem, story=story(p.w, task), seed=p.scenario.seed)
