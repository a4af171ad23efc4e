"""A whole world to which anything happens at any time: the rules that a state machine and a long random run share.

``python -m tests.control.machine --steps 1000000 --seed 1`` makes one long run: history after history, each of a
scenario of its own, with all invariants checked after every instant and at every step.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

from gnomon.control.control import Control, controlled
from gnomon.engine import invariants
from gnomon.engine.log import State
from gnomon.engine.run import grow, log_of
from gnomon.engine.world import FROZEN, NEED_EVENTS, NEED_SPACE, OK, PAUSED, ROWS, World
from gnomon.model.fault import Failure, Fault
from gnomon.model.scenario import Scenario
from tests.control.plots import GI, S, plot

FINISHED = (State.DONE, State.FAILED, State.KILLED, State.REJECTED)
REPEATS = 20_000
LENGTHS = (0, S, 5 * S, 10 * S, 30 * S, 60 * S, 200 * S)


class History:
    """A world and its present. Every rule takes numbers that choose; what they choose from is there at any time."""

    def __init__(self, scenario: Scenario, *, compiled: bool = False) -> None:
        self.scenario = scenario
        self.parts, control = controlled(self.scenario)
        assert control is not None
        self.control: Control = control
        self.world, self.now = self.parts.world, 0
        self.advance: Any = self.parts.advance
        self.enter: Callable[[World], Any] = lambda world: world
        if compiled:
            from gnomon.engine.fast import Block
            from gnomon.engine.fast import compiled as form

            self.advance, self.enter = form(self.parts.advance), Block
            control.speed_up(form, Block)
        self.state = self.enter(self.world)
        self.names = [node.name for node in self.scenario.cluster.nodes]
        self.waiting_to_come = sorted({int(self.world.first[u]) for u in self.world.unit.tolist()})
        self.waiting_to_come = [int(self.world.member[first]) for first in self.waiting_to_come]

    # ------------------------------------------------------------------ going on

    def settle(self) -> None:
        """Let happen what is due by now."""
        while True:
            answer = self.advance(self.state, self.now, 1, REPEATS, 2**40)
            if answer == NEED_SPACE:
                self._continue(grow(self.world))
            elif answer == NEED_EVENTS:
                self._continue(self.control.events(self.world))
            elif answer == PAUSED:
                self.check()
            else:
                assert answer == OK, f"the run stops with {answer}"
                break
        self.check()
        self._waiting_has_reasons()

    def _continue(self, world: World) -> None:
        if world is not self.world:
            self.world = world
            self.state = self.enter(self.world)

    def check(self) -> None:
        """All that must hold after an instant."""
        invariants.check(self.world, seed=self.scenario.seed)
        self.control.check()

    def _waiting_has_reasons(self) -> None:
        for task in np.flatnonzero(self.world.state == State.WAITING).tolist():
            assert self.world.why[task] or self.world.at[FROZEN], f"task {task} waits for no stated reason"

    def quiet(self) -> None:
        """Long after: whoever is not finished runs, or waits for a stated reason."""
        self.now += 5_000 * S
        self.settle()
        w = self.world
        for task in np.flatnonzero(~np.isin(w.state, FINISHED)).tolist():
            state = State(int(w.state[task]))
            if state is State.RUNNING:
                ends = w.start[task] + w.duration[task]
                assert ends > self.now, f"task {task} should have ended at {ends}"
            elif state in (State.WAITING, State.HELD):
                assert w.why[task] or state is State.HELD or w.at[FROZEN], f"task {task} waits, nobody knows why"

    @property
    def rows(self) -> int:
        """How long the log is."""
        return int(self.world.at[ROWS])

    def digest(self) -> str:
        """The log's, without the details."""
        return log_of(self.world).digest()

    # ------------------------------------------------------------------ what may happen

    def wait(self, a: int, b: int, c: int) -> None:
        """Time goes on."""
        self.now += (S, 5 * S, 10 * S, 10 * S, 30 * S, 100 * S, 1, 0)[a % 8]
        self.settle()

    def submit(self, a: int, b: int, c: int) -> None:
        """A task, a gang, or a task of a bag comes."""
        if self.waiting_to_come:
            self.control.submit(self.waiting_to_come.pop(a % len(self.waiting_to_come)), self.now)

    def _fault(self, kind: Fault, target: str, b: int, amount: int = 0, others: tuple[str, ...] = ()) -> None:
        length = LENGTHS[b % len(LENGTHS)]
        self.control.inject(Failure(kind, self.now, length, (target,) if target else (), others, amount))

    def _node(self, a: int) -> str:
        return f"node/{self.names[a % len(self.names)]}"

    def crash(self, a: int, b: int, c: int) -> None:
        """A node stops."""
        self._fault(Fault.CRASH, self._node(a), b)

    def reboot(self, a: int, b: int, c: int) -> None:
        """A node restarts."""
        self._fault(Fault.REBOOT, self._node(a), b)

    def zone_fails(self, a: int, b: int, c: int) -> None:
        """A zone stops, or is cut off."""
        self._fault((Fault.CRASH, Fault.PARTITION)[c % 2], f"zone/{'ab'[a % 2]}", b)

    def part(self, a: int, b: int, c: int) -> None:
        """A node hears nothing of all others, or of a member of the control plane, or a member of the others."""
        members = self.scenario.operation.control.members
        one = f"control/{b % members}"
        if c % 3 == 0 and members > 1:
            self._fault(Fault.PARTITION, one, b // 7)
        else:
            self._fault(Fault.PARTITION, self._node(a), b, others=(one,) if c % 3 == 1 else ())

    def slow(self, a: int, b: int, c: int) -> None:
        """A node goes slowly, or stands still."""
        self._fault(Fault.SLOW, self._node(a), b, (0, 2_500, 5_000, 9_999, 10_000)[c % 5])

    def drain(self, a: int, b: int, c: int) -> None:
        """A node is emptied."""
        self._fault(Fault.DRAIN, self._node(a), b)

    def cordon(self, a: int, b: int, c: int) -> None:
        """A node is closed."""
        self._fault(Fault.CORDON, self._node(a), b)

    def leak(self, a: int, b: int, c: int) -> None:
        """Something takes a node's memory."""
        self._fault(Fault.LEAK, self._node(a), b, (GI // 10, GI, 1)[c % 3])

    def fill_disk(self, a: int, b: int, c: int) -> None:
        """Something fills a node's disk."""
        self._fault(Fault.DISK_FULL, self._node(a), b, (0, GI, 10 * GI)[c % 3])

    def lose_device(self, a: int, b: int, c: int) -> None:
        """A device is lost."""
        self._fault(Fault.DEVICE, f"node/n{a % 2}", b, c % 2)

    def kill(self, a: int, b: int, c: int) -> None:
        """A process is killed."""
        self._fault(Fault.KILL, self._task(a), b)

    def cancel(self, a: int, b: int, c: int) -> None:
        """A task is not wanted any more."""
        self._fault(Fault.CANCEL, self._task(a), b)

    def _task(self, a: int) -> str:
        inside = np.flatnonzero((self.world.state != State.UNBORN) & ~np.isin(self.world.state, FINISHED))
        return f"task/{self.scenario.work.id(int(inside[a % len(inside)]) if len(inside) else a % 40)}"

    def lose_leader(self, a: int, b: int, c: int) -> None:
        """The leader stops, or a certain member."""
        member = f"control/{a % self.scenario.operation.control.members}"
        self._fault(Fault.LEADER, member if c % 2 else "", b)

    def lose_messages(self, a: int, b: int, c: int) -> None:
        """Messages of a node are lost, or late."""
        if c % 2:
            self._fault(Fault.LOSS, self._node(a), b, (1_000, 5_000, 10_000)[c % 3])
        else:
            self._fault(Fault.DELAY, self._node(a), b, (S, 40 * S, 100 * S)[c % 3])

    def scale(self, a: int, b: int, c: int) -> None:
        """A node leaves the cluster, or joins it again."""
        (self.control.remove if c % 2 else self.control.join)(a % len(self.names), self.now)


RULES: tuple[tuple[str, int], ...] = (
    *(("wait", 40), ("submit", 30), ("crash", 5), ("reboot", 2), ("zone_fails", 2), ("part", 9), ("slow", 4)),
    *(("drain", 4), ("cordon", 2), ("leak", 2), ("fill_disk", 2), ("lose_device", 4), ("kill", 7), ("cancel", 4)),
    *(("lose_leader", 3), ("lose_messages", 3), ("scale", 3)),
)
"""What may happen, and how often."""


def tell(history: History, rng: Random, steps: int, done: Callable[[str], None] = lambda rule: None) -> None:
    """Let so many things happen, chosen at random, and wait until all is quiet."""
    names, weights = [name for name, _ in RULES], [weight for _, weight in RULES]
    for rule in rng.choices(names, weights, k=steps):
        numbers = rng.randrange(2**20), rng.randrange(2**20), rng.randrange(2**20)
        getattr(history, rule)(*numbers)
        if rng.random() < 0.5:
            history.settle()
        done(rule)
    history.quiet()


def main() -> int:
    """One long run. The exit code is 1 when something was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.control.machine", description=main.__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=200, help="steps of a history")
    parser.add_argument("--plain", action="store_true", help="not compiled")
    parser.add_argument("--keep-going", action="store_true", help="report violations and go on")
    arguments = parser.parse_args()
    begun, rows, steps, broken = perf_counter(), 0, 0, 0
    number = 0
    while steps < arguments.steps:
        seed, number = arguments.seed * 10**6 + number, number + 1
        history = History(plot(seed), compiled=not arguments.plain)
        try:
            tell(history, Random(seed), arguments.each)
        except Exception as error:
            broken += 1
            sys.stdout.write(f"seed {seed}: {type(error).__name__}: {str(error)[:2000]}\n")
            if not arguments.keep_going:
                raise
        steps, rows = steps + arguments.each, rows + history.rows
        if number % 100 == 0:
            sys.stdout.write(f"{steps} steps, {rows} rows, {broken} broken, {perf_counter() - begun:.0f} s\n")
            sys.stdout.flush()
    spent = perf_counter() - begun
    sys.stdout.write(f"seed {arguments.seed}: {steps} steps, {rows} rows, {broken} broken, {spent:.0f} s\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
