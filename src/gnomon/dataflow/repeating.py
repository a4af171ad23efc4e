"""Attempts repeated: whether a task makes the same again, and what it leaves changed besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from gnomon.dataflow.captured import captured, frozen_copy, functions_of, state_of
from gnomon.dataflow.comparing import difference, frozen, shown
from gnomon.dataflow.execute import Chain, Produced, Results, run_task
from gnomon.dataflow.failing import UserError
from gnomon.dataflow.findings import Finding, Level
from gnomon.dataflow.layout import function_name
from gnomon.dataflow.operators import NARROW
from gnomon.dataflow.plan import Plan, PlanStage
from gnomon.dataflow.stage import Operator, Stage
from gnomon.model.errors import InputError

_PER_RECORD = frozenset(NARROW) - {Operator.MAP_PARTITIONS, Operator.SOURCE, Operator.TEXT}


def repeated(plan: Plan, base: Results) -> Iterator[Finding]:
    """Run each task again on the same input, and compare: what it made, and what variables hold."""
    told: set[tuple[str, str]] = set()
    first = {(one.stage, one.index): one for one in base.attempts}
    for stage in plan.run:
        for index in range(stage.tasks):
            before = {number: state_of(plan.layout.stages[number]) for number in stage.chain}
            try:
                again = run_task(stage, index, base.fetch, bounds=base.bounds)
            except InputError as error:
                findings = [_fails(plan.layout.stages[stage.root], error)]
            else:
                findings = [
                    *_changed(plan, stage, index, base, before),
                    *_differs(plan, stage, index, base, (first[stage.number, index], again)),
                ]
            for finding in findings:
                if (finding.rule, finding.stage) not in told:
                    told.add((finding.rule, finding.stage))
                    yield finding


def _fails(stage: Stage, known: InputError) -> Finding:
    problem = "a task that went well once raises when it is run again, as after the loss of a node"
    fix = "begin each attempt from nothing: overwrite what an earlier one left, keep no state between records"
    if not isinstance(known, UserError):
        return Finding("attempts", Level.ERROR, known.field or stage.name, problem, "", (known.problem,), fix)
    return Finding(
        "attempts", Level.ERROR, known.operator, problem, known.record or "", (known.cause, *known.lines), fix
    )


# ---------------------------------------------------------------------- another attempt makes something else


def _differs(
    plan: Plan, stage: PlanStage, index: int, base: Results, attempts: tuple[Produced, Produced]
) -> Iterator[Finding]:
    one, other = attempts
    found = difference(_records(one), _records(other))
    moved = None if found is not None else _moved(one, other)
    if found is None and moved is None:
        return
    culprit, record = _culprit(plan, stage, index, base)
    if found is not None:
        alternatives = [f"first attempt: {found.one}", f"second attempt: {found.other}"]
        problem = "two attempts at a task do not make the same"
    else:
        alternatives = [f"{shown(moved)} goes to another partition in the second attempt"]
        problem = "two attempts at a task put records into different partitions"
    if stage.writes is not None:
        alternatives.append(_mixed(one, other))
    fix = "seed random numbers by the record or the partition, read no clock, and walk through no set"
    level = Level.WARNING if stage.writes is None else Level.ERROR
    name = culprit.name
    yield Finding(
        "attempts", level, name, problem, record or (found.one if found else "") or "", tuple(alternatives), fix
    )


def _records(attempt: Produced) -> list[Any]:
    if attempt.buckets is None:
        return attempt.records or []
    return [record for bucket in attempt.buckets for record in bucket]


def _moved(one: Produced, other: Produced) -> Any:
    """The first record that is in another bucket."""
    for bucket, again in zip(one.buckets or (), other.buckets or (), strict=False):
        gone = Counter(map(frozen, bucket)) - Counter(map(frozen, again))
        for record in bucket:
            if frozen(record) in gone:
                return record
    return None


def _mixed(one: Produced, other: Produced) -> str:
    """What happens when a reducer has fetched from the first attempt and the others fetch from the second."""
    buckets, again = one.buckets or (), other.buckets or ()
    mixed = [record for bucket in (*buckets[:1], *again[1:]) for record in bucket]
    whole, taken = Counter(map(frozen, _records(one))), Counter(map(frozen, mixed))
    lost, more = sum((whole - taken).values()), sum((taken - whole).values())
    return (
        f"with partition 0 fetched before the task ran again, and the others after: {lost:,} of "
        f"{sum(whole.values()):,} records lost, {more:,} new or doubled"
    )


def _culprit(plan: Plan, stage: PlanStage, index: int, base: Results) -> tuple[Stage, str]:
    """The first stage of the graph, from the sources on, that does not make the same twice, and on which record."""
    layout = plan.layout
    for number, part in layout.inside(stage.root, index):
        one, other = (list(Chain(layout, base.fetch).records(number, part)) for _ in range(2))
        if [*map(frozen, one)] != [*map(frozen, other)]:
            culprit = layout.stages[number]
            return culprit, _record(plan, culprit, part, base)
    target = stage.writes.target if stage.writes is not None else stage.root
    return layout.stages[target], ""


def _record(plan: Plan, stage: Stage, part: int, base: Results) -> str:
    """The first input of a stage of which it makes one thing and then another."""
    for record, make in _singly(plan, stage, part, base):
        if any([*map(frozen, make())] != [*map(frozen, make())] for _ in range(3)):
            return shown(record)
    return ""


def _singly(plan: Plan, stage: Stage, part: int, base: Results) -> Iterator[tuple[Any, Any]]:
    """Each input record of a stage that works record by record, with a function that makes of it what the stage
    does."""
    if stage.operator not in _PER_RECORD or stage.function is None:
        return
    for number, index in plan.layout.narrow(stage.number, part):
        for record in Chain(plan.layout, base.fetch).records(number, index):
            yield record, lambda record=record: list(NARROW[stage.operator](stage, part, (record,), Counter()))


# ---------------------------------------------------------------------- something besides has changed


def _changed(
    plan: Plan, stage: PlanStage, index: int, base: Results, before: dict[int, dict[str, Any]]
) -> Iterator[Finding]:
    for number, state in before.items():
        one = plan.layout.stages[number]
        after = state_of(one)
        names = [name for name, value in after.items() if state.get(name) != value]
        if names:
            function = next((f for f in functions_of(one) if names[0] in captured(f)), None)
            label = function_name(function) if function is not None else one.operator.value
            record, alternatives = _effect(plan, one, index, base, names[0])
            problem = f"{label} changes {names[0]}, which every attempt at the task does again"
            fix = "return what is to be counted, and aggregate it: an attempt that is repeated leaves no trace then"
            yield Finding("effects", Level.WARNING, one.name, problem, record, alternatives, fix)


def _effect(plan: Plan, stage: Stage, part: int, base: Results, name: str) -> tuple[str, tuple[str, ...]]:
    """The first record with which a variable changes, and what it holds before, after one attempt and after two."""

    def held() -> Any:
        return next((captured(one)[name] for one in functions_of(stage) if name in captured(one)), None)

    for record, make in _singly(plan, stage, part, base):
        start, seen = frozen_copy(held()), [shown(held())]
        make()
        if frozen_copy(held()) != start:
            seen.append(shown(held()))
            make()
            seen.append(shown(held()))
            labels = ("before", "after one attempt", "after two")
            return shown(record), tuple(f"{name} {label}: {text}" for label, text in zip(labels, seen, strict=True))
    return "", ()
