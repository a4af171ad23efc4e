"""What happens after placement, in one world: faults strike, use is enforced, what is lost is noticed and starts again.

The scheduling loop stops whenever something is due here, or has happened to a task or node that is looked at; what it
did since is read from the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.control.board import REMOVED, Board
from gnomon.control.copies import Copies
from gnomon.control.drains import Drains
from gnomon.control.faults import checks, strike
from gnomon.control.invariants import Parts, check
from gnomon.control.machines import Machines
from gnomon.control.placer import MakePlacer, Placer
from gnomon.control.plane import Plane
from gnomon.control.plans import SAVES, TOLD, Plans
from gnomon.control.progress import Progress
from gnomon.control.redistribution import Redistribution
from gnomon.control.results import Results
from gnomon.control.strikes import Strikes
from gnomon.control.timers import Timers
from gnomon.control.using import Using
from gnomon.engine.agenda import next_end
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import CALL, EVENTS, PHASE, ROWS, World
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure
from gnomon.model.operation import Operation
from gnomon.model.recovery import Recovery
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape
from gnomon.recovery.faults import Schedule
from gnomon.scheduling.compose import Composition, compose

FRUITLESS_MAX = 20_000
"""When so much has come to nothing in a row, a run without a horizon is stopped."""

_READ = np.zeros(max(Kind) + 1, np.bool_)
_READ[[Kind.START, Kind.END, Kind.KILL, Kind.PREEMPT, Kind.CANCEL, Kind.FAIL]] = True


def is_needed(scenario: Scenario) -> bool:
    """Whether anything in a scenario can happen after placement but that tasks end."""
    work = scenario.work
    special = scenario.faults or work.usages or work.needs or scenario.operation != Operation()
    return bool(special) or work.recoveries != (Recovery(),)


def controlled(scenario: Scenario, placer: MakePlacer | None = None) -> tuple[Composition, Control | None]:
    """The composition of a scenario, and what controls its run after placement, if anything does. ``placer``: makes the
    scheduler that takes the place of the loop's pass, if a system has one.

    Raises InputError for what does not go together.
    """
    if placer is None and not is_needed(scenario):
        return compose(scenario), None
    if scenario.policy.backfill == "conservative" and scenario.faults:
        found = scenario.policy.text
        raise InputError("not modelled together: conservative backfill and faults", field="policy", found=found)
    _check(scenario)
    work = scenario.work
    if placer is not None:  # nobody enters the queue of the loop
        held_back = replace(work, submit_ns=np.full(len(work), NEVER))
        if getattr(placer, "keeps_books", False):  # what its tasks hold is not for the world to count
            held_back = replace(held_back, shapes=(Shape(),) * len(work.shapes))
        parts = compose(replace(scenario, work=held_back))
        verdict = parts.world.verdict  # whether a task can ever run is the placer's to say, but for rows that make none
        verdict[verdict != Reason.UNUSABLE] = 0
    elif work.needs:  # they are submitted when what they need is there
        submit = work.submit_ns.copy()
        submit[list(work.needs)] = NEVER
        parts = compose(replace(scenario, work=replace(work, submit_ns=submit)))
    else:
        parts = compose(scenario)
    return parts, Control(scenario, parts, placer)


def _check(scenario: Scenario) -> None:
    """Raise InputError for what makes no sense. Faults beyond the horizon do no harm here: an earlier horizon may have
    been asked for than the file's."""
    checks.check(replace(scenario, limits=replace(scenario.limits, until_ns=NEVER)))
    work = scenario.work
    for task, others in work.needs.items():
        peers = [work.id(other) for other in others if scenario.gang and work.job[other] == work.job[task]]
        if peers:
            problem, allowed = "a task needs the result of one of its gang, which starts with it", "gang: false"
            raise InputError(problem, field=f"task {work.id(task)}", found=peers[0], allowed=allowed)


