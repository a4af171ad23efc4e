"""The model, run again: a controller over what a scenario submits, stopped where it is wanted, with changes on the way.

The state of the controller is at hand at every moment, other than in a log. What is tried is an :data:`Act`, done to
the running controller at a time, or another configuration from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.cluster import lifecycle, nodes
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.reservations import next_change_ns
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.controller.commands import command
from gnomon.systems.slurm.controller.slurmctld import Controller
from gnomon.systems.slurm.controller.submitting import Reply, submit
from gnomon.systems.slurm.controller.taking_up import arrange, set_up, take_up, usage_as_told
from gnomon.systems.slurm.inputs.behaviour import behaviour
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.machine import Machine
from gnomon.systems.slurm.sbatch.request import JobRequest

Act = Callable[["Rehearsal"], None]
"""What is done to a running controller."""

HORIZON_NS: Final = 400 * 24 * 3600 * SECOND
"""So long after the last command the model is run at most."""
RESTARTS_MAX: Final = 12
"""A job that was requeued so often is taken to be for ever."""
STEPS_MAX: Final = 3_000
"""So many things may happen, each times those who wait (at most _COUNT_MAX), in which no job comes, starts or goes."""
_COUNT_MAX: Final = 20
_QUIET_NS: Final = 3600 * SECOND
"""When nothing is ahead but passes and priorities worked out anew, so long is waited for them to change something."""
_DECAY_NS: Final = 30 * 24 * 3600 * SECOND
"""The same, where the decay of usage may help."""


@dataclass(eq=False)
class Sent:
    """One submission: its first task in the work, what it asks for, the reply, and its jobs."""

    task: int
    at_ns: int
    requests: tuple[JobRequest, ...]
    reply: Reply | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that it made."""
        return self.reply.jobs if self.reply is not None else ()

    @property
    def is_refused(self) -> bool:
        """Whether sbatch was refused."""
        return self.reply is not None and self.reply.rc != 0


@dataclass(frozen=True)
class Given:
    """Another submission, besides those of the scenario: at a time, these requests."""

    at_ns: int
    requests: tuple[JobRequest, ...]


