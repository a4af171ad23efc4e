"""A job described as what MapReduce makes of it: one job a shuffle, each with its maps and reduces."""

from __future__ import annotations

from typing import Any, Final

from rich.text import Text

from gnomon.dataflow.plan import Plan
from gnomon.dataflow.stage import Graph
from gnomon.report.jobs import SplitsOf, description, document, many, sending
from gnomon.report.six_fields import block, six_fields
from gnomon.report.text import plain, table
from gnomon.systems.mapreduce.jobs import Jobs, Part, Role, jobs_of
from gnomon.systems.mapreduce.settings import Settings

KINDS: Final = {
    "split, map": (
        "files as of the start",
        "one a split, near its first block",
        "sort buffer, spills on local disk",
        "commit of the task",
        "the whole split",
        "mapreduce.map.memory.mb, .cpu.vcores",
    ),
    "shuffle": (
        "yes",
        "hash without sign, modulo reduces",
        "a segment a map and reduce, on local disk",
        "none: copied while maps run",
        "the segment; its node lost: the map",
        "5 copies at once",
    ),
    "merge, reduce": (
        "yes",
        "sorted by key",
        "runs in memory and on disk",
        "barrier: all segments are there",
        "the whole reduce, copied again",
        "mapreduce.reduce.memory.mb, .cpu.vcores",
    ),
    "output commit": (
        "yes",
        "a file a task, part-r-NNNNN",
        "_temporary",
        "commit of the job, _SUCCESS",
        "the job commit, with algorithm 2",
        "none",
    ),
}
"""The kinds of stage (Hadoop 3.5.0: ``MapTask``, ``ReduceTask``, ``FileOutputCommitter``)."""


def describe(graph: Graph, splits_of: SplitsOf, partitions: int | None) -> tuple[Plan, dict[str, Any], Text]:
    """A job as MapReduce runs it: its jobs, for programs and for people."""
    jobs = jobs_of(graph, Settings(reduces=partitions or 1), splits_of(1))
    data = {**document(jobs.plan), "mapreduce": jobs_data(jobs), "engine": six_fields(jobs.plan, KINDS)}
    return jobs.plan, data, description_of(jobs) + "\n\n" + block(jobs.plan, KINDS)


def description_of(jobs: Jobs) -> Text:
    """As :func:`gnomon.report.jobs.description`, with the maps and reduces that run."""
    plan, count = jobs.plan, 1 + max(part.job for part in jobs.parts)
    maps = sum(part.tasks for part in jobs.parts if part.role is Role.MAP)
    reduces = sum(part.tasks for part in jobs.parts) - maps
    head = (
        f"{plain(plan.name)}: {many(len(plan.layout.graph.stages), 'operator')}, "
        f"{many(len(plan.exchanges), 'shuffle')}, "
        f"{many(count, 'job')} of MapReduce with {many(maps, 'map')} and {many(reduces, 'reduce')}"
    )
    return description(plan, head=head, runs=_table(jobs))


def _table(jobs: Jobs) -> Text:
    """The parts of all jobs; marks that MapReduce has nothing like come last."""
    rows = [
        [f"{part.job}", f"{part.number}", part.role.value, f"{part.tasks:,}", _runs(part), _reads(part), _writes(part)]
        for part in jobs.parts
    ]
    heads = ["JOB", "PART", "ROLE", "TASKS", "RUNS", "READS", "WRITES"]
    text = table(heads, rows, right=[0, 1, 3])
    if jobs.unmodelled:
        text.append(f"\nnot in MapReduce: {', '.join(jobs.unmodelled)}")
    return text


def jobs_data(jobs: Jobs) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "job": part.job,
            "part": part.number,
            "role": part.role.value,
            "tasks": part.tasks,
            "runs": _runs(part),
            "reads": [writer for _, writer in (*part.reads, *part.loads)],
            "writes": None if part.shuffles is None else part.shuffles.number,
        }
        for part in jobs.parts
    ]


def _runs(part: Part) -> str:
    if part.identity:
        return "nothing: records as they are stored"
    return " > ".join(part.source.layout.stages[number].name for number in part.source.chain)


def _reads(part: Part) -> str:
    if part.stored is not None:
        return f"files of part {part.stored}"
    sorted_ones = [f"part {writer}" for _, writer in part.reads]
    whole = [f"all files of part {writer}" for _, writer in part.loads]
    return ", ".join([*sorted_ones, *whole]) or "splits"


def _writes(part: Part) -> str:
    return "files" if part.shuffles is None else sending(part.shuffles)
