"""Bounded jobs in the shared world: when stages, tasks and attempts of jobs run, on the slots of the cluster's nodes.

A slot is what one task asks for, on a node; a round of offers gives those that are free to task sets in their order.
When a task ends its slot is offered at once, before it is known what came of the task (``result_ns`` later): Spark
launches on a status update, and completes stages in another thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gnomon.control.batch.plan import Batch, JobPlan, Where
from gnomon.control.batch.stages import Stage, Stages
from gnomon.control.batch.task_sets import Tasks
from gnomon.control.board import Board
from gnomon.control.placer import Hands, Placer
from gnomon.control.timers import Timers
from gnomon.engine.ledger import fits, pick_devices
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.streams import stream
from gnomon.model.errors import InvariantError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer
from gnomon.scheduling.pools import order

_ENDS = frozenset((Kind.END, Kind.KILL, Kind.CANCEL, Kind.FAIL, Kind.PREEMPT, Kind.COPY_END))


@dataclass(slots=True)
class Running:
    """An attempt that counts, and runs."""

    tasks: Tasks
    where: Where
    fails: str = ""
    fatal: bool = False


class BatchPlacer(Placer):
    """A :class:`gnomon.control.placer.Placer` of the jobs of :class:`gnomon.control.batch.plan.Batch`."""

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, node_at: list[int], hands: Hands) -> None:
        batch = scenario.native
        assert isinstance(batch, Batch)
        self._plan, self._rules, self._execution = batch.plan, batch.rules, batch.execution
        self._board, self._timers, self._hands, self._node_at = board, timers, hands, node_at
        self._of_world = {world: number for number, world in enumerate(node_at)}
        self._draws = stream(scenario.seed, "offers")
        self._at = {row: (stage.number, partition) for row, stage, partition in self._plan.rows()}
        self.stages = Stages(self._plan)
        self._sets: list[Tasks] = []
        self._of_stage: dict[int, Tasks] = {}
        self._entered: set[int] = set()
        self._submitted: set[int] = set()
        self._running: dict[int, Running] = {}
        self._offers: deque[int] = deque()
        self._round_for_all = False
        self._aborts: list[tuple[int, str, int]] = []
        self._unfinished = set(self._plan.jobs)
        for job in self._plan.jobs.values():
            if job.after is None:
                timers.at(job.at_ns, lambda job=job: self._submit_job(job, -1))  # type: ignore[misc]

    # ------------------------------------------------------------------ jobs and stages

    def _submit_job(self, job: JobPlan, cause: int) -> None:
        row = self._say("JobSubmitted", cause, job=job.number, message=job.name)
        self._submit_stages(self.stages.submit_job(job), row, self._plan.jobs[job.number].setup_ns)

    def _submit_stages(self, ready: list[Stage], cause: int, delay_ns: int) -> None:
        for stage in ready:
            attempt, stage.attempts = stage.attempts, stage.attempts + 1
            row = self._say(
                "StageSubmitted",
                cause,
                stage=stage.plan.number,
                attempt=attempt,
                tasks=len(stage.missing()),
                job=stage.job,
                message=stage.plan.name,
            )
            pool = self._plan.jobs[stage.job].pool
            tasks = Tasks(stage.plan, attempt, stage.job, pool, stage.missing(), row)
            self._of_stage[stage.plan.number] = tasks
            self._timers.at(self._board.now + delay_ns, lambda tasks=tasks: self._open(tasks))  # type: ignore[misc]

    def _open(self, tasks: Tasks) -> None:
        """A task set takes part in offers from now on."""
        if tasks.over:
            return
        self._sets.append(tasks)
        for partition in reversed(tasks.pending):
            task = tasks.plan.first + partition
            if task in self._entered:
                tasks.enter(partition)
            elif task not in self._submitted:
                self._submitted.add(task)
                self._hands.submit(task, self._board.now)
            elif self._board.state(task) is State.DONE:  # its result is lost
                self._hands.undo(task, tasks.row)
        self._round_for_all = True

    def _say(self, reason: str, cause: int, **facts: int | str) -> int:
        return self._board.row(Kind.EVENT, cause=cause, details={"reason": reason, **facts})

    # ------------------------------------------------------------------ what the world tells

    def enter(self, task: int, row: int) -> None:
        """A task can be launched: it arrived, failed, or its result was lost."""
        number, partition = self._at[task]
        self._entered.add(task)
        tasks = self._of_stage.get(number)
        if tasks is not None and not tasks.over and not tasks.copies.get(partition):
            tasks.enter(partition)
            self._round_for_all = True

    def read(self, first: int, last: int) -> None:
        """Attempts end: their slots are free, and who did what is known a little later."""
        w = self._board.w
        for row, kind in enumerate(w.log_kind[first:last].tolist(), first):
            if kind not in _ENDS:
                continue
            task, node = int(w.log_subject[row]), int(w.log_node[row])
            if node >= 0:
                self._offers.append(node)
            if kind == Kind.END:
                self._ended(task, row)
            elif kind not in (Kind.COPY_END, Kind.FAIL):  # who failed is asked about
                self._stopped(task)

    def _ended(self, task: int, row: int) -> None:
        run = self._stopped(task)
        if run is None:
            return
        node = self._of_world[int(self._board.w.node[task])]
        run.where = replace(run.where, node=node)
        self._board.details[row] = {**self._execution.done(run.where)}
        self._timers.at(self._board.now + self._rules.result_ns, lambda: self._known(run, row))

    def _stopped(self, task: int) -> Running | None:
        """The attempt of a task is over, whatever came of it."""
        run = self._running.pop(task, None)
        if run is not None:
            run.tasks.stopped(run.where.partition)
        return run

    def _known(self, run: Running, row: int) -> None:
        """It is known that a task is done."""
        number, partition = run.where.stage.number, run.where.partition
        stage = self.stages.of[number]
        ready = self.stages.done(number, partition, node=run.where.node)
        if ready:
            self._submit_stages(ready, row, self._rules.stage_ns)
        if not stage.complete:
            return
        self._close(run.tasks)
        self._say("StageCompleted", row, stage=number, attempt=run.tasks.attempt, job=run.tasks.job)
        for job in list(self.stages.active.values()):
            if job.result == number:
                self._timers.at(self._board.now + job.teardown_ns, lambda job=job: self._end_job(job, row))  # type: ignore[misc]

    def _close(self, tasks: Tasks) -> None:
        tasks.over = True
        if tasks in self._sets:
            self._sets.remove(tasks)

    def _end_job(self, job: JobPlan, cause: int) -> None:
        self.stages.end_job(job.number)
        row = self._say("JobEnded", cause, job=job.number)
        self._job_is_over(job.number, row)

    def _job_is_over(self, number: int, row: int) -> None:
        self._unfinished.discard(number)
        for job in self._plan.jobs.values():
            if job.after == number:
                at = self._board.now + job.at_ns
                self._timers.at(at, lambda job=job: self._submit_job(job, row))  # type: ignore[misc]

    def answer(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """What follows a failed attempt: another one, until it failed too often."""
        run = self._stopped(task)
        if run is None:
            return usual
        tasks, partition = run.tasks, run.where.partition
        if reason is Reason.EXIT:
            tasks.failures[partition] = tasks.failures.get(partition, 0) + 1
        count, limit = tasks.failures.get(partition, 0), self._rules.max_failures
        if run.fails:
            self._board.details[row] = {**self._board.details.get(row, {}), "message": run.fails}
        retry = not tasks.over and not run.fatal and count < limit
        if not retry and not tasks.over:
            self._aborts.append((tasks.stage, f"task {partition} failed {count} times: {run.fails}", row))
        return replace(usual, retry=retry, delay_ns=0, at_ns=self._board.now, in_place=False, count=count, limit=limit)

    # ------------------------------------------------------------------ offers

    def place(self) -> None:
        """Rounds of offers: one for each slot that was freed, in turn, and one for all when somebody new is there."""
        for stage, why, row in self._aborts:
            self._abort(stage, why, row)
        self._aborts.clear()
        while self._offers:
            node = self._offers.popleft()
            self._round([node], len([one for one in self._offers if one == node]))
        if self._round_for_all:
            self._round_for_all = False
            nodes = list(self._node_at)
            self._round([nodes[i] for i in self._draws.permutation(len(nodes))] if len(nodes) > 1 else nodes, 0)

    def _round(self, nodes: list[int], kept: int) -> None:
        """Offer the free slots of nodes (of the world), but so many that are to be offered on their own."""
        waiting = [tasks for tasks in self._sets if not tasks.idle]
        if not waiting:
            return
        for tasks in order(waiting, self._rules.mode, self._rules.pools):
            launched = True
            while launched:
                launched = False
                for node in nodes:
                    if tasks.idle:
                        break
                    if self._slots(node, tasks) > kept:
                        partition = tasks.take()
                        if partition is not None:
                            self._launch(tasks, partition, node)
                            launched = True
        for tasks in waiting:
            self._tell(tasks)

    def _slots(self, node: int, tasks: Tasks) -> int:
        """How many tasks of a set the free part of a node takes."""
        w = self._board.w
        if w.closed[node]:
            return 0
        shape = int(w.shape[tasks.plan.first])
        if not fits(w, w.free, node, shape):
            return 0
        plain = w.need.shape[1] - 1
        need, free = w.need[shape, :plain].tolist(), w.free[node, :plain].tolist()
        return min((have // want for have, want in zip(free, need, strict=True) if want), default=1)

    def _launch(self, tasks: Tasks, partition: int, node: int) -> None:
        task = tasks.plan.first + partition
        self._entered.discard(task)
        number = tasks.launched(partition)
        where = Where(tasks.plan, partition, tasks.attempt, number, self._of_world[node])
        course = self._execution.begin(where)
        self._running[task] = Running(tasks, where, course.fails, course.fatal)
        self._hands.plan(task, course.length_ns, fails=bool(course.fails))
        board = self._board
        cause = max(int(board.w.arrive_row[task]), tasks.row, int(board.w.node_row[node]))
        board.start_here(task, node, int(pick_devices(board.w, board.w.free, node, int(board.w.shape[task]))), cause)
        facts = {"stage": tasks.stage, "stage_attempt": tasks.attempt, "index": partition, "try": number}
        board.details[int(board.w.start_row[task])] = {**facts, **course.details}

    def _tell(self, tasks: Tasks) -> None:
        """Say once of those who are left that there is no slot for them."""
        if tasks.told:
            return
        tasks.told = True
        for partition in sorted(tasks.ready):
            task = tasks.plan.first + partition
            cause = max(int(self._board.w.arrive_row[task]), tasks.row)
            self._board.row(Kind.WAIT, task=task, cause=cause, reason=Reason.RESOURCES, value=-1)

    def _abort(self, number: int, why: str, row: int) -> None:
        """Every job that needs a stage fails."""
        for job in [job for job in self.stages.active if number in self.stages.needed[job]]:
            row = self._say("JobFailed", row, job=job, message=f"stage {number}: {why}")
            for stage in self.stages.end_job(job):
                tasks = self._of_stage.get(stage.plan.number)
                if tasks is None:
                    continue
                self._close(tasks)
                for partition in stage.missing():
                    if tasks.plan.first + partition in self._submitted:
                        self._hands.withdraw(tasks.plan.first + partition, row)
            self._job_is_over(job, row)

    # ------------------------------------------------------------------ what others ask

    def waiting(self) -> Iterator[int]:
        """The tasks that want a place and have none."""
        yield from sorted(self._entered)

    def is_busy(self) -> bool:
        """Whether it will do something by itself though nothing runs."""
        acts = bool(self._offers) or self._round_for_all or bool(self._aborts) or self._timers.next_ns < NEVER
        return bool(self._unfinished) and acts

    def check(self) -> None:
        """Raise InvariantError where its attempts are not those that run in the world."""
        for task, run in self._running.items():
            if self._board.state(task) is not State.RUNNING:
                raise InvariantError(f"{run.where.stage.name}: partition {run.where.partition} runs here alone")
        for tasks in self._sets:
            if sum(tasks.copies.values()) != tasks.running:
                raise InvariantError(f"{tasks.plan.name}: its attempts are not counted rightly")
