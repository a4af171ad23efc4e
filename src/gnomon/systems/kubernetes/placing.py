"""The scheduler of a simulated cluster: queue and cycle of Kubernetes on the ledger and the log that all systems share.

What it knows of pods and nodes is its ``account``, read from the log; whom it tries, and what comes of that, are its
``turns``; what else happens to pods is the ``controllers``' business. This is where the loop meets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from gnomon.control.board import Board
from gnomon.control.placer import Hands, Placer
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason
from gnomon.engine.world import ROWS
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.controllers.all import Controllers
from gnomon.systems.kubernetes.controllers.draining import Draining
from gnomon.systems.kubernetes.descheduler.cycle import start_descheduler
from gnomon.systems.kubernetes.fleets.native import native_of
from gnomon.systems.kubernetes.read.configuration import read_configuration
from gnomon.systems.kubernetes.scheduler.account import LEFT, Account
from gnomon.systems.kubernetes.scheduler.gangs import gangs_of
from gnomon.systems.kubernetes.scheduler.permit import Permit
from gnomon.systems.kubernetes.scheduler.turns import Turns

PATIENCE_NS: Final = 24 * 3600 * 10**9


class KubeScheduler(Placer):
    """A :class:`gnomon.control.placer.Placer`."""

    def __init__(
        self,
        scenario: Scenario,
        board: Board,
        timers: Timers,
        node_at: list[int],
        hands: Hands,
    ) -> None:
        native = native_of(scenario)
        self._board, self._hands = board, hands
        self._account = account = Account(native, board, hands, node_at)
        settings = read_configuration(native.objects.configuration)
        self._turns = Turns(account, board, timers, hands, settings=settings, seed=scenario.seed)
        self._controllers = Controllers(
            native,
            board,
            timers,
            hands,
            enqueue=self._turns.enqueue,
            unqueue=self._turns.unqueue,
            submitted=frozenset(np.flatnonzero(scenario.work.submit_ns < NEVER).tolist()),
        )
        start_descheduler(scenario, account, self._controllers.desk, self._controllers.add)
        self._draining = Draining(native, self._controllers.desk)
        gangs = gangs_of(native.objects.pod_groups, native.pods)
        self._permit = Permit(board, timers, hands, self._controllers.desk, gangs, self._turns.activate)
        self._turns.permit = self._permit

    # ------------------------------------------------------------------ what is told

    def enter(self, task: int, row: int) -> None:
        """A pod is created, or made anew: it is where it is bound to, or enters the queue."""
        if task not in self._turns.row and self._is_somewhere(task, row):
            self._turns.row[task] = row
            return
        if task in self._permit.rejected:
            self._permit.rejected.discard(task)
            self._turns.enqueue(task, row, refused=self._permit.rejections[task])
            return
        desk = self._controllers.desk
        if task in desk.created:  # it waited for its restart on a node that is gone meanwhile
            self._account.forget(task)
            desk.gone(task, -1)
            if desk.pods[task].owner is None:
                desk.withdraw(task, row)
                return
        self._controllers.enter(task, row)

    def _is_somewhere(self, task: int, row: int) -> bool:
        """Whether a pod that was there before the run is bound to a node, or stays without one."""
        pod = self._account.pods[task]
        if self._controllers.leaving.stays(task, row):
            return True
        if not pod.node_name:
            return False
        self._controllers.present(task)
        self._board.start_here(task, self._account.number[pod.node_name], 0, row)
        return True

    def read(self, first: int, last: int) -> None:
        """Keep the scheduler's own account of pods and nodes, and wake those whom that may help."""
        w, account, controllers = self._board.w, self._account, self._controllers
        for row in range(first, last):
            kind = int(w.log_kind[row])
            task, node = int(w.log_subject[row]), int(w.log_node[row])
            if kind == Kind.START:
                if account.came(task, node):
                    self._turns.leave(task)
                controllers.started(task, node)
            elif kind in LEFT and task >= 0:
                if task not in self._hands.kept:
                    self._left(task, node, row)
                if kind != Kind.FAIL:
                    controllers.ended(task, Kind(kind), row)
            elif kind == Kind.RETRY and task in self._hands.kept:
                account.stays(task)
            elif kind == Kind.COPY_END:
                account.stopped(task, node, row)
                controllers.copy_gone(task, node)
            elif kind in (Kind.CLOSE, Kind.OPEN):
                account.node_changed(node, row)
                controllers.node_changed(node)

    def _left(self, task: int, node: int, row: int) -> None:
        """A pod is gone from its node, if it had one; not when only its container starts again there."""
        if not self._account.left(task, row):
            self._turns.leave(task)
        elif self._account.is_stopping(task, node):
            self._controllers.desk.copied(task, node)

    # ------------------------------------------------------------------ what is done

    def place(self) -> None:
        """Let the controllers act; when they have nothing to do, try all who are ready, one after the other."""
        rows = int(self._board.w.at[ROWS])
        self._controllers.sync()
        if self._board.w.at[ROWS] == rows:  # else that has to be read first
            self._turns.take()

    def waiting(self) -> Iterator[int]:
        """The tasks that wait for a place."""
        yield from self._turns.waiting()
        yield from self._controllers.waiting()

    # ------------------------------------------------------------------ what the controllers are asked

    def is_busy(self) -> bool:
        """Whether a controller will act though nothing runs."""
        return self._controllers.is_busy()

    def answer(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """What its controller does for a pod that was lost."""
        if task in self._permit.rejected:
            now = self._board.now
            return replace(usual, retry=True, delay_ns=0, in_place=False, at_ns=now, limit=-1)
        return self._controllers.answer(task, reason, row, usual)

    def drains(self, task: int, row: int) -> bool:
        """``kubectl drain`` of the node of a pod."""
        return self._draining.sees_to(task, row)

    @property
    def gives_up(self) -> bool:
        """Each pod has a time of its own on a node that is lost."""
        return True

    @property
    def patience_ns(self) -> int:
        """Crash loops go on for ever, with a back-off of up to 5 min."""
        return PATIENCE_NS

    def turn(self, node: int, row: int) -> None:
        """A node gets its NoExecute taint."""
        self._controllers.loss.turn(node, row)

    def spare(self, node: int) -> None:
        """It loses it again, as every zone is lost."""
        self._controllers.loss.spare(node)

    def was_given_up(self, task: int) -> bool:
        """Whether a pod was deleted, and could not be told."""
        return task in self._controllers.loss.deleted

    def check(self) -> None:
        """Raise InvariantError where the scheduler's account of who is where differs from the ledger's."""
        self._account.check()
