"""What a task went through after it had started: attempts that were lost, copies, slowness, results that were lost.

Clauses for the sentence, each about "it".
"""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import failures, loss
from gnomon.insight.explain.phrases import counted, percent, span
from gnomon.insight.explain.sentences_recovery import brake, budget, last
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.outages import STOPPED
from gnomon.model.resources import NEVER
from gnomon.recovery.checkpoint import plan_ns

LOSSES_MAX = 3
"""How many failed attempts the sentence tells: the first, and the last ones."""


def ordeals(ground: Ground, task: int) -> str:
    """All of it, each clause after a semicolon."""
    clauses = [*_losses(ground, task), *_undone(ground, task), *_twice(ground, task), *_kept(ground, task)]
    return "".join(f"; {clause}" for clause in clauses)


# ------------------------------------------------------------------ attempts that were lost


def _losses(ground: Ground, task: int) -> Iterator[str]:
    rows = failures(ground, task)
    told = rows if len(rows) <= LOSSES_MAX else [rows[0], *rows[1 - LOSSES_MAX :]]
    for row in told:
        lost = int(ground.past.log.value[row])
        saves = ground.work.recovery_of(task).checkpoint is not None
        since = " since its last checkpoint" if saves else ""
        yield f"{loss(ground, row)} ({span(lost)} of work lost{since})"
        if row == rows[0] and len(told) < len(rows):
            yield f"{counted(len(rows) - len(told), 'attempt')} more failed"
    if len(rows) > 1:
        yield f"in all {counted(len(rows), 'attempt')} and {span(lost_ns(ground, task))} of work were lost"


def lost_ns(ground: Ground, task: int) -> int:
    """The work that was lost with attempts of a task, in ns."""
    return int(ground.past.log.value[failures(ground, task)].sum())


def gave_up(ground: Ground, task: int) -> str:
    """Why nothing followed the last failure."""
    rows = failures(ground, task)
    if not rows:
        return "; it failed for good"
    final = ground.past.log.row(rows[-1])
    tries, used_up = int(final.details.get("attempt", len(rows))) - 1, int(final.details.get("retries", 0)) > 0
    retried = f" (it was retried {counted(tries, 'time')} before)" if tries and not used_up else ""
    return f"; it failed for good at {span(final.t_ns)}: {last(ground, final.number)}{retried}"


def _undone(ground: Ground, task: int) -> Iterator[str]:
    for row in rows_of(ground.past.log, (task,), Kind.UNDO)[:2].tolist():
        one = ground.past.log.row(row)
        where = "" if one.reason is Reason.PEER else f" with {ground.node_name(one.node)}"
        yield f"its result was lost{where} at {span(one.t_ns)} and had to be made again"


# ------------------------------------------------------------------ copies


def duplicates(ground: Ground, task: int) -> list[tuple[int, int, int]]:
    """Copies that ran beside the attempt that counted, or to their end, though nobody wanted them: position among the
    copies, and from when to when both ran (equal: one after the other)."""
    past, found = ground.past, []
    copies, stays = past.copies, past.attempts
    orphaned = (copies.task == task) & (copies.opened_why == Reason.ORPHANED)
    for i in orphaned.nonzero()[0].tolist():
        until = min(int(copies.close_ns[i]), ground.horizon_ns)
        mine = (stays.task == task) & (stays.open_row > copies.open_row[i]) & (stays.start_ns < until)
        begin = int(stays.start_ns[mine].min()) if mine.any() else until
        if begin < until or copies.closed_why[i] == Reason.FINISHED:
            found.append((i, min(begin, until), until))
    return found


def _twice(ground: Ground, task: int) -> Iterator[str]:
    copies = ground.past.copies
    for i, begin, until in duplicates(ground, task)[:2]:
        where = ground.node_name(int(copies.node[i]))
        how = {Reason.FINISHED: "ran to its end, so that its effects are there twice", Reason.FENCED: "was stopped"}
        end = how.get(Reason(int(copies.closed_why[i])), "was stopped" if copies.close_row[i] >= 0 else "runs on")
        if begin < until:
            yield f"it ran twice from {span(begin)} to {span(until)}, for the copy on {where} went on, and {end}"
        else:
            yield f"its copy on {where}, which had been given up, {end}"
    speculative = (copies.task == task) & (copies.opened_why == Reason.SPECULATIVE)
    for i in speculative.nonzero()[0][:2].tolist():
        end = {Reason.WON: "was done first", Reason.BEATEN: "was not needed"}.get(
            Reason(int(copies.closed_why[i])), "ran"
        )
        where, when = ground.node_name(int(copies.node[i])), span(int(copies.open_ns[i]))
        yield f"as it was slow, a second copy started at {when} on {where}, which {end}"


