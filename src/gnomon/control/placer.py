"""The port by which a system with a queue and a scheduling cycle of its own takes the place of the loop's pass.

Ledger, agenda, log, faults, use and recovery stay the shared ones: whoever wants a place is handed over, the rows of
what happens are shown, and the system places tasks by the board when it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from gnomon.control.board import Board
from gnomon.control.timers import Timers
from gnomon.engine.log import Reason
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer


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

    # What follows has an answer of its own for systems without controllers: inherit it.

    def speed_up(self) -> None:
        """The run is large: use compiled forms. Said once, before anything is placed."""

    @property
    def native_state(self) -> object:
        """What it holds in its own form, to be looked at when the run is over; None: nothing of its own."""
        return None

    keeps_books: bool = False
    """Whether what its tasks hold, perhaps on several nodes each, stands in books of its own and not in the world's
    ledger, where a task is on its first node and holds nothing."""

    def is_busy(self) -> bool:
        """Whether it will do something by itself though nothing runs."""
        return False

    def answer(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """What follows a failed attempt (its row); ``usual``: by the task's recovery. With ``at_ns`` NEVER the placer
        counts the task among those who wait, and queues it itself."""
        return usual

    def drains(self, task: int, row: int) -> bool:
        """The node of a task is being emptied (``row``: its closing); whether it sees to that itself, as often as it is
        asked: it lets the task go by :class:`Hands`, now or later, or lets it stay."""
        return False

    @property
    def gives_up(self) -> bool:
        """Whether it decides when the tasks of a lost node are given up: it is told of the node's :meth:`turn`."""
        return False

    def turn(self, node: int, row: int) -> None:
        """It is the turn of a lost node to be emptied; ``row``: its closing."""

    def spare(self, node: int) -> None:
        """It is not any more: every zone is lost."""

    @property
    def patience_ns(self) -> int:
        """A run without an end is stopped when for so long attempts were only lost and tried again, and nothing else is
        known to come."""
        return NEVER

    def was_given_up(self, task: int) -> bool:
        """Whether a task on a node that is silent is to stop when that hears of it."""
        return False


class Hands(Protocol):
    """What a placer may have done besides placing."""

    kept: dict[int, tuple[int, int]]
    """The tasks that will start again in their old place (node, devices), which is kept for them."""

    def runs(self, task: int) -> bool:
        """Whether the attempt of a task that counts runs on a node that is neither stopped nor cut off."""
        ...

    def preempt(self, task: int, by: int, *, cause: int = -1, grace_ns: int = 0) -> None:
        """A running task loses its place to another; it has ``grace_ns`` to stop, and its place as long."""
        ...

    def fail(
        self,
        task: int,
        reason: Reason,
        cause: int,
        *,
        retriable: bool = True,
        details: Mapping[str, int | str] | None = None,
        grace_ns: int = 0,
    ) -> None:
        """An attempt is over; see :meth:`preempt` for ``grace_ns``."""
        ...

    def submit(self, task: int, at_ns: int) -> None:
        """A task that is not submitted by the scenario is so at a time."""
        ...

    def queue(self, task: int, cause: int) -> None:
        """A task that the placer itself held back wants a place again."""
        ...

    def plan(self, task: int, length_ns: int, *, fails: bool = False) -> None:
        """What the next attempt of a task will be: how long it takes at full speed, and whether it fails at its end."""
        ...

    def rest(self, task: int, rest_ns: int) -> None:
        """A running task ends when it has done ``rest_ns`` more, at full speed (NEVER: not as far as is known)."""
        ...

    def copy(self, task: int, node: int, length_ns: int) -> None:
        """A second attempt of a running task starts on a node of the world that has room; the first to be done wins."""
        ...

    def is_up(self, node: int) -> bool:
        """Whether a node of the world has not stopped, whatever is known of it."""
        ...

    def elapsed_ns(self, task: int) -> int:
        """How much a running task has done, in ns at full speed."""
        ...

    def undo(self, task: int, cause: int) -> None:
        """The result of a task that was done is lost: it is made again."""
        ...

    def renew(self, task: int) -> None:
        """What is to be placed next of a task is a new one: the failures of those before do not count for it."""
        ...

    def cancel(self, task: int) -> None:
        """A task that waits for its next attempt does so no longer; the place that is kept for it is given back."""
        ...

    def withdraw(self, task: int, cause: int, *, grace_ns: int = 0) -> None:
        """A task is not wanted any more, wherever it is; one that runs has ``grace_ns`` to stop."""
        ...


MakePlacer = Callable[[Scenario, Board, Timers, "list[int]", Hands], Placer]
"""``make(scenario, board, timers, node_at, hands)``: ``node_at`` has the world's number of each node of the cluster."""
