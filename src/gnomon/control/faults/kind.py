"""What a kind of fault says of itself. One module a kind makes one :class:`Kind`; who needs to know asks the kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol, TypeVar

from gnomon.control.strikes import Over, Strikes
from gnomon.model.cluster import Node
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.faults import Event
from gnomon.recovery.targets import NODES

_T = TypeVar("_T")

Begin = Callable[[Strikes, Event, int, int], Over | None]
"""``begin(strikes, event, node, row)``: what the fault does to a node (-1: to all that it names), and what its end does
(None: nothing, as it struck what was struck already). ``row``: its row of the log."""


class Unit(Enum):
    """How an amount is counted, read and written."""

    PART = "1/10,000"
    BYTES = "bytes"
    BYTES_A_SECOND = "bytes a second"
    NS = "ns"
    NUMBER = "a number"


class Draws(Protocol):
    """What is drawn at random. ``lengths``: the lengths (ns) that a fault may have."""

    @property
    def lengths(self) -> Sequence[int]: ...

    def below(self, most: int) -> int:
        """A whole number below ``most``, 0 if there is none."""

    def pick(self, items: Sequence[_T]) -> _T:
        """One of them."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How bad a fault is. ``key``: its name in a file; ``what``: what it is and may be, as an error says it.

    ``draw(draws, node)``: one at random (``node``: that it strikes, where :attr:`Kind.on` chooses one);
    ``milder(amount, lengths)``: one about half as bad, or the same (``lengths``: of time, up to this one);
    ``check(node, amount)``: raises InputError where a node cannot have it.
    """

    key: str
    unit: Unit
    what: str
    draw: Callable[[Draws, Node | None], int]
    least: int = 0
    most: int = NEVER
    default: int | None = None
    told: str = "{}"
    milder: Callable[[int, Sequence[int]], int] = lambda amount, lengths: amount
    check: Callable[[Node, int], None] = lambda node, amount: None


@dataclass(frozen=True, slots=True)
class Words:
    """A kind in sentences. ``{who}``, ``{are}``, ``{amount}``, ``{others}`` stand for what a fault has.

    ``lasts``: what follows ``begins`` if it ends, ``{time}`` later; ``past``: what had become of a node that was lost
    with it; ``nobody``: who begins and who ends, of a fault that names no target.
    """

    begins: str = "a fault strikes {who}"
    ends: str = "the fault of {who} is over"
    lasts: str = " for {time}"
    past: str = ""
    nobody: tuple[str, str] = ("", "")


class Harm(IntEnum):
    """What cannot be done meanwhile; each has those before it in it."""

    NONE = 0
    DELAY = 1
    """Work piles up."""
    CUT_OFF = 2
    """A node cannot be used."""
    STOP = 3
    """And what ran there has stopped."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault: whom it hits, what it does, how it is written and told.

    - ``hits``: sorts of targets (:mod:`gnomon.recovery.targets`).
    - One of ``on_node``, ``on_task`` (called with strikes, event, task), ``on_all``: what it does to each node, to each
      task, to all that it names together; none of them: it is a matter of the tasks' plans.
    - ``harm``: to those that it hits. ``two_sides``: it is between its targets and others. ``instant``: it is over when
      it has begun. ``planned``: someone wants it; nothing has to be noticed. ``false_alarm``: it makes nodes that are
      well be taken for lost.
    - ``excludes``: what two such faults, or others with the same words, cannot be at one time, of one target.
    - ``fits(scenario)``: whether it can do something there; ``on(node)``: to this node (None: to any).
    - ``on_request``: random schedules have it only if it is asked for: it is no fault of the cluster.
    """

    words: Words = Words()
    hits: tuple[str, ...] = (NODES,)
    amount: Amount | None = None
    on_node: Begin | None = None
    on_task: Callable[[Strikes, Event, int], None] | None = None
    on_all: Begin | None = None
    harm: Harm = Harm.NONE
    two_sides: bool = False
    instant: bool = False
    planned: bool = False
    false_alarm: bool = False
    excludes: str = ""
    fits: Callable[[Scenario], bool] = lambda scenario: True
    on: Callable[[Node], bool] | None = None
    on_request: bool = False


def halved(amount: int, lengths: Sequence[int]) -> int:
    """Half of a chance, down to 1 %.

    >>> halved(5_000, ()), halved(100, ())
    (2500, 100)
    """
    return amount // 2 if amount > 100 else amount


CHANCES = (1_000, 2_000, 5_000, 9_000)
"""The chances that are drawn, in 1/10,000."""
