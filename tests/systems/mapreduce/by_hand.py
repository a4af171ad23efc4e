"""Jobs of MapReduce played by hand: a clock that is set, attempts that are begun and done one by one."""

from __future__ import annotations

from collections import Counter
from operator import add
from typing import Any

from gnomon.control.batch.plan import Course, Where
from gnomon.dataflow import Dataflow
from gnomon.systems.mapreduce.attempts import Runner
from gnomon.systems.mapreduce.costs import Costs
from gnomon.systems.mapreduce.execution import Inputs, Setup, Tasks
from gnomon.systems.mapreduce.jobs import jobs_of
from gnomon.systems.mapreduce.settings import Settings

MEASURED = [["the quick fox", "the fox"], ["the hello", "quick b"]]
"""The two splits of the word count that was run on the real engine."""

EVERYONE = [["welcome everyone"], ["hello everyone"]]


def word_count(lines: list[list[str]], *, reduces: int = 2, combine: bool = False) -> Dataflow:
    flow = Dataflow("wordcount")
    pairs = flow.source(lines).flat_map(str.split, name="words").map(lambda word: (word, 1), name="pairs")
    pairs.reduce_by_key(add, partitions=reduces, combine=combine, name="counts").sink("out")
    return flow


class ByHand:
    """A run of a job. ``now``: the time, to be set."""

    def __init__(
        self,
        flow: Dataflow,
        settings: Settings | None = None,
        *,
        costs: Costs | None = None,
        combining: bool = True,
        inputs: Inputs | None = None,
    ) -> None:
        settings = settings or Settings()
        self.now = 0
        self.jobs = jobs_of(flow.graph(), settings)
        setup = Setup(self.jobs, Runner(settings, costs or Costs(), combining), inputs or Inputs())
        self.tasks = Tasks(setup, lambda: self.now)
        self.counts: Counter[str] = Counter()

    def where(self, part: int, task: int, number: int = 0, node: int = 0) -> Where:
        return Where(self.jobs.batch.stages[part], task, 0, number, node)

    def begin(self, part: int, task: int, number: int = 0, node: int = 0) -> Course:
        return self.tasks.begin(self.where(part, task, number, node))

    def done(self, part: int, task: int, number: int = 0) -> dict[str, int | str]:
        found = dict(self.tasks.done(self.where(part, task, number)))
        self.counts.update({name: value for name, value in found.items() if isinstance(value, int)})
        return found

    def run(self) -> list[list[Any]]:
        """All tasks, one after another."""
        for part in self.jobs.parts:
            for task in range(part.tasks):
                self.now += self.begin(part.number, task).length_ns
                self.done(part.number, task)
        return self.tasks.records()
