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
from gnomon.dataflow.declaring import Declared
from gnomon.dataflow.stage import Graph, Operator, Partition, Rule, positive, sliced, worded
from gnomon.model.errors import InputError


class Dataflow:
    """A job that is being declared. :meth:`graph` freezes it."""

    def __init__(self, name: str = "job") -> None:
        self._declared = Declared(name)

    @property
    def name(self) -> str:
        """What the job is called."""
        return self._declared.name

    def __repr__(self) -> str:
        return f"Dataflow({self.name!r}, {len(self._declared.stages)} stages)"

    def source(
        self, records: Sequence[Any] | Iterable[Any], *, partitions: int | None = None, name: str | None = None
    ) -> Collection:
        """Records given here: one list a partition, or with ``partitions`` one list that is cut into so many."""
        given = list(records)
        title = self._declared.title(name, "source")
        if partitions is not None:
            data = sliced(given, positive(partitions, title))
        elif all(isinstance(part, list | tuple | range) for part in given):
            data = [list(part) for part in given]
        else:
            wrong = next(part for part in given if not isinstance(part, list | tuple | range))
            allowed = "a list for each partition, or partitions=N to cut one list"
            raise InputError("a source is a list of partitions", field=title, found=wrong, allowed=allowed)
        return self._add(Operator.SOURCE, title, data=data, partition=Partition(Rule.SPLITS, len(data)))

    def text(self, pattern: str, *, name: str | None = None) -> Collection:
        """The lines of text files, without their ends: a path or a pattern such as ``input/*.txt``, relative to the
        file of the job. The engine cuts the files into splits."""
        title = self._declared.title(name, "text")
        path = worded(pattern, title, "a path or a pattern such as input/*.txt")
        return self._add(Operator.TEXT, title, data=path, partition=Partition(Rule.SPLITS))

    def graph(self) -> Graph:
        """The job as a value. Raises InputError for a job of which no result is asked."""
        stages = self._declared.stages
        sinks = [stage.number for stage in stages if stage.operator == Operator.SINK]
        if not sinks:
            allowed = "end with .sink('out') or .collect()"
            raise InputError("no result is asked of the job", field=self.name, allowed=allowed)
        used: set[int] = set()
        left = sinks
        while left:
            number = left.pop()
            if number not in used:
                used.add(number)
                left.extend(stages[number].inputs)
        return Graph(
            self.name,
            tuple(stage for stage in stages if stage.number in used),
            tuple(stage.name for stage in stages if stage.number not in used),
        )

    def _add(self, operator: Operator, title: str, **fields: Any) -> Collection:
        return Collection(self._declared, self._declared.add(operator, title, **fields))
