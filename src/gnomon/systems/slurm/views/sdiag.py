"""``sdiag``: how many jobs came, started, ended; by which scheduler. What Gnomon does not count is not shown."""

from __future__ import annotations

from gnomon.systems.slurm.cluster.job import CANCELLED, COMPLETED, FAILED, PENDING
from gnomon.systems.slurm.cluster.state import State

_LINE = "*" * 55


def sdiag(state: State, now: str) -> str:
    """The numbers that the model has, in sdiag's words."""
    jobs = list({id(job): job for job in [*state.jobs.values(), *state.pending, *state.running]}.values())
    stints = [stint for job in jobs for stint in job.stints]
    ended = [job for job in jobs if job.state not in (PENDING, "RUNNING", "SUSPENDED")]
    by_backfill = sum(stint.scheduler == "backfill" for stint in stints)
    het = sum(stint.scheduler == "backfill" for job in jobs if job.het is not None for stint in job.stints)
    completed = sum(job.state == COMPLETED or (bool(job.stints) and job.state != CANCELLED) for job in ended)
    return "\n".join(
        [
            _LINE,
            f"sdiag output at {now}",
            _LINE,
            f"Jobs submitted: {len(jobs)}",
            f"Jobs started:   {len(stints)}",
            f"Jobs completed: {completed}",
            f"Jobs canceled:  {sum(job.state == CANCELLED for job in ended)}",
            f"Jobs failed:    {sum(job.state == FAILED and not job.stints for job in ended)}",
            "",
            f"Jobs pending:   {sum(job.pends for job in jobs)}",
            f"Jobs running:   {len(state.running)}",
            "",
            "Backfilling stats",
            f"\tTotal backfilled jobs (since last slurm start): {by_backfill}",
            f"\tTotal backfilled heterogeneous job components: {het}",
            "",
        ]
    )
