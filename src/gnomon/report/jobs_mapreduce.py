"""A job described as what MapReduce makes of it: one job a shuffle, each with its maps and reduces."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from gnomon.report.jobs import description, many, sending
from gnomon.report.text import plain, table
from gnomon.systems.mapreduce.jobs import Jobs, Part, Role


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
