"""``gnomon run``: do the work of a job for real, on processes of this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.terminal import Output, OutputOption, emit, say
from gnomon.cli.watch import Watch

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.api.running import Ended

SHOWN_MAX = 20
"""So many records of a result that is collected are shown; a document has all."""

JobArgument = Annotated[Path, typer.Argument(metavar="JOB.py", help="A Python file with a Dataflow.")]
WorkersOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes side by side. [default: one a processor]", show_default=False),
]
WorkOption = Annotated[
    Path | None,
    typer.Option(
        "--work-dir",
        metavar="DIR",
        help="Where finished tasks are kept until the job ends. [default: JOB.work, beside the job]",
        show_default=False,
    ),
]
MemoryOption = Annotated[str, typer.Option(metavar="BYTES", help="What all processes together may take.")]
AttemptsOption = Annotated[int, typer.Option(metavar="N", min=1, help="How often a task is tried.")]


def run(
    job: JobArgument,
    workers: WorkersOption = None,
    work_dir: WorkOption = None,
    memory: MemoryOption = "1Gi",
    attempts: AttemptsOption = 4,
    output: OutputOption = Output.TABLE,
) -> None:
    """Run a job of dataflow for real: its functions on its records, in processes, with a shuffle on disk.

    A run that is stopped, even killed, goes on where it was when the same command is given again, unless the job's code
    or input has changed. Sinks are folders with files part-r-00000 … and _SUCCESS when all is there. Exit code 1: a
    function of the job failed.
    """
    from gnomon.api.running import options_for, run_job
    from gnomon.model.errors import InputError
    from gnomon.model.quantity import parse_memory

    try:
        bytes_ = parse_memory(memory)
    except ValueError as error:
        raise InputError(str(error), field="--memory", found=memory) from None
    options = replace(options_for(job, work=work_dir, workers=workers), memory=bytes_, attempts=attempts)
    with Watch("tasks") as watch:
        try:
            ended = run_job(job, options, progress=lambda done, total: watch(done, total, 0))
        except KeyboardInterrupt:
            say(f"interrupted; what was done is in {options.work}: the same command goes on from there")
            raise
    _say_what_was_kept(ended)
    emit(output, _document(ended), _text(ended))


def _say_what_was_kept(ended: Ended) -> None:
    if ended.changed:
        what = " and ".join(ended.changed)
        say(f"what an earlier run had finished was of no use: the {what} has changed; the job began afresh")
    elif kept := sum(stage.kept for stage in ended.stages):
        total = sum(stage.tasks for stage in ended.stages)
        say(f"{kept:,} of {total:,} tasks were finished by an earlier run")


def _document(ended: Ended) -> dict[str, Any]:
    return {
        "job": ended.job,
        "seconds": ended.seconds,
        "stages": [
            {
                "stage": stage.stage,
                "name": stage.name,
                "tasks": stage.tasks,
                "kept": stage.kept,
                "failures": stage.failures,
                "seconds": stage.seconds,
                **stage.counts,
            }
            for stage in ended.stages
        ],
        "files": {name: str(folder) for name, folder in ended.files.items()},
        "records": ended.records,
        "changed": list(ended.changed),
    }


def _text(ended: Ended) -> Text:
    from rich.text import Text

    from gnomon.report.text import plain, table, titled

    heads = ["STAGE", "NAME", "TASKS", "FAILURES", "SECONDS", "READ", "WRITTEN", "BYTES", "SPILLED"]
    rows = [
        [
            str(stage.stage),
            stage.name,
            f"{stage.tasks:,}",
            f"{stage.failures:,}",
            f"{stage.seconds:.1f}",
            *(f"{stage.counts.get(name, 0):,}" for name in ("read", "written", "bytes", "spilled_bytes")),
        ]
        for stage in ended.stages
    ]
    blocks = [table(heads, rows, right=(0, 2, 3, 4, 5, 6, 7, 8))]
    for name, records in ended.records.items():
        more = f"\n… and {len(records) - SHOWN_MAX:,} more" if len(records) > SHOWN_MAX else ""
        shown = "\n".join(plain(repr(record)) for record in records[:SHOWN_MAX])
        blocks.append(titled(f"{name}: {len(records):,} records", Text(f"{shown}{more}")))
    blocks += [Text(f"{plain(str(folder))} is written") for folder in ended.files.values()]
    return Text("\n\n").join(blocks)
