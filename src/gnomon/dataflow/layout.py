"""What an engine decides before it cuts: how many partitions each stage has, and which inputs cross the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from gnomon.dataflow.hashing import HASHES
from gnomon.dataflow.stage import KEEPS_KEYS, WIDE, Aggregate, Function, Graph, Operator, Rule, Stage, key_of
from gnomon.model.errors import InputError, unknown_name

Splits = Mapping[int, Sequence[Iterable[Any]]]
"""The partitions of sources that the graph does not hold itself: by the number of the stage."""

BROADCAST_PARTITIONS: Final = 1
DEPTH_MAX: Final = 500
"""So many operators may follow on each other without a shuffle."""


@dataclass(frozen=True)
class Rules:
    """What an engine decides where a job leaves it open.

    - ``partitions`` of a wide stage; None: as many as its widest input has.
    - ``hash``: the name of the function (``hashing.HASHES``).
    - ``combine``: whether values are combined before they cross the network, where the job does not say.
    - ``ordered``: keys come to a reducer in their order, as in a sorting shuffle.
    - ``cuts``: a collection that is checkpointed is read where it was saved by all jobs after the one that made it.
    - ``sample_points``: keys that a sort by range samples for each partition it makes.
    """

    partitions: int | None = None
    hash: str = "portable"
    combine: bool = True
    ordered: bool = False
    cuts: bool = False
    sample_points: int = 20


@dataclass(frozen=True)
class Known:
    """How the keys of a stage are parted, where that is known; ``bounds`` is the exchange whose sample says so."""

    rule: Rule
    count: int
    function: str | Function | None = None
    bounds: int | None = None


@dataclass(frozen=True)
class Exchange:
    """One shuffle: what stage ``source`` of the graph sends to stage ``target``, as its input ``position``.

    ``combine`` is False, True (by ``aggregate``) or the user's own function. With True a record holds the key and a
    result of ``aggregate.create``, else the key and the value. ``reader`` is the name of the target.
    """

    number: int
    source: int
    target: int
    position: int
    known: Known
    combine: bool | Function = False
    aggregate: Aggregate | None = None
    ordered: bool = False
    reader: str = ""

    @property
    def partitions(self) -> int:
        """Into how many the records go."""
        return self.known.count

    @property
    def rule(self) -> Rule:
        """How they are parted."""
        return self.known.rule

    @property
    def is_dealt(self) -> bool:
        """Whether records go to partitions in turn, or to all, and not by a key."""
        return self.rule in (Rule.ROUND_ROBIN, Rule.BROADCAST)

    @property
    def partitioner(self) -> str:
        """The rule with its function, as a text."""
        function = self.known.function
        if self.known.rule == Rule.HASH:
            return f"hash ({function})"
        return f"custom ({function_name(function)})" if callable(function) else str(self.known.rule)


@dataclass(frozen=True)
class Layout:
    """The graph with everything decided: how many partitions each stage has, and which inputs cross the network.

    ``crossing[(stage, position)]`` is the exchange through which a stage gets an input; one that is not there is read
    where it is.
    """

    graph: Graph
    counts: Mapping[int, int]
    known: Mapping[int, Known | None]
    exchanges: tuple[Exchange, ...]
    crossing: Mapping[tuple[int, int], Exchange]
    splits: Splits
    stages: Mapping[int, Stage]
    sample_points: int = 20

    def narrow(self, number: int, index: int) -> list[tuple[int, int]]:
        """The partitions, as (stage, index), that a partition is made of without the network."""
        stage = self.stages[number]
        if stage.operator == Operator.COALESCE:
            given, made = self.counts[stage.inputs[0]], self.counts[number]
            return [(stage.inputs[0], part) for part in range(index * given // made, (index + 1) * given // made)]
        if stage.operator == Operator.UNION and self.known[number] is None:
            ends = list(accumulate(self.counts[one] for one in stage.inputs))
            place = next(place for place, end in enumerate(ends) if index < end)
            return [(stage.inputs[place], index - (ends[place - 1] if place else 0))]
        return [(one, index) for position, one in enumerate(stage.inputs) if (number, position) not in self.crossing]

    def needs(self, number: int, index: int) -> list[tuple[Exchange, int]]:
        """Which partition of which exchange a partition reads, through all that is narrow before it."""
        found: dict[tuple[int, int], Exchange] = {}
        for stage, part in self.inside(number, index):
            for position in range(len(self.stages[stage].inputs)):
                exchange = self.crossing.get((stage, position))
                if exchange is not None:
                    found[exchange.number, 0 if exchange.rule == Rule.BROADCAST else part] = exchange
        return [(exchange, part) for (_, part), exchange in found.items()]

    def inside(self, number: int, index: int) -> list[tuple[int, int]]:
        """The partitions of the graph's stages that a task makes to make this one, itself included, inputs first."""
        order: dict[tuple[int, int], None] = {}
        stack = [(number, index)]
        while stack:
            place = stack.pop()
            order.pop(place, None)
            order[place] = None
            stack.extend(self.narrow(*place))
        return list(reversed(order))


def function_name(function: object) -> str:
    """What a function is called, for people.

    >>> function_name(str.split), function_name(lambda x: x)
    ('str.split', 'lambda')
    """
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return "lambda" if name.endswith("<lambda>") else str(name).rpartition("<locals>.")[2]


def layout_of(graph: Graph, rules: Rules, splits: Splits) -> Layout:
    """Decide. Raises InputError for a text source without splits, and for a hash that there is not."""
    return _Deciding(graph, rules, splits).layout()


