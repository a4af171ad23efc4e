"""The operators: a :class:`Collection` is the records that a stage gives; each method gives another collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gnomon.dataflow.declaring import Declared
from gnomon.dataflow.stage import Aggregate, Function, Operator, Partition, Rule, Stage, key_of, positive, worded
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.resources import Resources

JOINS: Final = ("inner", "left", "right", "full")


@dataclass(frozen=True, repr=False)
class Collection:
    """The records that a stage gives. Each operator leaves it as it is, and gives a new one.

    Functions are the user's own, and run on real records. Wide operators, which may send records over the network, take
    ``partitions`` (None: as many as the widest input has, or what the engine is told), ``partitioner`` (the name of a
    hash, or a function from a key to an integer) and, where they make one value a key, ``combine`` (True, False, or a
    function ``(key, values) -> values``; None: as the engine does). ``name`` is what the stage is called.

    All raise InputError, with the name of the stage, for what is no function, no number of partitions, or of another
    job.

    >>> from gnomon.dataflow import Dataflow
    >>> from gnomon.dataflow.execute import collect
    >>> flow = Dataflow()
    >>> sales = flow.source([[("pear", 2), ("fig", 1)], [("pear", 3)]])
    >>> sales.reduce_by_key(lambda one, other: one + other, partitions=2).collect()
    >>> sorted(collect(flow))
    [('fig', 1), ('pear', 5)]
    """

    flow: Declared
    number: int

    @property
    def stage(self) -> Stage:
        """What is known of it."""
        return self.flow.stages[self.number]

    def __repr__(self) -> str:
        return f"Collection({self.stage.name!r})"

    # ------------------------------------------------------------------ record by record

    def map(self, function: Function, *, name: str | None = None) -> Collection:
        """One record for each: what the function makes of it."""
        return self._narrow(Operator.MAP, function, name)

    def flat_map(self, function: Function, *, name: str | None = None) -> Collection:
        """Any number of records for each: those of the iterable that the function gives."""
        return self._narrow(Operator.FLAT_MAP, function, name)

    def filter(self, function: Function, *, name: str | None = None) -> Collection:
        """The records for which the function is true."""
        return self._narrow(Operator.FILTER, function, name)

    def key_by(self, function: Function, *, name: str | None = None) -> Collection:
        """Pairs ``(function(record), record)``."""
        return self._narrow(Operator.KEY_BY, function, name)

    def map_values(self, function: Function, *, name: str | None = None) -> Collection:
        """Pairs with another value; the keys stay, and so does what is known of their partitions."""
        return self._narrow(Operator.MAP_VALUES, function, name)

    def flat_map_values(self, function: Function, *, name: str | None = None) -> Collection:
        """For each pair any number with the same key: one for each value of the iterable that the function gives."""
        return self._narrow(Operator.FLAT_MAP_VALUES, function, name)

    def map_partitions(self, function: Function, *, indexed: bool = False, name: str | None = None) -> Collection:
        """What a function makes of an iterator over a whole partition; ``indexed`` passes its number first."""
        return self._narrow(Operator.MAP_PARTITIONS, function, name, indexed=indexed)

    def keys(self, *, name: str | None = None) -> Collection:
        """The key of each pair."""
        return self._narrow(Operator.MAP, key_of, name, default="keys")

    def values(self, *, name: str | None = None) -> Collection:
        """The value of each pair."""
        return self._narrow(Operator.MAP, value_of, name, default="values")

    def union(self, *others: Collection, name: str | None = None) -> Collection:
        """The partitions of all, side by side; nothing moves."""
        title = self.flow.title(name, "union")
        return self._add(Operator.UNION, title, self._with(others, title), partition=Partition(Rule.JOINED))

    def coalesce(self, partitions: int, *, name: str | None = None) -> Collection:
        """Fewer partitions, each of several neighbours; nothing is shuffled, and as many tasks fewer run before it."""
        title = self.flow.title(name, "coalesce")
        partition = Partition(Rule.JOINED, positive(partitions, title))
        return self._add(Operator.COALESCE, title, (self.number,), partition=partition)

    # ------------------------------------------------------------------ over the network

    def reduce_by_key(
        self,
        function: Function,
        *,
        partitions: int | None = None,
        combine: bool | Function | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """One pair a key, its values joined two at a time by an associative and commutative function."""
        title = self.flow.title(name, "reduce_by_key")
        aggregate = Aggregate(None, _function(function, title), function)
        return self._wide(
            Operator.AGGREGATE, title, aggregate=aggregate, combine=combine, partition=(partitions, partitioner)
        )

    def combine_by_key(
        self,
        create: Function,
        add: Function,
        merge: Function,
        *,
        partitions: int | None = None,
        combine: bool | Function | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """One pair a key: ``create(value)`` of the first value, ``add(result, value)`` of a further one,
        ``merge(result, result)`` of what different tasks made."""
        title = self.flow.title(name, "combine_by_key")
        aggregate = Aggregate(*(_function(function, title) for function in (create, add, merge)))
        return self._wide(
            Operator.AGGREGATE, title, aggregate=aggregate, combine=combine, partition=(partitions, partitioner)
        )

    def aggregate(
        self,
        zero: Any,
        add: Function,
        merge: Function,
        *,
        partitions: int | None = None,
        combine: bool | Function | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """One pair a key, beginning with ``zero``: ``add(result, value)`` and ``merge(result, result)``."""
        title = self.flow.title(name, "aggregate")
        start = _From(zero, _function(add, title))
        aggregate = Aggregate(start, add, _function(merge, title))
        return self._wide(
            Operator.AGGREGATE, title, aggregate=aggregate, combine=combine, partition=(partitions, partitioner)
        )

    def group_by_key(
        self,
        *,
        partitions: int | None = None,
        combine: bool | Function | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """One pair a key with the list of its values. All of them cross the network, unless ``combine``, a function
        ``(key, values) -> values``, makes fewer of them before: none, one or several times, as the engine likes."""
        title = self.flow.title(name, "group_by_key")
        if combine is True:
            allowed = "a function (key, values) -> values, or False"
            raise InputError("a group has no function to combine with", field=title, found=combine, allowed=allowed)
        return self._wide(Operator.GROUP, title, combine=combine, partition=(partitions, partitioner))

    def distinct(
        self,
        *,
        partitions: int | None = None,
        combine: bool | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """Each record once."""
        title = self.flow.title(name, "distinct")
        aggregate = Aggregate(None, first_of, first_of)
        return self._wide(
            Operator.DISTINCT, title, aggregate=aggregate, combine=combine, partition=(partitions, partitioner)
        )

    def cogroup(
        self,
        *others: Collection,
        partitions: int | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """One pair a key with the lists of its values, one list for each collection."""
        title = self.flow.title(name, "cogroup")
        inputs = self._with(others, title)
        return self._wide(Operator.COGROUP, title, inputs, partition=(partitions, partitioner))

    def join(
        self,
        other: Collection,
        *,
        how: str = "inner",
        broadcast: bool = False,
        partitions: int | None = None,
        partitioner: str | Function | None = None,
        name: str | None = None,
    ) -> Collection:
        """Pairs of a key and a pair of values, one for each two that have the key; ``how`` says of which side
        values without a partner stay (with None): inner, left, right, full. ``broadcast`` sends all of ``other`` to
        every task, and leaves this side where it is; so right and full cannot be had with it."""
        title = self.flow.title(name, "join")
        if how not in JOINS:
            raise unknown_name("join", str(how), JOINS).at(field=title)
        inputs = self._with((other,), title)
        if not broadcast:
            return self._wide(Operator.JOIN, title, inputs, how=how, partition=(partitions, partitioner))
        if how not in ("inner", "left"):
            raise InputError("not with a broadcast", field=title, found=how, allowed="how='inner' or 'left'")
        if partitions is not None or partitioner is not None:
            raise InputError("a broadcast leaves the partitions as they are", field=title, allowed="no partitions=")
        return self._add(Operator.JOIN, title, inputs, how=how, partition=Partition(Rule.BROADCAST))

    def sort_by_key(
        self, *, ascending: bool = True, partitions: int | None = None, name: str | None = None
    ) -> Collection:
        """Pairs in the order of their keys, over all partitions: a sample of the keys decides their bounds."""
        return self._sort("sort_by_key", key_of, ascending, partitions, name)

    def sort_by(
        self, key: Function, *, ascending: bool = True, partitions: int | None = None, name: str | None = None
    ) -> Collection:
        """Records in the order of what a function says of them."""
        return self._sort("sort_by", key, ascending, partitions, name)

    def repartition(
        self, partitions: int, *, partitioner: str | Function | None = None, name: str | None = None
    ) -> Collection:
        """The records dealt out evenly, one after another; with a ``partitioner``, by the key of each pair."""
        title = self.flow.title(name, "repartition")
        positive(partitions, title)
        if partitioner is not None:
            return self._wide(Operator.REPARTITION, title, partition=(partitions, partitioner))
        partition = Partition(Rule.ROUND_ROBIN, partitions)
        return self._add(Operator.REPARTITION, title, (self.number,), partition=partition)

    # ------------------------------------------------------------------ marks and results

    def cache(self) -> Collection:
        """Keep the partitions once they are made, so that later jobs need not make them again."""
        return self._mark(cached=True)

    def checkpoint(self) -> Collection:
        """Write the partitions to storage that outlives a node: lineage ends here."""
        return self._mark(checkpointed=True)

    def needs(self, *, cpu_milli: int = 1000, memory_bytes: int = 0) -> Collection:
        """What a task that makes a partition asks for: 1/1000 of a processor, bytes."""
        try:
            return self._mark(resources=Resources(cpu_milli=cpu_milli, memory_bytes=memory_bytes))
        except (TypeError, ValueError) as error:
            raise InputError(str(error), field=self.stage.name) from error

    def sink(self, path: str) -> None:
        """Write the records to a folder, one file a partition, visible when the job commits."""
        worded(path, self.stage.name, "a path")
        if path in (stage.data for stage in self.flow.stages if stage.operator == Operator.SINK):
            raise InputError("two results go to one folder", field=self.stage.name, found=path)
        self._add(Operator.SINK, self.flow.title(None, path), (self.number,), data=path)

    def collect(self, *, name: str | None = None) -> None:
        """Bring the records to whoever runs the job."""
        self._add(Operator.SINK, self.flow.title(name, "collect"), (self.number,))

    # ------------------------------------------------------------------ how stages are made

    def _add(self, operator: Operator, title: str, inputs: tuple[int, ...], **fields: Any) -> Collection:
        return Collection(self.flow, self.flow.add(operator, title, inputs=inputs, **fields))

    def _narrow(
        self, operator: Operator, function: Function, name: str | None, *, default: str = "", indexed: bool = False
    ) -> Collection:
        title = self.flow.title(name, default or operator.value)
        return self._add(operator, title, (self.number,), function=_function(function, title), indexed=indexed)

    def _wide(
        self,
        operator: Operator,
        title: str,
        inputs: tuple[int, ...] = (),
        *,
        partition: tuple[int | None, str | Function | None],
        **fields: Any,
    ) -> Collection:
        count, function = partition
        if count is not None:
            positive(count, title)
        combine = fields.get("combine")
        if combine is not None and not isinstance(combine, bool):
            _function(combine, title)
        rule = Rule.CUSTOM if callable(function) else Rule.HASH
        where = Partition(rule, count, function)
        return self._add(operator, title, inputs or (self.number,), partition=where, **fields)

    def _sort(
        self, default: str, key: Function, ascending: bool, partitions: int | None, name: str | None
    ) -> Collection:
        title = self.flow.title(name, default)
        count = None if partitions is None else positive(partitions, title)
        return self._add(
            Operator.SORT,
            title,
            (self.number,),
            function=_function(key, title),
            ascending=bool(ascending),
            partition=Partition(Rule.RANGE, count),
        )

    def _with(self, others: Sequence[Collection], title: str) -> tuple[int, ...]:
        """This one and others of the same job."""
        if not others:
            raise InputError("another collection is missing", field=title)
        for other in others:
            if not isinstance(other, Collection):
                raise InputError("not a collection", field=title, found=other)
            if other.flow is not self.flow:
                raise InputError("a collection of another job", field=title, found=other.stage.name)
        return (self.number, *(other.number for other in others))

    def _mark(self, **fields: Any) -> Collection:
        self.flow.stages[self.number] = replace(self.stage, **fields)
        return self


def value_of(pair: Any) -> Any:
    """The value of a pair."""
    _, value = pair
    return value


def first_of(value: Any, other: Any) -> Any:
    """The first of two."""
    return value


@dataclass(frozen=True)
class _From:
    """The first result of a key: a value added to the zero."""

    zero: Any
    add: Callable[[Any, Any], Any]

    def __call__(self, value: Any) -> Any:
        return self.add(self.zero, value)


def _function(given: object, title: str) -> Function:
    if not callable(given):
        raise InputError("not a function", field=title, found=given)
    return given
