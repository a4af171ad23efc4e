"""A cluster's clock and machines without anything else: for recorded cases, and to look ahead.

Jobs run as long as their scripts say; signals do what scripts let them do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gnomon.control.timers import Timers
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import PREEMPTED, TIMEOUT, Job
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.controller import minutes
from gnomon.systems.slurm.controller.slurmctld import Controller, limit_ns
from gnomon.systems.slurm.inputs.behaviour import Behaviour, behaviour

KILL_LEAST_S: Final = 5
"""slurmd waits so long between SIGTERM and SIGKILL, whatever KillWait says (``_pause_for_job_completion``)."""
LAUNCH_NS: Final = 100_000_000
"""A script takes so much longer than what it does (recorded)."""
GONE_NS: Final = 200_000_000
"""So long after a signal the processes of a job are gone, and its nodes free."""
WARN_S: Final = 30
"""A warning signal comes up to a check of time limits early."""


@dataclass(eq=False)
class Machine:
    """A :class:`.cluster.state.World` on timers alone. ``waits``: what each job waited for, as (time, reason);
    ``launch_ns``: how much longer a script takes than what it does; ``gone_ns``: how long processes take to be gone;
    ``run_s``: tells how long a job runs (None: it has no end of its own); without it its request or its script does."""

    reruns = True
    """Jobs that are over may run again."""

    state: State = field(init=False)
    controller: Controller = field(init=False)
    waits: dict[Job, list[tuple[int, str]]] = field(default_factory=dict)
    launch_ns: int = LAUNCH_NS
    gone_ns: int = GONE_NS
    run_s: Callable[[Job], float | None] | None = None

    def __post_init__(self) -> None:
        self._timers = Timers()
        self._ends: dict[Job, int] = {}
        self._left: dict[Job, float] = {}
        self._does: dict[Job, Behaviour] = {}

    # ------------------------------------------------------------------ the clock

    def at(self, time_ns: int, act: Callable[[], object]) -> int:
        """Do something at a time."""
        return self._timers.at(time_ns, act)

    def cancel(self, number: int) -> None:
        """Do it not."""
        self._timers.cancel(number)

    def run(self, until_ns: int) -> None:
        """Let time pass to a point."""
        while (due_ns := self.next_ns) <= until_ns and due_ns < NEVER:
            self.state.now_ns = due_ns
            self._timers.run(due_ns)
        self.state.now_ns = until_ns
        self.state.priorities.catch_up()

    @property
    def next_ns(self) -> int:
        """When the next thing happens."""
        return self._timers.next_ns

    # ------------------------------------------------------------------ the machines

    def start(self, job: Job, cause: str) -> None:
        """A job's script runs from now on."""
        variables = {"SLURM_ARRAY_TASK_ID": str(job.array_task)} if job.array is not None else {}
        does = behaviour(job.request.script, variables)
        run_s = job.request.run_s if self.run_s is None else self.run_s(job)
        if run_s is not None or self.run_s is not None:
            exit_code = f"{job.request.exit_code}:0" if job.request.exit_code else does.exit_code
            does = Behaviour(run_s, exit_code, does.traps)
        self._does[job] = does
        self._left[job] = does.run_s if does.run_s is not None else NEVER / SECOND
        self._plan(job)
        self._warn(job)
        minutes.watch(self.state, job, self.controller.next_check_ns, lambda why: self.controller.ask())

    def _plan(self, job: Job) -> None:
        """Enter when a running job ends: by itself, or at the check after its limit."""
        natural = self.state.now_ns + int(self._left[job] * SECOND) + self.launch_ns
        limit = limit_ns(self.state, job)
        check = self.controller.next_check_ns(limit) if limit < NEVER else NEVER
        if natural <= check:
            code = self._does[job].exit_code
            self._ends[job] = self.at(natural, lambda: self._over(job, lambda: self._finish(job, code)))
        else:
            self._ends[job] = self.at(check, lambda: self._over(job, lambda: lifecycle.time_out(self.state, job)))

    def _finish(self, job: Job, code: str) -> None:
        lifecycle.finish(self.state, job, code)

    def _over(self, job: Job, act: Callable[[], object]) -> None:
        if job.runs:
            act()
            self.controller.ask()

    def _warn(self, job: Job) -> None:
        """--signal: a script that ends on it does so then; otherwise nothing is changed by it."""
        signal, before_s = _warning(job.request.signal)
        status = self._does[job].traps.get(signal)
        if not signal or status is None or not job.end_ns:
            return
        due = self.controller.next_check_ns(job.end_ns - (before_s + WARN_S) * SECOND)
        stint = len(job.stints)

        def exits() -> None:
            if job.runs and len(job.stints) == stint:
                self.cancel(self._ends[job])
                self._over(job, lambda: self._finish(job, f"{status}:0"))

        self.at(max(due, self.state.now_ns + 1), exits)

    def stop(self, job: Job, state: str) -> None:
        """Its processes get SIGTERM, and SIGKILL after KillWait. Nodes are held by those that mind the first."""
        self.cancel(self._ends.pop(job, -1))
        does = self._does.get(job)
        minds = does is not None and not job.configuring and does.minds("TERM")
        if minds and state in (TIMEOUT, PREEMPTED):
            wait = max(int(self.state.conf.seconds("killwait") or 30), KILL_LEAST_S) * SECOND
            natural = job.start_ns + int(self._left[job] * SECOND)
            self._hold(job, min(self.state.now_ns + wait, max(natural, self.state.now_ns)))
        else:
            self._hold(job, self.state.now_ns + self.gone_ns)
        self.controller.ask()

    def _hold(self, job: Job, until_ns: int) -> None:
        """The job's nodes are completing until then."""
        nodes = list(job.allocation.nodes)
        for node in nodes:
            self.state.completing[node] = max(until_ns, self.state.completing.get(node, 0))

        def free() -> None:
            for node in nodes:
                if self.state.completing.get(node, 0) <= self.state.now_ns:
                    self.state.completing.pop(node, None)
            self.controller.ask()

        self.at(until_ns, free)

    def lose(self, job: Job) -> None:
        """A job's processes are gone with a node; nobody knows it yet."""
        self.cancel(self._ends.pop(job, -1))

    def wait(self, job: Job) -> None:
        """The reason of a pending job is another one."""
        self.waits.setdefault(job, []).append((self.state.now_ns, job.reason))

    def requeue(self, job: Job, state: str) -> None:
        """It stops, and waits again."""
        self.cancel(self._ends.pop(job, -1))
        self._hold(job, self.state.now_ns + self.gone_ns)
        self.controller.wake_at(self.state.now_ns + lifecycle.REQUEUE_DELAY)
        self.controller.ask()

    def drop(self, job: Job) -> None:
        """A pending job is over."""
        self.controller.ask()

    def suspend(self, job: Job) -> None:
        """Its processes are stopped."""
        self.cancel(self._ends.pop(job, -1))
        self._left[job] -= (self.state.now_ns - max(job.start_ns, job.turn_ns)) / SECOND

    def resume(self, job: Job) -> None:
        """They go on."""
        job.turn_ns = self.state.now_ns
        self._plan(job)

    def relimit(self, job: Job) -> None:
        """Its limit is another one: it may end at another time."""
        if job in self._ends:  # else it stands still
            self.suspend(job)
            self.resume(job)


def _warning(text: str) -> tuple[str, int]:
    """The signal and the seconds of ``[{R|B}:]SIG[@SECONDS]``."""
    name, _, seconds = text.rpartition(":")[2].partition("@")
    return name.upper().removeprefix("SIG"), int(seconds) if seconds.isdigit() else 60
