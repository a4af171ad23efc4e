"""What failed in a stage attempt, and what that cost."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.spark.meanings import of_failure
from gnomon.insight.spark.profile import Finding
from gnomon.insight.spark.words import counted, time
from gnomon.systems.spark.application import StageAttempt


def retries(attempt: StageAttempt) -> Iterator[Finding]:
    """Attempts that failed by themselves, by what they say."""
    failed = attempt.tasks.failed
    groups: dict[tuple[str, str], list[int]] = {}
    for place in range(len(failed)):
        why = failed.why(place)
        if why is not None and why.reason not in ("FetchFailed", "TaskKilled", "Resubmitted", "TaskCommitDenied"):
            groups.setdefault((of_failure(why).rule, why.kind), []).append(place)
    for (rule, _), places in groups.items():
        last = failed.why(places[-1])
        assert last is not None
        lost = int(failed.duration_ms[places].sum())
        tasks = len({int(failed.column("index")[place]) for place in places})
        text = f"{counted(len(places), 'attempt')} of {counted(tasks, 'task')} failed, and {time(lost)} of work with "
        text += f"{'it' if len(places) == 1 else 'them'}: {of_failure(last).what}"
        text += " (so the last of them)" if len(places) > 1 and rule == "exception" else ""
        numbers: Numbers = {"attempts": len(places), "tasks": tasks, "lost_s": lost / 1000}
        longest = int(failed.duration_ms[places].max())
        yield Finding(rule, f"stage/{attempt.stage.id}", text, longest, numbers)


def read_failures(attempt: StageAttempt) -> Iterator[Finding]:
    """Tasks that could not fetch what they read."""
    failed = attempt.tasks.failed
    places = [place for place in range(len(failed)) if (why := failed.why(place)) and why.reason == "FetchFailed"]
    if not places:
        return
    lost = sorted({why.executor for place in places if (why := failed.why(place)) and why.executor})
    whose = f" of executor{'s' * (len(lost) > 1)} {', '.join(lost)}" if lost else ""
    text = f"{counted(len(places), 'task')} could not fetch shuffle output{whose}: the attempt ended, the lost map "
    text += "outputs are made again, and what was not done of this stage is run again"
    yield Finding(
        "fetch-failed", f"stage/{attempt.stage.id}", text, int(failed.duration_ms.max()), {"tasks": len(places)}
    )
