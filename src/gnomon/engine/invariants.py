"""Invariants of the world, one checker each. On in tests after every instant, on request elsewhere.

A checker returns what is wrong, or nothing. :func:`check` raises :class:`InvariantError` with the story of the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import ENDS, HELD, LINE, NOW, ROWS, WAITING, World
from gnomon.model.errors import InvariantError

Broken = Iterator[tuple[str, int]]
"""What is wrong, and the task that it is about (-1: none)."""

_HOLDS: Final = np.isin(np.arange(len(State)), (State.HELD, State.RUNNING))
"""By state: whether a task has a place."""


def resources_are_conserved(w: World) -> Broken:
    """What tasks hold and what is free make up the capacity, of every node, dimension, device; none is negative."""
    plain = w.need.shape[1] - 1
    held = np.zeros_like(w.capacity)
    tasks = np.flatnonzero(_HOLDS[w.state])
    shapes, nodes = w.shape[tasks], w.node[tasks]
    np.add.at(held[:, :plain], nodes, w.need[shapes, :plain])
    for k in range(w.capacity.shape[1] - plain):
        uses = (w.devices[tasks] >> k) & 1
        np.add.at(held[:, plain + k], nodes, uses * w.share[shapes])
    if (w.free < 0).any():
        yield f"a node has less than nothing free: {w.free.min()}", -1
    if (w.withheld < 0).any():
        yield f"less than nothing of a node is withheld: {w.withheld.min()}", -1
    total = held + w.free + w.withheld
    if not np.array_equal(total, w.capacity):
        node = int(np.flatnonzero((total != w.capacity).any(axis=1))[0])
        parts = f"{w.free[node]} free and {w.withheld[node]} withheld, of {w.capacity[node]}"
        yield f"node {node} holds {held[node]} and has {parts}", -1


def devices_are_whole(w: World) -> Broken:
    """Every task that holds a place has as many devices as it asked for."""
    for task in np.flatnonzero(_HOLDS[w.state]).tolist():
        if int(w.devices[task]).bit_count() != w.gpus[w.shape[task]]:
            yield f"task {task} has devices {int(w.devices[task]):b}, asked for {w.gpus[w.shape[task]]}", task


def limits_hold(w: World) -> Broken:
    """No tenant holds more than its limit, and its account agrees with its tasks."""
    used = np.zeros_like(w.used)
    tasks = np.flatnonzero(_HOLDS[w.state])
    np.add.at(used, w.tenant[w.unit[tasks]], w.need[w.shape[tasks]])
    if not np.array_equal(used, w.used):
        yield "a tenant's account differs from what its tasks hold", -1
    if (w.used > w.limit).any() or (w.running > w.most_running).any():
        yield "a tenant holds more than its limit", -1


def queues_are_whole(w: World) -> Broken:
    """Every waiting unit stands in its tenant's queue, once, in the order of ranks."""
    found = 0
    for t in range(len(w.head)):
        u, before = int(w.head[t]), -1
        while u >= 0:
            task = w.member[w.first[u]]
            if w.state[task] != State.WAITING or w.tenant[u] != t or w.before[u] != before:
                yield f"unit {u} stands in the queue of tenant {t} and should not", int(task)
                return
            found, before, u = found + 1, u, int(w.after[u])
    waiting = np.flatnonzero(w.state[w.member[w.first]] == State.WAITING)
    if found != w.at[WAITING] or found != len(waiting):
        yield f"{found} units queue, {w.at[WAITING]} are counted, {len(waiting)} wait", -1


def gangs_are_whole(w: World) -> Broken:
    """A unit's tasks all wait or none does; tasks are held only while a peer has no place."""
    for u in np.flatnonzero(w.size > 1).tolist():
        states = w.state[w.member[w.first[u] : w.first[u] + w.size[u]]]
        if (states == State.WAITING).any() and not (states == State.WAITING).all():
            yield f"a part of gang {u} waits", int(w.member[w.first[u]])
    held = np.flatnonzero(w.state == State.HELD)
    if len(held) != w.at[HELD] or (w.missing[w.job[held]] == 0).any():
        yield "a task is held though its peers have their places", int(held[0]) if len(held) else -1


def running_tasks_will_end(w: World) -> Broken:
    """Every running task with a known end has exactly one valid entry in the agenda, and none is overdue."""
    entries = w.end_task[: w.at[ENDS]]
    valid = entries[w.end_ticket[: w.at[ENDS]] == w.ticket[entries]]
    running = np.flatnonzero(w.state == State.RUNNING)
    known = running[w.start[running] + w.duration[running] < 2**62]
    if sorted(valid.tolist()) != known.tolist():
        yield "the agenda does not hold the ends of the running tasks", -1
    if w.at[ENDS] and w.end_time[0] < w.at[NOW]:
        yield "an end is overdue", int(w.end_task[0])
    if w.at[LINE] and sorted(w.line[: w.at[LINE]].tolist()) != running.tolist():
        yield "the line of expected ends does not hold the running tasks", -1


def log_is_causal(w: World) -> Broken:
    """Time never goes back, and every row has an earlier cause or none."""
    rows = int(w.at[ROWS])
    tail = slice(max(rows - 256, 0), rows)
    if (np.diff(w.log_t[tail]) < 0).any() or (np.diff(w.log_instant[tail]) < 0).any():
        yield "time goes back", -1
    if (w.log_cause[tail] >= np.arange(tail.start, tail.stop)).any():
        yield "a row has a cause that comes after it", -1


INVARIANTS: Final[tuple[Callable[[World], Broken], ...]] = (
    resources_are_conserved,
    devices_are_whole,
    limits_hold,
    queues_are_whole,
    gangs_are_whole,
    running_tasks_will_end,
    log_is_causal,
)


def check(w: World, *, seed: int) -> None:
    """Run every checker. Raises InvariantError at the first that finds something."""
    for invariant in INVARIANTS:
        for what, task in invariant(w):
            raise InvariantError(f"{invariant.__name__}: {what}, at {w.at[NOW]} ns", story=story(w, task), seed=seed)


def story(w: World, task: int) -> list[str]:
    """All rows about a task (or the last twenty of all), one line each."""
    rows = np.arange(w.at[ROWS])
    chosen = rows[-20:] if task < 0 else rows[w.log_subject[rows] == task]
    return [
        f"row {row}: {w.log_t[row]} ns {Kind(w.log_kind[row]).name} task {w.log_subject[row]} node {w.log_node[row]} "
        f"cause {w.log_cause[row]} {Reason(w.log_reason[row]).name} {w.log_value[row]}"
        for row in chosen.tolist()
    ]
