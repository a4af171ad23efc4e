"""The run loop: let the world go on until nothing is left to happen or a limit is reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, Log, Reason
from gnomon.engine.record import emit
from gnomon.engine.world import (
    FULL,
    HELD,
    INSTANT,
    NEED_EVENTS,
    NEED_NODE,
    NEED_ORDER,
    NEED_SPACE,
    NOW,
    OK,
    PAUSED,
    REPEATING,
    ROWS,
    World,
)
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Limits

Advance = Callable[[World, int, int, int, int], int]
"""``advance(world, until_ns, instants, repeats, rows)``: one of the answers in :mod:`gnomon.engine.world`."""

_BATCH = 50_000
_CALLS = 1_000
"""After so many questions in a batch it ends with the present instant, for each begins a new count of instants."""


@dataclass(frozen=True)
class Ports:
    """What the loop asks others for.

    ``order(world, state)`` puts the queue in order, ``state`` being what ``advance`` takes; ``place(world)`` answers
    the question in ``World.at[ASK]``;
    ``next_time(world)``: when the next event is; ``check(world)`` runs after every instant and raises InvariantError;
    ``progress(world)`` returns False to stop the run; ``events(world)`` lets happen what Python handles, and gives the
    world afterwards; ``stuck()`` after it tells whether the run would go on for ever and get nowhere.
    """

    next_time: Callable[[World], int]
    order: Callable[[World, Any], None] | None = None
    place: Callable[[World], None] | None = None
    check: Callable[[World], None] | None = None
    progress: Callable[[World], bool] | None = None
    events: Callable[[World], World] | None = None
    stuck: Callable[[], bool] | None = None


def run(
    world: World, advance: Advance, limits: Limits, ports: Ports, enter: Callable[[World], Any] = lambda world: world
) -> tuple[World, Reason]:
    """Run to the end. Returns the world and the reason for which it stopped early (NONE: nothing was left to happen).

    ``enter`` gives the world in the form that ``advance`` takes.
    """
    batch, most_calls = (1, 1) if ports.check else (_BATCH, _CALLS)
    state, calls = enter(world), 0
    while True:
        instants = 0 if calls >= most_calls else batch
        answer = advance(state, limits.until_ns, instants, limits.repeats, limits.events)
        calls = calls + 1 if answer in (NEED_ORDER, NEED_NODE, NEED_EVENTS) else 0
        if answer == NEED_SPACE:
            world = grow(world)
            state = enter(world)
        elif answer == NEED_ORDER and ports.order:
            ports.order(world, state)
        elif answer == NEED_NODE and ports.place:
            ports.place(world)
        elif answer == NEED_EVENTS and ports.events:
            after = ports.events(world)
            if after is not world:
                world, state = after, enter(after)
            if ports.stuck and ports.stuck():
                return _close(world, Reason.LIMIT_REPEATS, limits), Reason.LIMIT_REPEATS
        else:
            if ports.check:
                ports.check(world)
            stopped = _stopped(world, answer, ports)
            if stopped is not None:
                return _close(world, stopped, limits), stopped


def _stopped(world: World, answer: int, ports: Ports) -> Reason | None:
    """Why the run is over, None if it is not."""
    if answer == REPEATING:
        return Reason.LIMIT_REPEATS
    if answer == OK and ports.next_time(world) < NEVER:
        return Reason.LIMIT_TIME
    if answer == OK:
        return Reason.DEADLOCK if world.at[HELD] else Reason.NONE
    if answer == FULL:
        return Reason.LIMIT_EVENTS
    if answer == PAUSED and ports.progress and not ports.progress(world):
        return Reason.INTERRUPTED
    return None


def _close(world: World, stopped: Reason, limits: Limits) -> World:
    """Write the last row, if the run ended early."""
    if stopped is Reason.LIMIT_TIME:  # the world was seen until then, though nothing happened any more
        world.at[NOW] = limits.until_ns
        world.at[INSTANT] += 1
    if stopped is not Reason.NONE:
        if world.at[ROWS] == len(world.log_t):
            world = grow(world)
        emit(world, int(Kind.STOP), -1, -1, -1, int(stopped), 0)
    return world


def grow(world: World) -> World:
    """A world with twice the room for its log and its profile."""
    larger = {}
    for name in World._fields:
        if name.startswith("log_") or (name in ("step_time", "step_free") and len(world.step_time)):
            column = getattr(world, name)
            room = np.empty((2 * len(column) + 64, *column.shape[1:]), column.dtype)
            room[: len(column)] = column
            larger[name] = room
    return world._replace(**larger)


def log_of(world: World) -> Log:
    """The rows written so far (not copied: the world writes on behind them)."""
    rows = int(world.at[ROWS])
    names = ("t", "instant", "kind", "subject", "node", "cause", "reason", "value")
    return Log(*(getattr(world, f"log_{name}")[:rows] for name in names))
