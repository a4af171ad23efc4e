"""What each operator makes of records: generators, so that a record goes through a whole chain before the next one.

Every loop over a function of the user holds ``stage`` and ``record`` in variables of these names: where the function
raises, that is how ``failing`` finds out which operator and which record it was. Counting is one ``enumerate``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, Final

from gnomon.dataflow.stage import Aggregate, Function, Operator, Stage

Calls = Counter[int]
"""How many records each stage of the graph has taken in."""

Group = tuple[Any, list[Any]]
"""A key with its values."""

Narrow = Callable[[Stage, int, Iterable[Any], Calls], Iterator[Any]]


def mapped(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """One record for each."""
    function, count = function_of(stage), 0
    for count, record in enumerate(records, 1):  # noqa: B007
        yield function(record)
    calls[stage.number] += count


def flat_mapped(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """Any number of records for each."""
    function, count = function_of(stage), 0
    for count, record in enumerate(records, 1):  # noqa: B007
        yield from function(record)
    calls[stage.number] += count


def filtered(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """Those for which the function is true."""
    function, count = function_of(stage), 0
    for count, record in enumerate(records, 1):  # noqa: B007
        if function(record):
            yield record
    calls[stage.number] += count


def keyed(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """Pairs of what the function says and the record."""
    function, count = function_of(stage), 0
    for count, record in enumerate(records, 1):  # noqa: B007
        yield function(record), record
    calls[stage.number] += count


def values_mapped(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """Pairs with another value."""
    function, count = function_of(stage), 0
    for count, record in enumerate(records, 1):  # noqa: B007
        key, value = record
        yield key, function(value)
    calls[stage.number] += count


def values_flat_mapped(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """For each pair any number with its key."""
    function, count = function_of(stage), 0
    for count, record in enumerate(records, 1):  # noqa: B007
        key, value = record
        for one in function(value):
            yield key, one
    calls[stage.number] += count


def partitions_mapped(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """What the function makes of an iterator over the partition."""
    held: list[Any] = []
    given = _held(stage, records, held, calls)
    function = function_of(stage)
    yield from function(index, given) if stage.indexed else function(given)


def _held(stage: Stage, records: Iterable[Any], held: list[Any], calls: Calls) -> Iterator[Any]:
    """The records, the last one that was asked for kept."""
    count = 0
    for count, record in enumerate(records, 1):  # noqa: B007
        held[:] = (record,)
        yield record
    calls[stage.number] += count


def passed(stage: Stage, index: int, records: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """The records as they are."""
    count = 0
    for count, record in enumerate(records, 1):  # noqa: B007
        yield record
    calls[stage.number] += count


NARROW: Final[dict[Operator, Narrow]] = {
    Operator.SOURCE: passed,
    Operator.TEXT: passed,
    Operator.UNION: passed,
    Operator.COALESCE: passed,
    Operator.SINK: passed,
    Operator.MAP: mapped,
    Operator.FLAT_MAP: flat_mapped,
    Operator.FILTER: filtered,
    Operator.KEY_BY: keyed,
    Operator.MAP_VALUES: values_mapped,
    Operator.FLAT_MAP_VALUES: values_flat_mapped,
    Operator.MAP_PARTITIONS: partitions_mapped,
}


# ---------------------------------------------------------------------- by key


@dataclass(frozen=True)
class Gathered:
    """Pairs that come with the values of each key together: keys in their order, and how many pairs there are."""

    groups: Sequence[Group]
    records: int

    def __len__(self) -> int:
        return self.records

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((key, value) for key, values in self.groups for value in values)

    def folded(self, stage: Stage, create: Function | None, add: Function) -> dict[Any, Any]:
        """One result a key."""
        found = {}
        for key, values in self.groups:
            each = iter(values)
            value = next(each)
            try:
                made = value if create is None else create(value)
                for value in each:
                    made = add(made, value)
            except BaseException:
                record = key, value  # noqa: F841
                raise
            found[key] = made
        return found


def aggregated(stage: Stage, aggregate: Aggregate, records: Iterable[Any], calls: Calls) -> dict[Any, Any]:
    """One result a key, of values."""
    create, add, count = aggregate.create, aggregate.add, 0
    if isinstance(records, Gathered):
        calls[stage.number] += len(records)
        return records.folded(stage, create, add)
    found: dict[Any, Any] = {}
    for count, record in enumerate(records, 1):  # noqa: B007
        key, value = record
        if key in found:
            found[key] = add(found[key], value)
        else:
            found[key] = value if create is None else create(value)
    calls[stage.number] += count
    return found


def merged(stage: Stage, aggregate: Aggregate, records: Iterable[Any], calls: Calls) -> dict[Any, Any]:
    """One result a key, of results."""
    merge, count = aggregate.merge, 0
    if isinstance(records, Gathered):
        calls[stage.number] += len(records)
        return records.folded(stage, None, merge)
    found: dict[Any, Any] = {}
    for count, record in enumerate(records, 1):  # noqa: B007
        key, value = record
        found[key] = merge(found[key], value) if key in found else value
    calls[stage.number] += count
    return found


def lifted(stage: Stage, aggregate: Aggregate, records: Iterable[Any]) -> Iterable[Any]:
    """Each value as a result of its own."""
    create = aggregate.create
    if create is None:
        yield from records
        return
    for record in records:
        key, value = record
        yield key, create(value)


def grouped(stage: Stage, records: Iterable[Any], calls: Calls) -> dict[Any, list[Any]]:
    """The values of each key."""
    if isinstance(records, Gathered):
        calls[stage.number] += len(records)
        return {key: list(values) for key, values in records.groups}
    found: dict[Any, list[Any]] = {}
    count = 0
    for count, record in enumerate(records, 1):  # noqa: B007
        key, value = record
        if key in found:
            found[key].append(value)
        else:
            found[key] = [value]
    calls[stage.number] += count
    return found


def combined(stage: Stage, function: Function, records: Iterable[Any]) -> list[Any]:
    """What a combiner of the user, ``(key, values) -> values``, makes of the values of each key."""
    made = []
    for record in grouped(stage, records, Counter()).items():
        key, values = record
        made += [(key, value) for value in function(key, values)]
    return made


def groups_combined(stage: Stage, function: Function, groups: Sequence[Group]) -> list[Group]:
    """As :func:`combined`, of keys with their values."""
    made = []
    for record in groups:
        key, values = record
        if left := list(function(key, values)):
            made.append((key, left))
    return made


def groups_merged(stage: Stage, merge: Function, groups: Sequence[Group]) -> list[Group]:
    """The results of each key as one."""
    made = []
    for record in groups:
        key, values = record
        made.append(record if len(values) == 1 else (key, [reduce(merge, values)]))
    return made


def cogrouped(stage: Stage, sides: list[Iterable[Any]], calls: Calls) -> dict[Any, tuple[list[Any], ...]]:
    """For each key the values of each side."""
    found: dict[Any, tuple[list[Any], ...]] = {}
    for side, records in enumerate(sides):
        count = 0
        for count, record in enumerate(records, 1):  # noqa: B007
            key, value = record
            if key not in found:
                found[key] = tuple([] for _ in sides)
            found[key][side].append(value)
        calls[stage.number] += count
    return found


def joined(how: str, groups: Iterable[tuple[Any, tuple[list[Any], ...]]]) -> Iterator[Any]:
    """The pairs of a join, from the values of both sides."""
    keeps_left, keeps_right = how in ("left", "full"), how in ("right", "full")
    for key, (left, right) in groups:
        if left and right:
            for one in left:
                for other in right:
                    yield key, (one, other)
        elif left and keeps_left:
            for one in left:
                yield key, (one, None)
        elif right and keeps_right:
            for other in right:
                yield key, (None, other)


def looked_up(stage: Stage, records: Iterable[Any], side: Iterable[Any], calls: Calls) -> Iterator[Any]:
    """A join with a side that every task has the whole of."""
    table = grouped(stage, side, Counter())
    keeps, count = stage.how == "left", 0
    for count, record in enumerate(records, 1):  # noqa: B007
        key, value = record
        for other in table.get(key, (None,) if keeps else ()):
            yield key, (value, other)
    calls[stage.number] += count


def in_order(stage: Stage, records: Iterable[Any], calls: Calls) -> list[Any]:
    """The records of a partition, sorted; those that are equal stay as they came."""
    function, every, keys = function_of(stage), list(records), []
    calls[stage.number] += len(every)
    for record in every:
        keys.append(function(record))
    return [every[place] for place in _order(stage, keys, not stage.ascending)]


def by_key_order(stage: Stage, found: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Keys with what belongs to them, in the order of the keys."""
    pairs = list(found.items())
    return [pairs[place] for place in _order(stage, [key for key, _ in pairs], False)]


def _order(stage: Stage, keys: list[Any], reverse: bool) -> list[int]:
    """The places of keys in their order. Raises TypeError with two keys that have none."""
    try:
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    except TypeError as error:
        raise unordered(keys, error) from None


def unordered(keys: Sequence[Any], error: TypeError) -> TypeError:
    """An error of a comparison as one that names two keys."""
    pair = unsortable(keys)
    return error if pair is None else TypeError(f"the keys {pair[0]!r} and {pair[1]!r} cannot be ordered: {error}")


def unsortable(keys: Sequence[Any]) -> tuple[Any, Any] | None:
    """The first two neighbours that have no order; None where all have."""
    for one, other in pairwise(keys):
        try:
            one < other  # noqa: B015
        except TypeError:
            return one, other
    return None


def function_of(stage: Stage) -> Function:
    """The function of a stage that cannot be without one."""
    if stage.function is None:
        raise ValueError(f"stage {stage.name} has no function")
    return stage.function
