"""How many nodes a job really has, where that is more than squeue shows for one that waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.insight.explain.phrases import counted
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.sbatch.request import JobRequest


def sizing(state: State, job: Job, allocation: Any) -> str:
    """A clause, "": the number that squeue shows is right.

    squeue divides all CPUs by those of a node; but the CPUs of a task are on one node.
    """
    request = job.request
    each, tasks = request.cpus_per_task or 1, request.tasks or 0
    if allocation is None or each == 1 or tasks < 2 or request.tasks_per_node:
        return ""
    largest = max((state.conf.nodes[n].effective_cpus for n in allocation.nodes), default=1)
    shown = max(request.nodes_min or 1, -(-tasks * each // largest))
    has = len(allocation.nodes)
    if has <= shown:
        return ""
    return (
        f"it takes {has} nodes where squeue shows {shown} while it waits, the least for {tasks * each} CPUs: the "
        f"{each} CPUs of a task are on one node, so a node of {largest} CPUs takes {counted(largest // each, 'task')}"
    )


def part_of(request: JobRequest, cpus: Sequence[int]) -> str:
    """How many tasks fit on nodes of so many CPUs, where a task has several; in brackets, "": that is no matter.

    >>> part_of(JobRequest(tasks=5, cpus_per_task=3), [4, 4, 4, 4])
    ' (the 3 CPUs of a task are on one node: 4 of its 5 tasks fit)'
    """
    each, tasks = request.cpus_per_task or 1, request.tasks or 0
    fit = sum(count // each for count in cpus)
    if each == 1 or not tasks or fit >= tasks:
        return ""
    return f" (the {each} CPUs of a task are on one node: {fit} of its {tasks} tasks fit)"
