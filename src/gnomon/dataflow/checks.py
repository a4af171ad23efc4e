"""Checks of a job's functions: what they would do where the model is free, found by running the alternatives.

An engine may combine values never, once or several times, take the outputs of map tasks in any order, and run any task
again, with all its effects. What does not bear that is reported with the record that shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from gnomon.dataflow.comparing import difference, near, shown
from gnomon.dataflow.execute import Chain, Results, run_plan
from gnomon.dataflow.failing import UserError, failed
from gnomon.dataflow.findings import Finding, Level
from gnomon.dataflow.layout import Exchange, function_name
from gnomon.dataflow.operators import unsortable
from gnomon.dataflow.plan import Plan
from gnomon.dataflow.repeating import repeated
from gnomon.dataflow.skew import Cause, keys_of, skew_of
from gnomon.dataflow.stage import Aggregate, Operator, Stage
from gnomon.model.errors import InputError

KEYS_MAX: Final = 1_000
VALUES_MAX: Final = 50
"""So many keys are tried, and values of each."""

_REDUCTION: Final = "a function of which order and grouping do not matter (sum, max, set union), or group_by_key"

SKEW_RECORDS_MIN: Final = 100
"""Fewer records than that are not said to be skewed."""


def check_plan(plan: Plan) -> list[Finding]:
    """All findings on the data that a plan reads. Where a function raises that is the only one."""
    try:
        base = run_plan(plan)
    except UserError as error:
        at = f"{error.function} raises in partition {error.partition}: every attempt will, and the job fails"
        return [_raised("raises", error, at)]
    except InputError as error:
        if error.file is not None:
            raise
        record = "" if error.found is None else f"key {shown(error.found)}"
        allowed = "" if error.allowed is None else f"keys that are {error.allowed}"
        return [Finding("keys", Level.ERROR, error.field or plan.name, error.problem, record, (), allowed)]
    try:
        return _alternatives(plan, base)
    except Exception as error:
        known = failed(error, plan.layout.graph.sinks[0], 0)
        if isinstance(known, UserError) and known.lines:  # a method of the records, such as __eq__
            return [_raised("raises", known, "what the job makes raises where it is compared or tried again")]
        raise


def _alternatives(plan: Plan, base: Results) -> list[Finding]:
    found = [*_combiners(plan, base), *repeated(plan, base)]
    if not any(one.level == Level.ERROR for one in found):
        found += _order(plan, base)
    return [*found, *_keys(plan, base)]


# ---------------------------------------------------------------------- combining


def _combiners(plan: Plan, base: Results) -> Iterator[Finding]:
    for exchange in plan.exchanges:
        stage = plan.layout.stages[exchange.target]
        if callable(exchange.combine):
            yield from _custom(plan, exchange, stage, base)
        elif exchange.aggregate is not None and stage.operator == Operator.AGGREGATE:
            try:
                finding = _algebra(stage, exchange.aggregate, _values(plan, exchange, base))
            except Exception as error:
                problem = f"it raises on values in another order or grouping: {type(error).__name__}: {error}"
                finding = Finding("combiner", Level.ERROR, stage.name, problem, "", (), _REDUCTION)
            if finding is not None:
                yield finding


def _values(plan: Plan, exchange: Exchange, base: Results) -> dict[Any, list[Any]]:
    """The values of keys that have several, as they are before anything is combined."""
    found: dict[Any, list[Any]] = {}
    writer = next(stage for stage in plan.run if stage.writes == exchange)
    raw = _records_of(plan, writer.root, base)
    for record in raw:
        key, value = record
        if key in found:
            if len(found[key]) < VALUES_MAX:
                found[key].append(value)
        elif len(found) < KEYS_MAX:
            found[key] = [value]
    return {key: values for key, values in found.items() if len(values) > 1}


def _records_of(plan: Plan, number: int, base: Results) -> Iterator[Any]:
    """The records of a stage of the graph, partition after partition, from what a run has left in its exchanges."""
    for index in range(plan.layout.counts[number]):
        yield from Chain(plan.layout, base.fetch).records(number, index)


def _algebra(stage: Stage, aggregate: Aggregate, values: dict[Any, list[Any]]) -> Finding | None:
    """Whether merging is commutative and associative, and adding agrees with it, on these values."""
    create = aggregate.create or _itself
    name = function_name(aggregate.merge)
    for key, given in values.items():
        made = [_called(create, value) for value in given]
        for one, other, value in zip(made, made[1:], given[1:], strict=False):
            there, back = _called(aggregate.merge, one, other), _called(aggregate.merge, other, one)
            if not near(there, back):
                problem = f"{name} is not commutative: values reach it in any order"
                alternatives = (_call(name, one, other, there), _call(name, other, one, back))
                return _wrong(stage, problem, key, alternatives)
            if aggregate.create is not None or aggregate.add is not aggregate.merge:
                added = _called(aggregate.add, one, value)
                if not near(added, there):
                    problem = "add and merge do not agree: whether a value is added or merged is the engine's choice"
                    alternatives = (
                        _call(function_name(aggregate.add), one, value, added),
                        _call(name, one, other, there),
                    )
                    return _wrong(stage, problem, key, alternatives)
        for one, two, three in zip(made, made[1:], made[2:], strict=False):
            left = _called(aggregate.merge, _called(aggregate.merge, one, two), three)
            right = _called(aggregate.merge, one, _called(aggregate.merge, two, three))
            if not near(left, right):
                problem = f"{name} is not associative: values are joined in groups of any size"
                first = f"{name}({name}({shown(one)}, {shown(two)}), {shown(three)}) = {shown(left)}"
                second = f"{name}({shown(one)}, {name}({shown(two)}, {shown(three)})) = {shown(right)}"
                return _wrong(stage, problem, key, (first, second))
    return None


def _wrong(stage: Stage, problem: str, key: Any, alternatives: tuple[str, ...]) -> Finding:
    return Finding("combiner", Level.ERROR, stage.name, problem, f"key {shown(key)}", alternatives, _REDUCTION)


def _raised(rule: str, error: UserError, problem: str) -> Finding:
    return Finding(rule, Level.ERROR, error.operator, problem, error.record or "", (error.cause, *error.lines))


def _custom(plan: Plan, exchange: Exchange, stage: Stage, base: Results) -> Iterator[Finding]:
    """Whether results are the same if the user's combiner runs never, once or three times."""
    name, runs = function_name(exchange.combine), {}
    for times in (0, 3):
        try:
            runs[times] = run_plan(plan, combines={exchange.number: times})
        except UserError as error:
            problem = (
                f"where {name} is run {_times(times)}, {error.function} raises: what it makes must be as what it gets"
            )
            yield _raised("combiner", error, problem)
            return
    for sink in base.partitions:
        differences = {times: difference(base.records(sink), run.records(sink)) for times, run in runs.items()}
        changed = {times: one for times, one in differences.items() if one is not None and not one.rounding}
        if changed:
            times, first = next(iter(changed.items()))
            alternatives = [f"run once: {first.one}", f"run {_times(times)}: {first.other}"]
            alternatives += [f"run {_times(more)}: {one.other}" for more, one in changed.items() if more != times]
            problem = f"{name} changes the result {sink}: an engine runs it never, once or several times"
            fix = "combine only what can be combined again: sums and counts in place of a mean"
            yield Finding("combiner", Level.ERROR, stage.name, problem, first.one or "", tuple(alternatives), fix)
            return


