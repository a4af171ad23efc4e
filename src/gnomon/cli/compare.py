"""``gnomon compare``: and under another policy, cluster, seed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.guide import hint
from gnomon.cli.inputs import Arguments, numbers_of, placed_by, policies_of, scenarios_of, under, without_policies
from gnomon.cli.options import (
    ClusterFormatOption,
    ClustersOption,
    HtmlOption,
    NoKillOption,
    PoliciesOption,
    SystemOption,
    UntilOption,
    WorkArgument,
    WorkFormatOption,
)
from gnomon.cli.terminal import Output, OutputOption, emit, failure_of, notes_data, say, say_notes
from gnomon.cli.watch import Watch

if TYPE_CHECKING:
    from gnomon.api import Run
    from gnomon.insight.calibrate import Calibration
    from gnomon.insight.compare import Comparison, Row
    from gnomon.model.scenario import Scenario
    from gnomon.model.work import Note
    from gnomon.report.text import Variant


def compare(
    work: WorkArgument,
    cluster: ClustersOption = None,
    policy: PoliciesOption = None,
    system: SystemOption = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="1,2,3", help="Run each variant with each of these seeds.", show_default=False)
    ] = None,
    until: UntilOption = None,
    work_format: WorkFormatOption = None,
    cluster_format: ClusterFormatOption = None,
    no_kill: NoKillOption = False,
    html: HtmlOption = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes side by side. [default: one a core]", show_default=False),
    ] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Simulate the same work under several policies, on several clusters, with several seeds: one row a variant.
    Several scenario files are set side by side as they are, each under its name.

    A star marks the best of a column. With several seeds a value is a mean with its 95 % confidence interval. Where a
    system has a configuration of its own and the work tells how long it waited, how well the first variant reproduces
    that comes first: what is not changed tells how far the changes are to be believed.
    """
    from rich.text import Text

    from gnomon import api
    from gnomon.formats.whole import check_file
    from gnomon.insight import compare as insight
    from gnomon.report import text

    if html:
        check_file(html)
    first = cluster[0] if cluster else None
    given = Arguments(work, first, None, system, None, until, work_format, cluster_format, no_kill)
    trials = _trials(given, policies_of(policy), cluster or [], numbers_of(seeds, "--seeds"))
    with Watch("simulating") as watch:
        runs = api.compare([trial.scenario for trial in trials], workers=workers, progress=watch)
    if watch.interrupted:
        raise KeyboardInterrupt
    found = insight.compare(
        [insight.Measured(t.variant, t.scenario.seed, run.metrics()) for t, run in zip(trials, runs, strict=True)]
    )
    unkept = failure_of(partial(_write_page, html, trials, runs, found)) if html else None
    notes = list(dict.fromkeys(note for run in runs for note in run.notes))
    variants = [_variant(row, found) for row in found.rows]
    fit = _fit(runs[0])
    blocks = [text.comparison(variants, wide=output is Output.WIDE)]
    if fit:
        blocks.insert(0, text.reproduced(trials[0].variant, fit.as_dict()))
    emit(output, _document(trials, runs, found, notes, fit), Text("\n\n").join(blocks))
    _tell(trials, runs, notes, fit)
    if unkept:
        raise unkept
    if not html and output in (Output.TABLE, Output.WIDE):
        hint("add --html report.html to see it as pictures")


@dataclass(frozen=True)
class _Trial:
    """One run to be made: a variant with one seed."""

    variant: str
    cluster: str
    scenario: Scenario


def _trials(given: Arguments, policies: Sequence[str], clusters: Sequence[str], seeds: Sequence[int]) -> list[_Trial]:
    """Every cluster with every policy with every seed, in this order."""
    base = scenarios_of(given)
    names = list(dict.fromkeys(clusters)) or [""]
    trials = []
    for number, name in enumerate(names):
        here = _on(name, base, given) if number else base
        scenarios = [each for one in without_policies(here) for each in under(one, policies)] if policies else here
        for title, scenario in zip(_titles(scenarios), scenarios, strict=True):
            own = len(scenarios) == 1 and scenario.native is not None
            variant = title if len(names) == 1 else name if own else f"{title} on {name}"
            for seed in seeds or [scenario.seed]:
                trials.append(_Trial(variant, name, replace(scenario, seed=seed)))
    return trials


