"""What becomes of an array as a whole: how many run at once, and which of the others are demand for nodes."""

from __future__ import annotations

from collections import Counter

from gnomon.insight.explain.phrases import counted, span
from gnomon.systems.slurm.cluster.job import Job

DEMAND = ("Resources", "Priority", "None")


def array_clause(job: Job, ends_ns: int = -1) -> str:
    """Of the tasks of an array that wait, how many wait for what, as a clause; "": there is nothing to tell.
    ``ends_ns``: when the last of them ends."""
    array = job.array
    if array is None or len(array.tasks) < 2:
        return ""
    running = [job for job in array.tasks if job.runs]
    waiting = Counter(job.reason for job in array.tasks if job.pends)
    if not waiting:
        return ""
    text = f"of its {counted(len(array.tasks), 'task')} {len(running)} run and "
    text += ", ".join(f"{count} wait ({reason})" for reason, count in waiting.most_common(3))
    held = waiting.get("JobArrayTaskLimit", 0)
    demand = sum(count for reason, count in waiting.items() if reason in DEMAND)
    if held and array.limit is not None:
        nodes = max((len(job.allocation.nodes) for job in running), default=job.request.nodes_min or 1)
        most = f"{array.limit} x {nodes} = {counted(array.limit * nodes, 'node')}"
        text += f"; those held by %{array.limit} are no demand for nodes: the array never has more than {most}"
        if demand:
            text += f", and {demand} more wait for nodes"
    return f"{text}; the last of them ends at {span(ends_ns)}" if ends_ns > 0 else text
