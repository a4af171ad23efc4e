"""What a plugin is: a filter gives each node a code (0: it passes), a score gives each node points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from gnomon.systems.kubernetes.api.profile import Profile
from gnomon.systems.kubernetes.scheduler.shapes import Shape
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask, State

Nodes = Ints | slice
"""Some nodes by their numbers, or all of them (:data:`ALL`)."""

ALL = slice(None)

MAX_SCORE = 100
"""MaxNodeScore of the framework."""


class Scope(IntEnum):
    """What an answer for a node depends on, besides the pod."""

    STATIC = 0
    """The node alone."""
    NODE = 1
    """The node and the pods on it."""
    CLUSTER = 2
    """Pods on other nodes too."""


@dataclass(frozen=True)
class Query:
    """The pod that is being placed, by its shape, and where."""

    state: State
    shape: Shape
    profile: Profile


@dataclass(frozen=True)
class Filter:
    """A filter plugin.

    ``codes``: of the nodes asked about, 0 where it passes; ``resolvable``: by code, whether preemption may help
    (Unschedulable) or not (UnschedulableAndUnresolvable); ``reasons``: of nodes that were refused and their codes, each
    text with the nodes that it is about; ``applies``: False skips the plugin for this pod.
    """

    name: str
    scope: Scope
    codes: Callable[[Query, Nodes], Ints]
    resolvable: tuple[bool, ...]
    reasons: Callable[[Query, Ints, Ints], list[tuple[str, Mask]]]
    applies: Callable[[Query], bool] = lambda query: True


@dataclass(frozen=True)
class Score:
    """A score plugin of scope STATIC or NODE: ``raw`` points of the nodes asked about, ``normalise`` over those that
    passed (a single number: all have it). A plugin that does not apply is absent from the scores."""

    name: str
    scope: Scope
    raw: Callable[[Query, Nodes], Ints]
    normalise: Callable[[Ints], Ints | int]
    applies: Callable[[Query], bool] = lambda query: True


@dataclass(frozen=True)
class ClusterScore:
    """A score plugin of scope CLUSTER: ``points``, normalised, of the nodes that passed; None: it skips."""

    name: str
    points: Callable[[Query, Ints], Ints | None]


def by_text(texts: list[str], codes: Ints) -> list[tuple[str, Mask]]:
    """The reasons where each code has one text (that of code 1 first)."""
    return [(text, codes == code) for code, text in enumerate(texts, 1) if (codes == code).any()]


def as_it_is(raw: Ints) -> Ints:
    """No normalisation."""
    return raw


def by_highest(raw: Ints) -> Ints | int:
    """``100 * s / max``, integer division; 0 when all are 0 (helper.DefaultNormalizeScore).

    >>> import numpy as np
    >>> by_highest(np.array([1, 3])).tolist()
    [33, 100]
    """
    highest = int(raw.max(initial=0))
    return MAX_SCORE * raw // highest if highest else 0


def by_highest_reversed(raw: Ints) -> Ints | int:
    """``100 - 100 * s / max``; 100 when all are 0.

    >>> import numpy as np
    >>> by_highest_reversed(np.array([1, 3])).tolist(), by_highest_reversed(np.array([0, 0]))
    ([67, 0], 100)
    """
    highest = int(raw.max(initial=0))
    return MAX_SCORE - MAX_SCORE * raw // highest if highest else MAX_SCORE
