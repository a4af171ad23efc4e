"""``gnomon chaos``: which faults break what is demanded?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.inputs import Arguments, scenario_of
from gnomon.cli.options import PolicyOption, SeedOption
from gnomon.cli.terminal import Output, OutputOption, emit, failure_of, notes_data, say, say_notes
from gnomon.cli.watch import Watch

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.api.chaos import Chaos, Violation


ScenarioArgument = Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file.", show_default=False)]
PropertiesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        metavar="TEXT",
        help="What has to hold in every run; repeatable. [default: the scenario's properties, else that every job "
        "ends and no task runs twice at once]",
        show_default=False,
    ),
]
RunsOption = Annotated[int, typer.Option(metavar="N", min=1, help="How many schedules to try.")]
MaxFaultsOption = Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Most faults of a schedule.")]
KindsOption = Annotated[
    str | None,
    typer.Option(metavar="K1,K2,...", help="Kinds of faults. [default: all that can do something]", show_default=False),
]
AllOption = Annotated[bool, typer.Option("--all", help="Go on after a violation, to the last run.", show_default=False)]
EventsOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Stop after so many events of all runs.", show_default=False)
]
StateOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keep finished runs here, and go on from them.", show_default=False),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes side by side. [default: one a core]", show_default=False),
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the scenario that replays a violation.", show_default=False),
]


def chaos(
    scenario: ScenarioArgument,
    property: PropertiesOption = None,
    runs: RunsOption = 200,
    max_faults: MaxFaultsOption = 5,
    kinds: KindsOption = None,
    policy: PolicyOption = None,
    seed: SeedOption = None,
    to_the_end: AllOption = False,
    events: EventsOption = None,
    state: StateOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Try schedules of faults, at random and then guided to what no run has hit, until one breaks a property; make it
    as small as it gets, and tell why.

    Properties are texts such as "every job ends", "no task runs twice at once", "p95 wait < 10 min", "at most 5 % work
    lost". All that is tried follows from the seed. Exit code 1: a property is violated.
    """
    from gnomon.api import chaos as api
    from gnomon.cli import NO
    from gnomon.formats.whole import check_file

    if out:
        check_file(out)
    subject = scenario_of(Arguments([scenario], policy=policy, seed=seed))
    options = api.Options(
        properties=property or (),
        runs=runs,
        max_faults=max_faults,
        kinds=_names(kinds),
        events=events or api.Options.events,
        to_the_end=to_the_end,
        state=state,
        workers=workers,
    )
    with Watch("trying faults") as watch:
        try:
            found = api.chaos(subject, options, progress=watch)
        except KeyboardInterrupt:
            if state:
                say(f"interrupted; what was done is in {state}: the same command goes on from there")
            raise
    replays = _replays(scenario, found, policy, out)
    emit(output, _document(found, replays), _text(found, replays))
    if out and found.holds:
        say(f"{out} is not written: there is nothing to replay")
    _say_what_was_tried(found, max_faults)
    if not property and not subject.properties:
        _say_what_was_not_demanded(found)
    say_notes(subject.work.notes)
    for failure in (replay.failure for replay in replays if replay.failure):
        raise failure
    if not found.holds:
        raise typer.Exit(NO)


def _say_what_was_tried(found: Chaos, most: int) -> None:
    """Which faults were drawn from, so that "holds" is not read as more than it is."""
    kinds = ", ".join(kind.value for kind in found.kinds) or "no kind, for none can do anything here"
    say(f"tried: {found.runs:,} runs, the first without faults, the others with up to {most} of: {kinds}")


def _say_what_was_not_demanded(found: Chaos) -> None:
    """Of the properties that are demanded where none are declared, those that no run of this scenario could keep."""
    from gnomon.insight.chaos.properties import DEFAULTS, parse_property
    from gnomon.insight.chaos.workloads import workload_names

    for text in DEFAULTS:
        if why := parse_property(text).rule.objection(found.scenario):
            say(f"not demanded: {text}, for {why}")
    if names := workload_names(found.scenario):
        say(f'of workloads nothing is demanded; as in --property "{names[0]} has at least 1 ready"')


def _names(kinds: str | None) -> list[str]:
    """The kinds of a list such as ``crash,partition``. Raises InputError for a list without any."""
    from gnomon.model.errors import InputError

    names = [name.strip() for name in (kinds or "").split(",") if name.strip()]
    if kinds is not None and not names:
        raise InputError("no kind of fault is named", field="--kinds", found=kinds, allowed="for instance crash,kill")
    return names


@dataclass(frozen=True)
class _Replay:
    """The scenario file that replays a violation: its text (empty: there is none), where it is (None: nowhere), and
    what kept it from being written."""

    text: str = ""
    file: Path | None = None
    failure: Exception | None = None


