"""The scheduler of a simulated cluster: queue and cycle of Kubernetes on the ledger and the log that all systems share.

Whoever wants a place enters the queue; each time that something may have changed, those who are ready are tried. A pod
that no node takes waits with the words of its event (``message`` in the details of its row) until a hint says that an
event may help it; one that preempts is nominated, and comes back when its victims are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from gnomon.control.board import CORDONED, LOST, PRESSED, Board
from gnomon.control.placer import Hands, Placer
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason
from gnomon.engine.log import State as TaskState
from gnomon.engine.streams import stream
from gnomon.engine.world import ROWS
from gnomon.model.errors import InvariantError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.annotations import stops_ns
from gnomon.systems.kubernetes.config import read_configuration
from gnomon.systems.kubernetes.controllers import Controllers
from gnomon.systems.kubernetes.cycle import Attempt, Scheduler, at_random
from gnomon.systems.kubernetes.fit_error import NOT_FOUND, fit_error
from gnomon.systems.kubernetes.gangs import NAME as GANGS
from gnomon.systems.kubernetes.gangs import gangs_of
from gnomon.systems.kubernetes.hints import Event, NodeChanged, PodChanged, helped
from gnomon.systems.kubernetes.objects import Condition, Node, Pod, Taint
from gnomon.systems.kubernetes.permit import Permit
from gnomon.systems.kubernetes.plugins import volume_binding
from gnomon.systems.kubernetes.preemption import NEVER as NEVER_PREEMPTS
from gnomon.systems.kubernetes.preemption import TERMINATING
from gnomon.systems.kubernetes.queue import FLUSH_EVERY_NS, Queued, SchedulingQueue
from gnomon.systems.kubernetes.scenario import Native
from gnomon.systems.kubernetes.state import State, Surroundings

UNREACHABLE: Final = "node.kubernetes.io/unreachable"
MEMORY_PRESSURE: Final = "node.kubernetes.io/memory-pressure"
_LEFT: Final = (Kind.END, Kind.KILL, Kind.FAIL, Kind.CANCEL, Kind.PREEMPT)


PREEMPTED: Final = Condition("DisruptionTarget", "True", "PreemptionByScheduler")


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
        native = scenario.native
        assert isinstance(native, Native)
        self._board, self._timers, self._hands = board, timers, hands
        self._pods = list(native.pods)
        self._task = {pod.key: task for task, pod in enumerate(self._pods)}
        self._nodes: list[Node] = list(native.objects.nodes)
        self._node_at = node_at
        self._number = {self._nodes[i].name: world for i, world in enumerate(node_at)}
        self._of_world = {world: i for i, world in enumerate(node_at)}
        self._state = State(self._nodes, Surroundings.of(native.objects))
        settings = read_configuration(native.objects.configuration)
        self._scheduler = Scheduler(self._state, settings, choose=at_random(stream(scenario.seed, "equal nodes")))
        self._profiles = settings.profiles
        self._queue = SchedulingQueue(settings.initial_backoff_s, settings.max_backoff_s)
        self._cause: dict[int, int] = {}
        self._row: dict[int, int] = {}
        self._timer = self._flush_timer = -1
        self._changes = 0
        self._stale = True
        self._tried: dict[str, int] = {}
        submitted = frozenset(np.flatnonzero(scenario.work.submit_ns < NEVER).tolist())
        self._copies: dict[tuple[int, int], str] = {}
        self._foreign: set[int] = set()  # pods of schedulers that are not there: nobody ever looks at them
        self._controllers = Controllers(
            native,
            board,
            timers,
            hands,
            enqueue=self._enqueue,
            unqueue=self._unqueue,
            submitted=submitted,
        )
        gangs = gangs_of(native.objects.pod_groups, self._pods)
        self._permit = Permit(board, timers, hands, self._controllers.desk, gangs, self._activate)

    # ------------------------------------------------------------------ what is told

    def enter(self, task: int, row: int) -> None:
        """A pod is created, or made anew: it is where it is bound to, or enters the queue."""
        pod = self._pods[task]
        if pod.node_name in self._number and task not in self._row:
            self._row[task] = row
            self._controllers.present(task)
            self._board.start_here(task, self._number[pod.node_name], 0, row)
            return
        if task in self._permit.rejected:
            self._permit.rejected.discard(task)
            self._enqueue(task, row, refused=self._permit.rejections[task])
            return
        if task in self._controllers.desk.created:  # it waited for its restart on a node that is gone meanwhile
            if pod.key in self._state.where:
                self._state.remove(pod.key)
                self._count_change()
            self._controllers.desk.gone(task, -1)
            if pod.owner is None:
                self._hands.withdraw(task, row)
                return
        self._controllers.enter(task, row)

    def _enqueue(self, task: int, row: int, *, refused: int = 0) -> None:
        """A pod has been created: it waits for its turn. ``refused``: how often it had a node, and lost it."""
        pod = self._pods[task]
        self._row[task] = row
        if pod.spec.scheduler_name in self._profiles:
            self._queue.add(replace(pod, node_name="", nominated_node=""), self._board.now, refused=refused)
            if (gang := self._permit.gangs.get(task)) is not None:
                siblings = [self._pods[one].key for one in gang.tasks]
                self._queue.wake([key for key in siblings if self._waits_for_siblings(key)], self._board.now)
        else:
            self._foreign.add(task)

    def _waits_for_siblings(self, key: str) -> bool:
        one = self._queue.aside.get(key)
        return one is not None and GANGS in one.by

    def _unqueue(self, task: int) -> None:
        """It was deleted before it had a place."""
        self._queue.remove(self._pods[task].key)
        self._state.withdraw(self._pods[task].key)

    def read(self, first: int, last: int) -> None:
        """Keep the scheduler's own account of pods and nodes, and wake those whom that may help."""
        w = self._board.w
        for row in range(first, last):
            kind = int(w.log_kind[row])
            task, node = int(w.log_subject[row]), int(w.log_node[row])
            if kind == Kind.START:
                self._came(task, node)
                self._controllers.started(task, node)
            elif kind in _LEFT and task >= 0:
                self._left(task, row)
                if kind != Kind.FAIL:
                    self._controllers.ended(task, Kind(kind), row)
            elif kind == Kind.RETRY and task in self._hands.kept:
                self._stays(task)
            elif kind == Kind.COPY_END:
                self._copy_gone(task, node, row)
            elif kind in (Kind.CLOSE, Kind.OPEN):
                self._changed(node, row)
                self._controllers.node_changed(node)

    def _came(self, task: int, node: int) -> None:
        pod = self._pods[task]
        if pod.key not in self._state.where:
            name = self._nodes[self._of_world[node]].name
            self._state.withdraw(pod.key)
            volume_binding.bind_pod(self._state, pod, name)
            self._state.place(replace(pod, node_name=name), name, start_ns=self._board.now)
            self._count_change()
            self._queue.remove(pod.key)
            self._wake(PodChanged(None, pod), int(self._board.w.start_row[task]))

    def _left(self, task: int, row: int) -> None:
        """A pod is gone from its node; not when only its container starts again there."""
        pod, w = self._pods[task], self._board.w
        if task in self._hands.kept:
            return
        if pod.key not in self._state.where:
            self._queue.remove(pod.key)
            return
        self._state.remove(pod.key)
        self._count_change()
        node = int(w.log_node[row])
        name = self._nodes[self._of_world[node]].name if node >= 0 else ""
        if row + 1 < w.at[ROWS] and w.log_kind[row + 1] == Kind.COPY and w.log_subject[row + 1] == task:
            self._stops(task, node, row)
        else:
            self._wake(PodChanged(replace(pod, node_name=name), None), row)

    def _stays(self, task: int) -> None:
        """A pod whose container waits for its restart is still on its node."""
        pod = self._pods[task]
        if pod.key not in self._state.where:
            name = self._nodes[self._of_world[self._hands.kept[task][0]]].name
            self._state.place(replace(pod, node_name=name), name, start_ns=int(self._board.w.start[task]))

    def _stops(self, task: int, node: int, row: int) -> None:
        """A pod was deleted, and is still there, terminating (or behind a partition)."""
        pod, name = self._pods[task], self._nodes[self._of_world[node]].name
        preempted = self._board.w.log_reason[row] == Reason.PREEMPTED
        copy = replace(
            pod,
            name=f"{pod.name}~{node}",
            node_name=name,
            deletion_ns=self._board.now,
            conditions=(PREEMPTED,) if preempted else (),
        )
        self._copies[task, node] = copy.key
        self._state.place(copy, name, start_ns=int(self._board.w.start[task]))
        self._controllers.desk.copied(task, node)

    def _copy_gone(self, task: int, node: int, row: int) -> None:
        """It has stopped."""
        key = self._copies.pop((task, node), None)
        if key is not None:
            gone = self._state.remove(key).pod
            self._count_change()
            self._wake(PodChanged(gone, None), row)
        self._controllers.copy_gone(task, node)

    def _changed(self, node: int, row: int) -> None:
        """A node takes no new work, or does again: as its taints have it."""
        i = self._of_world[node]
        closed = int(self._board.w.closed[node])
        before, plain = self._state.nodes[i], self._nodes[i]
        taints = [*plain.taints]
        if closed & LOST:
            taints += [Taint(UNREACHABLE, effect="NoSchedule"), Taint(UNREACHABLE, effect="NoExecute")]
        if closed & PRESSED:
            taints.append(Taint(MEMORY_PRESSURE, effect="NoSchedule"))
        after = replace(plain, taints=tuple(taints), unschedulable=plain.unschedulable or bool(closed & CORDONED))
        if after != before:
            self._state.replace_node(after)
            self._count_change()
            self._wake(NodeChanged(before, after), row)

    def _count_change(self) -> None:
        """Something is as it was not when those who were set aside were tried: they may be tried again."""
        self._changes += 1
        self._stale = True

    def _wake(self, event: Event, row: int) -> None:
        aside = self._queue.aside
        if not aside:
            return
        keys = helped(event, ((one.pod, one.by) for one in aside.values()))
        for key in keys:
            self._cause[self._task[key]] = row
        self._queue.wake(keys, self._board.now)

    # ------------------------------------------------------------------ scheduling

    def place(self) -> None:
        """Let the controllers act; when they have nothing to do, try all who are ready, one after the other."""
        rows = int(self._board.w.at[ROWS])
        self._controllers.sync()
        if self._board.w.at[ROWS] > rows:
            return  # which has to be read first
        tried: set[tuple[str, int]] = set()
        while (entry := self._queue.pop(self._board.now)) is not None:
            if (entry.pod.key, entry.refused) in tried:
                break
            tried.add((entry.pod.key, entry.refused))
            self._try(entry)
            if self._permit.rejected_now():
                break  # places were given back, which has to be read first
        self._arm()

    def _try(self, entry: Queued) -> None:
        pod, task = entry.pod, self._task[entry.pod.key]
        if (text := self._permit.too_few(task, pod.name)) is not None:
            message = fit_error(len(self._nodes), {}, before=text, after=NOT_FOUND)
            self._say(task, message, Reason.PEERS)
            self._queue.refuse(entry, self._board.now, {GANGS})
            return
        attempt = self._scheduler.attempt(pod)
        self._tried[pod.key] = self._changes
        if attempt.chosen >= 0:
            self._bind(task, pod, attempt.chosen)
            return
        row = self._refused(task, attempt)
        chosen = attempt.preemption.chosen
        if chosen is None and attempt.preemption.message not in (NEVER_PREEMPTS, TERMINATING):
            self._state.withdraw(pod.key)  # whoever may not preempt now keeps what it was nominated for
            entry.pod = replace(pod, nominated_node="")
        if chosen is not None:
            node = self._state.names[chosen.node]
            entry.pod = replace(pod, nominated_node=node)
            self._state.nominate(entry.pod, node)
            victims = [self._task[one.pod.key] for one in chosen.victims if not one.pod.is_terminating]
            self._queue.refuse(entry, self._board.now, {"NodeResourcesFit"})
            for victim in victims:
                self._clear(victim, task, row)
            return
        by = {refusal.plugin for refusal, _ in attempt.statuses.groups()} if attempt.statuses is not None else set()
        self._queue.refuse(entry, self._board.now, by)
        self._permit.failed(task, row)

    def _bind(self, task: int, pod: Pod, number: int) -> None:
        w = self._board.w
        row = max(self._cause.pop(task, -1), int(w.arrive_row[task]))
        name = self._state.names[number]
        self._state.withdraw(pod.key)
        volume_binding.bind_pod(self._state, pod, name)
        self._state.place(replace(self._pods[task], node_name=name), name, start_ns=self._board.now)
        self._permit.bind(task, self._number[name], row)

    def _activate(self, tasks: list[int]) -> None:
        """The other pods of a gang are tried at once: one of them has a node."""
        self._queue.wake([self._pods[task].key for task in tasks], self._board.now, at_once=True)

    def _refused(self, task: int, attempt: Attempt) -> int:
        """The row of a failed attempt, with the words of its event."""
        never = attempt.statuses is not None and not len(attempt.statuses.resolvable())
        return self._say(task, attempt.message or "", Reason.NO_NODE_KIND if never else Reason.RESOURCES)

    def _say(self, task: int, message: str, reason: Reason) -> int:
        """The row of an event; the same words are not said twice."""
        old = self._board.details.get(self._row.get(task, -1), {}).get("message")
        if old == message:
            return self._row[task]
        cause = max(self._cause.get(task, -1), int(self._board.w.arrive_row[task]))
        self._row[task] = self._board.row(
            Kind.WAIT,
            task=task,
            cause=cause,
            reason=reason,
            value=-1,
            details={"message": message},
        )
        return self._row[task]

    def _clear(self, victim: int, task: int, row: int) -> None:
        """A victim is deleted, and has its grace period to stop."""
        self._hands.preempt(victim, task, cause=row, grace_ns=stops_ns(self._pods[victim]))

    def _arm(self) -> None:
        self._timers.cancel(self._timer)
        expiry = self._queue.next_expiry_ns()
        if expiry is not None:
            self._timer = self._timers.at(max(expiry + 10**9, self._board.now + 1), self._nothing)
        if self._queue.aside and self._stale and not self._timers.holds(self._flush_timer):
            self._flush_timer = self._timers.at(self._board.now + FLUSH_EVERY_NS, self._flush)

    def _nothing(self) -> None:
        """Being called is all: the queue is looked at after that."""

    def _flush(self) -> None:
        """Look for those who were set aside for long."""
        self._queue.flush(self._board.now)
        self._stale = any(self._tried.get(key) != self._changes for key in self._queue.aside)

    def waiting(self) -> Iterator[int]:
        """The tasks that wait for a place."""
        yield from (self._task[one.pod.key] for one in self._queue.waiting())
        yield from (task for task in self._foreign if self._board.state(task) is TaskState.DELAYED)
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

    @property
    def gives_up(self) -> bool:
        """Each pod has a time of its own on a node that is lost."""
        return True

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
        w = self._board.w
        copies = set(self._copies.values())
        for key, i in self._state.where.items():
            if key in copies:
                continue
            task = self._task[key]
            if int(w.node[task]) != self._number[self._state.names[i]]:
                raise InvariantError(f"{key} is on {self._state.names[i]} for the scheduler alone")