class _Deciding:
    """What is decided so far, stage by stage."""

    def __init__(self, graph: Graph, rules: Rules, splits: Splits) -> None:
        self.graph, self.rules, self.splits = graph, rules, splits
        self.counts: dict[int, int] = {}
        self.known: dict[int, Known | None] = {}
        self.exchanges: list[Exchange] = []
        self.crossing: dict[tuple[int, int], Exchange] = {}

    def layout(self) -> Layout:
        for stage in self.graph.stages:
            if stage.operator in WIDE:
                self._wide(stage)
            else:
                self.known[stage.number] = self._kept(stage)
                self.counts[stage.number] = self._count(stage)
        self._check_depth()
        stages = {stage.number: stage for stage in self.graph.stages}
        exchanges = tuple(self.exchanges)
        points = self.rules.sample_points
        return Layout(self.graph, self.counts, self.known, exchanges, self.crossing, self.splits, stages, points)

    def _check_depth(self) -> None:
        """Each operator of a chain is a generator inside of the next one, which Python allows up to a depth."""
        depth: dict[int, int] = {}
        for stage in self.graph.stages:
            inputs = enumerate(stage.inputs)
            within = [depth[one] for position, one in inputs if (stage.number, position) not in self.crossing]
            depth[stage.number] = 1 + max(within, default=0)
            if depth[stage.number] > DEPTH_MAX:
                allowed = f"up to {DEPTH_MAX} one after another, then a shuffle; or fewer, larger functions"
                raise InputError("a task of too many operators", field=stage.name, found=DEPTH_MAX + 1, allowed=allowed)

    def _count(self, stage: Stage) -> int:
        """The partitions of a stage that is not wide."""
        given = [self.counts[one] for one in stage.inputs]
        if stage.operator == Operator.SOURCE:
            return len(stage.data)
        if stage.operator == Operator.TEXT:
            if stage.number not in self.splits:
                raise InputError("the splits of its files are not known here", field=stage.name, found=stage.data)
            return len(self.splits[stage.number])
        if stage.operator == Operator.COALESCE:
            return min(given[0], stage.partition.count or given[0])
        if stage.operator == Operator.UNION and self.known[stage.number] is None:
            return sum(given)
        return given[0]

    def _kept(self, stage: Stage) -> Known | None:
        """What is known of the keys of a stage that is not wide. Inputs of a union that are parted alike stay so
        (Spark's ``PartitionerAwareUnionRDD``)."""
        if stage.operator in KEEPS_KEYS:
            return self.known[stage.inputs[0]]
        if stage.operator == Operator.UNION:
            first = self.known[stage.inputs[0]]
            return first if all(self.known[one] == first for one in stage.inputs) else None
        return None

    def _wide(self, stage: Stage) -> None:
        """The partitions of a wide stage, and an exchange for each input that is not parted so already."""
        number, rule = stage.number, stage.partition.rule
        if rule == Rule.BROADCAST:
            self.counts[number] = self.counts[stage.inputs[0]]
            self.known[number] = self.known[stage.inputs[0]]
            self._exchange(stage, 1, Known(Rule.BROADCAST, BROADCAST_PARTITIONS))
            return
        known = self._wanted(stage)
        for position, one in enumerate(stage.inputs):
            if (
                rule in (Rule.RANGE, Rule.ROUND_ROBIN)
                or stage.operator == Operator.DISTINCT
                or self.known[one] != known
            ):
                self._exchange(stage, position, known)
        self.counts[number] = known.count
        self.known[number] = None if rule == Rule.ROUND_ROBIN or stage.operator == Operator.DISTINCT else known
        if rule == Rule.RANGE and stage.function is not key_of:
            self.known[number] = None

    def _wanted(self, stage: Stage) -> Known:
        """How a wide stage wants its input: as it says, else as its widest parted input is if that has more than a
        tenth of the most partitions, else by the engine's hash (Spark's ``Partitioner.defaultPartitioner``)."""
        given, rule, function = stage.partition.count, stage.partition.rule, stage.partition.function
        most = max(self.counts[one] for one in stage.inputs)
        count = given or self.rules.partitions or max(most, 1)
        if rule == Rule.RANGE:
            return Known(Rule.RANGE, count, None, len(self.exchanges))
        if rule == Rule.ROUND_ROBIN:
            return Known(Rule.ROUND_ROBIN, count)
        if callable(function):
            return Known(Rule.CUSTOM, count, function)
        if given is None and function is None and stage.operator != Operator.DISTINCT:
            parted = [(self.counts[one], one) for one in stage.inputs if self.known[one] is not None]
            if parted:
                widest = self.known[max(parted, key=lambda pair: pair[0])[1]]
                if widest is not None and (10 * widest.count > most or count <= widest.count):
                    return widest
        name = function or self.rules.hash
        if name not in HASHES:
            raise unknown_name("hash", name, HASHES).at(field=stage.name)
        return Known(Rule.HASH, count, name)

    def _exchange(self, stage: Stage, position: int, known: Known) -> None:
        combine: bool | Function = False
        if stage.operator in (Operator.AGGREGATE, Operator.DISTINCT):
            combine = self.rules.combine if stage.combine is None else stage.combine
        elif stage.operator == Operator.GROUP and callable(stage.combine):
            combine = stage.combine
        ordered = self.rules.ordered and stage.operator in _GROUPING
        exchange = Exchange(
            len(self.exchanges),
            stage.inputs[position],
            stage.number,
            position,
            known,
            combine,
            stage.aggregate,
            ordered,
            stage.name,
        )
        self.exchanges.append(exchange)
        self.crossing[stage.number, position] = exchange


_GROUPING: Final = frozenset({Operator.AGGREGATE, Operator.GROUP, Operator.DISTINCT, Operator.COGROUP, Operator.JOIN})
