"""``gnomon explain``: why is it as it is, why is it not elsewhere, and what would change it?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.guide import about, naming
from gnomon.cli.inputs import Arguments, scenario_of
from gnomon.cli.options import (
    ClusterFormatOption,
    ClusterOption,
    HtmlOption,
    NoKillOption,
    PolicyOption,
    SeedOption,
    SystemOption,
    UntilOption,
    WorkFormatOption,
)
from gnomon.cli.terminal import Output, OutputOption, emit, failure_of, note_line, say
from gnomon.cli.watch import Watch

if TYPE_CHECKING:
    from gnomon.api import Run
    from gnomon.insight.explain import Explanation
    from gnomon.model.scenario import Scenario


def explain(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT",
            help="A task or job: its name, or a unique part; node/NAME; of an event log: app, stage/3, executor/2.",
            show_default=False,
        ),
    ] = "",
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
    why_not: Annotated[
        str | None,
        typer.Option("--why-not", metavar="NODE", help="Tell why it is not on this node.", show_default=False),
    ] = None,
    cluster: ClusterOption = None,
    policy: PolicyOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    until: UntilOption = None,
    work_format: WorkFormatOption = None,
    cluster_format: ClusterFormatOption = None,
    no_kill: NoKillOption = False,
    html: HtmlOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Tell why a task waits, was refused, failed or ended, from its causes, and the smallest change that would help."""
    from gnomon import api
    from gnomon.formats.whole import check_file
    from gnomon.model.scenario import Scenario

    if html:
        check_file(html)
    files = [*(file or []), *(more or [])]
    _check_asked(subject, files, run)
    given = Arguments(files, cluster, policy, system, seed, until, work_format, cluster_format, no_kill)
    _refuse_options_of_a_kept_run(run, given)
    if _is_alone(given) and why_not is None and (recorded := _recorded(subject, files[0])) is not None:
        _answer(recorded.as_dict(), list(recorded.notes), output, html)
        return
    result = api.Run.open(run) if run else _scenario_or_run(given)
    with Watch("trying changes") as watch:
        found = api.explain(subject, result, why_not=why_not, progress=watch)
    if watch.interrupted:
        raise KeyboardInterrupt
    notes = result.work.notes if isinstance(result, Scenario) else result.notes
    _answer(found.as_dict(), [*found.notes, *map(note_line, notes)], output, html)


def _answer(document: Mapping[str, Any], notes: list[str], output: Output, html: Path | None) -> None:
    """Give the answer, with what it leaves out or takes for granted; the page beside it."""
    from gnomon.report.explanation import explanation

    unkept = failure_of(partial(_write_page, html, document, notes)) if html else None
    emit(output, document, explanation(document, wide=output is Output.WIDE))
    for note in notes:
        say(note)
    if unkept:
        raise unkept


def _write_page(path: Path, document: Mapping[str, Any], notes: list[str]) -> None:
    from gnomon.formats.whole import write_file
    from gnomon.report.explanation_page import page

    write_file(path, lambda beside: beside.write_text(page(document, notes), encoding="utf-8"))


def _check_asked(subject: str, files: Sequence[str], run: Path | None) -> None:
    """Raises InputError unless it is said what is to be explained, and in what."""
    from gnomon.model.errors import InputError

    if not subject or (not files and not run and os.path.exists(subject)):
        given = [*([subject] if subject else []), *files]
        allowed = (
            "gnomon explain NAME --run DIR"
            if run
            else about(given[0])
            if len(given) == 1
            else naming(given or ["FILE"])
        )
        raise InputError("say what is to be explained", field="SUBJECT", allowed=allowed)
    if bool(files) == bool(run):
        raise InputError("one of -f and --run is needed", allowed="-f FILE... or --run DIR")


def _recorded(subject: str, file: str) -> Explanation | None:
    """What a file records of a run that was."""
    import gc

    from gnomon import api

    gc.disable()  # what is read stays to the end, as below
    try:
        with Watch("explaining") as watch:
            return api.explain_recorded(subject, file, progress=watch)
    finally:
        gc.enable()


def _refuse_options_of_a_kept_run(run: Path | None, given: Arguments) -> None:
    """A run that was kept is as it is."""
    from gnomon.model.errors import InputError

    said = [name for name, value in vars(given).items() if name != "work" and value not in (None, False)]
    if run and said:
        raise InputError("a kept run cannot be changed", field=f"--{said[0].replace('_', '-')}", allowed="with -f FILE")


def _is_alone(given: Arguments) -> bool:
    """Whether a single file is all that was said: it may record a run."""
    return len(given.work) == 1 and all(value in (None, False) for name, value in vars(given).items() if name != "work")


def _scenario_or_run(given: Arguments) -> Run | Scenario:
    """The scenario, where its system explains itself and may need no run; else the run of it."""
    import gc

    from gnomon import api
    from gnomon.api.systems import SYSTEMS

    gc.disable()  # what is read stays to the end: looking for garbage in it, again and again, is a fifth of the time
    try:
        scenario = scenario_of(given)
    finally:
        gc.enable()
        gc.freeze()
    if SYSTEMS[scenario.system].explainer:
        return scenario
    with Watch("simulating") as watch:
        result = api.simulate(scenario, progress=watch)
    if watch.interrupted:
        raise KeyboardInterrupt
    return result
