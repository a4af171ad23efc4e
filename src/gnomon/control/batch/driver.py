"""The state of running jobs, and what happens to it: jobs are submitted, stages opened, tasks known to be done.

All parts of the placer share one driver, and change the world only through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from gnomon.control.batch.plan import Batch, Course, JobPlan, StagePlan, Where
from gnomon.control.batch.rules import FAILS, RECOVERS, STAYS
from gnomon.control.batch.stages import Stage, Stages
from gnomon.control.batch.task_sets import Tasks
from gnomon.control.board import LOST, Board
from gnomon.control.placer import Hands
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, State


@dataclass(slots=True, eq=False)
class Running:
    """An attempt that counts, and runs. ``start_ns``: since when; ``open``: its end is not known, as its parents are
    not all done; ``lacks``: the stage whose output it will be found not to get, from which node (-1: it is known to
    be gone)."""

    tasks: Tasks
    where: Where
    course: Course
    start_ns: int
    open: bool = False
    lacks: tuple[int, int] | None = None


@dataclass
class Driver:
    """Jobs, stages and attempts of a run. ``node_at``, ``of_world``: the world's number of each node of the cluster,
    and back; ``sets``: the task sets that take part in offers; ``current``: the last one of each stage;
    ``entered``: the tasks that can be launched; ``running``: attempts by task;
    ``opened`` ... ``over``: told of a task set that opens, a stage that is complete, outputs that are there, an attempt
    that starts, a job that is over; ``away``: the driver is lost, ``attempts``: how often it was."""

    batch: Batch
    board: Board
    timers: Timers
    hands: Hands
    node_at: list[int]
    stages: Stages = field(init=False)
    sets: list[Tasks] = field(default_factory=list)
    current: dict[int, Tasks] = field(default_factory=dict)
    entered: set[int] = field(default_factory=set)
    submitted: set[int] = field(default_factory=set)
    running: dict[int, Running] = field(default_factory=dict)
    unfinished: set[int] = field(default_factory=set)
    wants_round: bool = False
    away: bool = False
    attempts: int = 0
    aborts: list[tuple[int, str, int]] = field(default_factory=list)
    opened: Callable[[Tasks], None] = lambda tasks: None
    completed: Callable[[Stage, int], None] = lambda stage, row: None
    progressed: Callable[[], None] = lambda: None
    launched: Callable[[int, Running], None] = lambda task, run: None
    over: Callable[[int], None] = lambda job: None

    def __post_init__(self) -> None:
        plan = self.batch.plan
        self.rules = self.batch.rules
        self.execution = self.batch.execution.start(lambda: self.board.now)
        self.of_world = {world: number for number, world in enumerate(self.node_at)}
        self.stages = Stages(plan)
        self.at = {row: (stage.number, partition) for row, stage, partition in plan.rows()}
        self.unfinished = set(plan.jobs)
        self._begin()

    def say(self, reason: str, cause: int, *, node: int = -1, **facts: int | str) -> int:
        """A row that says what happened to jobs and stages."""
        return self.board.row(Kind.EVENT, node=node, cause=cause, details={"reason": reason, **facts})

    # ------------------------------------------------------------------ jobs and stages

    def submit_job(self, job: JobPlan, cause: int) -> None:
        """An action of the program, if there still is one."""
        if self.away or job.number not in self.unfinished:
            return
        row = self.say("JobSubmitted", cause, job=job.number, message=job.name)
        self.submit_stages(self.stages.submit_job(job), row, job.setup_ns)

    def submit_stages(self, ready: Sequence[Stage], cause: int, delay_ns: int) -> None:
        """Their tasks can be launched after a delay."""
        for stage in ready:
            attempt, stage.attempts = stage.attempts, stage.attempts + 1
            if not attempt:
                stage.joined = self.execution.joined(stage.plan)
            missing = stage.missing()
            row = self.say(
                "StageSubmitted",
                cause,
                stage=stage.plan.number,
                attempt=attempt,
                tasks=len(missing),
                job=stage.job,
                message=stage.plan.name,
            )
            tasks = Tasks(stage.plan, attempt, stage.job, self.batch.plan.jobs[stage.job].pool, missing, row)
            before = self.current.get(stage.plan.number)
            if before is not None and self.rules.eager:  # its attempts are those of the job, whatever is lost
                tasks.failures, tasks.tries, tasks.lengths = before.failures, before.tries, before.lengths
            self.current[stage.plan.number] = tasks
            self.timers.at(self.board.now + delay_ns, partial(self._open, tasks))

    def _open(self, tasks: Tasks) -> None:
        """A task set takes part in offers from now on. What still runs of an earlier attempt is not launched again
        before it has failed."""
        if tasks.over:
            return
        self.sets.append(tasks)
        self.opened(tasks)
        for partition in reversed(tasks.pending):
            self.want(tasks, partition)
        self.wants_round = True

    def want(self, tasks: Tasks, partition: int) -> None:
        """A task is to be launched, as soon as it has entered."""
        task = tasks.plan.first + partition
        if task in self.entered:
            tasks.enter(partition)
        elif task not in self.submitted:
            self.submitted.add(task)
            self.hands.submit(task, self.board.now)
        elif self.board.state(task) is State.DONE:  # its result is lost
            self.hands.undo(task, tasks.row)
        elif self.board.state(task) is State.KILLED:  # by a driver before this one
            self.hands.submit(task, self.board.now)

    def enter(self, task: int) -> None:
        """A task can be launched: it arrived, failed, or its result was lost."""
        number, partition = self.at[task]
        if self.stages.of[number].job not in self.stages.active:  # its job has failed meanwhile
            self.hands.withdraw(task, int(self.board.w.arrive_row[task]))
            return
        self.entered.add(task)
        tasks = self.current.get(number)
        if tasks is not None and not tasks.over and partition not in self.stages.of[number].output:
            tasks.enter(partition)
            self.wants_round = True

    # ------------------------------------------------------------------ tasks

    def stopped(self, task: int) -> Running | None:
        """The attempt of a task that counted is over, whatever came of it."""
        run = self.running.pop(task, None)
        if run is not None:
            run.tasks.stopped(run.where.partition)
        return run

    def known(self, run: Running, row: int, of: int) -> None:
        """It is known that a task is done: by the driver ``of`` that had it run, if that is still there."""
        if self.away or of != self.attempts:
            return
        number, partition = run.where.stage.number, run.where.partition
        stage = self.stages.of[number]
        if stage.job not in self.stages.active:
            return
        if self.lost_with_its_node(stage, run.where.node):
            self.want_again(number, partition)
            return
        run.tasks.lengths[partition] = int(self.board.w.log_t[row]) - run.start_ns
        was_complete = stage.complete
        ready = self.stages.done(number, partition, node=run.where.node)
        now = self.current[number]
        now.drop(partition)
        whole = stage.complete and not was_complete
        if whole:
            self.close(now)
            row = self.say("StageCompleted", row, stage=number, attempt=now.attempt, job=stage.job)
        if ready:
            self.submit_stages(ready, row, self.rules.stage_ns)
        if stage.plan.writes:
            self.progressed()
        if not whole:
            return
        self.completed(stage, row)
        for job in list(self.stages.active.values()):
            if job.result == number:
                self.timers.at(self.board.now + job.teardown_ns, partial(self._end_job, job, row))

    def lost_with_its_node(self, stage: Stage, node: int) -> bool:
        """Whether what a task left on a node is lost, as far as is known."""
        return (
            stage.plan.writes
            and not self.rules.outputs_survive
            and bool(self.board.w.closed[self.node_at[node]] & LOST)
        )

    def want_again(self, number: int, partition: int) -> None:
        """What a task made is lost: it is launched again, if its stage has a task set at work."""
        tasks = self.current.get(number)
        if tasks is not None and not tasks.over:
            tasks.add(partition)
            self.want(tasks, partition)
            self.wants_round = True

    def close(self, tasks: Tasks) -> None:
        """Nothing more of a task set is launched."""
        tasks.over = True
        if tasks in self.sets:
            self.sets.remove(tasks)

    def _end_job(self, job: JobPlan, cause: int) -> None:
        if job.number in self.stages.active:
            row = self.say("JobEnded", cause, job=job.number)
            self._stop(job.number, row)  # what is made again for nobody (DAGScheduler.cancelRunningIndependentStages)
            self._job_is_over(job.number, row)

    def _job_is_over(self, number: int, row: int) -> None:
        self.unfinished.discard(number)
        self.over(number)
        for job in self.batch.plan.jobs.values():
            if job.after == number and job.number in self.unfinished:
                at = self.board.now + job.at_ns
                self.timers.at(at, partial(self.submit_job, job, row))

    def abort_due(self) -> None:
        """The jobs fail that have to."""
        while self.aborts:
            stage, why, row = self.aborts.pop(0)
            for job in [job for job in self.stages.active if stage in self.stages.needed[job]]:
                self._abort(job, stage, why, row)

    def _abort(self, job: int, number: int, why: str, cause: int) -> None:
        name = self.batch.plan.stages[number].name
        row = self.say("JobFailed", cause, job=job, stage=number, message=f"stage {number} ({name}): {why}")
        self._stop(job, row)
        self._drop_later(job)
        self._job_is_over(job, row)

    def _stop(self, job: int, row: int) -> None:
        """What only a job wanted is not wanted any more."""
        for stage in self.stages.end_job(job):
            tasks = self.current.get(stage.plan.number)
            if tasks is not None:
                self.close(tasks)
            for task in self.rows(stage.plan):
                if task in self.submitted and self.board.state(task) in (State.RUNNING, State.DELAYED):
                    self.entered.discard(task)
                    self.hands.withdraw(task, row)

    # ------------------------------------------------------------------ the driver itself

    def lose(self, cause: int) -> None:
        """The driver is lost, and all that runs for it stops."""
        if self.rules.driver == STAYS or self.away or not self.unfinished:
            return
        self.attempts += 1
        row = self.say("DriverLost", cause, attempt=self.attempts)
        last = self.rules.driver == FAILS or self.attempts >= self.rules.driver_attempts
        for job in list(self.stages.active):
            if last:
                row = self.say("JobFailed", row, job=job, message="the driver is lost")
            self._stop(job, row)
        self.aborts.clear()
        if last:
            self.unfinished.clear()
        self.away = True

    def come_back(self, cause: int) -> None:
        """Another driver begins: with nothing, or with what was done."""
        if not self.away or not self.unfinished:
            return
        self.away = False
        self.say("DriverStarted", cause, attempt=self.attempts)
        before, plan = self.stages, self.batch.plan
        self.stages = Stages(plan)
        self.current.clear()
        if self.rules.driver == RECOVERS:
            for number, stage in before.of.items():
                self.stages.of[number].output = stage.output
        else:
            self.execution = self.batch.execution.start(lambda: self.board.now)
            self.unfinished = set(plan.jobs)
        self._begin()

    def _begin(self) -> None:
        """The program starts: the jobs are submitted that wait for no other, or for one that is over."""
        for job in self.batch.plan.jobs.values():
            if job.number in self.unfinished and job.after not in self.unfinished:
                at = max(self.board.now, 0) + job.at_ns
                self.timers.at(at, partial(self.submit_job, job, -1))

    def _drop_later(self, job: int) -> None:
        """A program whose action fails ends there: what would come after it does not."""
        for later in self.batch.plan.jobs.values():
            if later.after == job and later.number in self.unfinished:
                self.unfinished.discard(later.number)
                self._drop_later(later.number)

    def lengths(self, number: int) -> dict[int, int]:
        """How long the tasks of a stage took that are done in its present attempt, or with ``eager`` rules in any."""
        return self.current[number].lengths

    def rows(self, stage: StagePlan) -> Iterator[int]:
        """The tasks of a stage."""
        return iter(range(stage.first, stage.first + stage.tasks))
