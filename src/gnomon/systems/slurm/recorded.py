"""A job in the form of the recordings: what squeue, sacct and scontrol say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.systems.slurm.cluster.job import COMPLETED, OVER, PENDING, Job, Stint
from gnomon.systems.slurm.cluster.lifecycle import HELD
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.notation.times import format_minutes

Record = dict[str, Any]


def seconds(time_ns: int) -> float | None:
    """A time as the recordings have it, None for one that is not."""
    return round(time_ns / SECOND, 1) if time_ns >= 0 else None


def seen(job: Job, waits: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The reasons that somebody who looks could see: what a job was told last at each time, unless it started then."""
    told = dict(waits)
    for stint in job.stints:
        told.pop(stint.start_ns, None)
    return list(told.items())


def held_while_it_ran(job: Job) -> bool:
    """Whether a job was held while it ran: accounting then has neither its start nor its nodes (recorded, 22.05)."""
    return job.state in OVER and job.reason in HELD and bool(job.stints)


def job_record(state: State, job: Job, waits: Sequence[tuple[int, str]]) -> Record:
    """One job; ``waits``: when it waited for what."""
    last = job.stints[-1] if job.stints and job.state != PENDING and not held_while_it_ran(job) else None
    waits = seen(job, waits)
    reasons = list(dict.fromkeys(reason for _, reason in waits if reason != "None"))
    record: Record = {
        "id": job.name,
        "name": job.request.name,
        "user": job.user,
        "account": job.account or None,
        "partition": job.partition,
        "qos": job.qos,
        "submit_s": seconds(job.submitted_ns),
        "start_s": seconds(last.start_ns) if last else None,
        "end_s": seconds(last.end_ns if last else job.ended_ns) if job.state in OVER else None,
        "state": job.state,
        "exit_code": job.exit_code,
        "nodes": state.names(list(last.allocation.nodes)) if last else [],
        "alloc": allocation(state, job, last) if last else {},
        "scheduler": last.scheduler if last else None,
        "reasons": reasons,
        "priority": job.shown_priority,
        "events": [[seconds(at), PENDING, reason] for at, reason in waits],
    }
    if job.state in OVER and job.state != COMPLETED:
        record["end_reason"] = job.reason
        record["sacct_state"] = job.state
    if job.restarts or len(job.stints) > 1:
        record["runs"] = [run(state, job, one) for one in job.stints]
        record["restarts"] = job.restarts
    return record


def allocation(state: State, job: Job, stint: Stint) -> Record:
    """What a job had."""
    own = stint.allocation
    tres = state.selector.tres(own, state.part(job).conf)
    return {
        "tres": tres_text(tres),
        "cpus": own.total_cpus,
        "tasks": own.total_tasks,
        "per_node": state.selector.per_node(own),
        "time_limit": format_minutes(None if job.limit_min is None or job.limit_min < 0 else job.limit_min),
    }


def tres_text(tres: dict[str, int]) -> str:
    """As scontrol prints it: cpu, mem, node, billing, then the others."""
    first = [name for name in ("cpu", "mem", "node", "billing") if tres.get(name)]
    rest = [name for name in tres if name not in ("cpu", "mem", "node", "billing") and tres[name]]
    return ",".join(f"{name}={tres[name]}{'M' if name == 'mem' else ''}" for name in (*first, *rest))


def run(state: State, job: Job, stint: Stint) -> Record:
    """One of the times that it ran."""
    tres = state.selector.tres(stint.allocation, state.part(job).conf)
    order = sorted(name for name in tres if tres[name])
    return {
        "start_s": seconds(stint.start_ns),
        "end_s": seconds(stint.end_ns),
        "state": stint.state,
        "nodes": state.names(list(stint.allocation.nodes)),
        "alloc_tres": ",".join(f"{name}={tres[name]}{'M' if name == 'mem' else ''}" for name in order),
        "exit_code": stint.exit_code,
        "scheduler": stint.scheduler,
    }
