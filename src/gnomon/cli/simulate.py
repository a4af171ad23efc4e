"""``gnomon simulate``: what will happen to this work on this cluster?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli import INTERRUPTED, NO
from gnomon.cli.asserting import demands, judge
from gnomon.cli.guide import explaining, hint, somebody_looks
from gnomon.cli.inputs import Arguments, placed_by, scenario_of
from gnomon.cli.options import (
    ClusterFormatOption,
    ClusterOption,
    HtmlOption,
    NoKillOption,
    PolicyOption,
    SeedOption,
    SystemOption,
    UntilOption,
    ViewsOption,
    WorkArgument,
    WorkFormatOption,
)
from gnomon.cli.terminal import Output, OutputOption, emit, failure_of, notes_data, say, say_notes, write
from gnomon.cli.watch import Watch

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.api import Run
    from gnomon.model.work import Note

AssertOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assert",
        metavar="TEXT",
        help='What has to hold, besides the scenario\'s properties, as in "every job ends"; repeatable.',
        show_default=False,
    ),
]


def simulate(
    work: WorkArgument,
    cluster: ClusterOption = None,
    policy: PolicyOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    until: UntilOption = None,
    work_format: WorkFormatOption = None,
    cluster_format: ClusterFormatOption = None,
    no_kill: NoKillOption = False,
    tasks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One row a task, .csv or .parquet.", show_default=False)
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the run: log, tables, metrics.", show_default=False)
    ] = None,
    html: HtmlOption = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Trace events for ui.perfetto.dev.", show_default=False)
    ] = None,
    timings: Annotated[bool, typer.Option("--timings", help="CPU seconds of each part.")] = False,
    invariants: Annotated[bool, typer.Option("--invariants", help="Check the world after every event.")] = False,
    asserted: AssertOption = None,
    views: ViewsOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Simulate work on a cluster, and tell how long it waited and what it used.

    WORK is a scenario file, or traces and lists of tasks. Options override what a scenario says. Exit code 1: one of
    the scenario's properties, or of what is asserted, is violated.
    """
    from gnomon import api

    spent = _Stopwatch()
    given = Arguments(work, cluster, policy, system, seed, until, work_format, cluster_format, no_kill)
    scenario = scenario_of(given)
    demanded = demands(scenario, asserted or [])
    _check_outputs(run, tasks, html, trace)
    spent.lap("read")
    with Watch("simulating") as watch:
        result = api.simulate(scenario, invariants=invariants, progress=watch)
    spent.lap()
    unkept = failure_of(partial(_keep, result, run=run, tasks=tasks, html=html, trace=trace))
    spent.lap("write")
    seconds = {"read": spent.laps["read"], **result.timings, "write": spent.laps["write"]} if timings else None
    judged = judge(demanded, result)
    _show(result, seconds, judged, views=views or [], output=output)
    _tell(result, None if unkept else run)
    if output in (Output.TABLE, Output.WIDE) and somebody_looks():
        _tell_next(result, given)
    if unkept:
        raise unkept
    if watch.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not all(one["holds"] for one in judged):
        raise typer.Exit(NO)


