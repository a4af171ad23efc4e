"""``gnomon describe``: what a job of dataflow is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.options import HtmlOption
from gnomon.cli.terminal import Output, OutputOption, emit, say


def describe(
    job: Annotated[
        Path, typer.Argument(metavar="JOB.py", help="A Python file that declares a Dataflow.", show_default=False)
    ],
    partitions: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Partitions of a shuffle where the job says none.", show_default=False),
    ] = None,
    html: HtmlOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """What does this job consist of? The six things that each stage says, what crosses the network, and which stages
    run with how many tasks. No function of the job is called."""
    from gnomon.api.jobs import load_job, splits_of
    from gnomon.dataflow.layout import Rules
    from gnomon.dataflow.plan import cut
    from gnomon.report import jobs

    loaded = load_job(job)
    plan = cut(loaded.graph, Rules(partitions=partitions), splits_of(loaded))
    if html:
        from gnomon.formats.whole import write_file
        from gnomon.report.jobs_page import page

        def write(beside: Path) -> None:
            beside.write_text(page(plan), encoding="utf-8")

        write_file(html, write)
    emit(output, jobs.document(plan), jobs.description(plan))
    for name in loaded.graph.unused:
        say(f"not used: {name} leads to no result")
