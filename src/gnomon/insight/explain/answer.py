"""The explanation of one task or job, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight.explain.case import Case, Goal
from gnomon.insight.explain.chain import Link, chain
from gnomon.insight.explain.changes import Change, Simulate, Trials, search, trials_max
from gnomon.insight.explain.classes import NodeClass, node_classes
from gnomon.insight.explain.deadlock import find_cycle
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.levers import levers
from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.explain.queues import overtaken_by, place_in_queue
from gnomon.insight.explain.situation import Situation, rows_of
from gnomon.insight.explain.subjects import Subject, find_subject
from gnomon.insight.explain.summary import horizon_ns, summary
from gnomon.insight.explain.waits import Wait, waits
from gnomon.insight.explain.wanted import Wanted, keep_its_place, run_to_its_end, start_by
from gnomon.insight.history import history
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Policy, Scenario
from gnomon.scheduling.codes import PLACEMENT_CODES
from gnomon.scheduling.ordering import KEYS

HOLDERS_MAX = 3
"""How many of those who hold what it waits for appear in the chain."""


@dataclass(frozen=True)
class Explanation:
    """Why a task or job is as it is, and what would change it.

    - ``subject``: as ``task/name`` or ``job/name``; ``state``: as in the tasks file.
    - ``summary``: one sentence; ``native``: the same in the system's own words.
    - ``waiting``: the spells of waiting, in order; ``classes``: nodes by why they do not take it.
    - ``chain``: the rows of the log that led there; ``changes``: the smallest changes, the cheapest first.
    - ``notes``: what the search for changes left out. Not part of ``explain -o json``.
    """

    subject: str
    state: str
    summary: str
    native: str
    waiting: tuple[Wait, ...] = ()
    classes: tuple[NodeClass, ...] = ()
    chain: tuple[Link, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {
            "subject": self.subject,
            "state": self.state,
            "summary": self.summary,
            "native": self.native,
            "waiting": [one.as_dict() for one in self.waiting],
            "classes": [one.as_dict() for one in self.classes],
            "chain": [one.as_dict() for one in self.chain],
            "changes": [one.as_dict() for one in self.changes],
        }


def explain(subject: str, scenario: Scenario, log: Log, *, simulate: Simulate) -> Explanation:
    """Explain what became of a task or job in a run.

    ``subject``: see :func:`~gnomon.insight.explain.subjects.find_subject`; ``log``: of the scenario's run;
    ``simulate``: runs a scenario, so that changes can be tried. Raises InputError for a subject that is unknown or
    ambiguous.
    """
    ground = Ground(history(scenario, log))
    who = find_subject(subject, ground.work)
    task = _spokesman(ground, who)
    spells = _with_overtaken(ground, task, waits(ground, task, horizon_ns(ground)))
    case = _case(ground, who, task, spells)
    most = trials_max(len(ground.work))
    classes: list[NodeClass] = []
    changes: list[Change] = []
    complete = True
    if case is not None:
        if case.goal is Goal.START and not case.rules & {"over-limit", "unusable"}:
            classes = node_classes(case.here, case.task, empty=case.infeasible)
        if _is_known(scenario.policy):
            changes, complete = search(levers(case), Trials(case.wanted, simulate, most))
    text = summary(ground, who, task, spells)
    return Explanation(
        subject=str(who),
        state=State(int(ground.past.outcome.state[task])).label,
        summary=text,
        native=text,
        waiting=tuple(spells),
        classes=tuple(classes),
        chain=tuple(chain(ground, who.tasks, _of_interest(case) if case else ())),
        changes=tuple(changes),
        notes=tuple(_notes(case, changes, complete=complete)),
    )


def _notes(case: Case | None, changes: Sequence[Change], *, complete: bool) -> Iterator[str]:
    """What the search for changes left out, or that it found nothing."""
    if not complete:
        most = trials_max(len(case.ground.work)) if case else 0
        yield f"the search for changes stopped after {most} runs; there may be smaller ones"
    elif case is not None and not _is_known(case.ground.scenario.policy):
        yield "no changes were tried, for a kept run does not hold a policy that is written in Python"
    elif case is not None and not changes:
        yield f"no single change that was tried brings about that it {case.wanted.text}"


def _is_known(policy: Policy) -> bool:
    """Whether a policy can be run: of one that was written in Python a kept run has the name only."""
    known = callable(policy.order) or policy.order in KEYS
    return known and (callable(policy.placement) or policy.placement in PLACEMENT_CODES)


def _spokesman(ground: Ground, who: Subject) -> int:
    """The task that stands for a job: one that waits rather than one that was refused, was killed, gave way, or waited
    long."""
    what = ground.past.outcome
    waited = np.minimum(what.first_start_ns, NEVER) - np.minimum(what.arrive_ns, NEVER)

    def urgency(task: int) -> tuple[int, int, int]:
        state = State(int(what.state[task]))
        rank = _URGENCY.get(state, len(_URGENCY) + (what.attempts[task] < 2))
        return int(rank), -int(waited[task]), task

    return min(who.tasks, key=urgency)


_URGENCY = {State.WAITING: 0, State.HELD: 1, State.REJECTED: 2, State.KILLED: 3, State.UNBORN: 4}


def _with_overtaken(ground: Ground, task: int, spells: list[Wait]) -> list[Wait]:
    """The number of those who overtook it stands with the last spell."""
    overtaken = overtaken_by(ground.past, task) if spells else 0
    if overtaken and spells[-1].kind != "infeasible":
        spells[-1] = replace(spells[-1], numbers={**spells[-1].numbers, "overtaken": overtaken})
    cycle = find_cycle(ground, task) if spells else None
    if cycle is not None:
        numbers: Numbers = {"jobs": len(cycle.names), "placed": cycle.placed[0], "missing": cycle.missing[0]}
        begin, end, name = spells[-1].begin_ns, spells[-1].end_ns, cycle.names[1 % len(cycle.names)]
        spells.append(Wait("event", "deadlock", f"job/{name}", cycle.text, numbers, NEVER, begin, end))
    return spells


def _case(ground: Ground, who: Subject, task: int, spells: list[Wait]) -> Case | None:
    """What is wanted for it: that it starts, starts much earlier, is not killed, or keeps its place. None: nothing."""
    what, log = ground.past.outcome, ground.past.log
    in_need = _in_need(ground, task)
    tasks = who.tasks if len(who.tasks) > 1 else ground.unit(task)
    if in_need != task:
        tasks = tuple(np.flatnonzero(ground.work.job == ground.work.job[task]).tolist())
    label = str(who) if set(tasks) == set(who.tasks) else f"job/{ground.work.job_name(task)}"
    state, arrived, first = (
        State(int(what.state[task])),
        int(ground.work.submit_ns[task]),
        int(what.first_start_ns[task]),
    )
    until = ground.scenario.limits.until_ns
    gave_way = rows_of(log, (task,), Kind.PREEMPT)

    def case(goal: Goal, row: int, now_ns: int, wanted: Wanted) -> Case:
        return Case(ground, label, in_need, tasks, spells, Situation(ground, row, now_ns), arrived, goal, wanted)

    if state is State.KILLED and what.reason[task] == Reason.AT_ESTIMATE:
        row = int(rows_of(log, (task,), Kind.KILL)[0])
        return case(Goal.END, row, int(log.t_ns[row]), run_to_its_end((task,), until))
    if len(gave_way):
        row, last = int(gave_way[0]), int(log.t_ns[gave_way[-1]])
        return case(Goal.PLACE, row, int(log.t_ns[row]), keep_its_place(who.tasks, first, last))
    if state is State.REJECTED:
        row = int(rows_of(log, (task,), Kind.REJECT)[0])
        return case(Goal.START, row, int(log.t_ns[row]), start_by(who.tasks, until))
    if state in (State.WAITING, State.HELD):
        return case(Goal.START, len(log), horizon_ns(ground), start_by(who.tasks, until))
    if first < NEVER and first > arrived:
        start = rows_of(log, (task,), Kind.START)[0]
        row = int(np.searchsorted(log.instant, log.instant[start]))
        wanted = start_by(who.tasks, arrived + (first - arrived) // 2, now_ns=first)
        return case(Goal.START, row, first - 1, wanted)
    return None


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


def _of_interest(case: Case) -> list[int]:
    """Rows that tell who got what it waits for: starts on the nodes that come nearest, or of its tenant, and why the
    one in front waits."""
    ground, here = case.ground, case.here
    log, opened = ground.past.log, ground.past.attempts.open_row
    if case.goal is not Goal.START or case.infeasible:
        return []
    nodes = {wait.object.removeprefix("node/") for wait in case.waits if wait.rule == "resources"}
    on = [i for i in range(len(here.stays)) if ground.node_name(int(here.node[i])) in nodes]
    if "limit" in case.kinds:
        on += here.of_tenant(case.task).tolist()
    size = here.taken.max(axis=1)
    rows = [int(opened[here.stays[i]]) for i in sorted(set(on), key=lambda i: -size[i])[:HOLDERS_MAX]]
    first = place_in_queue(here, case.task).first if "behind" in case.kinds else None
    if first is not None:
        waits_ = rows_of(log, (first,), Kind.WAIT)
        rows += waits_[waits_ < here.row][-1:].tolist()
    windows = [
        w for w in ground.scenario.cluster.reservations if f"reservation/{w.name}" in {o.object for o in case.waits}
    ]
    begun = {w.start_ns for w in windows}
    rows += [int(row) for row in np.flatnonzero(log.kind == Kind.WAKE) if int(log.t_ns[row]) in begun]
    return rows
