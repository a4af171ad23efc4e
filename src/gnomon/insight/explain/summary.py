"""The explanation in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight.explain.deadlock import find_cycle
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import failures
from gnomon.insight.explain.ordeals import delay_ns, gave_up, ordeals, slowness, stands_still
from gnomon.insight.explain.phrases import amounts_of, counted, listed, span
from gnomon.insight.explain.queues import OVERTAKEN_LARGE, overtaken_by
from gnomon.insight.explain.sentences import STOPPED, windows_at, withdrawn
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.explain.subjects import Subject
from gnomon.insight.explain.waits import Wait
from gnomon.model.resources import NEVER

SPELLS_MAX = 4
"""How many spells of waiting the sentence tells: the longest."""


def summary(ground: Ground, who: Subject, task: int, spells: Sequence[Wait]) -> str:
    """What became of it and why, with the numbers. ``task``: the one that stands for a job."""
    what, work = ground.past.outcome, ground.work
    state = State(int(what.state[task]))
    name = who.name if len(who.tasks) == 1 or ground.scenario.gang else f"{work.id(task)} of {who.name}"
    cycle = find_cycle(ground, task)
    if cycle is not None:
        text = f"{name} {_has_waited(ground, task)}, in a deadlock: {cycle.text}"
    elif state is State.UNBORN:
        text = _unborn(ground, name, task)
    elif state is State.REJECTED:
        text = f"{name} was refused on its arrival at {span(int(what.arrive_ns[task]))}: {spells[-1].text}"
    elif state in (State.WAITING, State.HELD, State.DELAYED) and what.attempts[task]:
        text = _again(ground, name, task, spells)
    elif state in (State.WAITING, State.HELD, State.DELAYED):
        text = f"{name} {_has_waited(ground, task)}: {_last(spells)}"
        text += _end(ground, spells) + _overtaken(ground, task)
    elif what.first_start_ns[task] >= NEVER:
        text = f"{name} {_gone(ground, task, spells)}"
    else:
        text = _started(ground, name, task, spells)
    return f"{text}{_others(ground, who)}."


def _has_waited(ground: Ground, task: int) -> str:
    what = ground.past.outcome
    arrived = int(what.arrive_ns[task])
    waited = span(max(0, ground.horizon_ns - arrived))
    asked = amounts_of(ground.asked(ground.unit(task)))
    return f"has waited {waited} for {asked} since {span(arrived)}"


def _gone(ground: Ground, task: int, spells: Sequence[Wait]) -> str:
    """It went before it started."""
    what = ground.past.outcome
    arrived, end = int(what.arrive_ns[task]), int(what.end_ns[task])
    how = "was cancelled" if what.state[task] == State.KILLED else "failed"
    waited = f", having waited {span(end - arrived)}" if arrived < end < NEVER else ""
    clauses = _clauses(spells) if waited else ""
    return f"{how} at {span(end)}, before it started{waited}" + (f": {clauses}" if clauses else "")


def _again(ground: Ground, name: str, task: int, spells: Sequence[Wait]) -> str:
    """It has lost its place, or its result, and waits for the next attempt."""
    log, what = ground.past.log, ground.past.outcome
    first = int(what.first_start_ns[task])
    rows = rows_of(log, (task,))
    since = int(log.t_ns[rows[np.isin(log.kind[rows], (Kind.PREEMPT, Kind.FAIL, Kind.UNDO))][-1]])
    asked = amounts_of(ground.asked(ground.unit(task)))
    waited = f"has waited {span(max(0, ground.horizon_ns - since))} for {asked} again since {span(since)}"
    if len(rows_of(log, (task,), Kind.FAIL)) == 0 and len(rows_of(log, (task,), Kind.UNDO)) == 0:
        return f"{name} {waited}: {_last(spells)}{_end(ground, spells)}{_overtaken(ground, task)}"
    later = [one for one in spells if one.begin_ns >= since]
    told = f": {_last(later)}{_end(ground, later)}" if later else ""
    return f"{name} started at {span(first)}{_gave_way(ground, task)}{ordeals(ground, task)}; it {waited}{told}"


def _last(spells: Sequence[Wait]) -> str:
    """What the last spell waits for; several things, any of which would do, one after the other."""
    if not spells:
        return "nobody has looked at it yet"
    last = [one.text for one in spells if one.begin_ns == spells[-1].begin_ns and one.kind == spells[-1].kind]
    return "; ".join(dict.fromkeys(last))


def _end(ground: Ground, spells: Sequence[Wait]) -> str:
    """When it may start, and whether the run goes on until then."""
    if not spells:
        return ""
    last = [one for one in spells if one.begin_ns == spells[-1].begin_ns]
    earliest = min(one.earliest_ns for one in last)
    reason = ground.stopped
    told = ""
    if earliest < NEVER and last[0].kind == "event":
        told = f"; it can start at {span(earliest)} at the earliest"
    if reason is Reason.LIMIT_TIME:
        return f"{told}, and the run ends at {span(ground.horizon_ns)}"
    return f"{told}; {STOPPED[reason]}" if reason in STOPPED else told


def _unborn(ground: Ground, name: str, task: int) -> str:
    work, unit = ground.work, ground.unit(task)
    last = max(unit, key=lambda one: int(work.submit_ns[one]))
    when = span(int(work.submit_ns[last]))
    if last == task:
        return f"{name} has not arrived: it does at {when}, and the run ends at {span(ground.horizon_ns)}"
    whole = f"its job arrives as a whole only when {work.id(last)} does, at {when}"
    return f"{name} has not arrived: {whole}, and the run ends at {span(ground.horizon_ns)}"


def _started(ground: Ground, name: str, task: int, spells: Sequence[Wait]) -> str:
    """It started, soon or late: what it waited for, what it then went through, and how it ended."""
    what = ground.past.outcome
    arrived, first = int(what.arrive_ns[task]), int(what.first_start_ns[task])
    before = [one for one in spells if one.begin_ns < first]
    since = min([arrived, *(one.begin_ns for one in before)])
    if first == since:
        text = f"{name} started at {span(first)}, on its arrival"
    else:
        text = f"{name} waited {span(first - since)}, from {span(since)} to {span(first)}"
        clauses = _clauses(before)
        text += f": {clauses}" if clauses else ""
        overtaken = _overtaken(ground, task)
        text += overtaken + (_released(ground, task) or (f"; it started at {span(first)}" if overtaken else ""))
    told = _gave_way(ground, task) + ordeals(ground, task) + slowness(ground, task)
    ended = _ended(ground, task)
    return text + told + (f"; it{ended.removeprefix(', and')}" if told and ended.startswith(", and") else ended)


def _clauses(spells: Sequence[Wait]) -> str:
    longest = sorted(spells, key=lambda one: -one.length_ns)[:SPELLS_MAX]
    told = [one for one in spells if one in longest]
    if len(told) == 1:
        return told[0].text
    groups: dict[tuple[int, int], list[str]] = {}
    for one in told:
        groups.setdefault((one.begin_ns, one.length_ns), []).append(one.text)
    if len(groups) == 1:
        return "; ".join(dict.fromkeys(next(iter(groups.values()))))
    return "; then ".join(f"{span(length)} because {' and '.join(texts)}" for (_, length), texts in groups.items())


def _released(ground: Ground, task: int) -> str:
    """What let it start."""
    log = ground.past.log
    start = log.row(int(rows_of(log, (task,), Kind.START)[0]))
    cause = next(log.back(start.cause), None)
    if cause is not None and cause.t_ns == start.t_ns:
        match cause.kind:
            case Kind.END:
                return f"; it started when {ground.work.id(cause.subject)} ended"
            case Kind.KILL:
                return f"; it started when {ground.work.id(cause.subject)} was killed"
            case Kind.PREEMPT:
                return f"; it started when {ground.work.id(cause.subject)} gave way to it"
            case Kind.WAKE:
                return f"; it started when {windows_at(ground, start.t_ns, past=True)}"
    row = _elected(ground, task)
    return f"; it started when member {int(log.value[row])} led the control plane" if row >= 0 else ""


def _elected(ground: Ground, task: int) -> int:
    """The row with which somebody decided again when a task started first, -1 if that was not it."""
    log, first = ground.past.log, ground.past.outcome.first_start_ns[task]
    rows = np.flatnonzero((log.kind == Kind.LEAD) & (log.t_ns == first) & (log.value >= 0))
    return int(rows[0]) if len(rows) else -1


def _gave_way(ground: Ground, task: int) -> str:
    log, work = ground.past.log, ground.work
    rows = rows_of(log, (task,), Kind.PREEMPT)
    if not len(rows):
        return ""
    starts = rows_of(log, (task,), Kind.START)
    lost = sum(int(log.t_ns[row] - log.t_ns[starts[starts < row][-1]]) for row in rows)
    told = [f"{work.id(int(log.value[row]))} at {span(int(log.t_ns[row]))}" for row in rows]
    return f"; it gave way to {listed(told, 3)} and lost {span(lost)} of its run"


def _ended(ground: Ground, task: int) -> str:
    what, work = ground.past.outcome, ground.work
    state, end, start = State(int(what.state[task])), int(what.end_ns[task]), int(what.start_ns[task])
    if state is State.RUNNING and (still := stands_still(ground, task)):
        return still
    if state is State.RUNNING:
        return ", and still runs" if int(what.attempts[task]) == 1 else f"; it started anew at {span(start)} and runs"
    if state is State.FAILED:
        return gave_up(ground, task)
    again = f"; it started anew at {span(start)}{_place(ground, task)}" if int(what.attempts[task]) > 1 else ""
    if state is State.KILLED and what.reason[task] == Reason.AT_ESTIMATE:
        needs = int(work.duration_ns[task])
        more = f"it needs {span(needs)}" if needs < NEVER else "it would have run on"
        return f"{again}; it was killed at {span(end)}, when its estimate of {span(end - start)} was over, but {more}"
    if state is State.KILLED:
        rows = rows_of(ground.past.log, (task,), Kind.CANCEL)
        how = withdrawn(ground, int(rows[-1])) if len(rows) else "cancelled"
        return f"{again}; it was {how} at {span(end)}"
    late = delay_ns(ground, task) if failures(ground, task) or rows_of(ground.past.log, (task,), Kind.UNDO).size else 0
    return f"{again}, and was done at {span(end)}" + (f", {span(late)} later than undisturbed" if late else "")


def _place(ground: Ground, task: int) -> str:
    """On which node, where attempts of it failed."""
    node = int(ground.past.outcome.node[task])
    moved = failures(ground, task) and not ground.scenario.cluster.pool and node >= 0
    return f" on {ground.node_name(node)}" if moved else ""


def _overtaken(ground: Ground, task: int) -> str:
    """Starvation is named where it is large."""
    count = overtaken_by(ground.past, task)
    return f"; {counted(count, 'task')} that came later started earlier" if count >= OVERTAKEN_LARGE else ""


def _others(ground: Ground, who: Subject) -> str:
    """How the other tasks of a job fare."""
    if len(who.tasks) == 1:
        return ""
    states, counts = np.unique(ground.past.outcome.state[list(who.tasks)], return_counts=True)
    if len(states) == 1:
        return ""
    told: dict[str, int] = {}
    for state, count in zip(states.tolist(), counts.tolist(), strict=True):
        word = "holding a place" if state == State.HELD else State(state).label
        told[word] = told.get(word, 0) + count
    shown = [f"{count:,} {'is' if count == 1 else 'are'} {word}" for word, count in told.items()]
    return f" (of its {len(who.tasks):,} tasks {listed(shown)})"
