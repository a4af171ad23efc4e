"""The port by which a system with a queue and a scheduling cycle of its own takes the place of the loop's pass.

Ledger, agenda, log, faults, use and recovery stay the shared ones: whoever wants a place is handed over, the rows of
what happens are shown, and the system places tasks by the board when it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from gnomon.control.board import Board
from gnomon.control.timers import Timers
from gnomon.model.scenario import Scenario


class Placer(Protocol):
    """A scheduler beside the loop."""

    def enter(self, task: int, row: int) -> None:
        """A task wants a place; ``row``: what made it so."""
        ...

    def read(self, first: int, last: int) -> None:
        """Rows of the log from ``first`` to before ``last`` have been written."""
        ...

    def place(self) -> None:
        """Try those who are ready, and give places to them by the board."""
        ...

    def waiting(self) -> Iterator[int]:
        """The tasks that want a place and have none."""
        ...

    def check(self) -> None:
        """Raise InvariantError where its own account differs from the ledger's."""
        ...


class Hands(Protocol):
    """What a placer may have done besides placing."""

    kept: dict[int, tuple[int, int]]
    """The tasks that will start again in their old place (node, devices), which is kept for them."""

    def preempt(self, task: int, by: int) -> None:
        """A running task loses its place to another."""
        ...


MakePlacer = Callable[[Scenario, Board, Timers, "list[int]", Hands], Placer]
"""``make(scenario, board, timers, node_at, hands)``: ``node_at`` has the world's number of each node of the cluster."""
