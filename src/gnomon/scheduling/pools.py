"""The order in which sets of tasks are offered free slots: first come first served, or fairly between named pools.

The rules are those of Spark's ``SchedulingAlgorithm`` (FIFOSchedulingAlgorithm, FairSchedulingAlgorithm) and ``Pool``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, TypeVar

FIFO: Final = "FIFO"
FAIR: Final = "FAIR"
DEFAULT: Final = "default"
"""The pool of those who name none."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool; one that nobody declared has these values. ``min_share``: slots that it is to have before others get more
    than theirs; ``mode``: the order inside."""

    name: str
    weight: int = 1
    min_share: int = 0
    mode: str = FIFO


class TaskSet(Protocol):
    """What is ordered: the tasks of one attempt of a stage."""

    @property
    def job(self) -> int:
        """The job that it was submitted for."""
        ...

    @property
    def stage(self) -> int:
        """Its stage."""
        ...

    @property
    def attempt(self) -> int:
        """Which attempt of the stage it is."""
        ...

    @property
    def pool(self) -> str:
        """The name of its pool."""
        ...

    @property
    def running(self) -> int:
        """How many of its tasks run."""
        ...


_S = TypeVar("_S", bound=TaskSet)
FairKey = tuple[bool, Fraction, str]


def fair_key(name: str, running: int, *, weight: int = 1, min_share: int = 0) -> FairKey:
    """The smaller goes first: who runs less than its minimum share before who does not, the former by running /
    minimum share, the latter by running / weight, ties by name.

    P (minimum 2) has one slot of its two, Q (weight 3) has three; then P has its two, and Q is due until it has six:

    >>> fair_key("P", 1, min_share=2) < fair_key("Q", 3, weight=3)
    True
    >>> fair_key("P", 2, min_share=2) < fair_key("Q", 5, weight=3)
    False
    >>> fair_key("P", 2, min_share=2) < fair_key("Q", 6, weight=3)
    True
    """
    needy = running < min_share
    share = Fraction(running, max(min_share, 1)) if needy else Fraction(running, max(weight, 1))
    return not needy, share, name


def order(sets: Iterable[_S], mode: str = FIFO, pools: Mapping[str, Pool] | None = None) -> list[_S]:
    """Task sets in the order of one round of offers. The first takes all that it can use before the next is asked.

    FIFO: by job, then by stage; pools do not matter. FAIR: pools by :func:`fair_key`, inside each by its own mode.
    """
    if mode == FIFO:
        return sorted(sets, key=_arrival)
    members: dict[str, list[_S]] = {}
    for one in sets:
        members.setdefault(one.pool, []).append(one)
    declared = pools or {}
    ordered = sorted((declared.get(name) or Pool(name) for name in members), key=lambda pool: _key(pool, members))
    return [one for pool in ordered for one in _inside(members[pool.name], pool.mode)]


def _arrival(one: TaskSet) -> tuple[int, int, int]:
    return one.job, one.stage, one.attempt


def _key(pool: Pool, members: Mapping[str, Sequence[TaskSet]]) -> FairKey:
    running = sum(one.running for one in members[pool.name])
    return fair_key(pool.name, running, weight=pool.weight, min_share=pool.min_share)


def _inside(sets: list[_S], mode: str) -> list[_S]:
    """The order inside a pool. In a fair one every set weighs the same; their names are compared as text."""
    if mode == FIFO:
        return sorted(sets, key=_arrival)
    return sorted(sets, key=lambda one: fair_key(f"TaskSet_{one.stage}.{one.attempt}", one.running))
