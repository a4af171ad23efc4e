"""One page for one run or several: works offline, in light and dark, and is still a table without JavaScript.

The page is ``page.css``, ``page.js``, Plotly's own script and the figures as JSON, all in one file. Its content policy
lets it load nothing from anywhere. Whatever comes from the user is escaped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from gnomon.engine.log import Kind, Reason
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note
from gnomon.report import figures, gantt
from gnomon.report.columns import NOTHING, columns, number, outstanding
from gnomon.report.figures import Figure, View
from gnomon.report.recovered import recovery_facts
from gnomon.report.series import Series
from gnomon.report.text import plain, reason

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
    sections = list(_sections(exhibits))
    yield "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
    yield "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src 'unsafe-inline'; "
    yield "style-src 'unsafe-inline'; img-src data: blob:\">\n"
    yield f"<title>{_safe(shown)}</title>\n<style>\n{_part('page.css')}</style>\n</head>\n<body>\n"
    yield f"<header>\n<h1>{_safe(shown)}</h1>\n{_facts(exhibits)}</header>\n<main>\n"
    yield _metrics(exhibits)
    yield _recovery(exhibits)
    for section in sections:
        yield section.html()
    yield f"{_notes(exhibits)}</main>\n<footer>Made by Gnomon from the log of the run; needs no network.</footer>\n"
    charts = [figure for section in sections for _, figure in section.panels]
    yield f"<script type='application/json' id='figures'>{_json(charts)}</script>\n"
    yield f"<script>\n{(files('plotly') / 'package_data' / 'plotly.min.js').read_text('utf-8')}\n</script>\n"
    yield f"<script>\n{_part('page.js')}</script>\n</body>\n</html>\n"


def snippet(exhibit: Exhibit) -> str:
    """What a notebook shows of a run: its facts and its metrics, as a table."""
    return f"<div>{_facts([exhibit])}{_metrics([exhibit])}</div>"


@dataclass(frozen=True)
class _Section:
    """Charts of one kind: ``first`` is the place of its first one among all figures of the page."""

    heading: str
    text: str
    panels: Sequence[tuple[str, Figure]]
    first: int

    def html(self) -> str:
        parts = [f"<section>\n<h2>{_safe(self.heading)}</h2>\n<p>{_safe(self.text)}</p>\n<div class='panels'>\n"]
        for place, (name, figure) in enumerate(self.panels, start=self.first):
            height, note = figure.get("height", 300), figure.get("note", "")
            caption = " — ".join(part for part in (name, note) if part)
            parts.append(
                f"<figure><figcaption>{_safe(caption)}</figcaption><div class='chart' data-figure='{place}' role='img' "
                f"aria-label='{_safe(f'{self.heading}, {name}')}' style='height:{height}px'></div></figure>\n"
            )
        return "".join([*parts, "</div>\n</section>\n"])


def _sections(exhibits: Sequence[Exhibit]) -> Iterator[_Section]:
    views = figures.views([(exhibit.name, exhibit.series) for exhibit in exhibits])
    resource = figures.busiest(views)
    hint = "Drag over a chart to zoom in time, double-click to zoom out; all charts follow."
    place = 0
    for heading, text, panels in (
        ("Allocation over time", f"What tasks held of each resource. {hint}", _each(views, figures.allocation)),
        ("Queue over time", "How many tasks waited.", [("", figures.queue(views))]),
        ("Waits", "How long tasks waited before they started.", [("", figures.waits(views))]),
        (f"Nodes over time: {resource}", *_nodes(views, resource)),
        (f"Tasks over time: {resource}", *_tasks(views, resource)),
    ):
        if panels or text:
            yield _Section(heading, text, panels, place)
            place += len(panels)


def _each(views: Sequence[View], draw: Callable[[View], Figure | None]) -> list[tuple[str, Figure]]:
    return [(view.name, figure) for view in views if (figure := draw(view))]


def _nodes(views: Sequence[View], resource: str) -> tuple[str, list[tuple[str, Figure]]]:
    panels = _each(views, partial(figures.heat, resource=resource))
    return ("How full each node was." if panels else ""), panels


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
    """The configuration; a fact on which the runs differ is listed with all its values."""
    found: dict[str, dict[str, None]] = {}
    for exhibit in exhibits:
        for term, text in facts(exhibit.series.past.scenario).items():
            found.setdefault(term, {})[text] = None
    items = (f"<dt>{_safe(term)}</dt><dd>{_safe('; '.join(texts))}</dd>" for term, texts in found.items())
    stopped = "".join(
        f"<p class='stopped'>{_safe(f'{exhibit.name} stopped early: {reason(exhibit.stopped)}')}.</p>"
        for exhibit in exhibits
        if exhibit.stopped != Reason.NONE
    )
    return f"<dl class='facts'>{''.join(items)}</dl>\n{stopped}"


def facts(scenario: Scenario) -> dict[str, str]:
    """What a reader must know of a scenario, as terms and texts."""
    cluster, work = scenario.cluster, scenario.work
    size = "" if cluster.pool else f"{number(len(cluster.nodes))} nodes"
    amounts = [_amount(cluster.total(name), name) for name in cluster.resource_names()]
    return {
        "work": ", ".join([*([work.source] if work.source else []), f"{len(work):,} tasks"]),
        "cluster": ", ".join(part for part in (cluster.source if not cluster.pool else "", size, *amounts) if part),
        "policy": scenario.policy.text,
        "seed": str(scenario.seed),
        "tasks over their estimate": "are killed" if scenario.kill_at_limit else "run on",
    }


def _amount(amount: int, name: str) -> str:
    if name == "memory":
        return f"{amount / 2**30:,.4g} GiB memory"
    return f"{amount / (1000 if name == 'cpu' else 10_000):,.10g} {name}"


def _metrics(exhibits: Sequence[Exhibit]) -> str:
    """The metrics as a table, a row for each: it is read down, whatever the number of runs."""
    every = [exhibit.metrics for exhibit in exhibits]
    rows = []
    for column in columns(every, wide=True):
        winners = outstanding(column, [exhibit.best for exhibit in exhibits])
        cells = "".join(
            f"<td class='best'>{_safe(column.text(metrics))}<span aria-label=' (best)'>*</span></td>"
            if index in winners
            else f"<td>{_safe(column.text(metrics))}</td>"
            for index, metrics in enumerate(every)
        )
        name = column.header.lower().replace("-", " ")
        rows.append(
            f"<tr><th scope='row'>{_safe(name)}</th>{cells}<td class='hint'>{_safe(column.meaning)}</td></tr>\n"
        )
    heads = "".join(f"<th scope='col'>{_safe(exhibit.name)}</th>" for exhibit in exhibits)
    caption = "" if len(exhibits) == 1 else "<p>* marks the best of a row.</p>\n"
    return (
        f"<section>\n<h2>Metrics</h2>\n{caption}"
        "<div class='scroll' tabindex='0' role='region' aria-label='Metrics'><table>\n"
        f"<thead><tr><td></td>{heads}<th scope='col' class='hint'>meaning</th></tr></thead>\n"
        f"<tbody>\n{''.join(rows)}</tbody>\n</table></div>\n</section>\n"
    )


def _recovery(exhibits: Sequence[Exhibit]) -> str:
    """What went wrong, and what came of it: a row for each fact; nothing where nothing did."""
    every = [dict(recovery_facts(exhibit.metrics.get("recovery"))) for exhibit in exhibits]
    rows = "".join(
        f"<tr><th scope='row'>{_safe(fact)}</th>{''.join(f'<td>{_safe(one.get(fact, NOTHING))}</td>' for one in every)}"
        "</tr>\n"
        for fact in dict.fromkeys(fact for one in every for fact in one)
    )
    if not rows:
        return ""
    heads = "".join(f"<th scope='col'>{_safe(exhibit.name)}</th>" for exhibit in exhibits)
    return (
        "<section>\n<h2>Recovery</h2>\n<p>What went wrong, how it was answered, what it cost.</p>\n"
        "<div class='scroll' tabindex='0' role='region' aria-label='Recovery'><table>\n"
        f"<thead><tr><td></td>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n</section>\n"
    )


def _notes(exhibits: Sequence[Exhibit]) -> str:
    lines = dict.fromkeys(
        f"{note.what}: {note.field}: {note.text}" + (f" ({note.count:,} times)" if note.count > 1 else "")
        for exhibit in exhibits
        for note in exhibit.notes
    )
    if not lines:
        return ""
    items = "".join(f"<li>{_safe(line)}</li>\n" for line in lines)
    text = "What these runs leave out or take for granted."
    return f"<section>\n<h2>Notes</h2>\n<p>{text}</p>\n<ul>\n{items}</ul>\n</section>\n"


def _json(value: object) -> str:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _safe(text: str) -> str:
    return escape(plain(text), quote=True)


def _part(name: str) -> str:
    return (files("gnomon.report") / name).read_text("utf-8")
