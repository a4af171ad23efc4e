"""The stage and the graph: what a job is, as values.

A stage says six things: how much input there is (boundedness), how records are parted, which state it keeps, what its
progress waits for, from where it recovers, and what it needs to run. The functions of the user are part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.model.resources import Resources

Function = Callable[..., Any]

ONE_PROCESSOR: Final = Resources(cpu_milli=1000)
"""What a task asks for where the job says nothing."""


PARTITIONS_MAX: Final = 1_000_000


class Operator(StrEnum):
    """What a stage does with records."""

    SOURCE = "source"
    TEXT = "text"
    MAP = "map"
    FLAT_MAP = "flat_map"
    FILTER = "filter"
    KEY_BY = "key_by"
    MAP_VALUES = "map_values"
    FLAT_MAP_VALUES = "flat_map_values"
    MAP_PARTITIONS = "map_partitions"
    UNION = "union"
    COALESCE = "coalesce"
    AGGREGATE = "aggregate"
    GROUP = "group"
    DISTINCT = "distinct"
    COGROUP = "cogroup"
    JOIN = "join"
    SORT = "sort"
    REPARTITION = "repartition"
    SINK = "sink"


SOURCES: Final = frozenset({Operator.SOURCE, Operator.TEXT})
WIDE: Final = frozenset(
    {
        Operator.AGGREGATE,
        Operator.GROUP,
        Operator.DISTINCT,
        Operator.COGROUP,
        Operator.JOIN,
        Operator.SORT,
        Operator.REPARTITION,
    }
)
"""Their input may have to cross the network; where it is parted as they want already, it does not."""

KEEPS_KEYS: Final = frozenset({Operator.FILTER, Operator.MAP_VALUES, Operator.FLAT_MAP_VALUES, Operator.SINK})
"""They leave the keys as they are, so what is known of the partitions stays true."""


class Boundedness(StrEnum):
    """Whether the input ends."""

    BOUNDED = "bounded"
    UNBOUNDED = "unbounded"


class Rule(StrEnum):
    """How records get to the partitions of a stage."""

    SPLITS = "splits"
    SAME = "same"
    """As those of the input, one to one."""
    JOINED = "joined"
    """Several partitions of the input make one, or the partitions of several inputs stand side by side."""
    HASH = "hash"
    RANGE = "range"
    ROUND_ROBIN = "round robin"
    BROADCAST = "broadcast"
    CUSTOM = "custom"


class State(StrEnum):
    """What a task keeps beside the record that it works on."""

    NONE = "none"
    VALUE = "one value a key"
    VALUES = "all values of a key"
    RECORDS = "all records of the partition"
    TABLE = "the whole small side"


class Progress(StrEnum):
    """What the output of a stage waits for."""

    PIPELINED = "record by record"
    BARRIER = "all map outputs"
    COMMIT = "commit of the job"


class Recovery(StrEnum):
    """From where a task that is lost starts again."""

    SPLIT = "its split, read again"
    LINEAGE = "the input of its chain"
    OUTPUTS = "map outputs, lost ones made again"
    CACHED = "the kept partition, else its lineage"
    CHECKPOINT = "the checkpoint"
    JOB = "the job"


@dataclass(frozen=True)
class Partition:
    """How the records of a stage are parted: the rule, into how many (None: the engine or the input decides), and the
    function: the name of a hash, a function of the user from a key to an integer, or None for the engine's own."""

    rule: Rule
    count: int | None = None
    function: str | Function | None = None


@dataclass(frozen=True)
class Aggregate:
    """How values of a key become one: ``create`` the first one (None: it is taken as it is), ``add`` a further value,
    ``merge`` two such results."""

    create: Function | None
    add: Function
    merge: Function


@dataclass(frozen=True)
class Stage:
    """One operator of a job with what it says of itself.

    - ``number``: its place in the graph; ``inputs``: those of the stages that it reads, each smaller.
    - ``function``: the user's; for a text source its pattern, for a source its partitions, is ``data``.
    - ``combine``: whether values may be combined before they cross the network; a function
      ``(key, values) -> values`` that does it; None leaves it to the engine.
    - ``ascending`` goes with a sort, ``how`` with a join.
    """

    number: int
    name: str
    operator: Operator
    inputs: tuple[int, ...] = ()
    function: Function | None = None
    aggregate: Aggregate | None = None
    data: Any = field(default=None, repr=False)
    combine: bool | Function | None = None
    ascending: bool = True
    how: str = ""
    indexed: bool = False
    boundedness: Boundedness = Boundedness.BOUNDED
    partition: Partition = Partition(Rule.SAME)
    resources: Resources = ONE_PROCESSOR
    cached: bool = False
    checkpointed: bool = False

    @property
    def state(self) -> State:
        """What a task of it keeps."""
        if self.operator == Operator.JOIN and self.partition.rule == Rule.BROADCAST:
            return State.TABLE
        return _STATE.get(self.operator, State.NONE)

    @property
    def progress(self) -> Progress:
        """What its output waits for."""
        if self.operator == Operator.SINK:
            return Progress.COMMIT
        return Progress.BARRIER if self.operator in WIDE else Progress.PIPELINED

    @property
    def recovery(self) -> Recovery:
        """From where a task of it starts again."""
        if self.checkpointed:
            return Recovery.CHECKPOINT
        if self.cached:
            return Recovery.CACHED
        if self.operator in SOURCES:
            return Recovery.SPLIT
        return Recovery.OUTPUTS if self.operator in WIDE else Recovery.LINEAGE


_STATE: Final = {
    Operator.AGGREGATE: State.VALUE,
    Operator.DISTINCT: State.VALUE,
    Operator.GROUP: State.VALUES,
    Operator.COGROUP: State.VALUES,
    Operator.JOIN: State.VALUES,
    Operator.SORT: State.RECORDS,
}


@dataclass(frozen=True)
class Graph:
    """A whole job: its stages, each after those that it reads. ``unused`` are the names of stages that lead to no
    sink, which no engine would run."""

    name: str
    stages: tuple[Stage, ...]
    unused: tuple[str, ...] = ()

    @property
    def sinks(self) -> tuple[Stage, ...]:
        """The results that are asked for, in the order of their declaration."""
        return tuple(stage for stage in self.stages if stage.operator == Operator.SINK)

    @property
    def sources(self) -> tuple[Stage, ...]:
        """Where records come from."""
        return tuple(stage for stage in self.stages if stage.operator in SOURCES)


def sliced(records: Sequence[Any], partitions: int) -> list[list[Any]]:
    """A list cut into so many parts of nearly one size, part ``i`` from ``i*n/p`` to ``(i+1)*n/p``, rounded down
    (Spark's ``ParallelCollectionRDD.slice``).

    >>> sliced(range(10), 3)
    [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
    """
    cuts = [index * len(records) // partitions for index in range(partitions + 1)]
    return [list(records[start:end]) for start, end in pairwise(cuts)]


def positive(count: object, title: str) -> int:
    """A number of partitions that was given for a stage. Raises InputError for what is none."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= PARTITIONS_MAX:
        allowed = f"partitions from 1 to {PARTITIONS_MAX:,}"
        raise InputError("not a number of partitions", field=title, found=count, allowed=allowed)
    return count


def key_of(pair: Any) -> Any:
    """The key of a pair."""
    key, _ = pair
    return key


def worded(given: object, title: str, what: str) -> str:
    """A text that is not blank. Raises InputError."""
    if not isinstance(given, str) or not given.strip():
        raise InputError(f"not {what}", field=title, found=given)
    return given
