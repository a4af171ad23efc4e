"""What would change it: the smallest changes, each tried by simulating the scenario with it.

A :class:`Lever` is one fact that can be moved, by more or less. If the largest move has the wanted effect, bisection
finds the smallest that has it (taking for granted that more helps more); what is told was simulated. How many runs that
may take is bounded (:func:`trials_max`), and each run stops where the effect must have shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.engine.log import Log
from gnomon.insight.explain.phrases import Plain
from gnomon.insight.explain.wanted import Wanted
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario

OWN, CONSTRAINT, LIMIT, OTHERS, NODES = 1, 2, 3, 4, 5
"""Kinds of change, by whose business they are: the smaller, the cheaper."""

Simulate = Callable[[Scenario], Log]


def cost_of(kind: int, size: float) -> float:
    """The cost of a change: its kind (:data:`OWN`, 1, to :data:`NODES`, 5), and how large it is beside what it changes.

    >>> cost_of(OWN, 0.25), cost_of(OWN, 1e9), cost_of(LIMIT, 1)
    (1.2, 2.0, 3.5)
    """
    return round(kind + size / (1 + size), 4)


@dataclass(frozen=True, slots=True)
class Change:
    """One change, and whether a run with it had the wanted result.

    ``cost``: see :func:`cost_of`.
    """

    what: str
    object: str
    field: str
    before: Plain | None
    after: Plain | None
    cost: float
    confirmed: bool

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {
            "what": self.what,
            "object": self.object,
            "field": self.field,
            "from": self.before,
            "to": self.after,
            "cost": self.cost,
            "confirmed": self.confirmed,
        }


@dataclass(frozen=True, kw_only=True)
class Lever:
    """One fact that can be changed: its kind, object, field and present value, and by value (the smallest change first)
    the scenario, how to show it, its size relative to the present value, and a phrase in the imperative.

    A change that is all or nothing has no ``size``: it counts as 1. ``guess``: the position of a value that probably is
    the smallest to do; ``fallback``: tried only if nothing of its kind is of use before it.
    """

    kind: int
    object: str
    field: str
    before: Plain | None
    values: Sequence[Any]
    scenario: Callable[[Any], Scenario]
    phrase: Callable[[Any], str]
    size: Callable[[Any], float] = lambda _: 1.0
    shown: Callable[[Any], Plain | None] = lambda value: value
    guess: int | None = None
    fallback: bool = False

    def cost(self, value: Any) -> float:
        """See :func:`cost_of`."""
        return cost_of(self.kind, self.size(value))


def trials_max(tasks: int) -> int:
    """How many runs the search may take.

    >>> trials_max(100), trials_max(30_000), trials_max(1_000_000)
    (120, 60, 30)
    """
    return 120 if tasks <= 5_000 else 60 if tasks <= 100_000 else 30


class Trials:
    """Runs variations, as many as may be, and says when each has the wanted effect."""

    def __init__(self, wanted: Wanted, simulate: Simulate, most: int) -> None:
        self.wanted = wanted
        self.left = most
        self._simulate = simulate

    def __call__(self, variation: Scenario) -> int | None:
        """When it has the effect (ns), None if it does not, or makes no sense."""
        self.left -= 1
        limits = replace(variation.limits, until_ns=min(variation.limits.until_ns, self.wanted.until_ns))
        try:
            return self.wanted.reached(self._simulate(replace(variation, limits=limits)))
        except InputError:
            return None


@dataclass(slots=True)
class _Found:
    """The positions between which the smallest value is: ``fails`` does not do, ``works`` does, at ``t_ns``."""

    lever: Lever
    fails: int
    works: int
    t_ns: int

    @property
    def settled(self) -> bool:
        return self.works - self.fails <= 1

    def narrow(self, position: int, trials: Trials) -> None:
        t_ns = trials(self.lever.scenario(self.lever.values[position]))
        if t_ns is None:
            self.fails = position
        else:
            self.works, self.t_ns = position, t_ns


def search(levers: Iterable[Lever], trials: Trials) -> tuple[list[Change], bool]:
    """The smallest change by each lever that works, the cheapest first, and whether all could be tried and narrowed.

    First each lever is moved as far as it goes, which tells whether it is of any use; then those that are, the cheapest
    first, are narrowed down.
    """
    useful: list[_Found] = []
    complete = True
    for lever in levers:
        if lever.fallback and any(other.lever.kind == lever.kind for other in useful):
            continue
        if trials.left <= 0:
            complete = False
            break
        if found := _probe(lever, trials):
            useful.append(found)
    for found in sorted(useful, key=lambda one: one.lever.cost(one.lever.values[one.works])):
        complete &= _narrow(found, trials)
    changes = [_told(found, trials.wanted) for found in useful]
    return sorted(changes, key=lambda change: change.cost), complete


def _probe(lever: Lever, trials: Trials) -> _Found | None:
    last = len(lever.values) - 1
    if last < 0:
        return None
    for position in dict.fromkeys((last, last if lever.guess is None else lever.guess)):
        t_ns = trials(lever.scenario(lever.values[position]))
        if t_ns is not None:
            return _Found(lever, -1, position, t_ns)
    return None


def _narrow(found: _Found, trials: Trials) -> bool:
    guess = found.lever.guess
    for position in () if guess is None else (guess, guess - 1):
        if found.fails < position < found.works and trials.left > 0:
            found.narrow(position, trials)
    while not found.settled and trials.left > 0:
        found.narrow((found.fails + found.works) // 2, trials)
    return found.settled


def _told(found: _Found, wanted: Wanted) -> Change:
    lever, value = found.lever, found.lever.values[found.works]
    least = "" if found.settled else " (or less of that)"
    return Change(
        what=f"{lever.phrase(value)}{least}: it {wanted.told(found.t_ns)}",
        object=lever.object,
        field=lever.field,
        before=lever.before,
        after=lever.shown(value),
        cost=lever.cost(value),
        confirmed=True,
    )
