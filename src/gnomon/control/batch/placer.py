"""Bounded jobs in the shared world: when stages, tasks and attempts of jobs run, on the slots of the cluster's nodes.

A slot is what one task asks for, on a node; a round of offers gives those that are free to task sets in their order.
When a task ends its slot is offered at once, before it is known what came of the task (``result_ns`` later): Spark
launches on a status update, and completes stages in another thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gnomon.control.batch.allocation import Allocation
from gnomon.control.batch.disks import Disks
from gnomon.control.batch.driver import Driver, Running
from gnomon.control.batch.exclusion import excluding
from gnomon.control.batch.losses import Losses
from gnomon.control.batch.offers import Offers
from gnomon.control.batch.plan import batch_of
from gnomon.control.batch.readers import Readers
from gnomon.control.batch.rules import ExclusionRule
from gnomon.control.batch.second_copies import SecondCopies
from gnomon.control.batch.stages import Stage
from gnomon.control.board import LOST, Board
from gnomon.control.placer import Hands, Placer
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.streams import stream
from gnomon.model.errors import InvariantError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer

_FREES = frozenset((Kind.END, Kind.KILL, Kind.CANCEL, Kind.FAIL, Kind.PREEMPT, Kind.COPY_END))
_READ = _FREES | {Kind.START, Kind.FAULT, Kind.HEAL, Kind.CLOSE, Kind.OPEN, Kind.LEAD}
_NOT_ITS_FAULT = frozenset((Reason.NODE, Reason.KILLED, Reason.EVICTED, Reason.DRAINED, Reason.DELETED))
"""Failures that do not count for the most that a task may have."""


class BatchPlacer(Placer):
    """A :class:`gnomon.control.placer.Placer` of the jobs of :class:`gnomon.control.batch.plan.Batch`."""

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, node_at: list[int], hands: Hands) -> None:
        batch = batch_of(scenario)
        assert batch is not None
        self._board, self._timers, self._node_at = board, timers, node_at
        self.driver = Driver(batch, board, timers, hands, node_at)
        self._readers = Readers(self.driver)
        self._losses = Losses(self.driver, self._readers)
        nodes = scenario.cluster.nodes
        label = batch.rules.locality.host if batch.rules.locality else "host"
        self._disks = Disks(self.driver, nodes)
        self._exclusion = excluding(self.driver, [dict(node.labels).get(label, node.name) for node in nodes])
        self._offers = Offers(self.driver, self._losses, self._exclusion, nodes)
        self._copies = SecondCopies(self.driver, self._offers)
        self._allocation = Allocation(self.driver)
        self._draws = stream(scenario.seed, "offers")
        self._freed: deque[int] = deque()
        self._stranded: dict[tuple[int, int], int] = {}
        self.driver.completed = self._completed
        self.driver.progressed = self._readers.go_on
        self.driver.launched, self.driver.over = self._disks.launched, self._disks.job_ended

    @property
    def native_state(self) -> object:
        """What it knows of stages and task sets at the end."""
        return self.driver

    # ------------------------------------------------------------------ what the world tells

    def enter(self, task: int, row: int) -> None:
        """A task can be launched: it arrived, failed, or its result was lost."""
        self.driver.enter(task)

    def read(self, first: int, last: int) -> None:
        """Attempts end: their slots are free, and who did what is known a little later. Nodes come and go."""
        w = self._board.w
        for row, kind in enumerate(w.log_kind[first:last].tolist(), first):
            if kind not in _READ:
                continue
            task, node = int(w.log_subject[row]), int(w.log_node[row])
            if kind in _FREES and node >= 0:
                self._freed.append(node)
            if kind == Kind.END:
                self._ended(task, row)
            elif kind == Kind.COPY_END:
                self._copy_ended(task, Reason(int(w.log_reason[row])))
            elif kind == Kind.START:
                self._promoted(task)
            elif kind == Kind.LEAD:
                (self.driver.lose if w.log_value[row] < 0 else self.driver.come_back)(row)
            elif kind in (Kind.KILL, Kind.CANCEL, Kind.PREEMPT):  # who failed is asked about
                self._over(task)
            elif node >= 0 and kind in (Kind.FAULT, Kind.HEAL, Kind.CLOSE, Kind.OPEN):
                self._node(node, kind, row)

    def _over(self, task: int) -> Running | None:
        """The attempt of a task that counted is over without being done."""
        run = self.driver.stopped(task)
        if run is not None:
            self._disks.stopped(task, run.where.node)
        return run

    def _node(self, node: int, kind: int, row: int) -> None:
        """Something happened to a node."""
        number = self.driver.of_world[node]
        if kind in (Kind.FAULT, Kind.HEAL):
            facts = self._board.details.get(row, {})
            self._disks.fault(Kind(kind), number, int(self._board.w.log_value[row]), dict(facts))
            if not self.driver.hands.is_up(node) and not self.driver.rules.outputs_survive:
                self._disks.cleared(number)
        if kind == Kind.FAULT:
            self._losses.silent(node, row)
            return
        if kind == Kind.CLOSE and self._board.w.log_reason[row] == Reason.LOST:
            self._losses.lost(node, row)
        elif kind in (Kind.HEAL, Kind.OPEN):
            self._losses.heard(node, row)
        self._offers.renew()
        self.driver.wants_round = True

    def _ended(self, task: int, row: int) -> None:
        node = self.driver.of_world[int(self._board.w.node[task])]
        copy = self._copies.ended(task, node)
        run = self.driver.stopped(task)
        run = copy or run
        if run is None:
            return
        run.where = replace(run.where, node=node)
        self._disks.done(task, run)
        length = max(self._board.now - run.start_ns, 1)
        run.tasks.rates[run.where.partition] = run.course.records * 1_000_000_000 // length
        facts = self.driver.execution.done(run.where)
        if facts:
            self._board.details[row] = {**facts}
        of, known = self.driver.attempts, self.driver.known
        self._timers.at(self._board.now + self.driver.rules.result_ns, lambda: known(run, row, of))

    def _copy_ended(self, task: int, reason: Reason) -> None:
        """A copy stopped without being the first, or because it counts from now on (without a reason)."""
        if reason is not Reason.NONE and self._board.state(task) is not State.DONE:  # else its end tells of it
            self._copies.over(task)

    def _promoted(self, task: int) -> None:
        """A copy became the attempt that counts."""
        copy = self._copies.of.pop(task, None) if task not in self.driver.running else None
        if copy is not None:
            self.driver.running[task] = copy

    def answer(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """What follows a failed attempt: another one, until it failed too often."""
        run = self._over(task)
        if run is None:
            return usual
        tasks, partition = run.tasks, run.where.partition
        message = run.course.fails if reason is Reason.EXIT else ""
        if reason is Reason.DISK:
            message = self.driver.rules.disk_full
        if message:
            self._board.details[row] = {**self._board.details.get(row, {}), "message": message}
        if run.lacks is not None and reason is Reason.EXIT:
            self._losses.fetch_failed(run, row)
        elif reason not in _NOT_ITS_FAULT:
            tasks.failures[partition] = tasks.failures.get(partition, 0) + 1
            self._exclusion.failed(tasks, partition, run.where.node)
        count, limit = tasks.failures.get(partition, 0), tasks.plan.attempts or self.driver.rules.max_failures
        wanted = run.where.stage.number in self.driver.stages.of and tasks.job in self.driver.stages.active
        fails = wanted and (count >= limit or run.course.fatal)
        if fails:
            said = f": {message}" if message else ""
            self.driver.aborts.append((tasks.stage, f"task {partition} failed {count} times{said}", row))
        again = replace(usual, delay_ns=0, at_ns=self._board.now, in_place=False)
        return replace(again, retry=wanted and not fails, count=count, limit=limit)

    def _completed(self, stage: Stage, row: int) -> None:
        """All of a stage is there: failures on the way count against nodes."""
        self._exclusion.completed(self.driver.current[stage.plan.number])

    # ------------------------------------------------------------------ offers

    def place(self) -> None:
        """Rounds of offers: one for each slot that was freed, in turn, and one for all when somebody new is there."""
        driver = self.driver
        driver.abort_due()
        while self._freed:
            node = self._freed.popleft()
            self._offers.round([node], self._freed.count(node))
        if driver.wants_round:
            driver.wants_round = False
            nodes = list(self._node_at)
            if len(nodes) > 1:
                nodes = [nodes[place] for place in self._draws.permutation(len(nodes))]
            self._offers.round(nodes, 0, everything=True)
        self._copies.launch()
        self._copies.look_soon()
        self._allocation.look()
        self._readers.make_room(self._offers.slots, self._offers.all_slots)
        self._look_for_stranded()

    def _look_for_stranded(self) -> None:
        """A task set with a task that may run nowhere fails after a while."""
        rule, driver = self.driver.rules.exclusion, self.driver
        if not isinstance(rule, ExclusionRule):
            return
        for tasks in driver.sets:
            key = (tasks.stage, tasks.attempt)
            if key not in self._stranded and self._exclusion.unschedulable(tasks):
                at = self._board.now + rule.unschedulable_ns
                self._stranded[key] = self._timers.at(at, partial(self._give_up, key))

    def _give_up(self, key: tuple[int, int]) -> None:
        self._stranded.pop(key, None)
        tasks = self.driver.current.get(key[0])
        if tasks is not None and tasks.attempt == key[1] and not tasks.over and self._exclusion.unschedulable(tasks):
            why = "a task may not run on any node, as too much failed there"
            self.driver.aborts.append((tasks.stage, why, tasks.row))

    # ------------------------------------------------------------------ what others ask

    def waiting(self) -> Iterator[int]:
        """The tasks that want a place and have none."""
        yield from sorted(self.driver.entered)

    def is_busy(self) -> bool:
        """Whether it will do something by itself though nothing runs."""
        driver = self.driver
        acts = bool(self._freed) or driver.wants_round or bool(driver.aborts) or self._timers.next_ns < NEVER
        return bool(driver.unfinished) and acts

    def check(self) -> None:
        """Raise InvariantError where its attempts are not those that run in the world."""
        for task, run in self.driver.running.items():
            if self._board.state(task) is not State.RUNNING:
                raise InvariantError(f"{run.where.stage.name}: partition {run.where.partition} runs here alone")
        for tasks in self.driver.sets:
            if sum(tasks.copies.values()) != tasks.running:
                raise InvariantError(f"{tasks.plan.name}: its attempts are not counted rightly")
        for node in self._node_at:
            if self._board.w.closed[node] & LOST and any(
                stage.plan.writes and self.driver.of_world[node] in stage.output.values()
                for stage in self.driver.stages.of.values()
                if not self.driver.rules.outputs_survive
            ):
                raise InvariantError(f"node {node} is lost, and has output")
