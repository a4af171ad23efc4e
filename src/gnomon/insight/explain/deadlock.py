"""Deadlocks of jobs that hold a part of their places: who holds what, and who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Reason, State
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import amounts_of
from gnomon.insight.explain.situation import Situation


@dataclass(frozen=True, slots=True)
class Cycle:
    """Jobs of which each waits for what the next one holds; the last waits for the first.

    ``names``; by job: ``holds`` (amounts by resource), ``placed`` and ``missing`` (tasks with and without a place).
    """

    names: tuple[str, ...]
    holds: tuple[dict[str, int], ...]
    placed: tuple[int, ...]
    missing: tuple[int, ...]

    @property
    def text(self) -> str:
        """Who holds what, and waits for whom."""
        facts = zip(self.names, (*self.names[1:], self.names[0]), self.holds, self.placed, self.missing, strict=True)
        told = [
            f"{name} holds {amounts_of(held)} for {placed:,} of its {placed + missing:,} tasks and waits for "
            f"{'itself' if name == other else other} to make room for the other {missing:,}"
            for name, other, held, placed, missing in facts
        ]
        return "; ".join(told)


def find_cycle(ground: Ground, task: int) -> Cycle | None:
    """The cycle that a task's job waits in, or waits for, at the end of a run that ended in a deadlock."""
    if ground.stopped is not Reason.DEADLOCK or ground.past.outcome.state[task] not in (State.WAITING, State.HELD):
        return None
    here = Situation(ground, len(ground.past.log), ground.horizon_ns)
    waits_for = _edges(here)
    path: list[int] = []
    job = int(ground.work.job[task])
    while job not in path:
        path.append(job)
        onward = waits_for.get(job, [])
        closing = [other for other in onward if other in path]
        if not onward:
            return None
        job = closing[0] if closing else onward[0]
    cycle = path[path.index(job) :]
    return _cycle(here, cycle)


def _edges(here: Situation) -> dict[int, list[int]]:
    """For each job with tasks that wait, the jobs that hold something they could use without running, most first."""
    ground = here.ground
    job = ground.work.job
    still = here.start_ns > here.now_ns
    found: dict[int, list[int]] = {}
    for waiting in dict.fromkeys(job[here.waiting].tolist()):
        mine = here.waiting[job[here.waiting] == waiting]
        accepting = np.logical_or.reduce([ground.accepting(s) for s in set(ground.work.shape[mine].tolist())])
        others, counts = np.unique(job[here.holders[still & accepting[here.node]]], return_counts=True)
        ordered = others[np.argsort(-counts, kind="stable")].tolist()
        found[waiting] = [other for other in ordered if other != waiting] or [o for o in ordered if o == waiting]
    return found


def _cycle(here: Situation, jobs: list[int]) -> Cycle:
    work = here.ground.work
    tasks = [np.flatnonzero(work.job == job) for job in jobs]
    held = [here.holders[work.job[here.holders] == job].tolist() for job in jobs]
    return Cycle(
        names=tuple(work.job_name(int(members[0])) for members in tasks),
        holds=tuple(here.ground.asked(members) for members in held),
        placed=tuple(len(members) for members in held),
        missing=tuple(len(all_) - len(members) for all_, members in zip(tasks, held, strict=True)),
    )
