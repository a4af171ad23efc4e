"""One page for one run or several: works offline, in light and dark, and is still a table without JavaScript.

The page is ``page.css``, ``page.js``, Plotly's own script (compressed; the browser unpacks it) and the figures as JSON,
all in one file. Headings say what was found (:mod:`gnomon.report.findings`), every chart has its numbers beside it
(:mod:`gnomon.report.chart_tables`), and of several runs it comes first in what they differ
(:mod:`gnomon.report.differences`).
"""

from __future__ import annotations

import gzip
import json
import os
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from gnomon.engine.log import Kind, Reason
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note
from gnomon.report import chart_tables, figures, findings, gantt
from gnomon.report.columns import NOTHING, columns, number, outstanding
from gnomon.report.differences import ROWS_MAX, amount, differences
from gnomon.report.figures import Figure, View
from gnomon.report.page import Cell, Markup, framed, headline, part, safe, section, table
from gnomon.report.recovered import recovery_facts
from gnomon.report.series import Series
from gnomon.report.text import reason

GANTTS_MAX = 3
"""Runs side by side that get a Gantt chart each, of up to ``gantt.TASKS_MAX`` tasks: it bounds the size of the page."""


@dataclass(frozen=True)
class Exhibit:
    """A run on a page: its name there, its metrics (as in ``metrics.json``) and of which it has the best value (by
    paths such as ``wait_s.mean``), what to note, why it stopped early."""

    name: str
    series: Series
    metrics: Mapping[str, Any]
    best: Collection[str] = ()
    notes: Sequence[Note] = ()
    stopped: Reason = Reason.NONE


def write(path: str | os.PathLike[str], exhibits: Sequence[Exhibit], *, title: str = "") -> None:
    """Write the page of one or several runs. Raises OSError where that fails."""
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(page(exhibits, title=title))


def page(exhibits: Sequence[Exhibit], *, title: str = "") -> Iterator[str]:
    """The page, in parts."""
    if not exhibits:
        raise ValueError("a page needs a run")
    shown = title or _title(exhibits)
    yield from framed(shown, _body(shown, exhibits), scripted=True)


def _body(title: str, exhibits: Sequence[Exhibit]) -> Iterator[str]:
    sections = list(_sections(exhibits))
    lead = f"<p class='lead'>{safe(findings.outcome(exhibits))}</p>\n"
    yield f"<header>\n{headline(title)}{lead}{_facts(exhibits)}</header>\n<main>\n"
    yield _differences(exhibits)
    yield _metrics(exhibits)
    yield _recovery(exhibits)
    for one in sections:
        yield one.html()
    yield f"{_notes(exhibits)}</main>\n<footer>Made by Gnomon from the log of the run; needs no network.</footer>\n"
    charts = [figure for one in sections for _, figure in one.panels]
    yield f"<script type='application/json' id='figures'>{_json(charts)}</script>\n"
    yield f"<script type='application/gzip' id='plotly'>{_plotly()}</script>\n"
    yield f"<script>\n{part('page.js')}</script>\n"


def _plotly() -> str:
    """Plotly's script, in a third of its size: the same on every page."""
    script = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    return b64encode(gzip.compress(script, compresslevel=6, mtime=0)).decode("ascii")


def snippet(exhibit: Exhibit) -> str:
    """What a notebook shows of a run: its facts and its metrics, as a table."""
    return f"<div>{_facts([exhibit])}{_metrics([exhibit])}</div>"


@dataclass(frozen=True)
class _Section:
    """Charts of one kind: ``first`` is the place of its first one among all figures of the page; ``numbers``: the same
    as a table."""

    about: str
    heading: str
    text: str
    panels: Sequence[tuple[str, Figure]]
    numbers: str
    first: int

    def html(self) -> str:
        parts = []
        for place, (name, figure) in enumerate(self.panels, start=self.first):
            height, note = figure.get("height", 300), figure.get("note", "")
            caption = " — ".join(text for text in (name, note) if text)
            parts.append(
                f"<figure><figcaption>{safe(caption)}</figcaption><div class='chart' data-figure='{place}' role='img' "
                f"aria-label='{safe(f'{self.about}, {name}')}' style='height:{height}px'></div></figure>\n"
            )
        panels = f"<div class='panels'>\n{''.join(parts)}</div>\n" if parts else ""
        return section(self.heading, panels + self.numbers, about=self.about, text=self.text)


