"""A job as a page: its tables, and a drawing of the stages that run, as SVG; it loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gnomon.dataflow.plan import Plan, PlanStage
from gnomon.report.jobs import PROPERTIES, chain, combining, headline, properties, sending, stages
from gnomon.report.page import framed, safe, section, table

_LINE: Final = 20
_CHARACTER: Final = 8
_PADDING: Final = 12
_BETWEEN: Final = 56
_STYLE: Final = """
svg text { font: 14px system-ui, sans-serif; fill: var(--text); }
svg .soft { fill: var(--soft); font-size: 12px; }
svg rect { fill: var(--card); stroke: var(--line); }
svg .skipped rect { stroke-dasharray: 5 4; }
svg path { fill: none; stroke: var(--accent); stroke-width: 1.5; }
svg marker path { fill: var(--accent); }
"""


def page(plan: Plan) -> str:
    """The whole page."""
    six = [[stage.name, *properties(stage, plan.layout)] for stage in stages(plan)]
    names = plan.layout.stages
    crossing = [
        [names[one.source].name, names[one.target].name, one.partitioner, f"{one.partitions:,}", combining(one)]
        for one in plan.exchanges
    ]
    body = (
        f"<header>\n<h1>{safe(plan.name)}</h1>\n<p class='lead'>{safe(headline(plan))}</p>\n</header>\n<main>\n"
        + section("What runs", f"<div class='scroll'>{svg(plan)}</div>\n")
        + _table("Stages", ["stage", *map(str.lower, PROPERTIES)], six)
        + _table("Over the network", ["from", "to", "partitioned by", "into", "combined before"], crossing)
        + "</main>\n<footer>Made by Gnomon; needs no network.</footer>\n"
    )
    return "".join(framed(plan.name, [body], style=_STYLE))


def svg(plan: Plan) -> str:
    """The stages from left to right, each after those that it reads, with what they send; jobs one below another."""
    places: dict[int, tuple[int, int, int, int]] = {}
    right = top = _PADDING
    parts: list[str] = []
    for job in plan.jobs:
        if len(plan.jobs) > 1:
            parts.append(_text(_PADDING, top + _LINE, f"job {job.number}: {job.name}", "soft"))
            top += 2 * _LINE
        ends = _column_places([plan.stages[number] for number in job.stages], places, top)
        right, top = max(right, ends[0]), ends[1] + _BETWEEN // 2
    for stage in plan.stages:
        parts += [_arrow(plan.stages[parent], stage, places) for parent in stage.parents]
    parts += [_box(stage, places[stage.number]) for stage in plan.stages]
    arrow = "<path d='M0 0 L8 4 L0 8 z'/>"
    head = f"<marker id='end' markerWidth='8' markerHeight='8' refX='8' refY='4' orient='auto'>{arrow}</marker>"
    size = f"width='{right + _PADDING}' height='{top + _PADDING}' viewBox='0 0 {right + _PADDING} {top + _PADDING}'"
    title = safe(f"The stages of {plan.name}")
    return f"<svg {size} role='img' aria-label='{title}'>\n<defs>{head}</defs>\n{''.join(parts)}</svg>"


def _column_places(job: Sequence[PlanStage], places: dict[int, tuple[int, int, int, int]], top: int) -> tuple[int, int]:
    """Where the boxes of one job go: a column for each distance from the sources. Returns the right and lower ends."""
    level: dict[int, int] = {}
    for stage in job:
        level[stage.number] = 1 + max((level[parent] for parent in stage.parents), default=-1)
    left, lowest = _PADDING, top
    for column in range(1 + max(level.values(), default=0)):
        members = [stage for stage in job if level[stage.number] == column]
        width = max(max(map(len, _lines(stage))) for stage in members) * _CHARACTER + 2 * _PADDING
        y = top
        for stage in members:
            height = len(_lines(stage)) * _LINE + _PADDING
            places[stage.number] = (left, y, width, height)
            y += height + _BETWEEN // 2
        lowest = max(lowest, y)
        widest = max((len(_label(stage)) for stage in members), default=0)
        left += width + max(_BETWEEN, widest * _CHARACTER)
    return left, lowest


def _lines(stage: PlanStage) -> list[str]:
    tasks = f"{stage.tasks:,} task{'' if stage.tasks == 1 else 's'}"
    return [f"stage {stage.number}: {tasks}{', skipped' * stage.skipped}", *chain(stage)]


def _label(stage: PlanStage) -> str:
    return "" if stage.writes is None else sending(stage.writes)


def _box(stage: PlanStage, place: tuple[int, int, int, int]) -> str:
    x, y, width, height = place
    texts = "".join(
        _text(x + _PADDING, y + (row + 1) * _LINE - 2, line, "" if row else "soft")
        for row, line in enumerate(_lines(stage))
    )
    kind = " class='skipped'" if stage.skipped else ""
    return f"<g{kind}><rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6'/>{texts}</g>\n"


def _arrow(start: PlanStage, end: PlanStage, places: dict[int, tuple[int, int, int, int]]) -> str:
    x, y, width, height = places[start.number]
    to_x, to_y, _, to_height = places[end.number]
    y, to_y = y + height // 2, to_y + to_height // 2
    begin, middle = x + width, (x + width + to_x) // 2
    path = f"<path d='M{begin} {y} C{middle} {y} {middle} {to_y} {to_x} {to_y}' marker-end='url(#end)'/>"
    beside = y - 6 if to_y >= y else y + 16
    return path + _text(begin + _PADDING, beside, _label(start), "soft") + "\n"


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f"<text x='{x}' y='{y}' class='{kind}'>{safe(text)}</text>"


def _table(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return section(heading, table(heading, heads, rows, texts=range(len(heads)))) if rows else ""
