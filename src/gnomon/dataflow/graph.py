"""How a job is declared: a :class:`Dataflow` gives collections, collections give further ones.

>>> from operator import add
>>> flow = Dataflow("wordcount")
>>> lines = flow.source([["welcome everyone"], ["hello everyone"]])
>>> counts = lines.flat_map(str.split).map(lambda word: (word, 1)).reduce_by_key(add, partitions=2)
>>> counts.sink("out")
>>> [stage.name for stage in flow.graph().stages]
['source', 'flat_map', 'map', 'reduce_by_key', 'out']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gnomon.dataflow.collection import Collection
from gnomon.dataflow.stage import Graph, Operator, Partition, Rule, Stage, positive, sliced, worded
from gnomon.model.errors import InputError


class Dataflow:
    """A job that is being declared. :meth:`graph` freezes it."""

    def __init__(self, name: str = "job") -> None:
        self.name = name
        self._stages: list[Stage] = []

    def __repr__(self) -> str:
        return f"Dataflow({self.name!r}, {len(self._stages)} stages)"

    def source(
        self, records: Sequence[Any] | Iterable[Any], *, partitions: int | None = None, name: str | None = None
    ) -> Collection:
        """Records given here: one list a partition, or with ``partitions`` one list that is cut into so many."""
        given = list(records)
        title = self.title(name, "source")
        if partitions is not None:
            data = sliced(given, positive(partitions, title))
        elif all(isinstance(part, list | tuple | range) for part in given):
            data = [list(part) for part in given]
        else:
            wrong = next(part for part in given if not isinstance(part, list | tuple | range))
            allowed = "a list for each partition, or partitions=N to cut one list"
            raise InputError("a source is a list of partitions", field=title, found=wrong, allowed=allowed)
        return self.add(Operator.SOURCE, title, data=data, partition=Partition(Rule.SPLITS, len(data)))

    def text(self, pattern: str, *, name: str | None = None) -> Collection:
        """The lines of text files, without their ends: a path or a pattern such as ``input/*.txt``, relative to the
        file of the job. The engine cuts the files into splits."""
        title = self.title(name, "text")
        path = worded(pattern, title, "a path or a pattern such as input/*.txt")
        return self.add(Operator.TEXT, title, data=path, partition=Partition(Rule.SPLITS))

    def graph(self) -> Graph:
        """The job as a value. Raises InputError for a job of which no result is asked."""
        sinks = [stage.number for stage in self._stages if stage.operator == Operator.SINK]
        if not sinks:
            allowed = "end with .sink('out') or .collect()"
            raise InputError("no result is asked of the job", field=self.name, allowed=allowed)
        used: set[int] = set()
        left = sinks
        while left:
            number = left.pop()
            if number not in used:
                used.add(number)
                left.extend(self._stages[number].inputs)
        return Graph(
            self.name,
            tuple(stage for stage in self._stages if stage.number in used),
            tuple(stage.name for stage in self._stages if stage.number not in used),
        )

    def title(self, name: str | None, default: str) -> str:
        """The name of a new stage: what is given, which must be new; else the default, numbered where it is there."""
        taken = {stage.name for stage in self._stages}
        if name is None:
            number = 1
            while (title := default if number == 1 else f"{default}-{number}") in taken:
                number += 1
            return title
        worded(name, default, "a name of a stage")
        if name in taken:
            raise InputError("two stages have this name", field=self.name, found=name)
        return name

    def stage(self, number: int) -> Stage:
        """A stage as it is declared so far."""
        return self._stages[number]

    def stages(self) -> tuple[Stage, ...]:
        """All stages as they are declared so far."""
        return tuple(self._stages)

    def replace(self, stage: Stage) -> None:
        """Put a stage in the place of the one with its number."""
        self._stages[stage.number] = stage

    def add(self, operator: Operator, title: str, **fields: Any) -> Collection:
        """A new stage. Operators of collections call this."""
        stage = Stage(len(self._stages), title, operator, **fields)
        self._stages.append(stage)
        return Collection(self, stage.number)
