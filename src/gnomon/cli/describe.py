"""``gnomon describe``: what a job of dataflow is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.options import HtmlOption
from gnomon.cli.terminal import Output, OutputOption, emit, failure_of, say

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.api.jobs import Job
    from gnomon.dataflow.plan import Plan


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

    loaded = load_job(job)
    plan, data, text = _described(loaded, system, partitions)
    unkept = failure_of(partial(_write_page, html, plan)) if html else None
    emit(output, data, text)
    for name in loaded.graph.unused:
        say(f"not used: {name} leads to no result")
    if unkept:
        raise unkept


def _write_page(path: Path, plan: Plan) -> None:
    from gnomon.formats.whole import write_file
    from gnomon.report.jobs_page import page

    write_file(path, lambda beside: beside.write_text(page(plan), encoding="utf-8"))


def _described(job: Job, system: str | None, partitions: int | None) -> tuple[Plan, dict[str, Any], Text]:
    """The stages of a job as a system runs it, or as they are under no system's rules: for programs, and for people."""
    from gnomon.api.jobs import splits_of
    from gnomon.api.systems import SYSTEMS
    from gnomon.dataflow.layout import Rules
    from gnomon.dataflow.plan import cut
    from gnomon.model.errors import unknown_name
    from gnomon.report import jobs

    if system is None:
        plan = cut(job.graph, Rules(partitions=partitions, cuts=False), splits_of(job))
        return plan, jobs.document(plan), jobs.description(plan)
    describe = SYSTEMS[system].make_describer() if system in SYSTEMS else None
    if describe is None:
        known = [name for name, one in SYSTEMS.items() if one.describer]
        raise unknown_name("system of dataflow", system, known).at(field="--system")
    return describe(job.graph, lambda least: splits_of(job, at_least=least), partitions)
