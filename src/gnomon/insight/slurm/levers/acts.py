"""What is done to a running controller, to see what comes of it: a job asks for something else, somebody goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gnomon.insight.slurm.rehearsal import Act, Rehearsal
from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import PENDING, Job
from gnomon.systems.slurm.config.conf import PartitionConf
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.sbatch.request import JobRequest


def to_job(task: int, change: Callable[[Rehearsal, Job], None]) -> Act:
    """Something done to a job that waits, and to the tasks of its array that share its record."""

    def act(played: Rehearsal) -> None:
        job = played.job(task)
        if job is None or job.state != PENDING:
            return
        shared = job.array.unsplit if job.array is not None and not job.split else [job]
        for one in shared:
            change(played, one)
            one.demand = None
            if one.reason == "BadConstraints" and not one.priority:
                one.priority = played.state.priorities.first(one)
        played.state.say(job, "None")

    return act


def asking(task: int, **changes: Any) -> Act:
    """A job asks for something else."""

    def change(played: Rehearsal, job: Job) -> None:
        job.request = replace(job.request, **changes)

    return to_job(task, change)


def with_cpus_per_task(request: JobRequest, each: int) -> dict[str, Any]:
    """The fields that ``-c`` sets."""
    count = max(request.tasks or 0, request.nodes_min or 1)
    own = request.min_cpus_per_node
    least = each if own is not None and own == request.cpus_per_task else own
    return {"cpus_per_task": each, "cpus_min": count * each, "min_cpus_per_node": least}


def setting(task: int, **values: Any) -> Act:
    """Other values of a job's record."""

    def change(played: Rehearsal, job: Job) -> None:
        for name, value in values.items():
            setattr(job, name, value)

    return to_job(task, change)


def in_partition(task: int, name: str) -> Act:
    """A job waits in another partition."""
    return setting(task, partitions=(name,), partition=name)


def raised(task: int, priority: int) -> Act:
    """A job has another priority, directly."""
    return setting(task, priority=priority, fixed=True, by_partition={})


def released(task: int) -> Act:
    """A job that is held is released."""

    def change(played: Rehearsal, job: Job) -> None:
        job.priority, job.fixed = played.state.priorities.first(job), False

    return to_job(task, change)


def cancelled(task: int) -> Act:
    """Another job is cancelled."""

    def act(played: Rehearsal) -> None:
        job = played.job(task)
        if job is not None:
            lifecycle.cancel(played.state, job)

    return act


def held(task: int) -> Act:
    """Another job that waits is held."""

    def act(played: Rehearsal) -> None:
        job = played.job(task)
        if job is not None and job.pends:
            job.priority, job.fixed = 0, False
            played.state.say(job, "JobHeldAdmin")

    return act


def resumed(*numbers: int) -> Act:
    """Nodes that are down or drained are resumed."""

    def act(played: Rehearsal) -> None:
        for n in numbers:
            played.state.drained.pop(n, None)
            played.state.down.pop(n, None)
        played.state.changed = True

    return act


def partition_with(name: str, **values: Any) -> Act:
    """A partition has other limits."""

    def act(played: Rehearsal) -> None:
        partition = played.state.partitions[name]
        partition.conf = _with(partition.conf, values)
        limits = played.state.limits
        if limits is not None and name in limits.times and "max_time_min" in values:
            limits.times = {**limits.times, name: replace(limits.times[name], most=values["max_time_min"])}

    return act


def _with(conf: PartitionConf, values: dict[str, Any]) -> PartitionConf:
    return replace(conf, **values)


# ------------------------------------------------------------------ from the beginning


def submitted_with(native: Native, task: int, **changes: Any) -> Native | None:
    """The same scenario with the submission of a task asking for something else; None: it is of a trace."""
    if task >= len(native.of_task):
        return None
    place = native.of_task[task]
    group = native.groups[place]
    changed = replace(group, requests=tuple(replace(one, **changes) for one in group.requests))
    return replace(native, groups=(*native.groups[:place], changed, *native.groups[place + 1 :]))


def configured_with(native: Native, **options: str) -> Native:
    """The same with other global options."""
    return replace(native, conf=replace(native.conf, options={**native.conf.options, **options}))


def with_nodes(native: Native, like: str, count: int) -> tuple[Native, tuple[int, ...]]:
    """The same with more nodes like one, DOWN until they are resumed; and their numbers."""
    conf = native.conf
    model = next(node for node in conf.nodes if node.name == like)
    names = [f"{like}+{i + 1}" for i in range(count)]
    more = [replace(model, name=name, state="DOWN", reason="new") for name in names]
    partitions = tuple(
        replace(part, nodes=(*part.nodes, *names)) if like in part.nodes else part for part in conf.partitions
    )
    numbers = tuple(range(len(conf.nodes), len(conf.nodes) + count))
    return replace(native, conf=replace(conf, nodes=(*conf.nodes, *more), partitions=partitions)), numbers
