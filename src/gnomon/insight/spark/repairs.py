"""What to change about what failed: for each kind of failure what Spark's words mean, and how the run is without it."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.insight.explain.changes import OWN, Change
from gnomon.insight.explain.phrases import counted
from gnomon.insight.spark.abort import abort_of
from gnomon.insight.spark.advice import base_ms
from gnomon.insight.spark.bench import bench_of
from gnomon.insight.spark.events import QUIET
from gnomon.insight.spark.meanings import Meaning, of_failure, of_loss
from gnomon.insight.spark.words import share, time
from gnomon.systems.spark.application import Application


def repairs(application: Application) -> tuple[Change, ...]:
    """A change for each kind of failure that has one; they are confirmed by running the jobs without failures."""
    found = dict(_meanings(application))
    if not found:
        return ()
    first, last = application.jobs_ms
    took, span = last - first, base_ms(bench_of(application))
    failed = abort_of(application) is not None
    if failed:
        effect = "then the job can end well"
    elif span and (took - span) * 50 > took:
        effect = f"without these failures the jobs take {time(span)} instead of {time(took)} "
        effect += f"(-{share(took - span, took)})"
    else:
        effect = "it costs little here"
    changes = []
    for meaning, count in found.items():
        text = f"{meaning.change} ({meaning.rule}, {counted(count, 'time')}): {effect}"
        changes.append(Change(text, "app", meaning.rule, None, None, float(OWN), confirmed=bool(span) and not failed))
    return tuple(changes)


def _meanings(application: Application) -> Iterator[tuple[Meaning, int]]:
    """What happened, and how often: each lost executor once, and failures that are not about one."""
    counts: dict[Meaning, int] = {}
    last = application.jobs_ms[1] if application.jobs else 0
    for one in application.executors.values():
        meaning = of_loss(one.reason)
        if one.removed_ms is not None and one.removed_ms < last and meaning.rule not in QUIET and meaning.change:
            counts[meaning] = counts.get(meaning, 0) + 1
    for attempt in application.attempts:
        for _, why in attempt.tasks.reasons():
            if why.reason == "ExecutorLostFailure":
                continue
            meaning = of_failure(why)
            if meaning.rule == "exception":
                meaning = Meaning(
                    "exception",
                    f"{why.class_name.rpartition('.')[2]} in the program's own code",
                    "correct the program, or what it does with the data that it met",
                )
            if why.reason == "FetchFailed":
                meaning = Meaning("fetch-failed", "shuffle output of a lost executor was missing", meaning.change)
            if meaning.change:
                counts[meaning] = counts.get(meaning, 0) + 1
    seen: set[str] = set()
    for meaning, count in counts.items():
        if meaning.rule not in seen:
            seen.add(meaning.rule)
            yield meaning, count