def _sections(exhibits: Sequence[Exhibit]) -> Iterator[_Section]:
    views = figures.views([(exhibit.name, exhibit.series) for exhibit in exhibits])
    resource = figures.busiest(views)
    quiet = findings.nobody_waited(views)
    hint = "Drag over a chart to zoom in time, double-click to zoom out; all charts follow."
    held, nodes, bars = _each(views, figures.allocation), _nodes(views, resource), _tasks(views, resource)
    line, bar = ([], []) if quiet else ([("", figures.queue(views))], [("", figures.waits(views))])
    place = 0
    for about, heading, text, panels, numbers in (
        ("Allocation over time", findings.held(views, resource), hint, held, chart_tables.allocation(views)),
        ("Queue over time", findings.queued(views), "", line, "" if quiet else chart_tables.queue(views)),
        ("Waits", findings.waited(views), "", bar, chart_tables.waits(views)),
        ("Nodes over time", f"How full each node was: {resource}", "", nodes, chart_tables.nodes(views, resource)),
        ("Tasks over time", f"Which task held what: {resource}", *bars, chart_tables.tasks(views)),
    ):
        if panels or about in ("Queue over time", "Tasks over time"):
            yield _Section(about, heading, text, panels, numbers, place)
            place += len(panels)


def _each(views: Sequence[View], draw: Callable[[View], Figure | None]) -> list[tuple[str, Figure]]:
    return [(view.name, figure) for view in views if (figure := draw(view))]


def _nodes(views: Sequence[View], resource: str) -> list[tuple[str, Figure]]:
    return _each(views, partial(figures.heat, resource=resource))


def _tasks(views: Sequence[View], resource: str) -> tuple[str, list[tuple[str, Figure]]]:
    few = sum(len(view.series.past.scenario.work) for view in views) <= gantt.TASKS_MAX * GANTTS_MAX
    draw = partial(gantt.gantt, resource=resource, longest_wait=gantt.longest_wait(views))
    panels = _each(views, draw) if few else []
    if panels:
        text = "Each bar is a task: its height is what it held, its colour how long it had waited."
        marks = " Crossed bars failed, striped ones are copies; where a node is grey it was down; × is a fault."
        faulty = any(view.series.faults or (view.series.past.places.closed_by == Kind.FAIL).any() for view in views)
        return text + marks * faulty, panels
    return f"Left out: this is drawn for up to {gantt.TASKS_MAX:,} tasks.", []


def _title(exhibits: Sequence[Exhibit]) -> str:
    scenario = exhibits[0].series.past.scenario
    name = scenario.name or Path(scenario.work.source or "run").name
    return name if len(exhibits) == 1 else f"{name}: {len(exhibits)} variants"


def _facts(exhibits: Sequence[Exhibit]) -> str:
    """The configuration that all runs have in common."""
    every = [facts(exhibit.series.past.scenario) for exhibit in exhibits]
    common = [(term, text) for term, text in every[0].items() if all(one.get(term) == text for one in every)]
    items = (f"<dt>{safe(term)}</dt><dd>{safe(text)}</dd>" for term, text in common)
    stopped = "".join(
        f"<p class='stopped'>{safe(f'{exhibit.name} stopped early: {reason(exhibit.stopped)}')}.</p>"
        for exhibit in exhibits
        if exhibit.stopped != Reason.NONE
    )
    return f"<dl class='facts'>{''.join(items)}</dl>\n{stopped}"


