"""The case at hand: one subject, why it waited, the situation that matters, and what is wanted for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight.explain.delays import blockers
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.situation import Situation, rows_of
from gnomon.insight.explain.subjects import Subject
from gnomon.insight.explain.troubles import Mishap, mishap
from gnomon.insight.explain.waits import Wait
from gnomon.insight.explain.wanted import Wanted, keep_its_place, run_to_its_end, start_by
from gnomon.model.resources import NEVER


class Goal(Enum):
    """What changes are to bring about: that it starts (earlier), runs to its end, keeps its place, or does not suffer
    what it suffered (:class:`~gnomon.insight.explain.troubles.Mishap`)."""

    START = "start"
    END = "end"
    PLACE = "place"
    WELL = "well"


@dataclass(frozen=True)
class Case:
    """``label``: the subject as ``kind/name``; ``tasks``: those of it that are to change; ``task``: one that stands for
    them; ``waits``: its spells; ``here``: the situation that matters; ``since_ns``: when it began to wait; ``mishap``:
    what went wrong after it had started; ``about_another``: what is asked about needs the result of these tasks."""

    ground: Ground
    label: str
    task: int
    tasks: Sequence[int]
    waits: Sequence[Wait]
    here: Situation
    since_ns: int
    goal: Goal
    wanted: Wanted
    mishap: Mishap | None = None
    about_another: bool = False

    @property
    def kinds(self) -> set[str]:
        """The kinds of its waiting."""
        return {wait.kind for wait in self.waits}

    @property
    def rules(self) -> set[str]:
        """The rules that held it."""
        return {wait.rule for wait in self.waits}

    @property
    def infeasible(self) -> bool:
        """Whether it was refused for ever."""
        return bool(self.rules & {"too-large", "no-node-kind", "over-limit", "gang-too-large", "unusable"})


def spokesman(ground: Ground, who: Subject) -> int:
    """The task that stands for a job: one that waits rather than one that was refused, was killed, gave way, or waited
    long."""
    what = ground.past.outcome
    waited = np.minimum(what.first_start_ns, NEVER) - np.minimum(what.arrive_ns, NEVER)

    def urgency(task: int) -> tuple[int, int, int]:
        state = State(int(what.state[task]))
        rank = _URGENCY.get(state, len(_URGENCY) + (what.attempts[task] < 2))
        return int(rank), -int(waited[task]), task

    return min(who.tasks, key=urgency)


_URGENCY = {
    State.WAITING: 0,
    State.HELD: 1,
    State.DELAYED: 2,
    State.REJECTED: 3,
    State.FAILED: 4,
    State.KILLED: 5,
    State.UNBORN: 6,
}


def case_of(ground: Ground, who: Subject, task: int, spells: Sequence[Wait]) -> Case | None:
    """What is wanted for it: that it starts, starts much earlier, is not killed, or keeps its place. None: nothing."""
    what, log = ground.past.outcome, ground.past.log
    if trouble := _trouble(ground, who, task, spells):
        return trouble
    in_need = _in_need(ground, task)
    tasks = who.tasks if len(who.tasks) > 1 else ground.unit(task)
    if in_need != task:
        tasks = tuple(np.flatnonzero(ground.work.job == ground.work.job[task]).tolist())
    label = str(who) if set(tasks) == set(who.tasks) else f"job/{ground.work.job_name(task)}"
    state, until = State(int(what.state[task])), ground.scenario.limits.until_ns
    arrived, first = int(ground.work.submit_ns[task]), int(what.first_start_ns[task])
    gave_way = rows_of(log, (task,), Kind.PREEMPT)

    def case(goal: Goal, row: int, now_ns: int, wanted: Wanted) -> Case:
        here = Situation(ground, row, now_ns)
        if goal is Goal.END:
            return Case(ground, str(who), task, who.tasks, spells, here, arrived, goal, wanted)
        return Case(ground, label, in_need, tasks, spells, here, arrived, goal, wanted)

    if state is State.KILLED and what.reason[task] == Reason.AT_ESTIMATE:
        row = int(rows_of(log, (task,), Kind.KILL)[0])
        return case(Goal.END, row, int(log.t_ns[row]), run_to_its_end(who.tasks, until))
    if len(gave_way):
        row, last = int(gave_way[0]), int(log.t_ns[gave_way[-1]])
        return case(Goal.PLACE, row, int(log.t_ns[row]), keep_its_place(who.tasks, first, last))
    if state is State.REJECTED:
        row = int(rows_of(log, (task,), Kind.REJECT)[0])
        return case(Goal.START, row, int(log.t_ns[row]), start_by(who.tasks, until))
    if state in (State.WAITING, State.HELD, State.DELAYED):
        return case(Goal.START, len(log), ground.horizon_ns, start_by(who.tasks, until))
    if first < NEVER and first > arrived:
        start = rows_of(log, (task,), Kind.START)[0]
        row = int(np.searchsorted(log.instant, log.instant[start]))
        wanted = start_by(who.tasks, arrived + (first - arrived) // 2, now_ns=first)
        return case(Goal.START, row, first - 1, wanted)
    return None


def _trouble(ground: Ground, who: Subject, task: int, spells: Sequence[Wait]) -> Case | None:
    """The case of one that had started and then suffered; or of the one whose result it waits for."""
    found = mishap(ground, who.tasks, task)
    if found is not None:
        here = Situation(ground, found.row, int(ground.past.log.t_ns[found.row]))
        submitted, log = int(ground.work.submit_ns[task]), ground.past.log
        lost = int(log.subject[found.row]) if log.kind[found.row] == Kind.FAIL else task
        tasks = who.tasks if len(who.tasks) > 1 else ground.unit(task)
        label = str(who) if set(tasks) == set(who.tasks) else f"job/{ground.work.job_name(task)}"
        return Case(ground, label, lost, tasks, spells, here, submitted, Goal.WELL, found.wanted, found)
    return _of_the_needed(ground, who, task, spells)


def _of_the_needed(ground: Ground, who: Subject, task: int, spells: Sequence[Wait]) -> Case | None:
    """It waits, or waited most of all, for a result, and something went wrong for the one that makes it."""
    needs = max((one for one in spells if one.rule == "needs"), key=lambda one: one.length_ns, default=None)
    if needs is None or any(one.length_ns > needs.length_ns for one in spells):
        return None
    work, what = ground.work, ground.past.outcome
    other = next((one for one in work.needs.get(task, ()) if needs.object == f"task/{work.id(one)}"), None)
    if what.first_start_ns[task] >= NEVER:
        other = next(reversed(blockers(ground, task, len(ground.past.log) - 1)), other)
    found = None if other is None else mishap(ground, (other,), other)
    if found is None or other is None:
        return None
    arrived, first = int(what.arrive_ns[task]), int(what.first_start_ns[task])
    until = ground.scenario.limits.until_ns
    late = first < NEVER
    wanted = start_by(who.tasks, arrived + (first - arrived) // 2 if late else until, now_ns=first)
    less = start_by(who.tasks, first - (first - arrived + 9) // 10, now_ns=first) if late else None
    found = replace(found, less=less)
    here = Situation(ground, found.row, int(ground.past.log.t_ns[found.row]))
    label = f"task/{work.id(other)}"
    return Case(ground, label, other, (other,), spells, here, arrived, Goal.WELL, wanted, found, about_another=True)


def _in_need(ground: Ground, task: int) -> int:
    """The task that lacks room: of a task that held its place the peer that had none the longest, else itself."""
    log, what, job = ground.past.log, ground.past.outcome, ground.work.job
    if what.state[task] == State.HELD:
        peers = np.flatnonzero((job == job[task]) & (what.state == State.WAITING))
        return int(peers[0]) if len(peers) else task
    starts = rows_of(log, (task,), Kind.START)
    cause = int(log.cause[starts[0]]) if len(starts) else -1
    if cause >= 0 and log.kind[cause] in (Kind.HOLD, Kind.START) and job[log.subject[cause]] == job[task]:
        return int(log.subject[cause])
    return task
