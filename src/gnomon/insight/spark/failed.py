"""What failed in a stage attempt, and what that cost."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.insight.explain.phrases import Numbers, counted
from gnomon.insight.spark.figures import Finding
from gnomon.insight.spark.meanings import of_failure
from gnomon.insight.spark.words import time
from gnomon.systems.spark.application import StageAttempt


def retries(attempt: StageAttempt) -> Iterator[Finding]:
    """Attempts that failed by themselves, by what they say."""
    failed = attempt.tasks.failed
    groups: dict[tuple[str, str], list[int]] = {}
    for place, why in failed.reasons():
        if why.reason not in ("FetchFailed", "TaskKilled", "Resubmitted", "TaskCommitDenied"):
            groups.setdefault((of_failure(why).rule, why.kind), []).append(place)
    whys = dict(failed.reasons())
    for (rule, _), places in groups.items():
        lost = int(failed.duration_ms[places].sum())
        tasks = len({int(failed.column("index")[place]) for place in places})
        text = f"{counted(len(places), 'attempt')} of {counted(tasks, 'task')} failed, and {time(lost)} of work with "
        text += f"{'it' if len(places) == 1 else 'them'}: {of_failure(whys[places[-1]]).what}"
        text += " (so the last of them)" if len(places) > 1 and rule == "exception" else ""
        numbers: Numbers = {"attempts": len(places), "tasks": tasks, "lost_s": lost / 1000}
        longest = int(failed.duration_ms[places].max())
        yield Finding(rule, f"stage/{attempt.stage.id}", text, longest, numbers)


def read_failures(attempt: StageAttempt) -> Iterator[Finding]:
    """Tasks that could not fetch what they read."""
    failed = attempt.tasks.failed
    those = [why for _, why in failed.reasons() if why.reason == "FetchFailed"]
    if not those:
        return
    lost = sorted({why.executor for why in those} - {""})
    whose = f" of executor{'s' * (len(lost) > 1)} {', '.join(lost)}" if lost else ""
    text = f"{counted(len(those), 'task')} could not fetch shuffle output{whose}: the attempt ended, the lost map "
    text += "outputs are made again, and what was not done of this stage is run again"
    yield Finding(
        "fetch-failed", f"stage/{attempt.stage.id}", text, int(failed.duration_ms.max()), {"tasks": len(those)}
    )
