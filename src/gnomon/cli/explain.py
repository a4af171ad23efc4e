"""``gnomon explain``: why is it as it is, and what would change it?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.inputs import Arguments, scenario_of
from gnomon.cli.options import (
    ClusterFormatOption,
    ClusterOption,
    NoKillOption,
    PolicyOption,
    SeedOption,
    SystemOption,
    UntilOption,
    WorkFormatOption,
)
from gnomon.cli.terminal import Output, OutputOption, emit, say_notes
from gnomon.cli.watch import Watch

if TYPE_CHECKING:
    from gnomon.api import Run


def explain(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="A task or job: its name, or a unique part.", show_default=False)
    ],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="More files, as with -f.", show_default=False)
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option("-f", "--file", metavar="FILE", help="A scenario, or its files; repeatable.", show_default=False),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A run that was kept with --run.", show_default=False)
    ] = None,
    cluster: ClusterOption = None,
    policy: PolicyOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    until: UntilOption = None,
    work_format: WorkFormatOption = None,
    cluster_format: ClusterFormatOption = None,
    no_kill: NoKillOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Tell why a task waits, was refused or ended, from what caused it, and the smallest change that would help."""
    from gnomon import api
    from gnomon.model.errors import InputError
    from gnomon.report import text

    files = [*(file or []), *(more or [])]
    if bool(files) == bool(run):
        raise InputError("one of -f and --run is needed", allowed="-f FILE... or --run DIR")
    if run:
        result = api.Run.open(run)
    else:
        result = _simulated(
            Arguments(files, cluster, policy, system, seed, until, work_format, cluster_format, no_kill)
        )
    document = api.explain(result, subject).as_dict()
    emit(output, document, text.explanation(document, wide=output is Output.WIDE))
    say_notes(result.notes)


def _simulated(given: Arguments) -> Run:
    from gnomon import api

    with Watch("simulating") as watch:
        result = api.simulate(scenario_of(given), progress=watch)
    if watch.interrupted:
        raise KeyboardInterrupt
    return result