def _on(cluster: str, base: Sequence[Scenario], given: Arguments) -> list[Scenario]:
    """The same on another cluster; one with a configuration of its own is read with it."""
    from gnomon.api.parts import load_cluster

    if any(scenario.native is not None for scenario in base):
        return scenarios_of(replace(given, cluster=cluster))
    place = load_cluster(cluster, format=given.cluster_format)
    return [replace(scenario, cluster=place) for scenario in base]


def _fit(run: Run) -> Calibration | None:
    """How well a system's own configuration reproduces the waits that are recorded, None where none are."""
    from gnomon.insight.calibrate import of_history

    known = run.scenario.native is not None and (run.scenario.work.recorded_wait_ns >= 0).any()
    return of_history(run.past) if known else None


def _titles(scenarios: Sequence[Scenario]) -> list[str]:
    """The policy of each, or its name where they come from several files, or both; what is the same is numbered."""
    names = [scenario.name for scenario in scenarios]
    several, alone = len(set(names)) > 1, len(set(names)) == len(names)
    seen: Counter[str] = Counter()
    titles = []
    for name, scenario in zip(names, scenarios, strict=True):
        policy = placed_by(scenario)
        text = (name if alone else f"{name} {policy}") if several else policy
        seen[text] += 1
        titles.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return titles


def _tell(trials: Sequence[_Trial], runs: Sequence[Run], notes: Sequence[Note], fit: Calibration | None) -> None:
    """What a reader of the numbers must know besides."""
    from gnomon.report import text

    if fit:
        say(str(fit))
    for trial, run in zip(trials, runs, strict=True):
        if run.stopped:
            say(f"{trial.variant}, seed {trial.scenario.seed}, stopped early: {text.reason(run.stopped)}")
    say_notes(notes)


def _variant(row: Row, found: Comparison) -> Variant:
    from gnomon.report.text import Variant

    difference = {".".join(path): (one.mean, one.half_width) for path, one in row.difference.items()}
    return Variant(row.variant, row.metrics, row.spread, _best(row.variant, found), difference)


def _best(variant: str, found: Comparison) -> frozenset[str]:
    return frozenset(".".join(path) for path, names in found.best.items() if variant in names)


def _write_page(path: Path, trials: Sequence[_Trial], runs: Sequence[Run], found: Comparison) -> None:
    """One page; with several seeds its pictures are of the first one, its metrics are the means."""
    from gnomon.formats.whole import write_file
    from gnomon.model.work import Note
    from gnomon.report import html

    first = {trial.variant: run for trial, run in reversed(list(zip(trials, runs, strict=True)))}
    exhibits = []
    for row in found.rows:
        exhibit = first[row.variant].exhibit(row.variant, best=_best(row.variant, found))
        if len(row.seeds) > 1:
            text = f"of seed {row.seeds[0]}; the metrics are means over the seeds {', '.join(map(str, row.seeds))}"
            exhibit = replace(exhibit, metrics=row.metrics, notes=[*exhibit.notes, Note("note", "pictures", text)])
        exhibits.append(exhibit)
    write_file(path, lambda beside: html.write(beside, exhibits))


def _document(
    trials: Sequence[_Trial],
    runs: Sequence[Run],
    found: Comparison,
    notes: Sequence[Any],
    fit: Calibration | None,
) -> dict[str, Any]:
    facts: dict[str, dict[str, Any]] = {}
    for trial, run in zip(trials, runs, strict=True):
        fact = {"policy": trial.scenario.policy.text, "system": trial.scenario.system, "cluster": trial.cluster or None}
        facts.setdefault(trial.variant, {**fact, "stopped": []})["stopped"].append(
            run.stopped.name.lower() if run.stopped else None
        )
    return {
        **({"calibration": {"variant": trials[0].variant, **fit.as_dict()}} if fit else {}),
        "variants": [{**one, **facts[one["variant"]]} for one in found.as_dict()],
        "notes": notes_data(notes),
    }
