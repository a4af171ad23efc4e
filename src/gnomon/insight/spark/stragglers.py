"""Tasks that take much longer than the others of their stage, and why: their data, their node, or what they did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.spark.figures import Figures, Finding, median_of
from gnomon.insight.spark.words import share, size, time
from gnomon.systems.spark.tasks import IntArray

SKEW_DATA: Final = 2
"""Its data is to blame where it has so many times the median."""
SLOW_NODE_E2: Final = 150
"""An executor is slow whose median task takes so many hundredths of the median elsewhere."""


def stragglers(figures: Figures) -> Iterator[Finding]:
    """The worst of those that have more data than others, and the worst of the others."""
    rows = figures.stragglers
    if not len(rows) or len(figures.good) < 2:
        return
    skewed = np.array([_ratio(figures, row) >= SKEW_DATA for row in rows.tolist()])
    for group in (rows[skewed], rows[~skewed]):
        if len(group):
            yield _because(figures, int(group[0]), _cost(figures, group), len(group))


def _cost(figures: Figures, rows: IntArray) -> int:
    """How much earlier the last task ended if some took no longer than the median."""
    others = np.setdiff1d(np.arange(len(figures.good)), rows)
    finish, launch = figures.good.column("finish_ms"), figures.good.column("launch_ms")
    fair = max(int(finish[others].max(initial=0)), int((launch[rows] + figures.median).max()))
    return max(0, int(finish.max()) - fair)


def _ratio(figures: Figures, row: int) -> float:
    """How many times the median of the data a task has, in bytes or records."""
    found = 0.0
    for column in (figures.data, figures.records):
        own, median = int(column[row]), median_of(column)
        found = max(found, own / median if median else float(own > 0) * SKEW_DATA)
    return found


def _because(figures: Figures, row: int, cost: int, alike: int) -> Finding:
    """Why a task takes so long: its data, its node, or what else the metrics show."""
    task = figures.good[row]
    numbers: Numbers = {
        "longest_s": task.duration_ms / 1000,
        "median_s": figures.median / 1000,
        "stragglers": alike,
        "tasks": len(figures.good),
    }
    name = (
        f"task {task.index} ({time(task.duration_ms)}, the median of {len(figures.good):,} is {time(figures.median)})"
    )
    where = f"task/{figures.attempt.stage.id}.{task.index}"
    if _ratio(figures, row) >= SKEW_DATA:
        return _skew(figures, row, Finding("skew", where, name, cost, numbers))
    slow = _slow_executor(figures, row)
    if slow is not None:
        executor, host, mine, elsewhere = slow
        text = f"{name} ran on executor {executor} ({host}), where tasks take {time(mine)} and elsewhere "
        text += f"{time(elsewhere)}, with as much data: that node is slow"
        return Finding("slow-node", f"executor/{executor}", text, cost, numbers)
    rule, why = _inside(figures, row)
    return Finding(rule, where, f"{name} has no more data than others; {why}", cost, numbers)


def _skew(figures: Figures, row: int, finding: Finding) -> Finding:
    """A task that has more data than others: a hot key, a larger piece of a file, or a cached block that is gone."""
    task, cached = figures.good[row], [rdd for rdd in figures.attempt.stage.rdds if rdd.cached]
    own, records = int(figures.data[row]), int(figures.records[row])
    read = task.shuffle_read_bytes or task.read_records
    numbers: Numbers = {
        **finding.numbers,
        "bytes": own,
        "median_bytes": median_of(figures.data),
        "records": records,
        "median_records": median_of(figures.records),
    }
    if not read and cached:
        text = f"{finding.text} read {records:,} records where the median task read {numbers['median_records']:,}: its "
        text += f"partition of {_short(cached[0].name)} was not in the cache any more, and was computed again"
        return Finding("cache-miss", finding.object, text, finding.cost_ms, numbers)
    of_all = share(records, int(figures.records.sum())) if records else share(own, int(figures.data.sum()))
    median = f"{size(median_of(figures.data))} and {median_of(figures.records):,} records"
    text = f"{finding.text} reads {size(own)} and {records:,} records, the median task {median}: partition "
    text += f"{task.partition} has {of_all} of the stage's data"
    text += ", so one hot key or few are in it" if read else ": a file or split that is larger than the others"
    return Finding("skew" if read else "uneven-input", finding.object, text, finding.cost_ms, numbers)


def _slow_executor(figures: Figures, row: int) -> tuple[str, str, int, int] | None:
    """The executor of a task, if the tasks on it are slower than the same elsewhere."""
    executors = figures.good.column("executor")
    here = executors == executors[row]
    if here.all() or here.sum() < 2:
        return None
    mine, elsewhere = median_of(figures.duration[here]), median_of(figures.duration[~here])
    if mine * 100 < SLOW_NODE_E2 * elsewhere:
        return None
    return figures.good.executor(row), figures.good.host(row), mine, elsewhere


def _inside(figures: Figures, row: int) -> tuple[str, str]:
    """What a task did with its time."""
    task = figures.good[row]
    cpu = task.cpu_ns // 1_000_000
    spent = {
        "gc": (task.gc_ms, f"{time(task.gc_ms)} of it is GC"),
        "fetch-wait": (task.fetch_wait_ms, f"it waited {time(task.fetch_wait_ms)} for shuffle blocks of others"),
        "deserialize": (
            task.deserialize_ms,
            f"{time(task.deserialize_ms)} of it went into getting ready "
            "(deserialising the task, loading classes: the first task of an executor)",
        ),
        "spill": (
            task.duration_ms // 2 if task.disk_spilled_bytes else 0,
            f"it spilled {size(task.disk_spilled_bytes)}",
        ),
        "scheduler-delay": (
            task.delay_ms,
            "most of it is the driver's (scheduler delay)",
        ),
    }
    if task.task_id in figures.fresh:
        return (
            "warm-up",
            "it is the first task on its slot, where all had still to be started (JVM, classes, Python worker)",
        )
    rule = max(spent, key=lambda name: spent[name][0])
    if spent[rule][0] * 3 >= task.duration_ms:
        return rule, spent[rule][1]
    if cpu * 2 >= task.run_ms > 0:
        return "compute", f"it computed for {time(cpu)}: its records are more work than those of others"
    return "straggler", (
        f"the JVM used {time(cpu)} of CPU in {time(task.run_ms)}: it waited for something outside "
        "(a Python worker, a disk, a service, a slow machine)"
    )


def _short(name: str) -> str:
    """The first line of a name, which may be a whole plan."""
    line = name.partition("\n")[0]
    return line if len(line) <= 60 else f"{line[:57]}..."
