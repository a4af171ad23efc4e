"""``gnomon describe``: what a job of dataflow is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.options import HtmlOption
from gnomon.cli.terminal import Output, OutputOption, emit, failure_of, say

if TYPE_CHECKING:
    from gnomon.api.jobs import Job
    from gnomon.dataflow.plan import Plan
    from gnomon.systems.mapreduce.jobs import Jobs


def describe(
    job: Annotated[
        Path, typer.Argument(metavar="JOB.py", help="A Python file that declares a Dataflow.", show_default=False)
    ],
    partitions: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Partitions of a shuffle where the job says none.", show_default=False),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system", metavar="S", help="What it is for: spark, mapreduce. [default: neither]", show_default=False
        ),
    ] = None,
    html: HtmlOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """What does this job consist of? The six things that each stage says, what crosses the network, and which stages
    run with how many tasks. No function of the job is called."""
    from gnomon.api.jobs import load_job
    from gnomon.report import jobs

    loaded = load_job(job)
    plan, parts = _plan(loaded, system, partitions)
    unkept = failure_of(partial(_write_page, html, plan)) if html else None
    data, text = jobs.document(plan), jobs.description(plan)
    if parts is not None:
        from gnomon.report.jobs_mapreduce import description_of, jobs_data

        data, text = {**data, "mapreduce": jobs_data(parts)}, description_of(parts)
    if system is not None:
        from gnomon.report.six_fields import block, six_fields

        data, text = {**data, "engine": six_fields(plan, system)}, text + "\n\n" + block(plan, system)
    emit(output, data, text)
    for name in loaded.graph.unused:
        say(f"not used: {name} leads to no result")
    if unkept:
        raise unkept


def _write_page(path: Path, plan: Plan) -> None:
    from gnomon.formats.whole import write_file
    from gnomon.report.jobs_page import page

    write_file(path, lambda beside: beside.write_text(page(plan), encoding="utf-8"))


def _plan(job: Job, system: str | None, partitions: int | None) -> tuple[Plan, Jobs | None]:
    """The stages of a job under the rules of a system, and what MapReduce makes of them if it is that."""
    from gnomon.api.jobs import splits_of
    from gnomon.dataflow.layout import Rules
    from gnomon.dataflow.plan import cut
    from gnomon.model.errors import unknown_name

    if system not in (None, "spark", "mapreduce"):
        raise unknown_name("system of dataflow", system, ("spark", "mapreduce")).at(field="--system")
    if system != "mapreduce":
        least = 2 if system == "spark" else 1  # defaultMinPartitions of textFile
        return cut(
            job.graph, Rules(partitions=partitions, cuts=system == "spark"), splits_of(job, at_least=least)
        ), None

    from gnomon.systems.mapreduce.jobs import jobs_of
    from gnomon.systems.mapreduce.settings import Settings

    made = jobs_of(job.graph, Settings(reduces=partitions or 1), splits_of(job))
    return made.plan, made
