"""Levers that are the subject's own business when its work is lost or slow: limits, requests, retries, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isqrt

from gnomon.control.redistribution import CAUSE
from gnomon.engine.log import Reason
from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.case import Case
from gnomon.insight.explain.changes import CONSTRAINT, OWN, Lever
from gnomon.insight.explain.crowd import peak
from gnomon.insight.explain.levers.own import raised_priority
from gnomon.insight.explain.phrases import amount, counted, span, written
from gnomon.insight.explain.troubles import Trouble
from gnomon.model.quantity import NS_PER_S
from gnomon.model.recovery import Backoff, Checkpoint, Recovery, Retry
from gnomon.model.resources import NEVER

RETRIES_MAX = 16
"""How many more retries are tried at most."""

STEPS_MAX = 256
"""How many values an amount of bytes has at most."""

TIMES = tuple(
    n * NS_PER_S
    for n in (
        *(86_400, 43_200, 21_600, 14_400, 10_800, 7_200, 3_600, 1_800, 1_200, 900, 600, 300, 240, 180, 120),
        *(60, 50, 40, 30, 20, 15, 10, 5, 4, 3, 2, 1),
    )
)
"""Times that a person would choose, the longest first (ns)."""


def shorter(than_ns: int, least_ns: int = 0) -> list[int]:
    """Times that a person would choose, below one and not below another, the longest first.

    >>> [ns // 10**9 for ns in shorter(50 * 10**9, 20 * 10**9)]
    [40, 30, 20]
    """
    found = [ns for ns in TIMES if least_ns <= ns < than_ns]
    return [*found, least_ns] if least_ns < than_ns and least_ns not in found else found


def larger(name: str, has: int, most: int) -> Sequence[int]:
    """Amounts above the one that there is, to the first that is at least ``most``, in steps that a person would take.

    >>> [n // 2**20 for n in larger("memory", 2**30, 2**30 + 200 * 2**20)]
    [1152, 1280]
    >>> list(larger("cpu", 500, 1_000))
    [600, 700, 800, 900, 1000]
    """
    if most <= has:
        return ()
    step = 100 if name == "cpu" else 2**20
    if name == "cpu" and has >= 2_000:
        step = 1_000
    while name != "cpu" and (8 * step < has or STEPS_MAX * step < most - has):
        step *= 2
    first = has // step * step + step
    return range(first, max(most + step, first + 1), step) if most > first else (first,)


# ------------------------------------------------------------------ amounts


def own_limit(case: Case, name: str) -> Iterator[Lever]:
    """A higher limit of what it may use, up to the most that it wants; no less than that where it may still run at the
    end of the run, which then does not tell whether it would get over a lower one."""
    shape = case.ground.work.shapes[case.ground.shape(case.task)]
    has = shape.limit.amount(name)
    values = larger(name, has, peak(case.ground, case.task, name)) if has else ()
    if case.mishap is not None and case.mishap.trouble is Trouble.AGAIN:
        values = values[-1:]
    if values:
        yield Lever(
            kind=OWN,
            object=case.label,
            field=f"limits.{name}",
            before=written(name, has),
            values=values,
            scenario=lambda value: vary.with_limit(case.ground.scenario, case.tasks, name, value),
            size=lambda value: (value - has) / has,
            phrase=lambda value: f"raise its limit of {name} from {written(name, has)} to {written(name, value)}",
            shown=lambda value: written(name, value),
        )


def own_request(case: Case, name: str) -> Iterator[Lever]:
    """Ask for more, up to the most that it wants: then it is placed where there is as much."""
    has = case.ground.work.shapes[case.ground.shape(case.task)].request.amount(name)
    if values := larger(name, has, peak(case.ground, case.task, name)):
        yield asked_more(case, case.label, case.tasks, name, values, kind=OWN)


def asked_more(case: Case, label: str, tasks: Sequence[int], name: str, values: Sequence[int], *, kind: int) -> Lever:
    """Tasks that ask for more of a resource."""
    has = case.ground.work.shapes[case.ground.shape(tasks[0])].request.amount(name)
    who = "" if kind == OWN else f"let {label.partition('/')[2]} "
    return Lever(
        kind=kind,
        object=label,
        field=name,
        before=written(name, has),
        values=values,
        scenario=lambda value: vary.with_more(case.ground.scenario, tasks, name, value),
        size=lambda value: (value - has) / max(has, 1),
        phrase=lambda value: f"{who}ask for {amount(name, value)} instead of {written(name, has)}",
        shown=lambda value: written(name, value),
    )


# ------------------------------------------------------------------ what is done for it


def retries(case: Case, reason: Reason) -> Iterator[Lever]:
    """More retries after such a failure."""
    cause, recovery = CAUSE.get(reason, "exit"), case.ground.work.recovery_of(case.task)
    has = next((one.limit for one in recovery.retries if cause in one.causes), 0)
    if has < 0:
        return
    yield Lever(
        kind=OWN,
        object=case.label,
        field=f"recovery.retries.{cause}",
        before=has,
        values=range(has + 1, has + 1 + RETRIES_MAX),
        scenario=lambda value: vary.with_recovery(
            case.ground.scenario, case.tasks, with_retries(recovery, cause, value)
        ),
        size=lambda value: (value - has) / max(has, 1),
        phrase=lambda value: (
            f"try it again {_times(value)} after such a failure" + (f" instead of {has}" if has else "")
        ),
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"up to {counted(count, 'time')}"


def with_retries(recovery: Recovery, cause: str, limit: int) -> Recovery:
    """A recovery that answers a cause so often: by the rule that names it, or by one of its own.

    >>> with_retries(Recovery(()), "exit", 2).retries[0].limit
    2
    """
    rules = list(recovery.retries)
    for position, rule in enumerate(rules):
        if cause in rule.causes:
            rules[position] = replace(rule, limit=limit)
            return replace(recovery, retries=tuple(rules))
    return replace(recovery, retries=(*rules, Retry((cause,), limit)))


def checkpoints(case: Case) -> Iterator[Lever]:
    """Save its state, or more often. The guess is Young's interval for a failure after as long as it had run (CACM
    17(9), 1974)."""
    recovery = case.ground.work.recovery_of(case.task)
    length = int(case.ground.work.duration_ns[case.task])
    has = recovery.checkpoint
    every = min(length, NEVER) if has is None else min(has.every_ns, length)
    values = shorter(every, NS_PER_S)
    if not values or length >= NEVER:
        return
    cost = has.cost_ns if has else 0
    ran = max(case.here.now_ns - int(case.ground.past.outcome.first_start_ns[case.task]), 1)
    best = isqrt(2 * max(cost, NS_PER_S) * ran)
    free = ", if that takes no time" if has is None else ""
    yield Lever(
        kind=OWN,
        object=case.label,
        field="recovery.checkpoint.every",
        before=None if has is None else span(has.every_ns),
        values=values,
        scenario=lambda value: vary.with_recovery(
            case.ground.scenario,
            case.tasks,
            replace(recovery, checkpoint=replace(has or Checkpoint(value), every_ns=value)),
        ),
        size=lambda value: (every - value) / every,
        phrase=lambda value: (
            f"save its state every {span(value)}" + (f" instead of {span(has.every_ns)}" if has else free)
        ),
        shown=span,
        guess=min(range(len(values)), key=lambda i: abs(values[i] - best)) if cost else None,
    )


def backoff(case: Case, reason: Reason) -> Iterator[Lever]:
    """Shorter delays before retries."""
    cause, recovery = CAUSE.get(reason, "exit"), case.ground.work.recovery_of(case.task)
    rule = next((one for one in recovery.retries if cause in one.causes), None)
    if rule is None or not rule.backoff.first_ns:
        return
    first = rule.backoff.first_ns

    def quicker(value: int) -> Recovery:
        changed = replace(rule, backoff=replace(rule.backoff, first_ns=value) if value else Backoff())
        return replace(recovery, retries=tuple(changed if one is rule else one for one in recovery.retries))

    yield Lever(
        kind=OWN,
        object=case.label,
        field=f"recovery.backoff.{cause}",
        before=span(first),
        values=shorter(first),
        scenario=lambda value: vary.with_recovery(case.ground.scenario, case.tasks, quicker(value)),
        size=lambda value: (first - value) / first,
        phrase=lambda value: f"try it again {f'after {span(value)}' if value else 'at once'} instead of {span(first)}",
        shown=span,
    )


def exclude(case: Case) -> Iterator[Lever]:
    """Let retries avoid the node on which an attempt failed."""
    recovery = case.ground.work.recovery_of(case.task)
    if recovery.exclude == 1 or case.ground.scenario.cluster.pool:
        return
    yield Lever(
        kind=CONSTRAINT,
        object=case.label,
        field="recovery.exclude",
        before=recovery.exclude,
        values=[1],
        scenario=lambda value: vary.with_recovery(case.ground.scenario, case.tasks, replace(recovery, exclude=value)),
        phrase=lambda _: "let its retries avoid nodes on which an attempt failed",
    )


def priority(case: Case) -> Iterator[Lever]:
    """A priority above that of those who are on its node, where victims are chosen by priority."""
    work, own = case.ground.work, int(case.ground.work.priority[case.task])
    values = sorted({int(work.priority[task]) + 1 for task in case.here.holders.tolist()})
    if values := [value for value in values if value > own]:
        yield raised_priority(case, own, values)
