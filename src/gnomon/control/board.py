"""The world as events that Python handles change it: moves of the ledger, each with its row and its cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gnomon.engine.ledger import touch
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.record import emit
from gnomon.engine.run import grow
from gnomon.engine.world import (
    ARRIVED,
    CALL,
    CHOSEN,
    FREED,
    HELD,
    NOW,
    PROMISED,
    QUIET,
    ROWS,
    TASKS_INSIDE,
    TIMER,
    TRIGGER,
    World,
)
from gnomon.model.resources import NEVER
from gnomon.scheduling import moves
from gnomon.scheduling.pipeline import note_behind
from gnomon.scheduling.queueing import charge, dequeue

# Why a node takes no new work, in bits of ``World.closed``.
CORDONED, LOST, PRESSED, REMOVED, PASSED_OVER = 1, 2, 4, 8, 64
_WHY = {
    CORDONED: Reason.CORDONED,
    LOST: Reason.LOST,
    PRESSED: Reason.UNDER_PRESSURE,
    REMOVED: Reason.REMOVED,
}


class Board:
    """The world, its numbers by row, and the few ways in which it changes.

    ``w`` is the world (another one when the log had to grow); ``details``: what rows tell besides their columns;
    ``lost_devices``: how much of each lost device (node, number) is set aside.
    """

    def __init__(self, world: World) -> None:
        self.w = world
        self._form: Callable[[Any], Any] = lambda kernel: kernel
        self._enter: Callable[[World], Any] = lambda world: world
        self._entered, self._state = world, world
        self.details: dict[int, dict[str, int | str]] = {}
        self.lost_devices: dict[tuple[int, int], int] = {}
        self._closings: dict[tuple[int, int], int] = {}

    def speed_up(self, form: Callable[[Any], Any], enter: Callable[[World], Any]) -> None:
        """Let the moves that come most often be done by their compiled forms, which take the world as ``enter`` gives
        it."""
        self._form, self._enter = form, enter
        self._state = enter(self._entered)

    def _move(self, kernel: Any) -> Any:
        """The form of a move, for the world as it is now in ``_state``."""
        if self._entered is not self.w:
            self._entered, self._state = self.w, self._enter(self.w)
        return self._form(kernel)

    @property
    def now(self) -> int:
        """The present time."""
        return int(self.w.at[NOW])

    def room(self, rows: int = 16) -> World:
        """The world, with room for so many rows more."""
        while self.w.at[ROWS] + rows > len(self.w.log_t):
            self.w = grow(self.w)
        return self.w

    def row(
        self,
        kind: Kind,
        *,
        task: int = -1,
        node: int = -1,
        cause: int = -1,
        reason: int = Reason.NONE,
        value: int = 0,
        details: Mapping[str, int | str] | None = None,
    ) -> int:
        """Write a row and return its number."""
        number = int(emit(self.room(), int(kind), task, node, cause, int(reason), value))
        if details:
            self.details[number] = dict(details)
        return number

    def state(self, task: int) -> State:
        """Where a task is."""
        return State(int(self.w.state[task]))

    def members(self, task: int) -> list[int]:
        """The tasks of its unit."""
        u = int(self.w.unit[task])
        first = int(self.w.first[u])
        found: list[int] = self.w.member[first : first + int(self.w.size[u])].tolist()
        return found

    def head(self, task: int) -> int:
        """The first task of its unit, which stands for it where one does."""
        return int(self.w.member[self.w.first[self.w.unit[task]]])

    def placed(self, node: int) -> list[int]:
        """The tasks that have a place on a node."""
        state = self.w.state
        here = (self.w.node == node) & ((state == State.RUNNING) | (state == State.HELD))
        found: list[int] = np.flatnonzero(here).tolist()
        return found

    def close(self, node: int, why: int, cause: int) -> int:
        """The node takes no new work. The row, or that of an earlier closing for the same reason."""
        if self.w.closed[node] & why:
            return self._closings[node, why]
        self.w.closed[node] |= why
        self._closings[node, why] = self.row(Kind.CLOSE, node=node, cause=cause, reason=_WHY[why])
        return self._closings[node, why]

    def open(self, node: int, why: int, cause: int) -> None:
        """A reason for which the node took no new work is gone."""
        if not self.w.closed[node] & why:
            return
        self.w.closed[node] &= ~why
        row = self.row(Kind.OPEN, node=node, cause=cause, reason=_WHY[why])
        if self.w.closed[node] == 0:
            self.offer(node, row)

    def offer(self, node: int, row: int) -> None:
        """What a row set free on a node is looked at in the next pass."""
        self.w.node_row[node] = row
        self.w.at[TRIGGER] = row
        self.again()

    def again(self) -> None:
        """A pass is wanted at this instant, whatever the last one found."""
        self.w.at[QUIET] = 0
        self.w.at[FREED] = 2

    def lose(self, task: int, reason: Reason, cause: int, lost: int) -> int:
        """An attempt is over before its time; the row."""
        self.room()
        return int(self._move(moves.lose)(self._state, task, int(reason), cause, lost))

    def queue(self, task: int, cause: int, attempts: int) -> None:
        """The unit of a task stands in its queue again."""
        w = self.room(16 + int(self.w.size[self.w.unit[task]]))
        self._move(moves.queue_again)(self._state, int(w.unit[task]), cause, attempts)

    def stand_by(self, task: int, cause: int, attempts: int) -> int:
        """A task wants a place from a scheduler beside the loop. The row: that of its arrival, or a new one."""
        self.w.state[task] = int(State.DELAYED)
        self.w.why[task] = 0
        if attempts or self.w.log_kind[cause] != Kind.ARRIVE:
            self.w.arrive_row[task] = self.row(Kind.QUEUE, task=task, cause=cause, value=attempts)
        return int(self.w.arrive_row[task])

    def delay(self, tasks: list[int], reason: Reason, cause: int, until: int) -> int:
        """Tasks that are not in the system wait for something else than a place. The last row."""
        row = -1
        for task in tasks:
            self.w.state[task] = int(State.DELAYED)
            kind = Kind.RETRY if reason is Reason.BACKOFF else Kind.WAIT
            row = self.row(kind, task=task, cause=cause, reason=reason, value=until if until < NEVER else -1)
        return row

    def leave_queue(self, task: int) -> None:
        """A unit that waits leaves its queue (it is queued again later)."""
        w, u = self.w, int(self.w.unit[task])
        dequeue(w, u)
        for held in (CHOSEN, PROMISED):
            if w.at[held] == u:
                w.at[held] = -1
        w.at[TASKS_INSIDE] -= int(w.size[u])
        self.again()

    def retime(self, task: int, end: int) -> None:
        """A running task will end at another time (NEVER: not by itself)."""
        self._move(moves.retime)(self._state, task, end)

    def start_here(self, task: int, node: int, bits: int, cause: int) -> None:
        """Start a task outside the queue, on a place that is free."""
        moves.start(self._take_place(task, node, bits), task, cause)

    def hold_here(self, task: int, node: int, bits: int, cause: int) -> int:
        """Let a task hold a place that is free until it is started there, or loses it. The row."""
        w = self._take_place(task, node, bits)
        w.at[HELD] += 1
        w.state[task] = int(State.HELD)
        w.start_row[task] = self.row(Kind.HOLD, task=task, node=node, cause=cause, reason=Reason.PEERS, value=bits)
        return int(w.start_row[task])

    def _take_place(self, task: int, node: int, bits: int) -> World:
        w = self.room()
        w.node[task], w.devices[task] = node, bits
        moves.occupy(w, task, -1, False)
        charge(w, int(w.tenant[w.unit[task]]), int(w.shape[task]), 1)
        w.at[TASKS_INSIDE] += 1
        return w

    def start_held(self, task: int, cause: int) -> None:
        """Start a task in the place that it holds."""
        w = self.room()
        w.at[HELD] -= 1
        moves.start(w, task, cause)

    def avoid(self, job: int, node: int) -> None:
        """The tasks of a job do not go to a node any more."""
        w = self.w
        if w.avoids[job] < 0:
            w.avoids[job] = len(w.avoid)
            self.w = w = w._replace(avoid=np.vstack([w.avoid, np.zeros((1, len(w.free)), np.int8)]))
        w.avoid[w.avoids[job], node] = 1

    def withhold(self, task: int, node: int, bits: int, sign: int) -> None:
        """Set aside (+1) the place of an attempt that does not count, or give it back (-1)."""
        moves.withhold(self.w, node, int(self.w.shape[task]), bits, sign)

    def lose_device(self, node: int, number: int) -> None:
        """A device is lost: what is free of it is set aside, now and whenever :meth:`sweep` finds more."""
        self.lost_devices.setdefault((node, number), 0)
        self.sweep()

    def sweep(self) -> None:
        """Set aside what has been given back of lost devices."""
        w = self.w
        for (node, number), amount in self.lost_devices.items():
            slot = w.need.shape[1] - 1 + number
            more = int(w.free[node, slot])
            if more:
                self.lost_devices[node, number] = amount + more
                w.free[node, slot] = 0
                w.withheld[node, slot] += more
                touch(w, node)

    def restore_device(self, node: int, number: int) -> None:
        """A lost device is there again."""
        w, slot = self.w, self.w.need.shape[1] - 1 + number
        amount = self.lost_devices.pop((node, number))
        w.withheld[node, slot] -= amount
        w.free[node, slot] += amount
        touch(w, node)

    def withdraw(self, task: int, cause: int) -> None:
        """Take a waiting or held task out for good; its unit goes with it."""
        moves.withdraw(self._room_for_job(task), task, cause)

    def withdraw_delayed(self, task: int, cause: int) -> None:
        """Take the unit of a task that is delayed out for good."""
        w = self._room_for_job(task)
        for member in self.members(task):
            w.state[member] = int(State.KILLED)
            moves.leave_job(w, member, self.row(Kind.CANCEL, task=member, cause=cause))

    def refuse(self, task: int, reason: Reason, *, details: Mapping[str, int | str]) -> None:
        """A task that is delayed is rejected on its arrival; its peers are not, and do not wait for it."""
        w = self._room_for_job(task)
        w.state[task] = int(State.REJECTED)
        cause = int(w.arrive_row[task])
        row = self.row(Kind.REJECT, task=task, cause=cause, reason=reason, value=-1, details=details)
        moves.leave_job(w, task, row)

    def _room_for_job(self, task: int) -> World:
        return self.room(16 + 2 * int(self.w.job_count[self.w.job[task]]))

    def end_now(self, task: int, fate: Kind, cause: int) -> None:
        """A running task ends at this instant, in the way that ``fate`` says (END, CANCEL)."""
        self.room()
        self._move(moves.end)(self._state, task, int(fate), cause)
        self.again()

    def note_waits(self, tasks: Iterator[int] | list[int], reason: Reason) -> None:
        """Give those who wait in a queue and have no reason yet one."""
        for task in tasks:
            if self.w.state[task] == State.WAITING and self.w.why[task] == 0:
                note_behind(self.room(16 + len(self.members(task))), int(self.w.unit[task]), int(reason))

    def call(self, *, due_ns: int, again: bool) -> None:
        """When Python is to be called next; ``again``: after the pass of this instant as well."""
        self.w.at[TIMER] = due_ns
        self.w.at[CALL] = int(again)

    def looks_anywhere(self) -> bool:
        """Whether some task or node is looked at."""
        return bool(self.w.watch.any() or self.w.watch_node.any())

    def over(self) -> bool:
        """Whether no task is in the system or will be, as far as the world knows."""
        coming = self.w.at[ARRIVED] < len(self.w.arrivals) and self.submits_next() < NEVER
        return not coming and self.w.at[TASKS_INSIDE] == 0 and self.w.at[HELD] == 0

    def submits_next(self) -> int:
        """When the next unit is submitted, NEVER if none is."""
        w = self.w
        if w.at[ARRIVED] >= len(w.arrivals):
            return NEVER
        return int(w.submit[w.member[w.first[w.arrivals[w.at[ARRIVED]]]]])
