"""``gnomon check``: what will go wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.terminal import Output, OutputOption, emit, say

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.dataflow.findings import Finding


def check(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Python files that declare a Dataflow.", show_default=False),
    ],
    lines: Annotated[
        int, typer.Option(metavar="N", min=1, help="So many lines of each split of a text file are tried.")
    ] = 100_000,
    output: OutputOption = Output.TABLE,
) -> None:
    """What in these files will bite? Jobs of dataflow are run here on their data: functions that combine, are run
    again, or get records in another order must give the same. They are called for real, several times. Exit code 1 when
    an error is found."""
    from gnomon.api.checking import check_job
    from gnomon.api.jobs import load_job

    found = {str(file): check_job(load_job(file), limit=lines) for file in files}
    document = [{"file": file, **_data(one)} for file, findings in found.items() for one in findings]
    emit(output, document, _text(found))
    levels = [one.level.value for findings in found.values() for one in findings]
    counts = [f"{levels.count(level)} {level}{'' if levels.count(level) == 1 else 's'}" for level in _levels()]
    say(", ".join(counts))
    if "error" in levels:
        raise typer.Exit(1)


def _levels() -> list[str]:
    from gnomon.dataflow.findings import Level

    return [level.value for level in Level]


def _data(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        "stage": finding.stage,
        "problem": finding.problem,
        "record": finding.record,
        "alternatives": list(finding.alternatives),
        "fix": finding.fix,
    }


def _text(found: dict[str, list[Finding]]) -> Text:
    from rich.text import Text

    from gnomon.report.text import plain

    blocks = []
    for file, findings in found.items():
        for one in findings:
            style = {"error": "bold red", "warning": "yellow", "note": "dim"}[one.level.value]
            block = Text.assemble((f"{one.level.value} {one.rule}", style), f"  {plain(file)}, {plain(one.stage)}\n")
            block.append(plain(one.problem))
            lines = [f"shown by: {one.record}"] * bool(one.record) + list(one.alternatives)
            lines += [f"fix: {one.fix}"] * bool(one.fix)
            for line in lines:
                block.append(f"\n  {plain(line)}")
            blocks.append(block)
        if not findings:
            blocks.append(Text(f"{plain(file)}: nothing found"))
    return Text("\n\n").join(blocks)