def _kept(ground: Ground, task: int) -> Iterator[str]:
    """A budget kept it on a node that was to be emptied."""
    for row in rows_of(ground.past.log, (task,), Kind.REFUSE)[:1].tolist():
        one = ground.past.log.row(row)
        where, when = ground.node_name(one.node), span(one.t_ns)
        yield f"when {where} was to be emptied at {when} it stayed: {budget(ground, row)}"


# ------------------------------------------------------------------ slowness


def slowest(ground: Ground, task: int) -> tuple[int, int]:
    """The SPEED row that cost a task most, and how much (ns); (-1, 0) if none did."""
    log = ground.past.log
    rows = rows_of(log, (task,))
    found = (-1, 0)
    for row in rows[log.kind[rows] == Kind.SPEED].tolist():
        later = rows[(rows > row) & (log.kind[rows] != Kind.REFUSE)]
        until = int(log.t_ns[later[0]]) if len(later) else ground.horizon_ns
        if log.reason[row] == Reason.SLOW:
            heals = ((log.kind == Kind.HEAL) & (log.cause == log.cause[row])).nonzero()[0]
            until = min([until, *log.t_ns[heals].tolist()])
        cost = max(until - int(log.t_ns[row]), 0) * (10_000 - int(log.value[row])) // 10_000
        found = max(found, (row, cost), key=lambda one: one[1])
    return found


def slowness(ground: Ground, task: int) -> str:
    """How much longer its last attempt took than at full speed, and why."""
    row, cost = slowest(ground, task)
    if not cost:
        return ""
    log, what = ground.past.log, ground.past.outcome
    since = (
        f"from {span(int(log.t_ns[row]))} on at {percent(int(log.value[row]))} of full speed, as {brake(ground, row)}"
    )
    took, plan = int(what.end_ns[task] - what.start_ns[task]), planned_ns(ground, task)
    if what.state[task] == State.DONE and what.attempts[task] == 1 and plan < NEVER:
        more = f"it took {span(took)}, {span(took - plan)} longer than at full speed"
        return f"; {more}: {since}"
    return f"; it was slow, {since}"


def planned_ns(ground: Ground, task: int) -> int:
    """How long a task takes undisturbed at full speed, its checkpoints with it."""
    work = int(ground.work.duration_ns[task])
    return work if work >= NEVER else plan_ns(work, ground.work.recovery_of(task).checkpoint, resumed=False)


def delay_ns(ground: Ground, task: int) -> int:
    """How much later than undisturbed a task was done that started once it had room (ns); 0 if it is not done."""
    what = ground.past.outcome
    plan = planned_ns(ground, task)
    if what.state[task] != State.DONE or plan >= NEVER:
        return 0
    return max(0, int(what.end_ns[task] - what.first_start_ns[task]) - plan)


# ------------------------------------------------------------------ attempts that stand still


def stopped_by(ground: Ground, task: int) -> int:
    """The fault that stopped a task's node while the control plane still takes it for running, -1 if none did."""
    log, what = ground.past.log, ground.past.outcome
    node, start = int(what.node[task]), int(what.start_ns[task])
    if what.state[task] != State.RUNNING or node < 0:
        return -1
    faults = ((log.kind == Kind.FAULT) & (log.node == node) & (log.t_ns >= start)).nonzero()[0].tolist()
    stops = [row for row in faults if log.details.get(row, {}).get("kind") in STOPPED]
    return next((row for row in stops if not ((log.kind == Kind.HEAL) & (log.cause == row)).any()), -1)


def stands_still(ground: Ground, task: int) -> str:
    """That it is taken for running on a node that has stopped, and why it is not replaced."""
    fault = stopped_by(ground, task)
    if fault < 0:
        return ""
    log = ground.past.log
    where, when = ground.node_name(int(log.node[fault])), span(int(log.t_ns[fault]))
    notice = ((log.kind == Kind.NOTICE) & (log.cause == fault)).nonzero()[0]
    text = f"; {where} stopped at {when} and took it along"
    if not len(notice):
        return f"{text}, which nobody has noticed yet"
    text += f", and is taken for lost since {span(int(log.t_ns[notice[0]]))}"
    if ground.scenario.operation.orphans == "wait":
        return f"{text}: it is not replaced before it is known that it has stopped"
    return f"{text}: it has not been given up yet"
