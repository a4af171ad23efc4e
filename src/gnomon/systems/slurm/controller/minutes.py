"""Minutes that are used up end running jobs, where AccountingStorageEnforce does not say ``safe``.

``job_time_limit`` of ``src/slurmctld/job_mgr.c`` asks ``acct_policy_job_time_out`` whenever it looks at time limits;
usage changes each PriorityCalcPeriod. A job that has to end is TIMEOUT, with the reason TimeLimit (22.05 to 25.05).
"""

from __future__ import annotations

from collections.abc import Callable

from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import SECOND, State


def watch(state: State, job: Job, next_check_ns: Callable[[int], int], ends: Callable[[str], object]) -> None:
    """Look at the minutes of a job that starts, as long as it runs, if any count for it.

    ``next_check_ns(time)``: when time limits are looked at first from a time on; ``ends(why)``: is told after it ended.
    """
    if state.limits is None or not state.limits.counts_minutes(job):
        return
    stint = len(job.stints)

    def look() -> None:
        if not job.runs or len(job.stints) != stint:
            return
        state.priorities.catch_up()
        tres = state.selector.tres(job.allocation, state.part(job).conf)
        ran_min = (state.now_s - job.stints[-1].start_ns // SECOND) // 60
        why = state.limits.time_out(job, tres, ran_min)
        if why:
            lifecycle.time_out(state, job)
            ends(why)
        else:
            arm()

    def arm() -> None:
        state.world.at(next_check_ns(state.now_ns + 1), look)

    arm()
