"""What became of a workload in a run: how many of its pods were ready, over time, and which had most trouble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gnomon.engine.log import Kind, State
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import counted, span
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.kubernetes.runs.readiness import Span, Steps, counted_over
from gnomon.systems.kubernetes.api.objects import PodDisruptionBudget
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.controllers.rollout import resolved
from gnomon.systems.kubernetes.fleets.native import native_of

_TO_END: Final = ("Job", "CronJob")
STEPS_MAX: Final = 4
"""How many steps of what is wanted are told."""


@dataclass(frozen=True)
class WorkloadStory:
    """``text``: what became of the workload, as a sentence without an end; ``budgets``: those that were broken
    meanwhile."""

    text: str
    budgets: str = ""


def story_of(ground: Ground, tasks: Sequence[int], name: str, spans: dict[int, list[Span]]) -> WorkloadStory | None:
    """What became of a workload (``name``, as ``deployment/namespace/name``); None of one that no controller keeps.
    ``spans``: by task when it was ready."""
    kind = name.partition("/")[0]
    if kind == "pod":
        return None
    if kind in ("job", "cronjob"):
        return _to_its_end(ground, tasks, name)
    wanted, ready = _wanted(ground, tasks), _ready(ground, tasks, spans)
    if not wanted:
        return None
    end, now, most = ground.horizon_ns, ready[-1][1], wanted[-1][1]
    text = f"{name}: {now} of {most} replicas are ready at the end"
    if len(wanted) > 1:
        steps = [f"{count} from {span(at)}" for at, count in wanted[:STEPS_MAX]]
        text += f" (wanted: {', '.join(steps)})"
    lows = list(_lows(wanted, ready, end))
    if not lows:
        first = next((at for at, count in ready if count >= most), None)
        if now >= most and first is not None and len(wanted) == 1:
            text += f", and were since {span(first)}" if first else ", as all the time"
        return WorkloadStory(text)
    worst = min(lows, key=lambda one: (one[2] - one[3], one[0]))
    begin, until, count, of = worst
    if (until, count, of) == (end, now, most):
        text = text.replace(" at the end", f" since {span(begin)}")
    else:
        text += f", {count} of {of} from {span(begin)} to {span(until)}"
    others = len(lows) - 1
    text += f", and fewer than wanted {counted(others, 'more time')}" if others else ""
    return WorkloadStory(text, _broken(ground, tasks, ready))


def _to_its_end(ground: Ground, tasks: Sequence[int], name: str) -> WorkloadStory | None:
    state = ground.past.outcome.state
    done = [task for task in tasks if state[task] == State.DONE]
    if not done:
        return None
    last = max(int(ground.past.log.t_ns[rows_of(ground.past.log, (task,), Kind.END)[-1]]) for task in done)
    return WorkloadStory(f"{name}: {len(done)} of its {len(tasks)} pods are done, the last at {span(last)}")


def worst_of(ground: Ground, tasks: Sequence[int], spans: Mapping[int, Sequence[Span]]) -> int:
    """The task with most trouble: one that waits, was refused or failed, else the one that was longest not ready."""
    what = ground.past.outcome
    rank = {State.WAITING: 0, State.REJECTED: 1, State.FAILED: 2, State.KILLED: 10}

    def trouble(task: int) -> tuple[int, int, int]:
        return rank.get(State(int(what.state[task])), 9), -longest_away(ground, task, spans), task

    return min(tasks, key=trouble)


def longest_away(ground: Ground, task: int, spans: Mapping[int, Sequence[Span]]) -> int:
    """The longest time (ns) that a pod which was wanted was not ready. ``spans``: by task when it was."""
    rows = rows_of(ground.past.log, (task,)).tolist()
    if not rows:
        return 0
    since, longest = int(ground.past.log.t_ns[rows[0]]), 0
    for first, last in spans.get(task, ()):
        longest, since = max(longest, first - since), last
    gone = ground.past.outcome.state[task] in (State.DONE, State.KILLED)
    return longest if gone else max(longest, ground.horizon_ns - since)


# ------------------------------------------------------------------ wanted and ready


def _wanted(ground: Ground, tasks: Sequence[int]) -> Steps:
    """How many pods are to be there, from when on."""
    native = native_of(ground.scenario)
    among = set(tasks)
    fleets = [number for number, fleet in enumerate(native.fleets) if among & set(fleet.tasks)]
    for rollout in native.rollouts:
        if any(number in fleets for _, _, number in rollout.specs):
            return _merged((at, spec.replicas) for at, spec, _ in rollout.specs)
    kept = [native.fleets[number] for number in fleets if native.fleets[number].kind not in _TO_END]
    total = sum(fleet.wanted or len(fleet.nodes) for fleet in kept[:1])
    return [(0, total)] if total else []


def _merged(steps: Iterator[tuple[int, int]]) -> Steps:
    found: Steps = []
    for at, count in steps:
        if not found or found[-1][1] != count:
            found.append((max(at, 0), count))
    return found


def _ready(ground: Ground, tasks: Sequence[int], spans: dict[int, list[Span]]) -> Steps:
    """How many pods are ready, from when on, as far as the run goes."""
    return [step for step in counted_over(spans, tasks) if step[0] <= ground.horizon_ns]


def _lows(wanted: Steps, ready: Steps, end: int) -> Iterator[tuple[int, int, int, int]]:
    """When fewer pods were ready than are wanted, after as many were for the first time: from, to, at least, of."""
    reached, open_ = False, None
    for (at, count), (until, _) in pairwise([*ready, (end, 0)]):
        most = [number for since, number in wanted if since <= at][-1:] or [wanted[0][1]]
        if count >= most[0]:
            reached = True
            if open_ is not None:
                yield open_
            open_ = None
        elif reached and until > at:
            least = count if open_ is None else min(count, open_[2])
            open_ = (at if open_ is None else open_[0], until, least, most[0])
    if open_ is not None:
        yield open_


# ------------------------------------------------------------------ budgets


def _broken(ground: Ground, tasks: Sequence[int], ready: Steps) -> str:
    """The first disruption budget below which the workload fell: nobody asks it when nodes are lost."""
    native = native_of(ground.scenario)
    pod = native.pods[tasks[0]]
    for budget in native.objects.disruption_budgets:
        if budget.namespace != pod.namespace or not selects(budget.selector, pod.labels):
            continue
        most = max(count for _, count in ready)
        least = _least(budget, most)
        at = next((i for i, (_, count) in enumerate(ready) if count >= least), len(ready))
        under = [(begin, count) for begin, count in ready[at:] if count < least]
        if under:
            rule = f"{least} ready" if budget.max_unavailable is None else f"{budget.max_unavailable} unavailable"
            word = "at least" if budget.max_unavailable is None else "at most"
            return f"The PodDisruptionBudget {budget.name} ({word} {rule}) is broken from {span(under[0][0])} on."
    return ""


def _least(budget: PodDisruptionBudget, wanted: int) -> int:
    if budget.max_unavailable is not None:
        return max(wanted - resolved(budget.max_unavailable, wanted, up=True), 0)
    if budget.min_available is None:
        return 0
    return resolved(budget.min_available, wanted, up=True)
