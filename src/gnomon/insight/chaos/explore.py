"""Trying schedules, generation by generation: random ones first, then changes of those that hit something new.

What a generation tries hangs on the seed and on the results of the generations before, on nothing else: not on how many
processes there are, nor on the order in which they finish.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gnomon.engine.log import Log
from gnomon.engine.streams import stream
from gnomon.insight.chaos.coverage import features
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.generate import Space, mutate, schedule
from gnomon.insight.chaos.properties import Property
from gnomon.insight.chaos.rules import Verdict
from gnomon.insight.chaos.schedules import Schedule
from gnomon.insight.history import history
from gnomon.model.scenario import Scenario

GENERATION: Final = 16
"""How many schedules are tried before what they hit is looked at."""

RANDOM_GENERATIONS: Final = 2
"""How many generations are drawn at random before any is guided."""

_RANDOM_ONE_IN: Final = 4
"""Later one in so many schedules still is drawn at random."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a schedule brought about: a verdict a property, what it hit, and how many rows its log has."""

    verdicts: tuple[Verdict, ...]
    hit: frozenset[int]
    rows: int


Evaluate = Callable[[Sequence[Schedule]], Sequence[Result]]
"""The results of some schedules, in their order."""


def result_of(scenario: Scenario, log: Log, properties: Iterable[Property]) -> Result:
    """Judge one run."""
    facts = Facts(history(scenario, log))
    verdicts = tuple(one.judge(facts) for one in properties)
    return Result(verdicts, features(facts, verdicts), len(log))


@dataclass(frozen=True, slots=True)
class Bounds:
    """When to stop: after ``runs`` runs, or when the logs have ``events`` rows together, or (unless ``to_the_end``) at
    the first generation in which a property is violated."""

    runs: int
    events: int = 2**62
    to_the_end: bool = False


@dataclass(slots=True)
class Exploration:
    """What was tried, in order; the first run is the one without additional faults."""

    schedules: list[Schedule] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    hits: Counter[int] = field(default_factory=Counter)
    corpus: list[int] = field(default_factory=list)
    """Runs that hit something which none before them did."""

    def add(self, tried: Schedule, result: Result) -> None:
        """One more run."""
        if result.hit - self.hits.keys():
            self.corpus.append(len(self.schedules))
        self.hits.update(result.hit)
        self.schedules.append(tried)
        self.results.append(result)

    @property
    def events(self) -> int:
        """Rows of all logs."""
        return sum(result.rows for result in self.results)

    def violations(self, index: int) -> list[int]:
        """The runs in which a property, by its position, does not hold."""
        return [number for number, result in enumerate(self.results) if not result.verdicts[index].holds]

    @property
    def violated(self) -> bool:
        """Whether any property was violated in any run."""
        return any(not verdict.holds for result in self.results for verdict in result.verdicts)


def explore(space: Space, evaluate: Evaluate, bounds: Bounds, seed: int) -> Exploration:
    """Try schedules until one of the bounds is reached. A run is known by its number: the first is number 0."""
    found = Exploration()
    found.add((), evaluate([()])[0])
    number = 0
    while len(found.results) < bounds.runs and found.events < bounds.events:
        if found.violated and not bounds.to_the_end:
            break
        size = min(GENERATION, bounds.runs - len(found.results))
        first = len(found.results)
        tried = [_next(space, found, number, stream(seed, f"chaos {first + i}")) for i in range(size)]
        for one, result in zip(tried, evaluate(tried), strict=True):
            found.add(one, result)
        number += 1
    return found


def _next(space: Space, found: Exploration, generation: int, rng: np.random.Generator) -> Schedule:
    parents = [number for number in found.corpus if found.schedules[number]]
    if generation < RANDOM_GENERATIONS or not parents or not int(rng.integers(_RANDOM_ONE_IN)):
        return schedule(space, rng)
    parent, other = (found.schedules[_rare(found, parents, rng)] for _ in range(2))
    return mutate(space, parent, other, rng)


def _rare(found: Exploration, parents: Sequence[int], rng: np.random.Generator) -> int:
    """One of two, drawn evenly, that hit what fewer runs hit."""
    drawn = [parents[int(rng.integers(len(parents)))] for _ in range(2)]
    return min(drawn, key=lambda number: (min(found.hits[hit] for hit in found.results[number].hit), number))
