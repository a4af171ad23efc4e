"""The control plane: who decides, which nodes it hears of, which it takes for lost, and what it gives up then."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from gnomon.control.board import LOST, Board
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason
from gnomon.engine.world import FROZEN, TRIGGER
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery import detection
from gnomon.recovery.eviction import Queue
from gnomon.recovery.quorum import Election, hears

Side = frozenset[str]


@dataclass(slots=True)
class Silence:
    """A node that the control plane hears nothing of: since when, the row that made it so, what was noticed."""

    since_ns: int
    row: int
    refused: bool = False
    timer: int = -1
    noticed_row: int = -1
    closed_row: int = -1
    given_up: bool = False


class Plane:
    """Detection, isolation and leadership. Node numbers are the world's.

    ``give_up(node, row)`` is called when the tasks of a lost node are to be replaced; ``reachable(node, row)`` and
    ``unreachable(node, row)`` when a partition, or the loss of a leader, parts node and control plane.
    """

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, node_of: list[int]) -> None:
        self._operation, self._board, self._timers = scenario.operation, board, timers
        self._names = [f"node/{scenario.cluster.nodes[number].name}" for number in node_of]
        self._zone = [dict(scenario.cluster.nodes[n].labels).get(self._operation.eviction.zone, "") for n in node_of]
        sizes: dict[str, int] = {}
        for zone in self._zone:
            sizes[zone] = sizes.get(zone, 0) + 1
        self._queue = Queue(self._operation.eviction, sizes)
        self._queue_timer = -1
        self._silent: dict[int, Silence] = {}
        self._cuts: dict[Hashable, tuple[Side, Side]] = {}
        self._stopped: dict[int, set[int]] = {}
        self._election = Election(self._operation.control)
        self._election_timer = self._change_timer = -1
        self._cause = -1
        self.leader: int = 0
        self.give_up: Callable[[int, int], None] = lambda node, row: None
        self.unreachable: Callable[[int, int], None] = lambda node, row: None
        self.reachable: Callable[[int, int], None] = lambda node, row: None
        self._apart: set[int] = set()
        self._spare: Callable[[int], None] | None = None

    def give_up_at_turns(self, spare: Callable[[int], None]) -> None:
        """Call ``give_up`` when it is a node's turn, however long its tasks stay then: whoever is called knows.
        ``spare`` is called for nodes that have had their turn when nothing is to be given up any more."""
        self._queue.rule = replace(self._operation.eviction, after_ns=0)
        self._spare = spare

    @property
    def frozen(self) -> bool:
        """Whether nobody decides."""
        return self.leader < 0

    @property
    def leaders(self) -> list[int]:
        """All members that take themselves for the leader."""
        return list(self._election.acting)

    @property
    def apart(self) -> set[int]:
        """The nodes that the leader does not hear of because of partitions."""
        return set(self._apart)

    @property
    def taken_for_lost(self) -> set[int]:
        """The nodes whose silence was noticed."""
        return {node for node, one in self._silent.items() if one.noticed_row >= 0}

    # ------------------------------------------------------------------ silence

    def silent(self, node: int, row: int, *, refused: bool = False) -> None:
        """Nothing is heard of a node from now on."""
        if node in self._silent:
            return
        self._silent[node] = Silence(self._board.now, row, refused)
        self._listen(node)

    def _listen(self, node: int) -> None:
        """Enter when the silence of a node is noticed, if somebody decides."""
        one = self._silent[node]
        self._timers.cancel(one.timer)
        if not self.frozen and one.noticed_row < 0:
            when = detection.noticed_ns(self._operation.detection, one.since_ns, refused=one.refused)
            one.timer = self._timers.at(max(when, self._board.now), lambda: self.notice(node))

    def heard(self, node: int, row: int) -> bool:
        """Something is heard of a node again; whether it had been taken for lost."""
        one = self._silent.pop(node, None)
        if one is None:
            return False
        self._timers.cancel(one.timer)
        if one.noticed_row < 0:
            return False
        self._queue.back(node, self._board.now)
        self._arm()
        self._board.open(node, LOST, row)
        return True

    def alarm(self, node: int, row: int) -> bool:
        """Take a node for lost that is not; whether that happens."""
        if node in self._silent or self.frozen:
            return False
        self._silent[node] = Silence(self._board.now, row)
        self.notice(node)
        return True

    def notice(self, node: int) -> None:
        """A node is taken for lost."""
        one = self._silent[node]
        if self.frozen or one.noticed_row >= 0:
            return
        board = self._board
        one.noticed_row = board.row(
            Kind.NOTICE, node=node, cause=one.row, reason=Reason.LOST, value=board.now - one.since_ns
        )
        one.closed_row = board.close(node, LOST, one.noticed_row)
        self._queue.lost(node, self._zone[node], board.now)
        self._arm()  # not at once: others may be noticed in this instant

    def _evict(self) -> None:
        """Give up the nodes whose turn it is."""
        if not self.frozen:
            for node in self._queue.due(self._board.now):
                if node in self._silent:
                    self._silent[node].given_up = True
                    self.give_up(node, self._silent[node].closed_row)
        self._arm()

    def _halt(self) -> None:
        """Every zone is lost: nodes that have had their turn wait for another."""
        if self._spare is None or not self._queue.stopped:
            return
        for node, one in self._silent.items():
            if one.given_up:
                one.given_up = False
                self._queue.back(node, self._board.now)
                self._queue.lost(node, self._zone[node], self._board.now)
                self._spare(node)

    def _arm(self) -> None:
        if self._spare is not None and self._queue.stopped:
            self._timers.at(self._board.now, self._halt)  # once all is known that happens in this instant
        self._timers.cancel(self._queue_timer)
        when = NEVER if self.frozen else max(self._queue.next_ns(), self._board.now)
        self._queue_timer = self._timers.at(when, self._evict)

    def given_up(self, node: int) -> bool:
        """Whether the tasks of a node have been given up."""
        return node in self._silent and self._silent[node].given_up

    def closed_row(self, node: int) -> int:
        """The row by which a node that was taken for lost takes no new work."""
        return self._silent[node].closed_row

    # ------------------------------------------------------------------ partitions and leadership

    def cut(self, number: Hashable, side: Side, other: Side, row: int) -> None:
        """Two sets hear nothing of each other from now on."""
        self._cuts[number] = (side, other)
        self._changed(row)

    def mend(self, number: Hashable, row: int) -> None:
        """They do again."""
        del self._cuts[number]
        self._changed(row)

    def stop_members(self, number: int, members: Sequence[int], row: int) -> None:
        """Members of the control plane stop (none named: the one that leads)."""
        self._stopped[number] = set(members) or {self.leader} - {-1}
        self._changed(row)

    def start_members(self, number: int, row: int) -> None:
        """They are there again."""
        self._stopped.pop(number, None)
        self._changed(row)

    def _changed(self, row: int) -> None:
        """Elect anew once all is known that changes at this instant."""
        self._cause = row
        self._timers.cancel(self._change_timer)
        self._change_timer = self._timers.at(self._board.now, self._elect)

    def _elect(self) -> None:
        """Elect anew, and see which nodes the leader hears of."""
        stopped = set().union(*self._stopped.values())
        alive = set(range(self._operation.control.members)) - stopped
        self._election.change(alive, list(self._cuts.values()), self._board.now)
        self._vote()

    def _vote(self) -> None:
        now = self._board.now
        self._lead(self._election.due(now))
        self._timers.cancel(self._election_timer)
        self._election_timer = self._timers.at(self._election.next_ns(), self._vote)
        self._look_around()

    def _lead(self, leader: int) -> None:
        if leader == self.leader:
            return
        was_frozen, self.leader = self.frozen, leader
        board = self._board
        reason = Reason.ELECTED if leader >= 0 else Reason.NO_MAJORITY
        row = board.row(Kind.LEAD, cause=self._cause, reason=reason, value=leader)
        board.w.at[FROZEN] = int(self.frozen)
        if was_frozen and not self.frozen:
            board.again()
            board.w.at[TRIGGER] = row
            for one in self._silent.values():  # a new leader begins to listen now
                if one.noticed_row < 0:
                    one.since_ns = board.now
        self._cause = row
        for node in self._silent:
            self._listen(node)
        self._arm()

    def _look_around(self) -> None:
        """Which nodes the leader (or who led last) hears of."""
        if self.frozen:
            return
        cuts = list(self._cuts.values())
        for node, name in enumerate(self._names):
            heard = not cuts or hears(f"control/{self.leader}", name, cuts)
            if not heard and node not in self._apart:
                self._apart.add(node)
                self.unreachable(node, self._cause)
            elif heard and node in self._apart:
                self._apart.discard(node)
                self.reachable(node, self._cause)
