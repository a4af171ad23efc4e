"""The application as a whole: where its time went, why, and what would make it shorter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.insight.explain import Explanation
from gnomon.insight.explain.changes import Change
from gnomon.insight.explain.phrases import counted
from gnomon.insight.listing import Listing
from gnomon.insight.spark.abort import abort_of
from gnomon.insight.spark.advice import (
    TRIED_ABOUT,
    Tell,
    Tried,
    base_ms,
    change_of,
    difference,
    ideas_for,
    ideas_for_all,
    is_worth,
    silent,
    tried,
)
from gnomon.insight.spark.bench import Bench, bench_of
from gnomon.insight.spark.events import links, mishaps
from gnomon.insight.spark.figures import Finding
from gnomon.insight.spark.idleness import idleness
from gnomon.insight.spark.path import Part, critical_path, parts
from gnomon.insight.spark.repairs import repairs
from gnomon.insight.spark.slow import findings
from gnomon.insight.spark.tables import NOTHING, cut, name_of
from gnomon.insight.spark.words import share, time
from gnomon.systems.spark.application import Application, StageAttempt

PARTS_MAX: Final = 8
CAUSES_MAX: Final = 8
STAGES_TRIED: Final = 3
"""For so many stages, those with the most of the critical path, changes are tried."""


@dataclass(frozen=True)
class Cause:
    """A cause, and the stage attempt that shows it."""

    attempt: StageAttempt
    finding: Finding


def explain_application(application: Application, tell: Tell = silent) -> Explanation:
    """Why the application took so long, or failed. ``tell``: see :data:`gnomon.insight.spark.advice.Tell`."""
    path = parts(critical_path(application))
    total = application.last_ms - application.started_ms
    causes = causes_of(application, path)
    idle = idleness(application)
    changes, useless, notes = advise(application, path, causes, tell)
    listings = [where_time_went(path, total), why_slow(causes), *([idle.listing] if idle else []), *useless]
    failed = [job for job in application.jobs.values() if job.result == "JobFailed"]
    abort = abort_of(application)
    said = [*([abort.text] if abort else []), _summary(path, total, causes), *([idle.text] if idle else [])]
    text = said[0] + "".join(f". {one[:1].upper()}{one[1:]}" for one in said[1:])
    return Explanation(
        subject=f"app/{application.id or application.name}",
        state="failed" if failed else "running" if application.ended_ms is None else "succeeded",
        summary=text,
        native=(failed[0].error.partition("\n")[0] if failed else "") or text,
        chain=links(application, mishaps(application)),
        changes=(*repairs(application), *changes, *(idle.changes if idle else ())),
        listings=tuple(one for one in listings if one.rows),
        notes=(*application.notes, *notes),
    )


def causes_of(application: Application, path: Sequence[Part]) -> list[Cause]:
    """What makes the stages on the critical path slow, the most expensive first; of others nothing hangs on."""
    found = []
    for part in path:
        if part.attempt is not None:
            for finding in findings(application, part.attempt):
                if finding.cost_ms > 0:
                    found.append(Cause(part.attempt, finding))
    return sorted(found, key=lambda one: -one.finding.cost_ms)


def where_time_went(path: Sequence[Part], total: int) -> Listing:
    """The critical path by its parts."""
    rows = []
    for part in path[:PARTS_MAX]:
        what = part.what
        if part.attempt is not None:
            what = f"stage {name_of(part.attempt)} {cut(part.attempt.stage.name, 50)}"
        longest = part.longest
        shown = NOTHING if longest is None else f"{longest.index} ({time(longest.duration_ms)})"
        rows.append([what, time(part.total_ms), share(part.total_ms, total), str(part.tasks or NOTHING), shown])
    rest = path[PARTS_MAX:]
    if rest:
        spent = sum(part.total_ms for part in rest)
        rows.append([f"{len(rest)} others", time(spent), share(spent, total), NOTHING, NOTHING])
    headers = ["PART", "TIME", "SHARE", "TASKS", "LONGEST TASK"]
    return Listing(headers, rows, right=(1, 2, 3), title="WHERE THE TIME WENT (the critical path)")


def why_slow(causes: Sequence[Cause]) -> Listing:
    """Causes with what they cost their stage."""
    rows = []
    for one in causes[:CAUSES_MAX]:
        rows.append([name_of(one.attempt), one.finding.rule, time(one.finding.cost_ms), one.finding.text])
    return Listing(["STAGE", "CAUSE", "COSTS", "WHAT"], rows, right=(0, 2), title="WHY ITS STAGES ARE SLOW")


def advise(
    application: Application, path: Sequence[Part], causes: Sequence[Cause], tell: Tell
) -> tuple[list[Change], list[Listing], list[str]]:
    """Changes that are worth it, what was tried and is not, and what the simulation is worth."""
    bench = bench_of(application)
    tell(0, TRIED_ABOUT)
    base = base_ms(bench)
    if not base:
        return [], [], ["no changes were tried: no job has a task that succeeded"]
    ideas = []
    stages = [part.attempt for part in path if part.attempt is not None]
    for attempt in dict.fromkeys(stages[:STAGES_TRIED]):
        ideas += ideas_for(bench, attempt, [one.finding for one in causes if one.attempt is attempt])
    ideas = [*ideas_for_all(bench), *ideas]
    return told(bench, base, tried(bench, ideas, tell), left=len(ideas))


def told(
    bench: Bench, base: int, found: Sequence[Tried], *, left: int
) -> tuple[list[Change], list[Listing], list[str]]:
    """Changes, the table of those that bring little, and a note on what the times are. ``left``: how many ideas there
    were."""
    good = sorted((one for one in found if is_worth(one, base)), key=lambda one: (one.idea.kind, -one.gain(base)))
    rest = [one for one in found if not is_worth(one, base) and not one.idea.saves]
    rows = [[one.idea.what, time(one.span_ms), difference(one.gain(base), base)] for one in rest]
    useless = [Listing(["TRIED", "TAKES", "CHANGE"], rows, right=(1, 2), title="WHAT WOULD NOT HELP")] if rows else []
    first, last = bench.application.jobs_ms
    ended = all(job.ended_ms is not None for job in bench.application.jobs.values())
    until = "" if ended else " until the log stops"
    slots = sum(bench.executors)
    note = (
        f"the jobs took {time(last - first)}{until}; run again by Spark's rules on {counted(slots, 'slot')}, without "
    )
    note += f"failures, they take {time(base)}: changes are compared with that"
    notes = [note]
    if bench.simple:
        notes.append("the log is large: pools and second copies are left out of what is run again")
    if left > len(found):
        notes.append(f"{counted(left - len(found), 'more change')} not tried: the log is large")
    return [change_of(one, base) for one in good], useless, notes


def _summary(path: Sequence[Part], total: int, causes: Sequence[Cause]) -> str:
    stages = [part for part in path if part.attempt is not None]
    driver = sum(part.total_ms for part in path if part.attempt is None)
    text = f"it took {time(total)}"
    if stages:
        first = stages[0]
        assert first.attempt is not None
        text += f", {time(first.total_ms)} of it ({share(first.total_ms, total)}) in stage {name_of(first.attempt)} "
        text += f"({first.attempt.stage.operation})"
    text += f", {time(driver)} ({share(driver, total)}) in the driver (starting, planning, between jobs)"
    if causes:
        cause = causes[0]
        most = "Of the stages, what costs most" if 2 * driver > total else "What costs most"
        text += f". {most}, {time(cause.finding.cost_ms)} in stage {name_of(cause.attempt)}: {cause.finding.text}"
    return text
