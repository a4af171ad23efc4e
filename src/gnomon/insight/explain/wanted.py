"""What a change is to bring about, and whether a run brings it about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gnomon.engine.log import Kind, Log
from gnomon.insight.explain.phrases import span
from gnomon.insight.explain.situation import rows_of
from gnomon.model.resources import NEVER


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