class Control:
    """The events of one run that Python handles. ``details``: what rows of its log tell besides their columns."""

    def __init__(self, scenario: Scenario, parts: Composition, placer: MakePlacer | None = None) -> None:
        node_of = parts.node_of.tolist()
        node_at = np.argsort(parts.node_of).tolist()
        board, timers = Board(parts.world), Timers()
        plans = Plans(scenario, board)
        machines = Machines(scenario, board, timers, plans, node_of)
        plane = Plane(scenario, board, timers, node_of)
        copies = Copies(scenario, board, timers, machines, plans)
        results = Results(scenario, board, timers, plans)
        again = Redistribution(scenario, board, timers, plans=plans, copies=copies, results=results)
        drains = Drains(scenario, board, machines, again)
        using = Using(board, timers, machines, again, copies)
        strikes = Strikes(scenario, board, timers, machines, plane, again, copies, drains, results, using, node_at)
        machines.over, machines.incident = copies.over, using.incident
        plane.give_up, plane.unreachable, plane.reachable = strikes.give_up, strikes.unreachable, strikes.reachable
        results.queue, results.undo = again.queue, again.undo
        self._board, self._timers, self._plans, self._machines, self._plane = board, timers, plans, machines, plane
        self._again, self._copies, self._drains, self._results = again, copies, drains, results
        self._strikes, self._schedule, self._fault_timer = strikes, Schedule(scenario), -1
        self._parts = Parts(scenario, board, timers, plans, machines, plane, again, copies, results)
        self._endless = scenario.limits.until_ns >= NEVER
        self._progress, self._seen = Progress(board, plans), 0
        ends = [fault.until_ns for fault in scenario.faults if isinstance(fault, Failure)]
        self._healed_ns = max((end for end in ends if end < NEVER), default=0)
        self._placer = placer(scenario, board, timers, node_at, again) if placer else None
        again.placer = self._placer
        if self._placer is not None and self._placer.gives_up:
            plane.give_up_at_turns(self._placer.spare)
        self._begin(scenario)

    @property
    def details(self) -> dict[int, dict[str, int | str]]:
        """More numbers and names of rows, by row."""
        return self._board.details

    def speed_up(self, form: Callable[[Any], Any], enter: Callable[[World], Any]) -> None:
        """As :meth:`Board.speed_up`; a scheduler beside the loop is told, too."""
        self._board.speed_up(form, enter)
        if self._placer is not None:
            self._placer.speed_up()

    def _begin(self, scenario: Scenario) -> None:
        self._plans.first()
        self._machines.watch_use()
        self._results.begin()
        self._copies.begin()
        if self._placer is not None:
            self._board.w.watch[:] |= TOLD
            for task, submit in enumerate(scenario.work.submit_ns.tolist()):
                if task not in scenario.work.needs and submit < NEVER:
                    self._results.submit(task, submit)
        if scenario.preempt:
            saving = [self._plans.checkpoint(task) is not None for task in range(len(scenario.work))]
            self._board.w.watch[np.array(saving, np.bool_)] |= SAVES
        self._next_fault()
        self._board.call(due_ns=self._timers.next_ns, again=False)

    def _next_fault(self) -> None:
        self._timers.cancel(self._fault_timer)
        self._fault_timer = self._timers.at(self._schedule.next_ns(), self._strike)

    def inject(self, failure: Failure) -> None:
        """One fault more, at the present time or later. Raises InputError for targets that are not there."""
        self._schedule.add(failure)
        self._next_fault()
        self._wake()

    def submit(self, task: int, at_ns: int) -> None:
        """The unit of a task that was never to be submitted (``submit_ns`` NEVER) is so at ``at_ns``, now or later."""
        self._results.submit(task, at_ns)
        self._wake()

    def remove(self, node: int, at_ns: int) -> None:
        """A node (number of the world) that is in the cluster leaves it at ``at_ns``: it takes no new work; whoever is
        there stays to his end."""
        self._timers.at(at_ns, lambda: self._board.close(node, REMOVED, -1))
        self._wake()

    def join(self, node: int, at_ns: int) -> None:
        """A node that left the cluster is part of it again from ``at_ns`` on."""
        self._timers.at(at_ns, lambda: self._board.open(node, REMOVED, -1))
        self._wake()

    @property
    def native_state(self) -> object:
        """What the system's own scheduler holds, None where there is none."""
        return None if self._placer is None else self._placer.native_state

    def check(self) -> None:
        """Check what must hold after every instant. Raises InvariantError for what does not."""
        check(self._parts)
        if self._placer is not None:
            self._placer.check()

    def _wake(self) -> None:
        self._board.call(due_ns=self._timers.next_ns, again=bool(self._board.w.at[CALL]))

    def _strike(self) -> None:
        for event in self._schedule.pop(self._board.now):
            strike(self._strikes, event)
        self._next_fault()

    def events(self, world: World) -> World:
        """Let happen what is due, read what the loop did, and say when to be called next."""
        board = self._board
        board.w = world
        before_pass = world.at[PHASE] == EVENTS
        if not before_pass:
            board.note_waits(self._again.fresh, Reason.NO_LEADER if self._plane.frozen else Reason.ORDER)
            self._again.fresh.clear()
        rows = int(board.w.at[ROWS])
        if self._endless and self._placer is None and not board.looks_anywhere() and self._is_over():
            board.call(due_ns=NEVER, again=False)  # without a look at a log that nobody asked to have read
            return board.w
        self._read()
        if self._endless and self._is_over():
            board.call(due_ns=NEVER, again=False)
            return board.w
        self._timers.run(board.now)
        self._read()
        self._drains.go_on()
        self._read()
        if self._placer is not None:
            self._place(self._placer)
        if self._again.fresh:
            self._copies.begin()
        changed = int(board.w.at[ROWS]) > rows
        self._progress.called()
        due = board.now if changed and not before_pass else self._timers.next_ns
        board.call(due_ns=due, again=before_pass and bool(self._again.fresh))
        return board.w

    def _place(self, placer: Placer) -> None:
        """Let it act until it has nothing more to do."""
        before = -1
        while before < self._board.w.at[ROWS] and not self._plane.frozen:
            before = int(self._board.w.at[ROWS])
            placer.place()
            self._read()

    def is_stuck(self) -> bool:
        """Whether the run would go on for ever: it has no horizon, and has made no progress for too long."""
        return self._endless and (self._progress.fruitless > FRUITLESS_MAX or self._only_repeats())

    def _only_repeats(self) -> bool:
        """Whether a scheduler beside the loop has lost patience: nothing new has come for long, and nothing is to."""
        placer, since = self._placer, max(self._progress.new_ns, self._healed_ns)
        if placer is None or not self._progress.fruitless or self._board.now - since < placer.patience_ns:
            return False
        coming = self._results.coming > 0 or placer.is_busy() or self._schedule.next_ns() < NEVER
        coming |= next_end(self._board.w) < NEVER or any(self._machines.copies())
        return not coming and not self._is_over()

    def _is_over(self) -> bool:
        coming = self._results.coming > 0 or bool(self._again.waiting) or bool(self._again.in_doubt)
        coming |= self._placer is not None and self._placer.is_busy()
        return self._board.over() and not coming and not any(self._machines.copies())

    def _read(self) -> None:
        """What has happened since to tasks and nodes that are looked at, and what comes of that."""
        while self._seen < self._board.w.at[ROWS]:
            self._read_once()
        self._board.sweep()

    def _read_once(self) -> None:
        w = self._board.w
        first, last = self._seen, int(w.at[ROWS])
        self._seen = last
        kind, task = w.log_kind[first:last], w.log_subject[first:last]
        if self._placer is not None:
            self._placer.read(first, last)
        if not len(w.watch):
            return  # a world without tasks: its rows are about nodes
        about = _READ[kind] & (task >= 0)
        self._progress.read(kind, task)
        node = w.log_node[first:last]
        looked_at = (w.watch[task] & ~TOLD != 0) | ((node >= 0) & (w.watch_node[node] != 0))
        for row in (first + np.flatnonzero(about & looked_at)).tolist():
            self._happened(row, Kind(int(w.log_kind[row])), int(w.log_subject[row]))

    def _happened(self, row: int, kind: Kind, task: int) -> None:
        board = self._board
        if kind is Kind.START:
            w = board.w
            looked_at = w.watch[task] & ~TOLD or w.watch_node[w.node[task]]  # still, after what was read before it
            if looked_at and board.state(task) is State.RUNNING and w.start_row[task] == row:
                self._machines.begin(task)
        elif kind is Kind.FAIL:
            if board.w.log_reason[row] == Reason.EXIT:
                self._again.failed_itself(task, row)
        elif kind is Kind.PREEMPT:
            self._gave_way(task, row)
        else:
            attempt = self._machines.of(task)
            if attempt is not None:
                self._machines.forget(attempt)
            self._copies.beaten(task, row)
            if kind is Kind.END:
                self._results.done(task, row)

    def _started_before(self, task: int, row: int) -> int:
        """When an attempt started that a row ended. It may be another one that runs now."""
        w = self._board.w
        if w.start_row[task] < row:
            return int(w.start[task])
        starts = (w.log_subject[:row] == task) & (w.log_kind[:row] == Kind.START)
        return int(w.log_t[np.flatnonzero(starts)[-1]])

    def _gave_way(self, task: int, row: int) -> None:
        """A task lost its place to another: what it saved is kept."""
        board, attempt = self._board, self._machines.of(task)
        if attempt is not None:
            self._plans.save(task, self._machines.elapsed_ns(attempt))
            self._machines.forget(attempt)
        else:
            self._plans.save(task, board.now - self._started_before(task, row))
        self._copies.beaten(task, row)
        self._plans.attempt[task] = self._plans.attempt.get(task, 0) + 1
        self._plans.next(task)
        if board.state(task) is State.RUNNING:
            board.retime(task, min(int(board.w.start[task] + board.w.duration[task]), NEVER))
