"""What a change is to bring about, and whether a run brings it about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.explain.phrases import span
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.history import Copies, attempts, copies
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray


@dataclass(frozen=True, slots=True)
class Wanted:
    """``text``: what is wanted, as a clause; ``until_ns``: no run needs to go on beyond; ``reached`` tells when (ns) a
    log has it, or None; ``told`` says that in words."""

    text: str
    until_ns: int
    reached: Callable[[Log], int | None]
    told: Callable[[int], str]


def start_by(tasks: Sequence[int], until_ns: int, *, now_ns: int = NEVER) -> Wanted:
    """That all tasks start, by a time; ``now_ns``: when they start as it is."""

    def reached(log: Log) -> int | None:
        starts = rows_of(log, tasks, Kind.START)
        first = {int(task): int(t) for task, t in zip(log.subject[starts][::-1], log.t_ns[starts][::-1], strict=True)}
        return max(first.values()) if len(first) == len(tasks) and max(first.values()) <= until_ns else None

    by = "" if until_ns >= NEVER else f" by {span(until_ns)}"
    instead = "" if now_ns >= NEVER else f" instead of {span(now_ns)}"
    return Wanted(f"starts{by}", until_ns, reached, lambda t_ns: f"starts at {span(t_ns)}{instead}")


def run_to_its_end(tasks: Sequence[int], until_ns: int) -> Wanted:
    """That all tasks end by themselves."""

    def reached(log: Log) -> int | None:
        ends = rows_of(log, tasks, Kind.END)
        return int(log.t_ns[ends].max()) if len(ends) == len(tasks) else None

    return Wanted("runs to its end", until_ns, reached, lambda t_ns: f"is done at {span(t_ns)}")


def keep_its_place(tasks: Sequence[int], first_start_ns: int, until_ns: int) -> Wanted:
    """That the tasks start as early as they did and do not give way up to a time."""

    def reached(log: Log) -> int | None:
        starts = rows_of(log, tasks, Kind.START)
        if len(rows_of(log, tasks, Kind.PREEMPT)) or len(starts) < len(tasks):
            return None
        latest = int(log.t_ns[starts].max())
        return latest if latest <= first_start_ns else None

    text = f"keeps its place up to {span(until_ns)}"
    return Wanted(text, until_ns, reached, lambda t_ns: f"starts at {span(t_ns)} and {text}")


def done_by(tasks: Sequence[int], until_ns: int, *, now_ns: int = NEVER) -> Wanted:
    """That all tasks are done by a time; ``now_ns``: when they are as it is."""

    def reached(log: Log) -> int | None:
        last = _last_end(log, tasks)
        return last if last is not None and last <= until_ns else None

    instead = "" if now_ns >= NEVER else f" instead of {span(now_ns)}"
    return Wanted(f"is done by {span(until_ns)}", until_ns, reached, lambda t_ns: f"is done at {span(t_ns)}{instead}")


def run_again(tasks: Sequence[int], until_ns: int, *, proven_ns: int = 0) -> Wanted:
    """That all tasks run, or are done, when the run ends; one that runs then has to have run for ``proven_ns``, for
    otherwise the run may just have ended before it failed once more."""

    def reached(log: Log) -> int | None:
        latest, end = 0, int(log.t_ns[-1]) if len(log) else 0
        for task in tasks:
            rows = _place_changes(log, task)
            if not len(rows) or log.kind[rows[-1]] not in (Kind.START, Kind.END):
                return None
            if log.kind[rows[-1]] == Kind.START and end - int(log.t_ns[rows[-1]]) < proven_ns:
                return None
            latest = max(latest, int(log.t_ns[rows[log.kind[rows] == Kind.START][-1]]))
        return latest

    return Wanted("runs in the end", until_ns, reached, lambda t_ns: f"starts at {span(t_ns)} and runs on")


def start_anew(tasks: Sequence[int], until_ns: int, *, since_ns: int, now_ns: int) -> Wanted:
    """That all tasks have started anew by a time, after what stopped them (``since_ns``); ``now_ns``: when they do as
    it is."""

    def reached(log: Log) -> int | None:
        latest = 0
        for task in tasks:
            rows = _place_changes(log, task)
            if not len(rows) or log.kind[rows[-1]] != Kind.START or log.t_ns[rows[-1]] < since_ns:
                return None
            latest = max(latest, int(log.t_ns[rows[-1]]))
        return latest if latest <= until_ns else None

    return Wanted(
        f"starts anew by {span(until_ns)}",
        until_ns,
        reached,
        lambda t_ns: f"starts anew at {span(t_ns)} instead of {span(now_ns)}",
    )


def run_once(tasks: Sequence[int], until_ns: int, *, endless: bool = False) -> Wanted:
    """That all tasks are done, and that no copy of one that was given up runs beside it, or to its end.

    ``endless``: as it is, they are not done by the end of the run, so it is enough that they run then (NEVER).
    """

    def reached(log: Log) -> int | None:
        extra = copies(log)
        mine = np.isin(extra.task, tasks) & (extra.opened_why == Reason.ORPHANED)
        if (mine & (extra.closed_why == Reason.FINISHED)).any() or _overlap(log, extra, mine.nonzero()[0].tolist()):
            return None
        done = _last_end(log, tasks)
        return NEVER if done is None and endless and _all_run(log, tasks) else done

    def told(t_ns: int) -> str:
        return "runs nowhere twice" + (f", and is done at {span(t_ns)}" if t_ns < NEVER else "")

    return Wanted("runs nowhere twice", until_ns, reached, told)


_PLACE_CHANGES = (Kind.START, Kind.END, Kind.FAIL, Kind.KILL, Kind.PREEMPT, Kind.CANCEL, Kind.UNDO)


def _last_end(log: Log, tasks: Sequence[int]) -> int | None:
    """When the last of the tasks is done, None if not all are in the end."""
    latest = 0
    for task in tasks:
        rows = _place_changes(log, task)
        if not len(rows) or log.kind[rows[-1]] != Kind.END:
            return None
        latest = max(latest, int(log.t_ns[rows[-1]]))
    return latest


def _all_run(log: Log, tasks: Sequence[int]) -> bool:
    """Whether each task runs, or is done, in the end."""
    last = [log.kind[rows[-1]] if len(rows := _place_changes(log, task)) else -1 for task in tasks]
    return all(kind in (Kind.START, Kind.END) for kind in last)


def _place_changes(log: Log, task: int) -> IntArray:
    """The rows with which a task got or lost a place, or its result."""
    rows = rows_of(log, (task,))
    return rows[np.isin(log.kind[rows], _PLACE_CHANGES)]


def _overlap(log: Log, extra: Copies, those: Sequence[int]) -> bool:
    """Whether one of these copies still runs when an attempt starts that began after it."""
    stays = attempts(log) if those else None
    for i in those:
        assert stays is not None
        later = (stays.task == extra.task[i]) & (stays.open_row > extra.open_row[i])
        gone = int(extra.close_row[i]) if extra.close_row[i] >= 0 else len(log)
        if (later & (stays.open_row < gone)).any():
            return True
    return False
