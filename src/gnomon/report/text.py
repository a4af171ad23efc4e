"""Tables for the terminal that read like kubectl's: upper-case headers, aligned columns, no boxes.

Everything is a ``rich.text.Text``, so that colour is the terminal's business and no text of the user's is taken for
markup. Control characters in names are shown, never sent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text

from gnomon.engine.log import Reason
from gnomon.report.columns import NOTHING, Column, columns, duration, number, outstanding, percent
from gnomon.report.fitting import ELLIPSIS, LINE, fit
from gnomon.report.recovered import recovery_facts

GAP = "   "
Cell = str | Text


@dataclass(frozen=True)
class Variant:
    """One row of a comparison, by paths in the metrics such as ``wait_s.mean``.

    ``spread``: half the width of the confidence interval, where there are several seeds; ``best``: where this variant
    is best; ``difference``: to the first variant, as mean and half width (None with one seed).
    """

    name: str
    metrics: Mapping[str, Any]
    spread: Mapping[str, float] = field(default_factory=dict)
    best: Collection[str] = ()
    difference: Mapping[str, tuple[float, float | None]] = field(default_factory=dict)


def plain(text: object) -> str:
    r"""Text of unknown origin on one line, with control characters written out.

    >>> plain("a\tb\x1b[31m")
    'a\\tb\\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def reason(code: Reason) -> str:
    """A reason in words.

    >>> reason(Reason.DEADLOCK), reason(Reason.AT_ESTIMATE)
    ('deadlock: tasks hold what the others wait for', 'at estimate')
    """
    return _STOPPED.get(code) or code.name.lower().replace("_", " ")


_STOPPED = {
    Reason.LIMIT_EVENTS: "its limit of events is reached",
    Reason.LIMIT_TIME: "its horizon is reached",
    Reason.LIMIT_REPEATS: "it makes no progress any more: what is left waits for ever, or its attempts fail again and "
    "again (until gives it an end)",
    Reason.DEADLOCK: "deadlock: tasks hold what the others wait for",
    Reason.INTERRUPTED: "it was interrupted",
}


def table(headers: Sequence[str], rows: Iterable[Sequence[Cell]], *, right: Collection[int] = ()) -> Text:
    """Rows below their headers; columns in ``right`` are flush right, the last one is not padded. They are fitted into
    a line of the length that :data:`gnomon.report.fitting.LINE` says.

    >>> print(table(["NAME", "WAIT"], [["easy", "3s"], ["conservative", "12s"]], right=[1]).plain)
    NAME           WAIT
    easy             3s
    conservative    12s
    """
    headers = [plain(header) for header in headers]
    cells = [[Text(header, style="bold") for header in headers]]
    cells += [[cell if isinstance(cell, Text) else Text(plain(cell)) for cell in row] for row in rows]
    widths = [max(row[i].cell_len for row in cells) for i in range(len(headers))]
    length, hidden = LINE.get(), 0
    if length is not None and sum(widths) + len(GAP) * (len(widths) - 1) > length:
        cells, right, hidden = fit(cells, right, len(GAP), length)
        widths = [max(row[i].cell_len for row in cells) for i in range(len(cells[0]))]
    lines = []
    for row in cells:
        line = Text()
        for i, cell in enumerate(row):
            padding = " " * (widths[i] - cell.cell_len)
            line.append_text(Text.assemble(padding, cell) if i in right else Text.assemble(cell, padding))
            line.append(GAP)
        line.rstrip()
        lines.append(line)
    if hidden:
        names = ", ".join(header.strip() for header in headers[-hidden:])
        lines.append(Text(f"{ELLIPSIS} {names}: in a wider terminal, or with -o wide", style="dim"))
    return Text("\n").join(lines)


def comparison(variants: Sequence[Variant], *, wide: bool = False) -> Text:
    """One row a variant; the best value of a column has a star (and is bold on a terminal).

    With several seeds (and when it is to be wide) the differences to the first variant follow; those that may be
    chance are in parentheses.
    """
    shown = columns([variant.metrics for variant in variants], wide=wide)
    marked = [outstanding(column, [variant.best for variant in variants]) for column in shown]
    rows: list[list[Cell]] = []
    for index, variant in enumerate(variants):
        row: list[Cell] = [variant.name]
        for column, winners in zip(shown, marked, strict=True):
            text = column.text(variant.metrics) + _spread(column, variant.spread.get(column.key))
            row.append(Text(f"{text}*", style="bold") if index in winners else text + " " * bool(winners))
        rows.append(row)
    headers = ["VARIANT", *(column.header + " " * bool(w) for column, w in zip(shown, marked, strict=True))]
    blocks = [table(headers, rows, right=range(1, len(headers)))]
    if len(variants) > 1 and (wide or any(variant.spread for variant in variants)):
        points = "; %: points" if any(column.write is percent for column in shown) else ""
        title = f"DIFFERENCE TO {plain(variants[0].name)} (in parentheses: may be chance; =: none{points})"
        headers = ["VARIANT", *(column.header for column in shown)]
        lines = [[v.name, *(_difference(column, v.difference) for column in shown)] for v in variants[1:]]
        blocks.append(titled(title, table(headers, lines, right=range(1, len(headers)))))
    return Text("\n\n").join(blocks)


def _spread(column: Column, half_width: float | None) -> str:
    """The confidence interval behind a value, unless it is too small to be seen."""
    text = column.write(half_width or 0)
    return "" if text == column.write(0) else f" ±{text}"


