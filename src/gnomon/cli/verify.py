"""``gnomon verify``: recorded cases against the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.terminal import Output, OutputOption, emit, say


def verify(
    cases: Annotated[
        list[Path],
        typer.Argument(metavar="CASE...", help="Recorded cases: files, or folders of them.", show_default=False),
    ],
    output: OutputOption = Output.TABLE,
    json: Annotated[bool, typer.Option("--json", help="Short for -o json.")] = False,
) -> None:
    """Set what the model does against what the real engine did, case by case. Exit code 1 when one disagrees."""
    from gnomon.api.verify import case_files, verify_file
    from gnomon.report.text import table

    verdicts = [verify_file(path) for path in case_files(cases)]
    answers = {True: "yes", False: "no", None: "-"}
    wide = output is Output.WIDE
    rows = [
        [v.name, v.system, answers[v.agrees], "; ".join(v.differences if wide else v.differences[:1])] for v in verdicts
    ]
    text = table(["CASE", "SYSTEM", "AGREES", "DIFFERENCES"], rows)
    emit(Output.JSON if json else output, [verdict.as_dict() for verdict in verdicts], text)
    agree, disagree = (sum(verdict.agrees is answer for verdict in verdicts) for answer in (True, False))
    how_many = "1 case" if len(verdicts) == 1 else f"{len(verdicts)} cases"
    words = f"{agree} agree{'s' * (agree == 1)}, {disagree} disagree{'s' * (disagree == 1)}"
    say(f"{how_many}: {words}, {len(verdicts) - agree - disagree} not modelled")
    if disagree:
        raise typer.Exit(1)
