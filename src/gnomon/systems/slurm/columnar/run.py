"""A whole run in columns: from a scenario to its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import process_time

import numpy as np

from gnomon.engine.log import Kind, Log, Reason
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.cluster.job import BACKFILL, MAIN
from gnomon.systems.slurm.columnar.books import (
    ARRIVED,
    BY_BACKFILL,
    INSTANT,
    NOW,
    PRIORITY,
    RESOURCES,
    ROWS,
    TEXTS,
    Books,
)
from gnomon.systems.slurm.columnar.clock import LEFT, NEED_SPACE, OVER, go_on
from gnomon.systems.slurm.columnar.layout import Layout, lay_out
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.select.speed import Columns

_INSTANTS = 20_000
"""So many pass between two looks at the progress."""


class Details(Mapping[int, Mapping[str, int | str]]):
    """What rows tell besides their columns, put into words when it is asked for."""

    def __init__(self, layout: Layout, books: Books, rows: int) -> None:
        self._texts, self._conf = layout.texts, layout.state.conf
        self._books, self._rows = books, rows
        self._job = np.zeros(len(books.task), np.int32)
        self._job[books.task] = np.arange(len(books.task))

    def __len__(self) -> int:
        return int(np.count_nonzero(self._books.log_text[: self._rows]))

    def __iter__(self) -> Iterator[int]:
        yield from np.flatnonzero(self._books.log_text[: self._rows]).tolist()

    def __getitem__(self, row: int) -> Mapping[str, int | str]:
        text = int(self._books.log_text[row]) if 0 <= row < self._rows else 0
        if not text:
            raise KeyError(row)
        if text < 0:
            return self._start(row, BACKFILL if text == BY_BACKFILL else MAIN)
        return {"message": {RESOURCES: "Resources", PRIORITY: "Priority"}.get(text) or self._texts[text - TEXTS]}

    def _start(self, row: int, scheduler: str) -> Mapping[str, int | str]:
        b = self._books
        job = self._job[b.log_subject[row]]
        if b.width[job] < 2:
            return {"scheduler": scheduler}
        nodes = b.nodes[b.first[job] : b.first[job] + b.width[job]].tolist()
        return {"scheduler": scheduler, "nodes": compress([self._conf.nodes[n].name for n in nodes])}


def replay(
    scenario: Scenario, progress: Callable[[int, int, int], bool] | None = None, *, compiled: bool = True
) -> tuple[Log, Reason, float] | None:
    """The log of a run, what stopped it early, and the CPU seconds before it began; None: something in it is for the
    controller alone.

    ``progress(arrived, all, now_ns)`` returns False to stop it. ``compiled``: by compiled kernels.
    """
    begun = process_time()
    layout = lay_out(scenario, compiled=compiled)
    if layout is None:
        return None
    layout.state.selector.speed.form(go_on)
    laid_out = process_time() - begun
    held = Columns(layout.books)
    while True:
        answer, books = _go_on(layout, held), held.columns
        if answer == LEFT:
            return None
        if answer == OVER:
            return _log(layout, books, Reason.NONE), Reason.NONE, laid_out
        if answer == NEED_SPACE:
            held = Columns(_larger(books))
        elif progress and not progress(int(books.at[ARRIVED]), len(books.task), int(books.at[NOW])):
            return _log(layout, books, Reason.INTERRUPTED), Reason.INTERRUPTED, laid_out


def _go_on(layout: Layout, books: Columns[Books]) -> int:
    state = layout.state
    selector, of = state.selector, state.selector.speed.of
    return int(
        selector.speed.form(go_on)(
            of(selector.hardware_columns),
            of(state.occupancy.columns),
            of(layout.future.columns),
            of(selector.rows.columns),
            of(selector.trial),
            of(selector.store.columns),
            of(layout.chart),
            of(layout.line),
            of(books),
            _INSTANTS,
        )
    )


def _larger(books: Books) -> Books:
    """With twice the room for the log, and for nodes."""
    larger = {}
    for name in Books._fields:
        if name.startswith("log_") or name == "nodes":
            column = getattr(books, name)
            larger[name] = np.zeros(2 * len(column) + 64, column.dtype)
            larger[name][: len(column)] = column
    return books._replace(**larger)


def _log(layout: Layout, books: Books, stopped: Reason) -> Log:
    if stopped is not Reason.NONE:  # as the loop closes a run
        books = books if books.at[ROWS] < len(books.log_t) else _larger(books)
        last = int(books.at[NOW]), int(books.at[INSTANT]), int(Kind.STOP), -1, -1, -1, int(stopped), 0, 0
        for name, value in zip((name for name in Books._fields if name.startswith("log_")), last, strict=True):
            getattr(books, name)[books.at[ROWS]] = value
        books.at[ROWS] += 1
    rows = int(books.at[ROWS])
    b = books
    return Log(
        b.log_t[:rows],
        b.log_instant[:rows],
        b.log_kind[:rows],
        b.log_subject[:rows],
        b.log_node[:rows],
        b.log_cause[:rows],
        b.log_reason[:rows],
        b.log_value[:rows],
        Details(layout, b, rows),
    )
