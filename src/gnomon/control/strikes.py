"""What each kind of fault does when it begins, and when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.streams import stream
from gnomon.model.fault import Fault
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery import detection
from gnomon.recovery.faults import Event
from gnomon.recovery.targets import Targets

Over = Callable[[int], None]
"""What the end of a fault does; its row is passed."""


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
        self._speeds: dict[int, dict[int, int]] = {}
        self._leaks: dict[int, dict[int, int]] = {}
        self._filled: dict[int, dict[int, int]] = {}
        self._devices: dict[tuple[int, int], set[int]] = {}
        self._shut: dict[int, set[int]] = {}
        self._fences: dict[int, int] = {}
        self._amnesiac: set[int] = set()
        self._on_nodes: dict[Fault, Callable[[Event, int, int], Over | None]] = {
            Fault.CRASH: self._crash,
            Fault.REBOOT: self._crash,
            Fault.SLOW: self._slow,
            Fault.DISK_FULL: self._fill_disk,
            Fault.DEVICE: self._lose_device,
            Fault.LEAK: self._leak,
            Fault.DELAY: self._delay,
            Fault.LOSS: self._drop,
            Fault.CORDON: self._cordon,
            Fault.DRAIN: self._drain,
        }

    def strike(self, event: Event) -> None:
        """A fault begins; enter its end."""
        kind = event.failure.kind
        if kind in (Fault.KILL, Fault.CANCEL):
            for task in event.targets.tasks:
                self._strike_task(event, task)
        elif kind is Fault.PARTITION:
            self._strike_all(event, self._partition)
        elif kind is Fault.LEADER:
            self._strike_all(event, self._stop_members)
        elif kind is not Fault.FAIL:  # which is a matter of the tasks' plans
            for number in event.targets.nodes:
                node = self.node_at[number]
                self._follow(event, node, self._row(event, node=node), self._on_nodes[kind])

    def _row(self, event: Event, *, node: int = -1, task: int = -1) -> int:
        failure = event.failure
        details: dict[str, int | str] = {"kind": failure.kind.value, "targets": " ".join(failure.targets)}
        if failure.for_ns < NEVER:
            details["for_ns"] = failure.for_ns
        if failure.amount:
            details["amount"] = failure.amount
        if failure.others:
            details["others"] = " ".join(failure.others)
        return self.board.row(Kind.FAULT, node=node, task=task, value=event.number, details=details)

    def _follow(self, event: Event, node: int, row: int, begin: Callable[[Event, int, int], Over | None]) -> None:
        over = begin(event, node, row)
        if over is None:
            return

        def heal() -> None:
            over(self.board.row(Kind.HEAL, node=node, cause=row, value=event.number))

        self.timers.at(event.failure.until_ns, heal)

    def _strike_all(self, event: Event, begin: Callable[[Event, int, int], Over | None]) -> None:
        self._follow(event, -1, self._row(event), begin)

    # ------------------------------------------------------------------ nodes that stop

    def _crash(self, event: Event, node: int, row: int) -> Over | None:
        if node in self.machines.dead:
            return None
        self.copies.stop_all_on(node, Reason.NODE, row)
        self.machines.die(node)
        if event.failure.kind is Fault.CRASH:
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

    def _partition(self, event: Event, node: int, row: int) -> Over:
        self.plane.cut(event.number, self._names(event.targets), self._names(event.others), row)
        return lambda heal: self.plane.mend(event.number, heal)

    def _stop_members(self, event: Event, node: int, row: int) -> Over:
        self.plane.stop_members(event.number, event.targets.control, row)
        return lambda heal: self.plane.start_members(event.number, heal)

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

    def _slow(self, event: Event, node: int, row: int) -> Over:
        speeds = self._speeds.setdefault(node, {})
        speeds[event.number] = event.failure.amount
        self.using.fault_row[node] = row
        self.machines.slow(node, min(speeds.values()), f"slow {event.number}")

        def over(heal: int) -> None:
            del speeds[event.number]
            self.using.fault_row[node] = heal
            self.machines.slow(node, min(speeds.values(), default=E4), f"slow {event.number}")
            self.machines.well(node, f"slow {event.number}")

        return over

    def _leak(self, event: Event, node: int, row: int) -> Over:
        leaks = self._leaks.setdefault(node, {})
        leaks[event.number] = event.failure.amount
        self.using.fault_row[node] = row
        self.machines.leak(node, sum(leaks.values()), f"leak {event.number}")

        def over(heal: int) -> None:
            del leaks[event.number]
            self.using.fault_row.pop(node, None)
            self.machines.leak(node, sum(leaks.values()), f"leak {event.number}")
            self.machines.well(node, f"leak {event.number}")

        return over

    def _fill_disk(self, event: Event, node: int, row: int) -> Over:
        filled = self._filled.setdefault(node, {})
        filled[event.number] = event.failure.amount
        self.using.fault_row[node] = row
        self.machines.fill_disk(node, min(filled.values()), f"disk {event.number}")

        def over(heal: int) -> None:
            del filled[event.number]
            self.using.fault_row.pop(node, None)
            self.machines.fill_disk(node, min(filled.values(), default=None), f"disk {event.number}")
            self.machines.well(node, f"disk {event.number}")

        return over

    def _lose_device(self, event: Event, node: int, row: int) -> Over:
        number, bit = event.failure.amount, 1 << event.failure.amount
        self._devices.setdefault((node, number), set()).add(event.number)
        self.machines.lack(node, f"device {event.number}")
        for attempt in self.machines.on(node):
            if not attempt.counts and attempt.devices & bit:
                self.copies.stop(attempt, Reason.DEVICE, row)
        for task in self.board.placed(node):
            if self.board.w.node[task] == node and int(self.board.w.devices[task]) & bit:
                self._end(task, Reason.DEVICE, row)
        self.again.lose_device(node, bit)
        self.board.lose_device(node, number)

        def over(heal: int) -> None:
            self._devices[node, number].discard(event.number)
            if not self._devices[node, number]:
                self.board.restore_device(node, number)
                self.board.offer(node, heal)
            self.machines.well(node, f"device {event.number}")

        return over

    # ------------------------------------------------------------------ messages

    def _delay(self, event: Event, node: int, row: int) -> Over:
        failure = event.failure
        times = detection.delayed(self.scenario.operation.detection, failure.at_ns, failure.until_ns, failure.amount)
        if times is not None:
            self._false_alarm(node, row, *times)
        return lambda heal: None

    def _drop(self, event: Event, node: int, row: int) -> Over:
        failure, rule = event.failure, self.scenario.operation.detection
        until = min(failure.until_ns, self.scenario.limits.until_ns)
        draws = stream(self.scenario.seed, f"loss {event.number} {node}")
        self._next_loss(node, row, detection.drawn_losses(rule, failure.at_ns, until, failure.amount, draws))
        return lambda heal: None

    def _next_loss(self, node: int, row: int, losses: Iterator[tuple[int, int]]) -> None:
        """Enter the next false alarm; the one after it is drawn when it is there."""
        for given_up, heard in losses:
            if given_up < heard:
                self._false_alarm(node, row, given_up, heard)
            self.timers.at(given_up, lambda: self._next_loss(node, row, losses))
            break

    def _false_alarm(self, node: int, row: int, given_up_ns: int, heard_ns: int) -> None:
        """A node that is well is taken for lost, and heard of again."""

        def hear() -> None:
            if node not in self.machines.dead and node not in self.machines.cut:
                self._is_back(node, row)

        def alarm() -> None:
            if self.plane.alarm(node, row):
                self.timers.at(heard_ns, hear)

        self.timers.at(given_up_ns, alarm)

    # ------------------------------------------------------------------ operators and users

    def _cordon(self, event: Event, node: int, row: int) -> Over:
        self._shut.setdefault(node, set()).add(event.number)
        self.board.close(node, CORDONED, row)
        return lambda heal: self._unshut(event, node, heal)

    def _drain(self, event: Event, node: int, row: int) -> Over:
        self._shut.setdefault(node, set()).add(event.number)
        self.drains.begin(node, event.number, row)

        def over(heal: int) -> None:
            self.drains.end(node, event.number)
            self._unshut(event, node, heal)

        return over

    def _unshut(self, event: Event, node: int, heal: int) -> None:
        """An operator opens a node, unless another has closed it as well."""
        self._shut[node].discard(event.number)
        if not self._shut[node]:
            self.board.open(node, CORDONED, heal)

    def _strike_task(self, event: Event, task: int) -> None:
        board = self.board
        state = board.state(task)
        if event.failure.kind is Fault.CANCEL:
            if state < State.DONE or state is State.DELAYED:
                self._cancel(task, self._row(event, task=task))
        elif state is State.RUNNING:
            self._end(task, Reason.KILLED, self._row(event, node=int(board.w.node[task]), task=task))

    def _end(self, task: int, reason: Reason, row: int) -> None:
        """An attempt dies; of one on a node that is silent the control plane hears later."""
        attempt = self.machines.of(task)
        silent = attempt is not None and (attempt.node in self.machines.cut or attempt.node in self.machines.dead)
        if attempt is None or not silent:
            self.again.fail(task, reason, row)
        elif attempt.alive:
            self.machines.stop(attempt)

    def _cancel(self, task: int, row: int) -> None:
        board = self.board
        state = board.state(task)
        if state is State.UNBORN:  # it comes, and goes at once
            submit = max(int(self.scenario.work.submit_ns[member]) for member in board.members(task))
            self.timers.at(max(submit, board.now + 1), lambda: self._cancel(task, row))
        else:
            self.again.withdraw(task, row)
