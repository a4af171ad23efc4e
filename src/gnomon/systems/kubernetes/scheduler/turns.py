"""The scheduler's turns: who is tried, and what comes of it.

A pod that no node takes waits with the words of its event (``message`` in the details of its row) until a hint says
that an event may help it; one that preempts is nominated, and comes back when its victims are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gnomon.control.board import Board
from gnomon.control.placer import Hands
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason
from gnomon.engine.log import State as TaskState
from gnomon.engine.streams import stream
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.profile import Settings
from gnomon.systems.kubernetes.read.annotations import stops_ns
from gnomon.systems.kubernetes.scheduler.account import Account
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler, at_random
from gnomon.systems.kubernetes.scheduler.fit_error import NOT_FOUND, fit_error
from gnomon.systems.kubernetes.scheduler.gangs import NAME as GANGS
from gnomon.systems.kubernetes.scheduler.hints import Event, helped
from gnomon.systems.kubernetes.scheduler.permit import Permit
from gnomon.systems.kubernetes.scheduler.preemption import NEVER as NEVER_PREEMPTS
from gnomon.systems.kubernetes.scheduler.preemption import TERMINATING
from gnomon.systems.kubernetes.scheduler.queue import (
    FLUSH_EVERY_NS,
    Queued,
    SchedulingQueue,
    gate_message,
    unscheduled_message,
)

GATED = "SchedulingGated"
"""The reason of the condition PodScheduled of a pod that has gates."""


class Turns:
    """The queue and the cycle on the scheduler's account. ``permit``: of the gangs, given when there are controllers;
    ``row``: the last row about each task's place in the queue."""

    permit: Permit

    def __init__(
        self, account: Account, board: Board, timers: Timers, hands: Hands, *, settings: Settings, seed: int
    ) -> None:
        self._account, self._board, self._timers, self._hands = account, board, timers, hands
        self._scheduler = Scheduler(account.state, settings, choose=at_random(stream(seed, "equal nodes")))
        self._profiles = settings.profiles
        self._queue = SchedulingQueue(settings.initial_backoff_s, settings.max_backoff_s)
        self.row: dict[int, int] = {}
        self._cause: dict[int, int] = {}
        self._timer = self._flush_timer = -1
        self._settled = -1  # the number of changes after which all who were set aside have been tried
        self._tried: dict[str, int] = {}
        self._foreign: set[int] = set()  # pods of schedulers that are not there: nobody ever looks at them
        account.tell = self._wake

    # ------------------------------------------------------------------ who is in the queue

    def enqueue(self, task: int, row: int, *, refused: int = 0) -> None:
        """A pod has been created: it waits for its turn. ``refused``: how often it had a node, and lost it."""
        pod = self._account.renewed(task)
        self.row[task] = row
        if pod.spec.scheduler_name not in self._profiles:
            self._foreign.add(task)
            self._say(task, unscheduled_message(pod), Reason.UNATTENDED)
            return
        self._queue.add(pod, self._board.now, refused=refused)
        if (gates := gate_message(pod)) is not None:
            self._say(task, gates, Reason.GATED, condition=GATED)
        if (gang := self.permit.gangs.get(task)) is not None:
            siblings = [self._account.pods[one].key for one in gang.tasks]
            self._queue.wake([key for key in siblings if self._waits_for_siblings(key)], self._board.now)

    def _waits_for_siblings(self, key: str) -> bool:
        one = self._queue.aside.get(key)
        return one is not None and GANGS in one.by

    def unqueue(self, task: int) -> None:
        """It was deleted before it had a place."""
        self.leave(task)
        self._account.state.withdraw(self._account.pods[task].key)

    def leave(self, task: int) -> None:
        """It is in the queue no more."""
        self._queue.remove(self._account.pods[task].key)

    def activate(self, tasks: list[int]) -> None:
        """The other pods of a gang are tried at once: one of them has a node."""
        self._queue.wake([self._account.pods[task].key for task in tasks], self._board.now, at_once=True)

    def waiting(self) -> Iterator[int]:
        """The tasks that wait for a place."""
        yield from (self._account.task[one.pod.key] for one in self._queue.waiting())
        yield from (task for task in self._foreign if self._board.state(task) is TaskState.DELAYED)

    def _wake(self, event: Event, row: int) -> None:
        """Something happened that may help those who were set aside."""
        aside = self._queue.aside
        if not aside:
            return
        keys = helped(event, ((one.pod, one.by) for one in aside.values()))
        for key in keys:
            self._cause[self._account.task[key]] = row
        self._queue.wake(keys, self._board.now)

    # ------------------------------------------------------------------ turns

    def take(self) -> None:
        """Try all who are ready, one after the other."""
        tried: set[tuple[str, int]] = set()
        while (entry := self._queue.pop(self._board.now)) is not None:
            if (entry.pod.key, entry.refused) in tried:
                break
            tried.add((entry.pod.key, entry.refused))
            self._try(entry)
            if self.permit.rejected_now():
                break  # places were given back, which has to be read first
        self._arm()

    def _try(self, entry: Queued) -> None:
        account, now = self._account, self._board.now
        pod, task = entry.pod, account.task[entry.pod.key]
        if (text := self.permit.too_few(task, pod.name)) is not None:
            message = fit_error(len(account.state.nodes), {}, before=text, after=NOT_FOUND)
            self._say(task, message, Reason.PEERS)
            self._queue.refuse(entry, now, {GANGS})
            return
        attempt = self._scheduler.attempt(pod)
        self._tried[pod.key] = account.changes
        if attempt.chosen >= 0:
            self._bind(task, pod, attempt.chosen)
            return
        row = self._refused(task, attempt)
        chosen = attempt.preemption.chosen
        if chosen is None and attempt.preemption.message not in (NEVER_PREEMPTS, TERMINATING):
            account.state.withdraw(pod.key)  # whoever may not preempt now keeps what it was nominated for
            entry.pod = replace(pod, nominated_node="")
        if chosen is not None:
            node = account.state.names[chosen.node]
            entry.pod = replace(pod, nominated_node=node)
            account.state.nominate(entry.pod, node)
            victims = [account.task[one.pod.key] for one in chosen.victims if not one.pod.is_terminating]
            self._queue.refuse(entry, now, {"NodeResourcesFit"})
            for victim in victims:  # each is deleted, and has its grace period to stop
                self._hands.preempt(victim, task, cause=row, grace_ns=stops_ns(account.pods[victim]))
            return
        by = {refusal.plugin for refusal, _ in attempt.statuses.groups()} if attempt.statuses is not None else set()
        self._queue.refuse(entry, now, by)
        self.permit.failed(task, row)

    def _bind(self, task: int, pod: Pod, number: int) -> None:
        account = self._account
        row = max(self._cause.pop(task, -1), int(self._board.w.arrive_row[task]))
        name = account.state.names[number]
        account.state.withdraw(pod.key)
        account.place(account.pods[task], name, since=self._board.now)
        self.permit.bind(task, account.number[name], row)

    # ------------------------------------------------------------------ what is said

    def _refused(self, task: int, attempt: Attempt) -> int:
        """The row of a failed attempt, with the words of its event."""
        never = attempt.statuses is not None and not len(attempt.statuses.resolvable())
        return self._say(task, attempt.message or "", Reason.NO_NODE_KIND if never else Reason.RESOURCES)

    def _say(self, task: int, message: str, reason: Reason, *, condition: str = "") -> int:
        """The row of an event; the same words are not said twice. ``condition``: its reason, where it is a condition's
        and no event's."""
        old = self._board.details.get(self.row.get(task, -1), {}).get("message")
        if old == message:
            return self.row[task]
        cause = max(self._cause.get(task, -1), int(self._board.w.arrive_row[task]))
        details: dict[str, int | str] = {"message": message}
        if condition:
            details["reason"] = condition
        self.row[task] = self._board.row(Kind.WAIT, task=task, cause=cause, reason=reason, value=-1, details=details)
        return self.row[task]

    # ------------------------------------------------------------------ when it looks again

    def _arm(self) -> None:
        now = self._board.now
        self._timers.cancel(self._timer)
        expiry = self._queue.next_expiry_ns()
        if expiry is not None:
            self._timer = self._timers.wake(max(expiry + 10**9, now + 1))
        stale = self._settled != self._account.changes
        if self._queue.aside and stale and not self._timers.holds(self._flush_timer):
            self._flush_timer = self._timers.at(now + FLUSH_EVERY_NS, self._flush)

    def _flush(self) -> None:
        """Look for those who were set aside for long."""
        self._queue.flush(self._board.now)
        changes = self._account.changes
        self._settled = changes if all(self._tried.get(key) == changes for key in self._queue.aside) else -1
