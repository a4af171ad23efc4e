"""What becomes of the work of an attempt that was lost: it is over, is tried again at once or after a delay, in its
place or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from gnomon.control.attempt import Attempt
from gnomon.control.board import CORDONED, PRESSED, Board
from gnomon.control.copies import Copies
from gnomon.control.placer import Placer
from gnomon.control.plans import Plans
from gnomon.control.results import Results
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.streams import stream
from gnomon.engine.world import ROWS
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer, Attempts
from gnomon.scheduling.queueing import over_limit

CAUSE = {
    Reason.EXIT: "exit",
    Reason.MEMORY: "memory",
    Reason.NODE_MEMORY: "memory",
    Reason.DISK: "disk",
    Reason.STORE: "store",
    Reason.DEVICE: "device",
    Reason.KILLED: "killed",
    Reason.NODE: "node",
    Reason.PEER: "peer",
    Reason.EVICTED: "evicted",
    Reason.PREEMPTED: "evicted",
    Reason.DRAINED: "drained",
    Reason.DELETED: "drained",
}
"""The causes of :data:`gnomon.model.recovery.CAUSES` by the reason of the row."""

_NOT_IN_PLACE = (Reason.DEVICE, Reason.PEER, Reason.EVICTED, Reason.DRAINED, Reason.DELETED)
"""After these there is no place to try again in, whatever the rule says."""

_OUT = (State.KILLED, State.REJECTED)
"""A gang of which one is out for good cannot start again."""


class Redistribution:
    """Decides, by the recovery of each task, what follows a failed attempt; it is the
    :class:`gnomon.control.placer.Hands` of a placer.

    ``fresh``: the tasks that were queued again in this instant; ``waiting``: the timers of those who wait for their
    next attempt; ``kept``: the room (node, devices) that is kept for those of them who will start in their old place;
    ``ladders``: the failed attempts so far; ``in_doubt``: units that wait until it is known that they have stopped on
    these nodes.
    """

    def __init__(
        self, scenario: Scenario, board: Board, timers: Timers, *, plans: Plans, copies: Copies, results: Results
    ) -> None:
        self._scenario, self._board, self._timers = scenario, board, timers
        self._machines, self._plans, self._copies, self._results = copies.machines, plans, copies, results
        self.ladders: dict[int, Attempts] = {}
        self._draws = stream(scenario.seed, "retry delays")
        self._failures: dict[tuple[int, int], int] = {}
        self.fresh: list[int] = []
        self.waiting: dict[int, int] = {}
        self.kept: dict[int, tuple[int, int]] = {}
        self.placer: Placer | None = None
        self.in_doubt: dict[int, tuple[set[int], int]] = {}
        self._answered: dict[int, int] = {}

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
        """An attempt that counts, or the hold of a place, is over; the unit of the task goes with it. With ``grace_ns``
        it keeps its place so long, as a copy that stops."""
        board = self._board
        if board.state(task) not in (State.RUNNING, State.HELD):
            return
        elapsed, in_place = self._elapsed(task), (int(board.w.node[task]), int(board.w.devices[task]))
        row = self._lose(task, reason, cause, elapsed, grace_ns=grace_ns)
        self._answer(task, reason, row, elapsed, in_place if retriable else None, details or {}, retriable=retriable)

    def failed_itself(self, task: int, row: int) -> None:
        """The loop has ended an attempt that failed by itself; the row."""
        board = self._board
        elapsed = board.now - int(board.w.start[task])
        attempt = self._machines.of(task)
        if attempt is not None:
            elapsed = self._machines.elapsed_ns(attempt)
            self._machines.forget(attempt)
        board.w.log_value[row] = self._plans.save(task, elapsed)
        if elapsed != board.now - int(board.w.start[task]):
            board.details[row] = {"ran": elapsed}
        if board.state(task) is not State.FAILED or self._answered.get(int(board.w.unit[task]), -1) > row:
            return  # it went with its gang
        place = int(board.w.node[task]), int(board.w.devices[task])
        self._answer(task, Reason.EXIT, row, elapsed, place, {})

    def _elapsed(self, task: int) -> int:
        """How much of the plan of its present attempt a task has done."""
        board, attempt = self._board, self._machines.of(task)
        if attempt is not None:
            return self._machines.elapsed_ns(attempt)
        return board.now - int(board.w.start[task]) if board.state(task) is State.RUNNING else 0

    def _lose(self, task: int, reason: Reason, cause: int, elapsed: int, *, grace_ns: int = 0) -> int:
        """Take a task's place away; what runs on behind a partition, or takes its time to stop, becomes a copy."""
        attempt = self._looked_at(task) if grace_ns else self._machines.of(task)
        ran_ns = self._board.now - int(self._board.w.start[task])
        row = self._board.lose(task, reason, cause, self._plans.save(task, elapsed))
        if elapsed != ran_ns:  # it was slow, or stood still
            self._board.details[row] = {"ran": elapsed}
        if attempt is not None and attempt.runs and attempt.node in self._machines.cut:
            self._copies.orphan(attempt, row)
        elif attempt is not None and attempt.runs and grace_ns:
            self._stop_slowly(attempt, row, grace_ns)
        elif attempt is not None:
            self._machines.forget(attempt)
        return row

    def _looked_at(self, task: int) -> Attempt | None:
        """The attempt of a running task, which is looked at from now on."""
        if self._board.state(task) is State.RUNNING:
            self._machines.look_at(int(self._board.w.node[task]))
        return self._machines.of(task)

    def _stop_slowly(self, attempt: Attempt, row: int, grace_ns: int) -> None:
        """What was told to stop takes its time for that, as a copy."""
        self._copies.orphan(attempt, row, Reason.STOPPING)
        self._copies.stop_after(attempt, grace_ns)

    def runs(self, task: int) -> bool:
        """Whether the attempt of a task that counts runs on a node that is neither stopped nor cut off."""
        silent = self._machines.is_silent(int(self._board.w.node[task]))
        return not silent and self._board.state(task) is State.RUNNING

    def withdraw(self, task: int, cause: int, *, grace_ns: int = 0) -> None:
        """A task is not wanted any more. One that runs has ``grace_ns`` to stop, and keeps its place as long."""
        board, state = self._board, self._board.state(task)
        if state is State.RUNNING:
            attempt = self._looked_at(task) if grace_ns else None
            board.end_now(task, Kind.CANCEL, cause)
            if attempt is not None and attempt.runs:
                self._stop_slowly(attempt, int(board.w.at[ROWS]) - 1, grace_ns)
        elif state in (State.WAITING, State.HELD):
            board.withdraw(task, cause)
        elif state is State.DELAYED:
            self.cancel(task)
            self._results.cancel(task)
            board.withdraw_delayed(task, cause)

    def _answer(
        self,
        task: int,
        reason: Reason,
        row: int,
        ran_ns: int,
        place: tuple[int, int] | None,
        details: Mapping[str, int | str],
        *,
        retriable: bool = True,
    ) -> None:
        """What follows the failure of a task, and of its gang with it."""
        board, members = self._board, self._board.members(task)
        self._lose_peers(task, members, row)
        if any(board.state(member) in _OUT for member in members):
            retriable = False  # a gang is whole or not at all
        self._note_failure(task, place)
        ladder = self.ladders.setdefault(task, Attempts())
        recovery = self._scenario.work.recovery_of(task)
        answer = ladder.failed(recovery, CAUSE[reason], board.now, ran_ns, lambda: float(self._draws.random()))
        if self.placer is not None:
            answer = self.placer.answer(task, reason, row, answer)
        number = self._plans.attempt.get(task, 0) + 1
        board.details[row] = {**board.details.get(row, {}), **details, "attempt": number, "retries": answer.limit}
        if len(members) == 1 and self._copies.take_over(task, row):
            return
        for member in members:
            self._copies.beaten(member, row)
        if len(members) > 1:
            self._answered[int(board.w.unit[task])] = int(board.w.at[ROWS])
        if not (answer.retry and retriable):
            board.details[row]["final"] = 1
            return
        self._next_attempts(members)
        stays = answer.in_place and reason not in _NOT_IN_PLACE
        if stays and place is not None and len(members) == 1:
            self._stay(task, row, answer, place)
        else:
            self._queue_later(task, row, answer)

    def _queue_later(self, task: int, row: int, answer: Answer) -> None:
        """The unit of a task stands in its queue again after the delay of an answer."""
        if not answer.delay_ns:
            self.queue(task, row)
            return
        if answer.at_ns >= NEVER:  # whoever places it knows when
            self._board.delay(self._board.members(task), Reason.BACKOFF, row, NEVER)
            return
        last = self._board.delay(self._board.members(task), Reason.BACKOFF, row, answer.at_ns)
        self.waiting[task] = self._timers.at(answer.at_ns, lambda: self.queue(task, last))

    def _lose_peers(self, task: int, members: list[int], row: int) -> None:
        """A gang goes as a whole: those who run stop, the results of those who were done are void."""
        board, undone = self._board, False
        for peer in members:
            if peer == task:
                continue
            if board.state(peer) in (State.RUNNING, State.HELD):
                self._lose(peer, Reason.PEER, row, self._elapsed(peer))
            elif board.state(peer) is State.DONE:
                board.w.state[peer] = int(State.FAILED)
                board.row(Kind.UNDO, task=peer, cause=row, reason=Reason.PEER)
                self._plans.saved_ns.pop(peer, None)
                undone = True
        if undone:
            self._results.recheck(row)

    def undo(self, task: int, cause: int) -> None:
        """The result of a task that was done is lost: it is made again, and its gang with it."""
        board, members = self._board, self._board.members(task)
        row = board.row(Kind.UNDO, task=task, node=int(board.w.node[task]), cause=cause, reason=Reason.NODE)
        board.w.state[task] = int(State.FAILED)
        self._plans.saved_ns.pop(task, None)
        self._lose_peers(task, members, row)
        self._next_attempts(members)
        if not any(board.state(member) in _OUT for member in members):
            self.queue(task, row)

    def _next_attempts(self, members: list[int]) -> None:
        for member in members:
            self._plans.attempt[member] = self._plans.attempt.get(member, 0) + 1
            self._plans.next(member)

    def queue(self, task: int, cause: int) -> None:
        """The unit of a task stands in its queue again, as soon as all is there that it reads."""
        self.waiting.pop(task, None)
        if self._results.must_wait(task, cause) or self._may_run_still(task, cause):
            return
        if self.placer is not None:
            self.placer.enter(task, self._board.stand_by(task, cause, self._plans.attempt.get(task, 0)))
            return
        self._board.queue(task, cause, self._plans.attempt.get(task, 0))
        self.fresh.append(task)

    def preempt(self, task: int, by: int, *, cause: int = -1, grace_ns: int = 0) -> None:
        """A running task loses its place to another; what is done for it then, its recovery says, as of one that was
        sent away. It has ``grace_ns`` to stop."""
        cause = int(self._board.w.arrive_row[by]) if cause < 0 else cause
        self.fail(task, Reason.PREEMPTED, cause, details={"by": by}, grace_ns=grace_ns)

    def _stay(self, task: int, row: int, answer: Answer, place: tuple[int, int]) -> None:
        """Try again on the same node, which keeps the room for it."""
        board, (node, bits) = self._board, place
        closed = board.w.closed[node] & ~(CORDONED | PRESSED)  # these do not stop those who are there
        if closed or self._machines.is_silent(node):
            self._queue_later(task, row, answer)
            return
        board.withhold(task, node, bits, 1)
        self.kept[task] = place
        last = board.delay([task], Reason.BACKOFF, row, answer.at_ns) if answer.delay_ns else row

        def again() -> None:
            self.waiting.pop(task, None)
            kept = self._give_up_room(task)
            if not kept or self._machines.is_silent(node) or over_limit(board.w, int(board.w.unit[task])):
                self.queue(task, last)
            else:
                board.start_here(task, node, bits, last)

        if answer.delay_ns:
            self.waiting[task] = self._timers.at(answer.at_ns, again)
        else:
            board.w.state[task] = int(State.DELAYED)
            again()

    def _note_failure(self, task: int, place: tuple[int, int] | None) -> None:
        """With an exclude-list: the job avoids a node on which too many of its attempts failed."""
        most = self._scenario.work.recovery_of(task).exclude
        if not most or place is None:
            return
        job, node = int(self._board.w.job[task]), place[0]
        self._failures[job, node] = self._failures.get((job, node), 0) + 1
        if self._failures[job, node] >= most:
            self._board.avoid(job, node)

    def _may_run_still(self, task: int, cause: int) -> bool:
        """Whether a task of the unit, which is never to run twice, may still run on a node that is cut off: its gang
        was lost meanwhile. Then the unit is queued when something is heard of the node."""
        members = self._board.members(task)
        nodes = {copy.node for copy in self._machines.copies() if copy.task in members and not copy.speculative}
        if self._scenario.operation.orphans != "wait" or not nodes:
            return False
        self.in_doubt[members[0]] = nodes, self._board.delay(members, Reason.BACKOFF, cause, NEVER)
        return True

    def heard(self, node: int) -> None:
        """Something is heard of a node, and what was given up there has stopped."""
        for head, (nodes, row) in list(self.in_doubt.items()):
            nodes.discard(node)
            if not nodes:
                del self.in_doubt[head]
                self.queue(head, row)

    def plan(self, task: int, length_ns: int, *, fails: bool = False) -> None:
        """The next attempt of a task takes so long at full speed, and fails at its end if that is said."""
        self._plans.set(task, length_ns, fails=fails)

    def rest(self, task: int, rest_ns: int) -> None:
        """A running task ends when it has done ``rest_ns`` more, at full speed."""
        plan_ns = min(self._elapsed(task) + rest_ns, NEVER)
        self._plans.work_ns[task] = plan_ns
        attempt = self._machines.of(task)
        if attempt is not None:
            self._machines.replan(attempt, plan_ns)
        else:
            self._board.retime(task, min(self._board.now + rest_ns, NEVER))

    def copy(self, task: int, node: int, length_ns: int) -> None:
        """A second attempt of a running task."""
        self._copies.start(task, node, length_ns)

    def submit(self, task: int, at_ns: int) -> None:
        """A task that is not submitted by the scenario is so at a time."""
        self._results.submit(task, at_ns)

    def is_up(self, node: int) -> bool:
        """Whether a node has not stopped."""
        return node not in self._machines.dead

    def elapsed_ns(self, task: int) -> int:
        """How much a running task has done."""
        return self._elapsed(task)

    def renew(self, task: int) -> None:
        """The failures so far do not count any more."""
        self.ladders.pop(task, None)

    def cancel(self, task: int) -> None:
        """A task that waits for its next attempt is not wanted any more."""
        self.in_doubt.pop(self._board.head(task), None)
        for member in self._board.members(task):
            timer = self.waiting.pop(member, None)
            if timer is not None:
                self._timers.cancel(timer)
            self._give_up_room(member)

    def lose_device(self, node: int, bit: int) -> None:
        """Those who wait to start again on a device that is lost have to go elsewhere."""
        for task in [task for task, (where, bits) in self.kept.items() if where == node and bits & bit]:
            self._give_up_room(task)

    def _give_up_room(self, task: int) -> bool:
        """Give back the room that is kept for a task; whether there was any."""
        if task not in self.kept:
            return False
        node, bits = self.kept.pop(task)
        self._board.withhold(task, node, bits, -1)
        self._board.again()
        return True