class _Stopwatch:
    """CPU seconds of this process, lap by lap."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, name: str | None = None) -> None:
        """End a lap, and remember it if it has a name."""
        now = time.process_time()
        if name:
            self.laps[name] = now - self._last
        self._last = now


def _check_outputs(run: Path | None, tasks: Path | None, *others: Path | None) -> None:
    """Say at once, and not after an hour, what cannot be written."""
    from gnomon.api.kept_native import FILE as NATIVE
    from gnomon.api.run import FILES, tasks_suffix
    from gnomon.formats.whole import check_directory, check_file

    if tasks:
        tasks_suffix(tasks)
    if run:
        check_directory(run, files=FILES, more=(NATIVE,))
    for path in (tasks, *others):
        if path:
            check_file(path)


def _keep(result: Run, *, run: Path | None, tasks: Path | None, html: Path | None, trace: Path | None) -> None:
    """Write what was asked for, each whole or not at all."""
    from gnomon.formats.whole import write_file

    if run:
        result.save(run)
    if tasks:
        result.write_tasks(tasks)
    if html:
        from gnomon.report import html as page

        write_file(html, lambda path: page.write(path, [result.exhibit(placed_by(result.scenario))]))
    if trace:
        from gnomon.report import perfetto

        write_file(trace, lambda path: perfetto.write(path, result.series))


def _show(
    result: Run,
    seconds: dict[str, float] | None,
    judged: Sequence[Mapping[str, Any]],
    *,
    views: Sequence[str],
    output: Output,
) -> None:
    """The answer, with what is seen by commands of the system."""
    seen = {command: result.view(command) for command in views}
    extra = {**({"properties": judged} if judged else {}), **({"views": seen} if seen else {})}
    emit(output, {**_document(result, seconds), **extra}, _text(result, seconds, judged, wide=output is Output.WIDE))
    for command, text in seen.items() if output in (Output.TABLE, Output.WIDE) else ():
        write(f"\n$ {command}\n{text}")


def _document(result: Run, seconds: dict[str, float] | None) -> dict[str, Any]:
    scenario = result.scenario
    return {
        "name": scenario.name,
        "system": scenario.system,
        "policy": scenario.policy.text,
        "seed": scenario.seed,
        "stopped": result.stopped.name.lower() if result.stopped else None,
        **result.metrics(),
        **({"summary": result.summary.data} if result.summary else {}),
        "reasons": _reasons(result),
        **({"timings": seconds} if seconds else {}),
        "notes": notes_data((*result.notes, *_refused_commands(result))),
    }


def _reasons(result: Run) -> list[dict[str, Any]]:
    """Why tasks did not end well: by state and reason, how many, and the first of them; ``native``: the system's own
    word for that, where it has one."""
    import numpy as np

    from gnomon.api.systems import SYSTEMS
    from gnomon.engine.log import Reason, State

    general = dict(SYSTEMS[result.scenario.system].reasons)
    what, words, found = result.outcome, _words(result), []
    own = result.summary.words if result.summary else {}
    for state in (State.REJECTED, State.KILLED, State.FAILED, State.HELD, State.WAITING):
        alike: dict[tuple[int, str], list[int]] = {}
        for task in np.flatnonzero(what.state == state).tolist():
            code = int(what.reason[task])
            word = own.get(task) or words.get((task, code)) or general.get(Reason(code).name, "")
            alike.setdefault((code, word), []).append(task)
        for (code, word), tasks in sorted(alike.items()):
            row = {
                "state": state.label,
                "reason": Reason(code).name.lower(),
                "tasks": len(tasks),
                "first": result.scenario.work.id(tasks[0]),
            }
            found.append({**row, "native": word} if word else row)
    return found


def _words(result: Run) -> dict[tuple[int, int], str]:
    """The system's own words for the reasons for which tasks wait, are refused or withdrawn, by task and reason."""
    from gnomon.engine.log import Kind

    log, found = result.log, {}
    for row, facts in log.details.items():
        if log.kind[row] in (Kind.WAIT, Kind.REJECT, Kind.CANCEL) and (
            word := facts.get("reason", facts.get("message"))
        ):
            found[int(log.subject[row]), int(log.reason[row])] = "; ".join(str(word).splitlines())
    return found


def _word(row: Mapping[str, Any]) -> str:
    """A reason as people read it: who ended a task without one withdrew it."""
    return "withdrawn" if row["reason"] == "none" else str(row["reason"]).replace("_", " ")


def _text(result: Run, seconds: dict[str, float] | None, judged: Sequence[Mapping[str, Any]], *, wide: bool) -> Text:
    from rich.text import Text

    from gnomon.cli.listings import listings
    from gnomon.report.text import summary, table

    own = result.summary
    blocks = listings(own.listings, wide=wide) if own else []
    if wide or not blocks:
        blocks.append(summary(result.metrics(), wide=wide))
    if (wide or not own) and (reasons := _reasons(result)):
        rows = [[r["state"], r.get("native") or _word(r), f"{r['tasks']:,}", r["first"]] for r in reasons]
        blocks.append(table(["STATE", "REASON", "TASKS", "FIRST"], rows, right=(2,)))
    if judged:
        rows = [[r["property"], "holds" if r["holds"] else "violated", r["found"]] for r in judged]
        blocks.append(table(["PROPERTY", "RESULT", "FOUND"], rows))
    if seconds:
        rows = [[part, f"{value:.3f}"] for part, value in seconds.items()]
        blocks.append(table(["PART", "CPU-SECONDS"], rows, right=(1,)))
    return Text("\n\n").join(blocks)


def _tell(result: Run, run: Path | None) -> None:
    """What a reader of the numbers must know besides."""
    from gnomon.engine.log import Reason
    from gnomon.model.quantity import format_duration
    from gnomon.report.text import reason

    if result.stopped is Reason.LIMIT_TIME:
        say(f"the run ends at {format_duration(result.scenario.limits.until_ns)}, as it was told to (until)")
    elif result.stopped:
        kept = f"; what happened up to then is in {run}" if run else ""
        say(f"the run stopped early: {reason(result.stopped)}{kept}")
    say_notes((*result.notes, *_refused_commands(result)))


def _tell_next(result: Run, given: Arguments) -> None:
    """What one would ask next: about the first task that did not end well, or the one that waited longest."""
    from gnomon.api.systems import SYSTEMS

    unwell = [str(row["first"]) for row in _reasons(result)]
    waited = result.past.waited_ns
    if unwell:
        hint(explaining(unwell[0], given))
    elif SYSTEMS[result.scenario.system].recorder:
        hint(explaining("app", given))
    elif len(waited) and waited.max() > 0:
        hint(explaining(str(result.scenario.work.id(int(waited.argmax()))), given))


def _refused_commands(result: Run) -> list[Note]:
    """The commands that were given during the run and refused, in the system's own words."""
    from gnomon.model.quantity import format_duration
    from gnomon.model.work import Note

    log, found = result.log, []
    for row, facts in sorted(log.details.items()):
        if "refused" in facts:
            command = f"{facts['refused']} (at {format_duration(int(log.t_ns[row]))})"
            found.append(Note("refused", command, "; ".join(str(facts["message"]).split("\n"))))
    return found