def _times(times: int) -> str:
    return "never" if times == 0 else f"{times} times"


def _call(name: str, one: Any, other: Any, result: Any) -> str:
    return f"{name}({shown(one)}, {shown(other)}) = {shown(result)}"


def _called(function: Any, *values: Any) -> Any:
    """A call that cannot change the values, as some aggregations do to save time."""
    return function(*map(deepcopy, values))


def _itself(value: Any) -> Any:
    return value


# ---------------------------------------------------------------------- the order of map outputs


def _order(plan: Plan, base: Results) -> Iterator[Finding]:
    """Whether results are the same when the outputs of map tasks come in the opposite order."""
    if not any(stage.tasks > 1 for stage in plan.run if stage.writes is not None):
        return
    try:
        backwards = run_plan(plan, backwards=True)
    except UserError as error:
        yield _raised("order", error, f"{error.function} raises where map outputs arrive in the opposite order")
        return
    for sink in base.partitions:
        found = difference(base.records(sink), backwards.records(sink))
        if found is None:
            continue
        alternatives = (f"in the order of the tasks: {found.one}", f"in the opposite order: {found.other}")
        if found.rounding:
            problem = f"the last digits of {sink} depend on the order in which map outputs arrive"
            yield Finding("order", Level.NOTE, sink, problem, found.one or "", alternatives, "round, or add integers")
        elif found.order:
            problem = f"lists in {sink} have their elements in the order in which map outputs arrive"
            yield Finding("order", Level.NOTE, sink, problem, found.one or "", alternatives, "sort them if it matters")
        else:
            problem = f"{sink} depends on the order in which map outputs arrive, which no engine promises"
            fix = "decide by the values and not by their order: min or max of (time, value), a sort before a choice"
            yield Finding("order", Level.ERROR, sink, problem, found.one or "", alternatives, fix)


# ---------------------------------------------------------------------- keys


def _keys(plan: Plan, base: Results) -> Iterator[Finding]:
    """Skew, and keys on which engines and Python do not agree."""
    layout = plan.layout
    for writer in plan.run:
        exchange = writer.writes
        if exchange is None:
            continue
        stage = layout.stages[exchange.target]
        keys = keys_of(exchange, stage, base.outputs[exchange.number])
        if not keys:
            continue
        skew = skew_of(exchange, stage, keys, base.bounds)
        if skew.cause != Cause.EVEN and skew.total >= SKEW_RECORDS_MIN:
            yield Finding(
                "skew", Level.WARNING, stage.name, str(skew), f"key {skew.key}", (), _remedy(skew.cause, stage)
            )
        yield from _strange(stage, keys)


def _remedy(cause: Cause, stage: Stage) -> str:
    if cause == Cause.FEW_KEYS:
        return "fewer partitions, or a key with more values"
    if cause == Cause.SHARED:
        return "another number of partitions (a prime), or another partitioner"
    if stage.operator == Operator.JOIN:
        return "broadcast the other side if it is small, or salt the key, with all salts on the other side"
    if stage.operator == Operator.SORT:
        return "sort by a second part of the key too"
    return "combine before the shuffle (reduce_by_key, aggregate), or salt the key and aggregate twice"


def _strange(stage: Stage, keys: Counter[Any]) -> Iterator[Finding]:
    for key in keys:
        if key != key:
            problem = "a key that is not equal to itself: each is a group of its own"
            yield Finding("keys", Level.WARNING, stage.name, problem, f"key {shown(key)}", (), "leave NaN out before")
            break
    try:
        sorted(keys)
    except TypeError as error:
        pair = unsortable(list(keys))
        problem = f"keys that cannot be ordered: a sorting shuffle fails on them ({error})"
        record = f"keys {shown(pair[0])} and {shown(pair[1])}" if pair else ""
        yield Finding("keys", Level.NOTE, stage.name, problem, record, (), "keys of one type")