@dataclass(eq=False)
class Rehearsal:
    """One run. ``acts``: what is done, and when; ``more``: submissions besides the scenario's;
    ``detail``: backfill keeps account of the nodes that it promises to whom, which takes longer."""

    scenario: Scenario
    native: Native
    acts: Sequence[tuple[int, Act]] = ()
    more: Sequence[Given] = ()
    detail: bool = False
    sent: list[Sent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine = Machine(launch_ns=0, gone_ns=0, run_s=self._run_s)
        self.state: State = books(self.native.conf, self.native.accounts, self.machine)
        self.state.epoch = self.native.epoch
        self.machine.state = self.state
        self.controller = self.machine.controller = Controller(self.state)
        if self.detail:
            self.controller.look_in_detail()
        self._of_task: dict[int, Sent] = {}
        self.last_ns = 0
        """When the last command is given."""
        arrange(self.state, self.native.reservations)
        work, came = self.scenario.work, set[int]()
        for task in range(len(work)):
            if task not in came:
                group = self.native.group(task)
                came.update(group)
                self._later(Sent(task, int(work.submit_ns[task]), self.native.requests(task)), group)
        if self.native.present:
            self.machine.at(0, self._take_up)
            self.machine.at(1, lambda: usage_as_told(self.state, self.native.accounts.usage))
        following = len(work)
        for given in self.more:
            count = sum(len(one.array) if one.array is not None else 1 for one in given.requests)
            self._later(Sent(following, given.at_ns, given.requests), list(range(following, following + count)))
            following += count
        for at_ns, words in self.native.commands:
            self._at(at_ns, lambda words=words: self._command(words))  # type: ignore[misc]
        for fault in self.scenario.faults:
            if isinstance(fault, Failure):
                self._fault(fault)
        for at_ns, act in self.acts:
            self.machine.at(at_ns, lambda act=act: self._do(act))  # type: ignore[misc]

    def _at(self, at_ns: int, act: Callable[[], object]) -> None:
        if at_ns < NEVER:
            self.machine.at(at_ns, act)
            self.last_ns = max(self.last_ns, at_ns)

    def _later(self, sent: Sent, group: list[int]) -> None:
        self.sent.append(sent)
        self._of_task.update(dict.fromkeys(group, sent))
        self._at(sent.at_ns, lambda: self._submit(sent, group))

    def _submit(self, sent: Sent, group: list[int]) -> None:
        native, number = self.native, self.native.id_of(sent.task) if sent.task < len(self.scenario.work) else 0
        if number:
            self.state.next_id = number
        sent.reply = submit(self.state, sent.requests, iter(group))
        for job in sent.jobs:
            if job.pends and job.task in native.present:
                set_up(job, native.present[job.task])
            if job.task < len(self.scenario.work) and native.cancelled_ns(job.task) < NEVER:
                self.machine.at(native.cancelled_ns(job.task), lambda job=job: self._cancel(job))  # type: ignore[misc]
        if number:
            self.state.next_id = max(self.state.next_id, native.last_id + 1)
            self.state.line.renew()
        self.controller.arrived(sent.jobs)

    def _cancel(self, job: Job) -> None:
        lifecycle.cancel(self.state, job)
        self.controller.ask()

    def _take_up(self) -> None:
        """What runs when the scenario begins has its nodes."""
        native = self.native
        for task, then in native.present.items():
            job = self.job(task)
            if job is not None and job.pends and then.runs:
                self.state.next_id = then.seen.id
                take_up(self.state, job, then)
        self.state.next_id = max(self.state.next_id, *(then.seen.id + 1 for then in native.present.values()))

    def _run_s(self, job: Job) -> float | None:
        """How long a job runs by the work of the scenario, or (of one that is submitted besides) by its script; None:
        to its limit."""
        work, request = self.scenario.work, job.request
        if 0 <= job.task < len(work):
            run_ns = int(work.duration_ns[job.task])
            return run_ns / SECOND if run_ns < NEVER else None
        return behaviour(request.script).run_s if request.run_s is None else request.run_s

    def _command(self, words: tuple[str, ...]) -> None:
        command(self.state, words)
        self.controller.ask()

    def _do(self, act: Act) -> None:
        act(self)
        self.state.line.renew()
        self.controller.ask()

    def _fault(self, fault: Failure) -> None:
        """A node that crashes (other faults are not played): its processes are gone, which is noticed later."""
        if fault.kind not in (Fault.CRASH, Fault.REBOOT):
            return
        for target in fault.targets:
            node = self.state.node(target.removeprefix("node/"))
            if node < 0:
                continue
            self._at(fault.at_ns, lambda node=node: self._crash(node, fault.at_ns))  # type: ignore[misc]
            if fault.until_ns < NEVER:
                self._at(fault.until_ns, lambda node=node: self._answers(node))  # type: ignore[misc]

    def _crash(self, node: int, at_ns: int) -> None:
        for job in self.state.running:
            if node in job.allocation.nodes:
                self.machine.lose(job)
        due = nodes.noticed_ns(self.state, at_ns, 0)
        if due is not None:
            self.machine.at(due, lambda: self._falls(node))

    def _falls(self, node: int) -> None:
        nodes.fall(self.state, node, nodes.SILENT)
        self.controller.ask()

    def _answers(self, node: int) -> None:
        nodes.answer(self.state, node)
        self.controller.ask()

    # ------------------------------------------------------------------ running it

    @property
    def jobs(self) -> list[Job]:
        """All jobs so far, in the order of their submission."""
        return [job for sent in self.sent for job in sent.jobs]

    def submitted_ns(self, task: int) -> int:
        """When a task is submitted."""
        return self._of_task[task].at_ns

    def job(self, task: int) -> Job | None:
        """The job of a task, None: there is none (yet)."""
        sent = self._of_task.get(task)
        return None if sent is None else next((job for job in sent.jobs if job.task == task), None)

    def run(self, until_ns: int) -> None:
        """Let time pass to a point."""
        self.machine.run(until_ns)

    def run_while(
        self, wanted: Callable[[], bool], until_ns: int = NEVER, *, patient: bool = False, most: int = STEPS_MAX
    ) -> bool:
        """Let things happen as long as a condition holds, until nothing happens any more, or to a time. Whether the
        condition has come not to hold. ``patient``: wait for usage to decay, too; ``most``: see :data:`STEPS_MAX`."""
        limit, since = min(until_ns, self.last_ns + HORIZON_NS), self.state.now_ns
        seen, steps = (-1, -1, -1), 0
        while wanted():
            due = self.machine.next_ns
            if due > limit:
                return False
            now = (self.state.starts, len(self.state.pending), len(self.state.running))
            steps = 0 if now != seen else steps + 1 + min(len(self.state.pending), _COUNT_MAX)
            if now != seen or self._is_ahead():
                seen, since = now, due
            if steps > most:
                return False
            if due - since > (_DECAY_NS if patient else _QUIET_NS):
                return False
            self.machine.run(due)
        return True

    def _is_ahead(self) -> bool:
        """Whether something will happen by itself, however long that takes: a job ends or may begin, a reservation
        begins or ends, a command is given, nodes are switched on."""
        state = self.state
        if state.now_ns < self.last_ns or next_change_ns(state) or (state.power is not None and state.pending):
            return True
        ends = any(job.end_ns or self._run_s(job) is not None for job in state.running)
        return ends or any(job.begin_ns > state.now_ns or job.deadline_ns for job in state.pending)


def native_if_kept(scenario: Scenario) -> Native | None:
    """What Slurm reads of a scenario, None: it is not kept."""
    return scenario.native if isinstance(scenario.native, Native) else None
