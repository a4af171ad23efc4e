"""Waiting for something else than a place: the next attempt's time, results of others, somebody who decides.

Each function tells one of them as object, clause and numbers.
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight.explain.faults import beginning, fault_behind
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import is_final, loss
from gnomon.insight.explain.phrases import Numbers, seconds, span
from gnomon.insight.explain.sentences_recovery import missing_results
from gnomon.insight.explain.situation import Situation, rows_of

Delay = tuple[str, str, Numbers]


def delayed(ground: Ground, task: int, row: int) -> Delay:
    """It is tried again later; the RETRY row."""
    retry = ground.past.log.row(row)
    lost = next(ground.past.log.back(retry.cause), None)
    text = f"{loss(ground, lost.number)}, and " if lost is not None and lost.kind is Kind.FAIL else "it "
    text += f"is tried again at {span(retry.value)}, after a delay of {span(retry.value - retry.t_ns)}"
    facts = {} if lost is None else lost.details
    numbers: Numbers = {"delay_s": seconds(retry.value - retry.t_ns), "attempt": facts.get("attempt")}
    if int(facts.get("retries", -1)) >= 0:
        numbers["retries"] = facts["retries"]
    return f"task/{ground.work.id(task)}", text, numbers


def missing(here: Situation, task: int, row: int, *, over: bool) -> Delay:
    """It reads results that are not there. Of a wait that is over just after ``here``: which of them came last."""
    ground = here.ground
    log = ground.past.log
    absent = missing_results(ground, task, row)
    if over and (last := last_result(ground, task, here.row)) is not None:
        one, end = last
        text = f"it reads the result of {ground.work.id(one)}, which was done at {span(int(log.t_ns[end]))}"
        return f"task/{ground.work.id(one)}", text + _again(ground, one, end), {"missing": len(absent)}
    path = blockers(ground, task, min(here.row, len(log)) - 1)
    names = [f"reads the result of {ground.work.id(one)}, which" for one in path]
    if not path:
        return f"task/{ground.work.id(task)}", "it reads results that are not there", {"missing": len(absent)}
    text = " ".join(["it", *names, _stands(here, path[-1])])
    return f"task/{ground.work.id(path[-1])}", text, {"missing": max(len(absent), 1)}


def last_result(ground: Ground, task: int, row: int) -> tuple[int, int] | None:
    """Of the tasks whose results a task reads the one that was done last before a row, and its END row."""
    log = ground.past.log
    ends = {one: rows_of(log, (one,), Kind.END) for one in ground.work.needs.get(task, ())}
    came = [(int(rows[rows < row][-1]), one) for one, rows in ends.items() if (rows < row).any()]
    return max(came)[::-1] if came else None


def _again(ground: Ground, task: int, row: int) -> str:
    """That a result had been there before, and was lost."""
    log = ground.past.log
    undone = rows_of(log, (task,), Kind.UNDO)
    if not len(undone) or undone[-1] > row:
        return ""
    lost = log.row(int(undone[-1]))
    where = ground.node_name(lost.node) if lost.node >= 0 else "its job"
    return f" for the second time, as its first result was lost with {where} at {span(lost.t_ns)}"


def blockers(ground: Ground, task: int, row: int) -> list[int]:
    """Whose result is missing, whose result that one waits for, and so on to one that waits for nobody's."""
    path: list[int] = []
    while absent := [one for one in missing_results(ground, task, row) if one not in path]:
        task = next((one for one in absent if _is_over(ground, one)), absent[0])
        path.append(task)
    return path


def _is_over(ground: Ground, task: int) -> bool:
    return int(ground.past.outcome.state[task]) in (State.FAILED, State.KILLED, State.REJECTED)


def _stands(here: Situation, task: int) -> str:
    """How it stands with a task whose result is missing."""
    ground, log = here.ground, here.ground.past.log
    rows = rows_of(log, (task,))
    rows = rows[rows < here.row]
    if not len(rows):
        return f"arrives at {span(int(ground.work.submit_ns[task]))}"
    last = log.row(int(rows[-1]))
    when = span(last.t_ns)
    match last.kind:
        case Kind.START | Kind.SPEED:
            start = int(rows_of(log, (task,), Kind.START)[-1])
            return f"runs since {span(int(log.t_ns[start]))}"
        case Kind.FAIL if is_final(ground, last.number):
            return f"failed for good: {loss(ground, last.number)}"
        case Kind.KILL | Kind.CANCEL:
            return f"was {'killed' if last.kind is Kind.KILL else 'cancelled'} at {when}"
        case Kind.REJECT:
            return f"was refused at {when}"
        case Kind.RETRY:
            return f"is tried again at {span(last.value)}"
    return f"waits since {when}"


def leaderless(ground: Ground, row: int) -> Delay:
    """Nobody decides just before a row: since when, and by which fault."""
    log = ground.past.log
    rows = np.flatnonzero((log.kind[:row] == Kind.LEAD) & (log.reason[:row] == Reason.NO_MAJORITY))
    if not len(rows):
        return "control", "nobody decides, for the control plane has no leader", {}
    lead = log.row(int(rows[-1]))
    fault = fault_behind(ground, lead.number)
    text = f"nobody decides, for the control plane has no leader from {span(lead.t_ns)} on"
    if fault is not None:
        text += f" ({beginning(ground, fault)})"
    return "control", text, {"leaderless_from_s": seconds(lead.t_ns)}
