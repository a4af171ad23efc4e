"""slurmctld in a simulated run: the controller on the clock, the log and the machines that all systems share.

Whoever is submitted goes to the controller; what it decides is done by the board. A job is one task of the run, on its
first node in the world's columns; which other nodes it has, the details of its row say. The controller's own books of
cores, memory and devices are exact, and checked against the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from gnomon.control.board import LOST, Board
from gnomon.control.placer import Hands, Placer
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.model.errors import InvariantError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer
from gnomon.systems.slurm.cluster import lifecycle, nodes
from gnomon.systems.slurm.cluster.job import CANCELLED, NODE_FAIL, PREEMPTED, SUSPENDED, TIMEOUT, Job
from gnomon.systems.slurm.controller import minutes
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.controller.commands import command
from gnomon.systems.slurm.controller.slurmctld import Controller, limit_ns
from gnomon.systems.slurm.controller.submitting import submit
from gnomon.systems.slurm.controller.taking_up import arrange, set_up, take_up, usage_as_told
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.select import Selector

_REASONS: Final = (
    ("Resources", Reason.RESOURCES),
    ("Priority", Reason.ORDER),
    ("Dependency", Reason.NEEDS),
    ("BeginTime", Reason.BACKOFF),
    ("JobHeld", Reason.GATED),
    ("JobHold", Reason.GATED),
    ("Assoc", Reason.TENANT_LIMIT),
    ("QOS", Reason.TENANT_LIMIT),
    ("Max", Reason.TENANT_LIMIT),
    ("JobArrayTaskLimit", Reason.TENANT_LIMIT),
    ("Partition", Reason.OVER_LIMIT),
    ("BadConstraints", Reason.NO_NODE_KIND),
    ("Reserv", Reason.RESERVED),
    ("ReqNodeNotAvail", Reason.RESERVED),
)


def reason_of(text: str) -> Reason:
    """The reason of the log that a reason of Slurm comes to."""
    return next((reason for start, reason in _REASONS if text.startswith(start)), Reason.RESOURCES)


class SlurmScheduler(Placer):
    """A :class:`gnomon.control.placer.Placer`, and the :class:`.cluster.state.World` of the controller."""

    keeps_books = True

    @property
    def native_state(self) -> object:
        """What slurmctld holds in memory."""
        return self.state

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, node_at: list[int], hands: Hands) -> None:
        native = scenario.native
        assert isinstance(native, Native)
        self._board, self._timers, self._hands, self._native = board, timers, hands, native
        self._node_at = node_at
        self._of_world = {world: i for i, world in enumerate(node_at)}
        self.state = books(native.conf, native.accounts, self)
        self.state.epoch = native.epoch
        self.controller = Controller(self.state)
        self._work = scenario.work
        self._jobs: dict[int, Job] = {}
        self._row: dict[Job, int] = {}
        self._came: set[int] = set()
        self._refused: dict[int, str] = {}
        self._requeues: dict[Job, bool] = {}
        self._natural: dict[Job, int] = {}  # when those who run end by themselves
        self._stands: dict[Job, tuple[int, int]] = {}  # since when one stands still, and how long it runs on then
        self._arranging = False
        self._taken_up: set[int] = set()
        arrange(self.state, native.reservations)
        for at_ns, words in native.commands:
            timers.at(at_ns, lambda words=words: self._command(words))  # type: ignore[misc]

    def speed_up(self) -> None:
        """The run is large: choose nodes by compiled kernels."""
        self.state.selector = Selector(self.state.conf, compiled=True)
        self.state.occupancy = self.state.selector.occupancy()

    # ------------------------------------------------------------------ the world of the controller

    def at(self, time_ns: int, act: Callable[[], object]) -> int:
        """Do something at a time."""

        def due() -> None:
            self.state.now_ns = self._board.now
            act()

        return self._timers.at(min(max(time_ns, self._board.now), NEVER), due)

    def cancel(self, number: int) -> None:
        """Do it not."""
        if number >= 0:
            self._timers.cancel(number)

    def start(self, job: Job, cause: str) -> None:
        """A job begins on its nodes, for as long as it runs, or until the check after its limit."""
        w, task = self._board.room(), job.task
        self._stands.pop(job, None)
        self._natural[job] = min(self._board.now + int(self._work.duration_ns[task]), NEVER)
        w.duration[task] = self._end_ns(job) - self._board.now
        row = max(self._row.get(job, -1), int(w.arrive_row[task]))
        self._board.start_here(task, self._node_at[job.allocation.nodes[0]], 0, row)
        begun = int(self._board.w.start_row[task])
        details: dict[str, int | str] = {"scheduler": cause}
        if len(job.allocation.nodes) > 1:
            details["nodes"] = compress(self.state.names(list(job.allocation.nodes)))
        if job.request.exit_code:
            details["exit"] = job.request.exit_code
        self._board.details[begun] = details
        minutes.watch(self.state, job, self.controller.next_check_ns, lambda why: self._used_up(job, why))

    def _end_ns(self, job: Job) -> int:
        """When a running job ends, and how: by itself, or at the check after its limit."""
        limit, natural = limit_ns(self.state, job), self._natural[job]
        check = self.controller.next_check_ns(max(limit, self._board.now)) if limit < NEVER else NEVER
        self._board.w.fate[job.task] = int(Kind.KILL if check < natural else Kind.END)
        return min(check, natural)

    def _used_up(self, job: Job, why: str) -> None:
        self._board.row(Kind.EVENT, task=job.task, details={"message": why})
        self._forget(job)
        self.controller.ask()

    def stop(self, job: Job, state: str) -> None:
        """A job that runs is over before its time."""
        row = self._row.get(job, -1)
        self._requeues[job] = False
        if state == CANCELLED or job.configuring:
            self._hands.withdraw(job.task, row)
        elif state == TIMEOUT:
            self._board.w.fate[job.task] = int(Kind.KILL)
            self._board.retime(job.task, self._board.now)
        elif state in (PREEMPTED, NODE_FAIL):
            reason = Reason.PREEMPTED if state == PREEMPTED else Reason.NODE
            self._hands.fail(job.task, reason, row, retriable=False, details={"state": state})

    def requeue(self, job: Job, state: str) -> None:
        """It goes back to the queue."""
        if self._board.state(job.task) is not State.RUNNING:
            return  # the node's loss has ended it already
        self._requeues[job] = True
        reason = {PREEMPTED: Reason.PREEMPTED, NODE_FAIL: Reason.NODE}.get(state, Reason.KILLED)
        self._hands.fail(job.task, reason, self._row.get(job, -1), details={"state": state})
        self.controller.wake_at(self.state.now_ns + lifecycle.REQUEUE_DELAY)
        self.controller.ask()

    def wait(self, job: Job) -> None:
        """The reason of a pending job is another one; the same words are not said twice in a row."""
        if job.task < 0 or job.reason == "None" or self._arranging:
            return
        cause = max(self._row.get(job, -1), int(self._board.w.arrive_row[job.task]))
        value = job.planned_ns if job.planned_ns >= 0 else -1
        self._row[job] = self._board.row(
            Kind.WAIT,
            task=job.task,
            cause=cause,
            reason=reason_of(job.reason),
            value=value,
            details={"message": job.reason},
        )

    def drop(self, job: Job) -> None:
        """A pending job will never run; one that fails as it is submitted is refused when sbatch has its reply."""
        if job.task in self._jobs and self._board.state(job.task) is State.DELAYED:
            self._hands.withdraw(job.task, self._row.get(job, -1))

    def suspend(self, job: Job) -> None:
        """A running job stands still."""
        w, now = self._board.w, self._board.now
        self._stands[job] = now, int(w.start[job.task]) + int(w.duration[job.task]) - now
        self._board.retime(job.task, NEVER)
        self._board.row(Kind.SPEED, task=job.task, reason=Reason.QUOTA, value=0, cause=int(w.start_row[job.task]))

    def resume(self, job: Job) -> None:
        """It goes on."""
        since, left = self._stands.pop(job, (0, 0))
        if left > 0:
            now = self._board.now
            self._natural[job] = min(self._natural[job] + now - since, NEVER)
            self._board.retime(job.task, min(now + left, NEVER))
            self._board.row(Kind.SPEED, task=job.task, reason=Reason.FULL_SPEED, value=10_000)

    def relimit(self, job: Job) -> None:
        """Its limit is another one: it may end at another time. One that stands still ends as it was to."""
        if job not in self._stands and not job.configuring:
            self._board.retime(job.task, self._end_ns(job))

    # ------------------------------------------------------------------ the placer

    def enter(self, task: int, row: int) -> None:
        """A task is submitted, with the others of its submission; or may be tried again."""
        self.state.now_ns = self._board.now
        if task not in self._jobs and task not in self._came:
            self._submit(task)
        if task in self._refused:  # the others of its submission are, as they arrive
            self._board.refuse(task, Reason.UNUSABLE, details={"message": self._refused.pop(task)})
        elif task in self._native.present and task not in self._taken_up:
            self._take_up(task)

    def _submit(self, task: int) -> None:
        group = self._native.group(task)
        number = self._native.id_of(group[0])
        self._arranging = group[0] in self._native.present
        if number:
            self.state.next_id = number
        self._came.update(group)
        for one in group:  # they arrive together
            self._board.w.state[one] = int(State.DELAYED)
        reply = submit(self.state, self._native.requests(group[0]), iter(group))
        for job in reply.jobs:
            self._jobs[job.task] = job
        for one in group:
            if one not in self._jobs:
                self._refused[one] = reply.text
        for job in reply.jobs:
            if job.state != "PENDING":
                self._refused[job.task] = reply.text
            elif job.task in self._native.present:
                set_up(job, self._native.present[job.task])
            self._cancel_at(job, self._native.cancelled_ns(job.task))
        if number:  # tasks that get records of their own take no id that was another job's
            self.state.next_id = max(self.state.next_id, self._native.last_id + 1)
        if self._arranging:
            self.state.line.renew()
        self._arranging = False
        self.controller.arrived(reply.jobs)

    def _cancel_at(self, job: Job, time_ns: int) -> None:
        """Somebody cancelled it then."""
        if time_ns < NEVER:

            def cancel() -> None:
                lifecycle.cancel(self.state, job)
                self.controller.ask()

            self.at(time_ns, cancel)

    def _take_up(self, task: int) -> None:
        """A job that is there when the run begins has arrived: it runs, or waits for its reason."""
        if not self._taken_up:
            self._timers.at(self._board.now + 1, lambda: usage_as_told(self.state, self._native.accounts.usage))
        self._taken_up.add(task)
        job, then = self._jobs.get(task), self._native.present[task]
        if job is None or not job.pends:
            return
        self.state.next_id = then.seen.id
        if then.runs and (problem := take_up(self.state, job, then)):
            self._board.row(Kind.EVENT, task=task, details={"message": problem})
        self.state.next_id = max(self.state.next_id, self._native.last_id + 1)
        if job.pends:
            self.wait(job)

    def read(self, first: int, last: int) -> None:
        """Jobs end, nodes are lost and come back."""
        w = self._board.w
        kinds = w.log_kind[first:last].tolist()
        for row, kind in enumerate(kinds, first):
            if kind in (Kind.END, Kind.KILL):
                self._ended(int(w.log_subject[row]), kind == Kind.KILL, row)
            elif kind == Kind.CLOSE and w.log_reason[row] == Reason.LOST:
                self._lost(int(w.log_node[row]), row)
            elif kind == Kind.OPEN and not w.closed[w.log_node[row]] & LOST:
                self._back(int(w.log_node[row]))

    def _ended(self, task: int, killed: bool, row: int) -> None:
        job = self._jobs.get(task)
        if job is None or not job.runs:
            return
        self.state.now_ns = self._board.now
        self._row[job] = row
        if killed:
            lifecycle.ended(self.state, job, "TIMEOUT", reason="TimeLimit")
        else:
            lifecycle.finish(self.state, job, f"{job.request.exit_code}:0")
        self._forget(job)
        self.controller.ask()

    def _forget(self, job: Job) -> None:
        self._row.pop(job, None)
        self._requeues.pop(job, None)
        self._stands.pop(job, None)
        self._natural.pop(job, None)

    def _lost(self, world: int, row: int) -> None:
        self.state.now_ns = self._board.now
        node = self._of_world[world]
        for job in self.state.running:
            if node in job.allocation.nodes:
                self._row[job] = row
        nodes.fall(self.state, node, nodes.SILENT)
        self.controller.ask()

    def _back(self, world: int) -> None:
        self.state.now_ns = self._board.now
        nodes.answer(self.state, self._of_world[world])
        self.controller.ask()

    def answer(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """What follows a failed attempt: the controller has decided that already, or decides it now."""
        job = self._jobs.get(task)
        if job is None:
            return usual
        self.state.now_ns = self._board.now
        if job not in self._requeues and job.runs:  # a fault ended it, and the controller hears of that now
            self._requeues[job] = lifecycle.may_requeue(self.state, job)
            if self._requeues[job]:
                lifecycle.requeue(self.state, job, NODE_FAIL)
            else:
                lifecycle.ended(self.state, job, NODE_FAIL, reason="NodeDown")
            self.controller.ask()
        again = self._requeues.pop(job, False)
        self._row[job] = row
        return replace(usual, retry=again, delay_ns=1, at_ns=NEVER, in_place=False, limit=-1)

    def place(self) -> None:
        """The controller acts in its own time."""

    def waiting(self) -> Iterator[int]:
        """The tasks that want a place and have none."""
        yield from (job.task for job in self.state.pending)

    def is_busy(self) -> bool:
        """Whether it will do something by itself though nothing runs."""
        wakes = self.state.power is not None and any(job.configuring for job in self.state.running)
        return (bool(self.state.pending) or wakes) and self._timers.next_ns < NEVER

    def _command(self, words: tuple[str, ...]) -> None:
        self.state.now_ns = self._board.now
        row = self._board.row(Kind.EVENT, details={"message": " ".join(words)})
        text, code = command(self.state, words)
        if code:
            self._board.row(Kind.EVENT, cause=row, details={"message": text, "refused": " ".join(words)})
        self.controller.ask()

    def check(self) -> None:
        """Raise InvariantError where the controller's books differ from the log's."""
        w = self._board.w
        for job in self.state.running:
            if job.configuring:
                continue
            if self._board.state(job.task) is not State.RUNNING:
                raise InvariantError(f"job {job.name} runs for the controller alone")
            if int(w.node[job.task]) != self._node_at[job.allocation.nodes[0]]:
                raise InvariantError(f"job {job.name} is on another node")
        if not self.state.occupancy.is_of((job.allocation, job.state == SUSPENDED) for job in self.state.running):
            raise InvariantError("the controller's cores, memory and devices are not those of the jobs that run")
