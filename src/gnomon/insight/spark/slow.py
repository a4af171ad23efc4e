"""What makes a stage attempt slow: each cause that its tasks show, with the numbers and what it costs.

``cost_ms`` is how much sooner the stage would be done without it, as far as that can be told from the log alone; what a
change brings the whole application is simulated (:mod:`gnomon.insight.spark.advice`). Thresholds are those at which
Spark's UI or its own rules take notice, where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gnomon.insight.explain.phrases import counted
from gnomon.insight.spark.failed import read_failures, retries
from gnomon.insight.spark.figures import Figures, Finding, figures_of, median_of
from gnomon.insight.spark.stragglers import stragglers
from gnomon.insight.spark.words import share, size, time
from gnomon.systems.spark.application import Application, StageAttempt

GC_E2: Final = 10
"""Spark's UI marks executors whose GC takes more than so many hundredths of the task time."""
WAIT_E2: Final = 10
"""Waiting for blocks is told of that takes more than so many hundredths of the task time."""
SHORT_MS: Final = 200
"""Tasks this short are mostly the driver's work."""


def findings(application: Application, attempt: StageAttempt) -> list[Finding]:
    """All causes, the most expensive first."""
    figures = figures_of(application, attempt)
    found = [*retries(attempt), *read_failures(attempt)]
    if figures is not None:
        for look in _LOOKS:
            found += look(figures)
    return sorted(found, key=lambda one: -one.cost_ms)


def _gc(figures: Figures) -> Iterator[Finding]:
    gc, run = _sum(figures, "gc_ms"), _sum(figures, "run_ms")
    if gc * 100 > GC_E2 * run > 0:
        text = f"{share(gc, run)} of the task time is GC ({time(gc)} of {time(run)}): the heap is too small for what "
        text += "runs in it at a time"
        yield Finding(
            "gc", _name(figures), text, figures.wall * gc // max(run, 1), {"gc_s": gc / 1000, "run_s": run / 1000}
        )


def _spill(figures: Figures) -> Iterator[Finding]:
    memory, disk = _sum(figures, "memory_spilled_bytes"), _sum(figures, "disk_spilled_bytes")
    if memory or disk:
        column = figures.good.column("memory_spilled_bytes")
        count = int((column > 0).sum())
        text = f"{counted(count, 'task')} spilled {size(memory)} of memory, {size(disk)} on disk: their share of "
        text += f"execution memory is too small for {size(_most(figures))} a task"
        spilling = int(figures.duration[column > 0].sum())
        cost = figures.wall * spilling // max(int(figures.duration.sum()), 1) // 3
        yield Finding("spill", _name(figures), text, cost, {"memory_bytes": memory, "disk_bytes": disk, "tasks": count})


def _fetch_wait(figures: Figures) -> Iterator[Finding]:
    wait, run = _sum(figures, "fetch_wait_ms"), _sum(figures, "run_ms")
    if wait * 100 > WAIT_E2 * run > 0:
        text = f"{share(wait, run)} of the task time is waiting for shuffle blocks ({time(wait)}): the executors that "
        text += "serve them, or the network, are too slow"
        yield Finding("fetch-wait", _name(figures), text, figures.wall * wait // run, {"wait_s": wait / 1000})


def _few_tasks(figures: Figures) -> Iterator[Finding]:
    count = max(len(figures.good), figures.attempt.planned or 0)
    if count < figures.slots and figures.wall >= SHORT_MS:
        total = int(figures.duration.sum())
        cost = max(0, figures.wall - max(total // figures.slots, 1))
        text = f"{counted(count, 'task')} for {figures.slots:,} slots: {counted(figures.slots - count, 'slot')} had "
        text += "nothing to do in this stage"
        yield Finding("few-tasks", _name(figures), text, cost // 2, {"tasks": count, "slots": figures.slots})


def _small_tasks(figures: Figures) -> Iterator[Finding]:
    count = len(figures.good)
    if count < 2 * figures.slots or figures.median >= SHORT_MS:
        return
    run, total = _sum(figures, "run_ms"), int(figures.duration.sum())
    text = f"{counted(count, 'task')} of {time(figures.median)} each: {share(total - run, total)} of their time is "
    text += "starting them, not running them"
    if (total - run) * 4 > total:
        cost = min(figures.wall * (total - run) // max(total, 1), total - run)  # a stage may have waited for others
        yield Finding("small-tasks", _name(figures), text, cost, {"tasks": count, "median_s": figures.median / 1000})


def _locality(figures: Figures) -> Iterator[Finding]:
    level = figures.good.column("locality")
    far, near = level >= 3, (level >= 0) & (level <= 1)
    if not far.any() or not near.any():
        return
    slow, fast = median_of(figures.duration[far]), median_of(figures.duration[near])
    if slow > 1.5 * max(fast, 1):
        text = f"{counted(int(far.sum()), 'task')} ran far from their data (RACK_LOCAL or ANY) and took {time(slow)}, "
        text += f"those near it {time(fast)}"
        cost = (slow - fast) * int(far.sum()) // figures.slots
        yield Finding("locality", _name(figures), text, cost, {"far": int(far.sum()), "near": int(near.sum())})


def _name(figures: Figures) -> str:
    return f"stage/{figures.attempt.stage.id}"


def _sum(figures: Figures, column: str) -> int:
    return int(figures.good.column(column).sum())


def _most(figures: Figures) -> int:
    return int(max(figures.data.max(), figures.good.column("memory_spilled_bytes").max()))


_LOOKS: Final[tuple[Callable[[Figures], Iterator[Finding]], ...]] = (
    stragglers,
    _gc,
    _spill,
    _fetch_wait,
    _few_tasks,
    _small_tasks,
    _locality,
)