def _replays(path: str, found: Chaos, policy: str | None, out: Path | None) -> list[_Replay]:
    """Write the scenario files, if ``out`` says where: the first there, others beside it with a number."""
    from gnomon.api.scenario_write import rewritten
    from gnomon.formats.whole import write_file
    from gnomon.model.errors import InputError

    seed, beside, replays = found.scenario.seed, out.parent if out else Path(), []
    for number, one in enumerate(found.violations, 1):
        try:
            text = rewritten(path, faults=one.scenario.faults, seed=seed, policy=policy, beside=beside)
        except InputError as error:  # a scenario in Python
            say(f"no scenario file: {error}")
            return [_Replay()] * len(found.violations)
        file = out if number == 1 or not out else out.with_name(f"{out.stem}-{number}{out.suffix}")
        failure = failure_of(partial(write_file, file, partial(_write, text))) if file else None
        replays.append(_Replay(text, None if failure else file, failure))
    return replays


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def _document(found: Chaos, replays: Sequence[_Replay]) -> dict[str, Any]:
    first = {one.property: one.run for one in found.violations}
    return {
        "scenario": found.scenario.name,
        "seed": found.scenario.seed,
        "runs": found.runs,
        "features": found.features,
        "kinds": [kind.value for kind in found.kinds],
        "properties": [
            {"property": text, "holds": not broken, "violations": broken, "first_run": first.get(text)}
            for text, broken in zip(found.properties, found.broken, strict=True)
        ],
        "violations": [_violation(*pair) for pair in zip(found.violations, replays, strict=True)],
        "notes": notes_data(found.scenario.work.notes),
    }


def _violation(one: Violation, replay: _Replay) -> dict[str, Any]:
    from gnomon.insight.chaos.schedules import fault_data

    return {
        "property": one.property,
        "found": one.verdict.found,
        "task": one.scenario.work.id(one.verdict.task) if one.verdict.task >= 0 else None,
        "faults": [fault_data(fault) for fault in one.schedule],
        "minimal": one.minimal,
        "trials": one.trials,
        "run": one.run,
        "faults_of_run": [fault_data(fault) for fault in one.found],
        "chain": [link.as_dict() for link in one.chain()],
        "scenario": replay.text or None,
        "file": str(replay.file) if replay.file else None,
    }


def _text(found: Chaos, replays: Sequence[_Replay]) -> Text:
    """For people: the properties, then each violation with its faults, its story and its scenario file."""
    from rich.text import Text

    from gnomon.report.text import table

    rows = [
        [text, "violated" if broken else "holds", str(broken), str(found.runs)]
        for text, broken in zip(found.properties, found.broken, strict=True)
    ]
    blocks = [table(["PROPERTY", "RESULT", "VIOLATIONS", "RUNS"], rows, right=(2, 3))]
    for one, replay in zip(found.violations, replays, strict=True):
        blocks += _story(one, replay)
    return Text("\n\n").join(blocks)


def _story(one: Violation, replay: _Replay) -> list[Text]:
    from rich.text import Text

    from gnomon.report.explanation import moment
    from gnomon.report.text import plain, table, titled

    blocks = [Text.assemble((plain(one.property), "bold"), f": {plain(one.verdict.found)}"), _faults(one)]
    if links := one.chain():
        lines = [[moment(link.t_ns / 10**9), link.event, link.text] for link in links]
        blocks.append(titled("HOW IT CAME TO BE", table(["AT", "EVENT", "WHAT"], lines)))
    if replay.file:
        said = f"To replay it: gnomon simulate {plain(replay.file)}"
        if one.verdict.task >= 0:
            name = plain(one.scenario.work.id(one.verdict.task))
            said += f"\nTo see what would change it: gnomon explain {name} -f {plain(replay.file)}"
        blocks.append(Text(said))
    elif replay.text:
        blocks.append(titled("THE SCENARIO THAT REPLAYS IT", Text(replay.text.rstrip())))
    return blocks


def _faults(one: Violation) -> Text:
    from rich.text import Text

    from gnomon.insight.chaos.schedules import fault_data
    from gnomon.report.text import table, titled

    if not one.schedule:
        return Text("It is so without any additional fault.")
    data = [fault_data(fault) for fault in one.schedule]
    shown = [name for name in ("kind", "at", "for", "targets", "others", "amount") if any(name in one for one in data)]
    cells = [[_cell(fault.get(name)) for name in shown] for fault in data]
    least = "none can be left out" if one.minimal else "perhaps not all are needed"
    title = f"THE FAULTS ({len(one.schedule)} made of the {len(one.found)} of run {one.run}, in {one.trials} more runs"
    return titled(f"{title}; {least})", table([name.upper() for name in shown], cells))


def _cell(value: Any) -> str:
    return "-" if value is None else ", ".join(value) if isinstance(value, list) else str(value)
