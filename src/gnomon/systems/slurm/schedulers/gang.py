"""Gang scheduling: jobs that share nodes take turns, a time slice each (``src/slurmctld/gang.c``).

A job that starts beside others on cores that they hold stands still until its turn; the jobs of a partition that
together fit are awake at the same time. With SUSPEND a job of a lower tier stands still while one of a higher runs.
"""

from __future__ import annotations

from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import RUNNING, Job
from gnomon.systems.slurm.cluster.preempting import cluster_modes
from gnomon.systems.slurm.cluster.state import SECOND, State


class Gang:
    """The turns of those who share."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.on = "GANG" in cluster_modes(state)
        self._slice = int(state.conf.number("schedulertimeslice") or 30) * SECOND
        self._timer = -1
        self._known: set[Job] = set()

    def arm(self) -> None:
        """Let those who do not fit stand still at once; and set the clock, if somebody does."""
        if not self.on:
            return
        self._wake(self._line())
        stands = any(job.state != RUNNING for job in self._state.running)
        if stands and self._timer < 0:
            self._timer = self._state.world.at(self._state.now_ns + self._slice, self._turn)

    def _line(self) -> list[Job]:
        """Who runs or stands still: by tier; among equals those who are awake first, newcomers last."""
        state = self._state
        line = sorted(
            state.running,
            key=lambda job: (
                -state.part(job).conf.priority_tier,
                job not in self._known,  # who has just started stands still at once (recorded)
                job.state != RUNNING,
                job.turn_ns,
                job.id,
            ),
        )
        self._known = set(line)
        return line

    def _turn(self) -> None:
        """The next slice: those who stood still go first."""
        self._timer = -1
        state = self._state
        line = sorted(
            state.running,
            key=lambda job: (-state.part(job).conf.priority_tier, job.state == RUNNING, job.turn_ns, job.id),
        )
        self._wake(line)
        self.arm()

    def _wake(self, line: list[Job]) -> None:
        """Those who fit together, in order, are awake; the others stand still."""
        state = self._state
        held: dict[tuple[int, int], Job] = {}
        awake: list[Job] = []
        for job in line:
            cores = job.allocation.core_set
            if all(held.get(core) is None for core in cores):
                held.update(dict.fromkeys(cores, job))
                awake.append(job)
        for job in line:
            if job not in awake and job.state == RUNNING:
                lifecycle.suspend(state, job)
        for job in awake:
            if job.state != RUNNING:
                job.turn_ns = state.now_ns
                lifecycle.resume(state, job)
