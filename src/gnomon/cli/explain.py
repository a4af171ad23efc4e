"""``gnomon explain``: why is it as it is, and what would change it?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.options import ClusterOption, PolicyOption
from gnomon.cli.terminal import Output, OutputOption


def explain(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="A task or job: its name, or a unique part.", show_default=False)
    ],
    more: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]", help="More files, as with -f.")] = None,
    file: Annotated[
        list[str] | None,
        typer.Option(
            "-f", "--file", metavar="FILE", help="A scenario, or native files; repeatable.", show_default=False
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A run that was kept with --run.", show_default=False)
    ] = None,
    cluster: ClusterOption = None,
    policy: PolicyOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Tell why a task waits, was refused or ended, from what caused it, and the smallest change that would help."""
    raise NotImplementedError
