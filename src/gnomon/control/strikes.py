"""What a fault can do to the parts of a run; the modules of :mod:`gnomon.control.faults` say which kind does what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass

from gnomon.control.board import CORDONED, Board
from gnomon.control.copies import Copies
from gnomon.control.drains import Drains
from gnomon.control.machines import Machines
from gnomon.control.plane import Plane
from gnomon.control.redistribution import Redistribution
from gnomon.control.results import Results
from gnomon.control.timers import Timers
from gnomon.control.using import Using
from gnomon.engine.log import Kind, Reason
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.faults import Event
from gnomon.recovery.targets import Targets

Over = Callable[[int], None]
"""What the end of a fault does; its row is passed."""

Put = Callable[[Collection[int], str], None]


@dataclass
class Strikes:
    """Lets faults happen to the parts of a run. ``node_at``: the world's number of each node of the cluster."""

    scenario: Scenario
    board: Board
    timers: Timers
    machines: Machines
    plane: Plane
    again: Redistribution
    copies: Copies
    drains: Drains
    results: Results
    using: Using
    node_at: list[int]

    def __post_init__(self) -> None:
        self.under_way: defaultdict[tuple[str, int], dict[int, int]] = defaultdict(dict)
        """The amounts of the faults that bear on one thing of a node now, by their numbers."""
        self.shut: defaultdict[int, set[int]] = defaultdict(set)
        """The numbers of the faults by which operators have closed a node."""
        self._fences: dict[int, int] = {}
        self._amnesiac: set[int] = set()

    def row(self, event: Event, *, node: int = -1, task: int = -1) -> int:
        """The row of the log of a fault that begins."""
        failure = event.failure
        details: dict[str, int | str] = {"kind": failure.kind.value, "targets": " ".join(failure.targets)}
        if failure.for_ns < NEVER:
            details["for_ns"] = failure.for_ns
        if failure.amount:
            details["amount"] = failure.amount
        if failure.others:
            details["others"] = " ".join(failure.others)
        return self.board.row(Kind.FAULT, node=node, task=task, value=event.number, details=details)

    def follow(self, event: Event, node: int, row: int, over: Over) -> None:
        """Enter the end of a fault."""

        def heal() -> None:
            over(self.board.row(Kind.HEAL, node=node, cause=row, value=event.number))

        self.timers.at(event.failure.until_ns, heal)

    # ------------------------------------------------------------------ nodes that stop

    def stop(self, node: int, row: int, *, forgets: bool) -> Over | None:
        """A node stops, and is back when the fault is over; ``forgets``: it does not say itself what it has lost."""
        if node in self.machines.dead:
            return None
        self.copies.stop_all_on(node, Reason.NODE, row)
        self.machines.die(node)
        if forgets:
            self._amnesiac.add(node)
        self.plane.silent(node, row)

        def back(heal: int) -> None:
            self.machines.revive(node)
            if node in self.machines.cut:
                return
            self._is_back(node, heal)

        return back

    def _is_back(self, node: int, row: int) -> None:
        """A node says that it is there, and what of its tasks is gone; what was given up meanwhile, it stops."""
        given_up = self.plane.given_up(node)
        lost_results = node in self._amnesiac and not given_up
        details = {"given_up": self.plane.closed_row(node)} if given_up else None
        placer = self.again.placer
        apart = {task for task in self.board.placed(node) if placer is not None and placer.was_given_up(task)}
        given_up = given_up and not (placer is not None and placer.gives_up)
        self._amnesiac.discard(node)
        self.plane.heard(node, row)
        for copy in self.machines.on(node):
            if not copy.counts and not copy.alive and not copy.finished:
                self.copies.stop(copy, Reason.NODE, row)
        for task in self.board.placed(node):
            attempt = self.machines.of(task)
            gone = given_up or task in apart or (attempt is not None and not attempt.alive)
            if gone and not (attempt is not None and attempt.finished):
                self.again.fail(task, Reason.NODE, row, details=details)
        if lost_results:
            self.results.node_lost(node, row)
        if not any(not copy.counts for copy in self.machines.on(node)):
            self.again.heard(node)

    def give_up(self, node: int, row: int) -> None:
        """The control plane gives up the tasks of a lost node. With ``orphans`` "wait" that is carried out, and they
        are replaced, when the node is heard of again."""
        if self.again.placer is not None and self.again.placer.gives_up:
            self.again.placer.turn(node, row)
        elif self.scenario.operation.orphans == "replace":
            for task in self.board.placed(node):
                if self.board.w.node[task] == node:
                    self.again.fail(task, Reason.NODE, row)
        self.results.node_lost(node, row)

    # ------------------------------------------------------------------ partitions

    def _names(self, targets: Targets) -> frozenset[str]:
        nodes = (f"node/{self.scenario.cluster.nodes[node].name}" for node in targets.nodes)
        return frozenset((*nodes, *(f"control/{member}" for member in targets.control)))

    def part(self, cut: Hashable, side: Targets, other: Targets, row: int) -> Over:
        """Two sets hear nothing of each other; ``cut``: what tells this from others."""
        self.plane.cut(cut, self._names(side), self._names(other), row)
        return lambda heal: self.plane.mend(cut, heal)

    def unreachable(self, node: int, row: int) -> None:
        """A node and the control plane do not hear of each other any more."""
        self.machines.cut_off(node)
        self.plane.silent(node, row)
        fence = min(self.board.now + self.scenario.operation.fence_ns, NEVER)
        self._fences[node] = self.timers.at(fence, lambda: self._fence(node))

    def _fence(self, node: int) -> None:
        """A node that has heard nothing for too long stops its tasks."""
        self.machines.stop_all(node)
        self.copies.stop_all_on(node, Reason.FENCED, -1)

    def reachable(self, node: int, row: int) -> None:
        """They hear of each other again: the node is told to stop what does not count any more."""
        self.timers.cancel(self._fences.pop(node, -1))
        self.machines.join(node)
        if node in self.machines.dead:
            return
        self._is_back(node, row)
        when = self.board.now + self.scenario.operation.message_ns
        if any(not attempt.counts for attempt in self.machines.on(node)):
            self.timers.at(when, lambda: self._stop_orphans(node, row))

    def _stop_orphans(self, node: int, row: int) -> None:
        for attempt in self.machines.on(node):
            if not attempt.counts and not attempt.speculative and node not in self.machines.cut:
                self.copies.stop(attempt, Reason.FENCED, row)
        if node not in self.machines.cut:
            self.again.heard(node)

    # ------------------------------------------------------------------ what bears on use

    def together(
        self, event: Event, node: int, row: int, put: Put, *, what: str, amount: int, goes_on: bool = False
    ) -> Over:
        """Faults that bear on one thing of a node add up as ``put(amounts, name)`` has it, which is told of all that
        are there. ``name``: of this one, among those for which the node is looked at; ``goes_on``: its end is the cause
        of what changes then."""
        amounts, name = self.under_way[what, node], f"{what} {event.number}"
        amounts[event.number] = amount
        self.using.fault_row[node] = row
        put(amounts.values(), name)

        def over(heal: int) -> None:
            del amounts[event.number]
            self.using.fault_row.pop(node, None)
            if goes_on:
                self.using.fault_row[node] = heal
            put(amounts.values(), name)
            self.machines.well(node, name)

        return over

    def run_at(self, speed_e4: int, event: Event, node: int, row: int) -> Over:
        """A node runs its tasks at a part of their speed: the least of those that its faults say."""

        def put(speeds: Collection[int], name: str) -> None:
            self.machines.slow(node, min(speeds, default=E4), name)

        return self.together(event, node, row, put, what="speed", amount=speed_e4, goes_on=True)

    # ------------------------------------------------------------------ messages

    def false_alarm(self, node: int, row: int, given_up_ns: int, heard_ns: int) -> None:
        """A node that is well is taken for lost, and heard of again."""

        def hear() -> None:
            if node not in self.machines.dead and node not in self.machines.cut:
                self._is_back(node, row)

        def alarm() -> None:
            if self.plane.alarm(node, row):
                self.timers.at(heard_ns, hear)

        self.timers.at(given_up_ns, alarm)

    # ------------------------------------------------------------------ operators and users

    def unshut(self, event: Event, node: int, heal: int) -> None:
        """An operator opens a node, unless another has closed it as well."""
        self.shut[node].discard(event.number)
        if not self.shut[node]:
            self.board.open(node, CORDONED, heal)

    def end(self, task: int, reason: Reason, row: int) -> None:
        """An attempt dies; of one on a node that is silent the control plane hears later."""
        attempt = self.machines.of(task)
        silent = attempt is not None and (attempt.node in self.machines.cut or attempt.node in self.machines.dead)
        if attempt is None or not silent:
            self.again.fail(task, reason, row)
        elif attempt.alive:
            self.machines.stop(attempt)