def facts(scenario: Scenario) -> dict[str, str]:
    """What a reader must know of a scenario, as terms and texts."""
    cluster, work = scenario.cluster, scenario.work
    size = "" if cluster.pool else f"{number(len(cluster.nodes))} nodes"
    amounts = [f"{amount(cluster.total(name), name)} {name}" for name in cluster.resource_names()]
    own = scenario.native is not None  # a system with a configuration of its own heeds no policy
    return {
        "work": ", ".join(
            [*([work.source] if work.source else []), f"{len(work):,} task{'' if len(work) == 1 else 's'}"]
        ),
        "cluster": ", ".join(text for text in (cluster.source if not cluster.pool else "", size, *amounts) if text),
        **({"system": scenario.system} if own else {"policy": scenario.policy.text}),
        "seed": str(scenario.seed),
        "tasks over their estimate": "are killed" if scenario.kill_at_limit else "run on",
    }


def _differences(exhibits: Sequence[Exhibit]) -> str:
    """In which settings the runs differ; nothing for one run."""
    if len(exhibits) == 1:
        return ""
    found = differences([exhibit.series.past.scenario for exhibit in exhibits])
    if not found:
        return section("The runs have the same settings", "", about="What differs")
    if found == [("policy", _names(exhibits))]:
        return section("The runs differ in their policy alone", "", about="What differs")
    more = len(found) - ROWS_MAX
    every = range(1, len(exhibits) + 1)
    rows = table(
        "What differs",
        ["setting", *_names(exhibits)],
        [[name, *texts] for name, texts in found[:ROWS_MAX]],
        texts=every,
    )
    alike = f"{len(found)} settings" if len(found) > 1 else "one setting"
    return section(
        f"The runs differ in {alike}", rows, about="What differs", text=f"{more} more are left out." if more > 0 else ""
    )


def _names(exhibits: Sequence[Exhibit]) -> list[str]:
    return [exhibit.name for exhibit in exhibits]


def _metrics(exhibits: Sequence[Exhibit]) -> str:
    """The metrics as a table, a row for each: it is read down, whatever the number of runs."""
    every = [exhibit.metrics for exhibit in exhibits]
    rows: list[list[Cell]] = []
    for column in columns(every, wide=True):
        winners = outstanding(column, [exhibit.best for exhibit in exhibits])
        texts = [column.text(metrics) for metrics in every]
        alike = len(texts) > 1 and len(set(texts)) == 1
        cells = (_value(text, index in winners, alike) for index, text in enumerate(texts))
        rows.append([column.header.lower().replace("-", " "), *cells, column.meaning])
    last = len(exhibits) + 1
    return section(
        "Metrics",
        table("Metrics", ["", *_names(exhibits), "meaning"], rows, texts=[last], soft=[last]),
        text="" if len(exhibits) == 1 else "* marks the best of a row; what is the same in all is grey.",
    )


def _value(text: str, best: bool, alike: bool) -> Markup:
    """A metric: the best one stands out, those in which no run differs stand back."""
    if best:
        return Markup(f"<span class='best'>{safe(text)}<span aria-label=' (best)'>*</span></span>")
    return Markup(f"<span class='alike'>{safe(text)}</span>" if alike else safe(text))


def _recovery(exhibits: Sequence[Exhibit]) -> str:
    """What went wrong, and what came of it: a row for each fact; nothing where nothing did."""
    every = [dict(recovery_facts(exhibit.metrics.get("recovery"))) for exhibit in exhibits]
    rows = [
        [fact, *(one.get(fact, NOTHING) for one in every)]
        for fact in dict.fromkeys(fact for one in every for fact in one)
    ]
    if not rows:
        return ""
    shown = table("Recovery", ["", *_names(exhibits)], rows, texts=range(1, len(exhibits) + 1))
    return section("What went wrong, how it was answered, what it cost", shown, about="Recovery")


def _notes(exhibits: Sequence[Exhibit]) -> str:
    lines = dict.fromkeys(
        f"{note.what}: {note.field}: {note.text}" + (f" ({note.count:,} times)" if note.count > 1 else "")
        for exhibit in exhibits
        for note in exhibit.notes
    )
    if not lines:
        return ""
    items = "".join(f"<li>{safe(line)}</li>\n" for line in lines)
    return section("What these runs leave out or take for granted", f"<ul>\n{items}</ul>\n", about="Notes")


def _json(value: object) -> str:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
