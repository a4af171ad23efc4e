"""When something that waits will have room, as far as the estimates of the running tasks tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.insight.explain.situation import Situation
from gnomon.model.resources import NEVER
from gnomon.model.work import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Opening:
    """The first time (ns; NEVER: none is known) at which tasks have room together, on which nodes, and the task whose
    expected end makes it (None: a window does, or there is room already)."""

    t_ns: int = NEVER
    nodes: tuple[int, ...] = ()
    after: int | None = None


def first_opening(here: Situation, tasks: Sequence[int], *, only: BoolArray | None = None) -> Opening:
    """The first opening for all of these tasks together, if nobody else starts before them.

    Running tasks give back their places at their expected ends (:attr:`Situation.due_ns`); advance reservations count.
    ``only``: look at these nodes and no others.
    """
    rest, after, position = here.free.copy(), None, 0
    order = np.argsort(here.due_ns, kind="stable")
    due = here.due_ns[order]
    windows = here.ground.scenario.cluster.reservations
    turns = {t for window in windows for t in (window.start_ns, window.end_ns) if here.now_ns < t < NEVER}
    for t_ns in sorted({here.now_ns, *turns, *due[due < NEVER].tolist()}):
        while position < len(order) and due[position] <= t_ns:
            index = order[position]
            rest[here.node[index]] += here.taken[index]
            after = int(here.holders[index])
            position += 1
        if nodes := seated(here, tasks, rest, t_ns, only=only):
            return Opening(t_ns, nodes, None if t_ns in turns or t_ns == here.now_ns else after)
    return Opening()


def seated(
    here: Situation, tasks: Sequence[int], rest: IntArray, t_ns: int, *, only: BoolArray | None = None
) -> tuple[int, ...]:
    """Nodes for all of the tasks at a time at which ``rest`` is free; none if not all have room."""
    ground = here.ground
    kinds = {ground.shape(task): task for task in tasks}
    barred = {}
    for shape, task in kinds.items():
        closed = np.zeros(len(rest), np.bool_) if only is None else ~only
        closed[list(here.reserved(task, t_ns))] = True
        closed |= here.barred(task)
        barred[shape] = closed
    if len(kinds) == 1:
        shape, task = next(iter(kinds.items()))
        places = np.where(ground.accepting(shape) & ~barred[shape], ground.places(rest, task), 0)
        if np.minimum(places, len(tasks)).sum() < len(tasks):
            return ()
    nodes = ground.seats(rest, tasks, barred)
    return tuple(nodes) if len(nodes) == len(tasks) else ()