def _difference(column: Column, found: Mapping[str, tuple[float, float | None]]) -> str:
    if column.key not in found:
        return NOTHING
    mean, half_width = found[column.key]
    text, spread = column.write(abs(mean)), _spread(column, half_width)
    if text == column.write(0) and not spread:
        return "="
    text = f"{'+' if mean > 0 else '-' if mean < 0 else ''}{text}{spread}"
    return text if half_width is None or abs(mean) > half_width else f"({text})"


_SPREADS = (
    ("WAIT", "wait_s", duration),
    ("TURNAROUND", "turnaround_s", duration),
    ("SLOWDOWN", "bounded_slowdown", number),
)


def summary(metrics: Mapping[str, Any], *, wide: bool = False) -> Text:
    """The metrics of one run: how many tasks got where, how long they waited, what was used, what went
    wrong."""
    counts = {state: metrics.get(state, 0) for state in ("rejected", "killed", "failed", "running", "waiting")}
    shown = {"jobs": metrics["jobs"], "done": metrics["done"], **{s: n for s, n in counts.items() if n or wide}}
    first = [number(count) for count in shown.values()]
    headers = [state.upper() for state in shown]
    for column in columns([metrics], wide=wide):
        if "." not in column.key and column.key not in counts and column.header.lower() not in shown:
            headers.append(column.header)
            first.append(column.text(metrics))
    blocks = [table(headers, [first])]
    points = ("mean", "p50", "p90", "p99", "max")
    spreads = [
        [name, *(NOTHING if spread.get(p) is None else write(spread[p]) for p in points)]
        for name, key, write in _SPREADS
        if (spread := metrics.get(key)) and any(spread.get(p) is not None for p in points)
    ]
    if spreads:
        blocks.append(table(["", "MEAN", "P50", "P90", "P99", "MAX"], spreads, right=range(1, 6)))
    used, held = metrics.get("utilisation") or {}, metrics.get("allocated") or {}
    if used:
        rows = [[name, *(NOTHING if d.get(name) is None else percent(d[name]) for d in (used, held))] for name in used]
        blocks.append(table(["RESOURCE", "USED", "ALLOCATED"], rows, right=(1, 2)))
    if facts := recovery_facts(metrics.get("recovery")):
        blocks.append(table(["RECOVERY", ""], facts))
    return Text("\n\n").join(blocks)


_CALIBRATION = (
    Column("COMPARED", "compared", number),
    Column("RECORDED", "recorded_wait_s.mean", duration),
    Column("SIMULATED", "simulated_wait_s.mean", duration),
    Column("BIAS", "error_s.bias", duration),
    Column("MAE", "error_s.mae", duration),
    Column("RMSE", "error_s.rmse", duration),
    Column("OFF-P50", "error_s.absolute_p50", duration, wide=True),
    Column("OFF-P90", "error_s.absolute_p90", duration, wide=True),
    Column("WITHIN-1M", "within_1_min", percent),
    Column("WITHIN-5%", "within_5_percent", percent, wide=True),
    Column("WITHIN-10%", "within_10_percent", percent, wide=True),
    Column("TAU-B", "wait_kendall_tau_b", number),
    Column("RHO", "wait_spearman_rho", number, wide=True),
    Column("TAU-B-STARTS", "start_kendall_tau_b", number, wide=True),
)
_BY_SIZE = (
    Column("TASKS", "tasks", number),
    Column("RECORDED", "recorded_mean_s", duration),
    Column("SIMULATED", "simulated_mean_s", duration),
    Column("BIAS", "error_s.bias", duration),
    Column("MAE", "error_s.mae", duration),
    Column("TAU-B", "wait_kendall_tau_b", number),
)


def calibration(found: Sequence[tuple[str, Mapping[str, Any]]], *, wide: bool = False) -> Text:
    """Simulated against recorded waits, a row a variant; wide adds what that is by size of task."""
    shown = [column for column in _CALIBRATION if wide or not column.wide]
    rows = [[name, *(column.text(one) for column in shown)] for name, one in found]
    headers = ["VARIANT", *(column.header for column in shown)]
    blocks = [table(headers, rows, right=range(1, len(headers)))]
    if wide:
        rows = [
            [name, size["processors"], *(column.text(size) for column in _BY_SIZE)]
            for name, one in found
            for size in one["by_size"]
        ]
        headers = ["VARIANT", "PROCESSORS", *(column.header for column in _BY_SIZE)]
        blocks.append(table(headers, rows, right=range(1, len(headers))))
    return Text("\n\n").join(blocks)


_REPRODUCED = (
    Column("COMPARED", "compared", number),
    Column("RECORDED", "recorded_wait_s.mean", duration),
    Column("SIMULATED", "simulated_wait_s.mean", duration),
    Column("OFF-MEAN", "error_s.mae", duration),
    Column("OFF-P50", "error_s.absolute_p50", duration),
    Column("OFF-P90", "error_s.absolute_p90", duration),
    Column("WITHIN-1M", "within_1_min", percent),
    Column("WITHIN-5%", "within_5_percent", percent),
    Column("TAU-B", "wait_kendall_tau_b", number),
    Column("TAU-B-STARTS", "start_kendall_tau_b", number),
)


def reproduced(name: str, found: Mapping[str, Any]) -> Text:
    """How well a configuration reproduces what was recorded: mean waits, by how much starts are off, how far the order
    agrees (Kendall's tau-b of the waits, and of the starts)."""
    headers = [column.header for column in _REPRODUCED]
    row = [column.text(found) for column in _REPRODUCED]
    title = f"HOW WELL {plain(name)} REPRODUCES WHAT WAS RECORDED (OFF: of starts)"
    return titled(title, table(headers, [row], right=range(len(headers))))


def titled(title: str, body: Text) -> Text:
    """A block below its title."""
    return Text("\n").join([Text(title, style="dim"), body])
