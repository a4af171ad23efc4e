"""What the charts and the metrics of runs show, as a sentence each: the headings of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from gnomon.report.columns import duration, number, percent
from gnomon.report.figures import View, waits_s
from gnomon.report.text import plain


class Judged(Protocol):
    """A run by its name and metrics."""

    @property
    def name(self) -> str: ...
    @property
    def metrics(self) -> Mapping[str, Any]: ...


_TOLD: Final[tuple[tuple[str, str, Callable[[float], str]], ...]] = (
    ("rejected", "rejected tasks", number),
    ("failed", "failed tasks", number),
    ("killed", "killed tasks", number),
    ("waiting", "tasks left waiting", number),
    ("wait_s.mean", "mean wait", duration),
    ("bounded_slowdown.mean", "slowdown", number),
    ("recovery.work_lost_s", "work lost", duration),
    ("recovery.ran_twice.tasks", "tasks that ran twice", number),
    ("makespan_s", "makespan", duration),
)
"""What a comparison tells first, where the runs differ in it: the smaller the better."""

TOLD_MAX: Final = 3


def outcome(runs: Sequence[Judged]) -> str:
    """What came out, before everything else: of one run, or where several differ most."""
    if len(runs) == 1:
        return _of_one(runs[0].metrics)
    said, whole = [], True
    for path, words, write in _TOLD:
        found = [(_at(run.metrics, path), run.name) for run in runs]
        known = [(value, name) for value, name in found if value is not None]
        whole = whole and len(known) in (0, len(runs))
        if len(known) == len(runs):
            (least, best), (most, worst) = min(known, key=_first), max(known, key=_first)
            if write(least) != write(most):
                said.append(f"{words} {write(least)} with {best}, {write(most)} with {worst}")
    text = "; ".join(said[:TOLD_MAX])
    alike = "The runs come out alike in waits, slowdown and makespan." if whole else "Not all runs came to an end."
    return f"{text[:1].upper()}{text[1:]}." if text else alike


def _of_one(metrics: Mapping[str, Any]) -> str:
    done, jobs = metrics.get("done", 0), metrics.get("jobs", 0)
    tasks = "task" if jobs == 1 else "tasks"
    said = [f"{'All' if done == jobs and jobs > 1 else f'{done:,} of'} {jobs:,} {tasks} done"]
    if (makespan := _at(metrics, "makespan_s")) is not None:
        said[0] += f" in {duration(makespan)}"
    if (wait := _at(metrics, "wait_s.mean")) is not None:
        said.append(f"they waited {duration(wait)} on average" if wait else "none waited")
    used = {name: part for name, part in (metrics.get("utilisation") or {}).items() if part is not None}
    if used:
        scarce = max(used, key=lambda name: used[name])
        said.append(f"{percent(used[scarce])} of {scarce} in use")
    return "; ".join(said) + "."


def held(views: Sequence[View], resource: str) -> str:
    """How much of the scarcest resource was held.

    It is the mean over the time that the runs share.
    """
    found = [
        (float(steps.binned(view.cuts(1))[0]), view.name)
        for view in views
        if (steps := view.series.allocated.get(resource)) is not None
    ]
    return _compared(found, percent, "{} of " + plain(resource) + " held on average") if found else "Nothing was held"


def queued(views: Sequence[View]) -> str:
    """How many tasks waited at once at most."""
    if nobody_waited(views):
        return "No task waited"
    found = [(float(view.series.queue.value.max(initial=0)), view.name) for view in views]
    return _compared(found, number, "Up to {} tasks waited at once")


def waited(views: Sequence[View]) -> str:
    """How many tasks started at once."""
    found = []
    for view in views:
        waits, tasks = waits_s(view.series)
        found.append((float((waits <= 0).sum()) / max(tasks, 1), view.name))
    return _compared(found, percent, "{} of the tasks started at once")


def nobody_waited(views: Sequence[View]) -> bool:
    """Whether every task of every run started at once."""
    found = [waits_s(view.series) for view in views]
    return all(tasks == int((waits <= 0).sum()) for waits, tasks in found)


def _compared(found: Sequence[tuple[float, str]], write: Callable[[float], str], sentence: str) -> str:
    """A sentence with the value of one run in it; of several the smallest, and then the largest."""
    (least, low), (most, high) = min(found, key=_first), max(found, key=_first)
    if len(found) == 1 or write(least) == write(most):
        return sentence.replace("{}", write(most))
    return f"{sentence.replace('{}', write(least))} with {plain(low)}, {write(most)} with {plain(high)}"


def _first(pair: tuple[float, str]) -> float:
    return pair[0]


def _at(metrics: Mapping[str, Any], path: str) -> float | None:
    found: Any = metrics
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return float(found) if isinstance(found, int | float) else None
