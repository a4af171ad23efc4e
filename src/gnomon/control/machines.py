"""What really goes on on the nodes, whether the control plane knows of it or not.

An attempt (of a task that counts, or a copy) is looked at here from the moment at which something may become of it that
the scheduling loop does not know: its node is slow, gone, or cut off, or what it uses may matter. All others just run
from their start to their end in the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gnomon.control.attempt import Attempt
from gnomon.control.board import Board
from gnomon.control.matters import use_matters
from gnomon.control.plans import FAILS, USES, Plans
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, State
from gnomon.model.operation import Enforcement
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.resources.node_use import Incident, NodeUse, Running


class Machines:
    """The nodes as they are. Node numbers are the world's.

    ``over(attempt)`` is called when a copy, or an attempt behind a partition, is done; ``incident(node, attempt,
    incident)`` when use leads to something.
    """

    def __init__(self, scenario: Scenario, board: Board, timers: Timers, plans: Plans, node_of: list[int]) -> None:
        self._scenario, self._board, self._timers, self._plans = scenario, board, timers, plans
        self._nodes = [scenario.cluster.nodes[number] for number in node_of]
        self.enforcement: Enforcement = scenario.operation.enforcement
        self.over: Callable[[Attempt], None] = lambda attempt: None
        self.incident: Callable[[int, Attempt | None, Incident], None] = lambda node, attempt, incident: None
        self.attempts: dict[int, Attempt] = {}
        self._of_task: dict[int, int] = {}
        self._on: dict[int, dict[int, Attempt]] = {}
        self._use: dict[int, NodeUse] = {}
        self._use_timer: dict[int, int] = {}
        self._faulty: dict[int, set[str]] = {}
        self.dead: set[int] = set()
        self.cut: set[int] = set()
        self._matter = use_matters(scenario)
        self._keys = 0

    # ------------------------------------------------------------------ who is there

    def on(self, node: int) -> list[Attempt]:
        """The attempts on a node, the oldest first."""
        return list(self._on.get(node, {}).values())

    def of(self, task: int) -> Attempt | None:
        """The attempt of a task that counts, if it is looked at."""
        key = self._of_task.get(task)
        return None if key is None else self.attempts[key]

    def is_silent(self, node: int) -> bool:
        """Whether nothing is heard of a node: it has stopped, or is cut off."""
        return node in self.dead or node in self.cut

    def look_at(self, node: int) -> list[Attempt]:
        """Look at a node from now on: all that runs there."""
        self._board.w.watch_node[node] = 1
        for task in self._board.placed(node):
            if task not in self._of_task and self._board.state(task) is State.RUNNING:
                attempt = self._adopt(task)
                if self.is_silent(node):  # it has just been started there
                    self._strand(attempt)
        return self.on(node)

    def _adopt(self, task: int) -> Attempt:
        """An attempt that ran in the loop alone until now."""
        w = self._board.w
        plan = int(w.duration[task]) if w.watch[task] & FAILS else self._plans.plan_ns(task)
        start = int(w.start[task])
        return self._add(task, int(w.node[task]), int(w.devices[task]), plan, start)

    def begin(self, task: int) -> Attempt:
        """A task that is looked at, or whose node is, has just started."""
        if task in self._of_task:
            return self.attempts[self._of_task[task]]
        attempt = self._adopt(task)
        if self.is_silent(attempt.node):  # the command to start does not arrive
            self._strand(attempt)
        elif attempt.node in self._use or self._matters(task):
            self._enter(attempt)
        return attempt

    def begin_copy(self, task: int, node: int, devices: int, plan_ns: int) -> Attempt:
        """A copy of a task starts on a node."""
        attempt = self._add(task, node, devices, plan_ns, self._board.now, counts=False)
        if self.is_silent(node):
            self._strand(attempt)
        elif node in self._use or self._matters(task):
            self._enter(attempt)
        if attempt.alive and attempt.begun_ns < NEVER:
            self._set_end(attempt, attempt.end_ns)
        return attempt

    def _strand(self, attempt: Attempt) -> None:
        """The command to start an attempt does not arrive: it begins when it does, or never on a node that is gone."""
        self._still(attempt)
        attempt.alive = attempt.node not in self.dead

    def _add(self, task: int, node: int, devices: int, plan_ns: int, start_ns: int, *, counts: bool = True) -> Attempt:
        attempt = Attempt(self._keys, task, node, devices, plan_ns, start_ns, start_ns, counts=counts)
        attempt.end_ns = min(start_ns + plan_ns, NEVER)
        self._keys += 1
        self.attempts[attempt.key] = attempt
        self._on.setdefault(node, {})[attempt.key] = attempt
        if counts:
            self._of_task[task] = attempt.key
        return attempt

    def forget(self, attempt: Attempt) -> None:
        """An attempt has no place any more."""
        self._leave_use(attempt)
        self._timers.cancel(attempt.timer)
        self.attempts.pop(attempt.key, None)
        self._on.get(attempt.node, {}).pop(attempt.key, None)
        if self._of_task.get(attempt.task) == attempt.key:
            del self._of_task[attempt.task]
        self._relax(attempt.node)

    def orphan(self, attempt: Attempt) -> None:
        """An attempt does not count any more, and runs on."""
        attempt.counts = False
        del self._of_task[attempt.task]
        self._set_end(attempt, attempt.end_ns)

    def promote(self, attempt: Attempt) -> None:
        """A copy becomes the attempt that counts."""
        attempt.counts = True
        self._of_task[attempt.task] = attempt.key
        self._set_end(attempt, attempt.end_ns)

    # ------------------------------------------------------------------ how far they are

    def elapsed_ns(self, attempt: Attempt) -> int:
        """How much of its plan an attempt has done."""
        if not attempt.alive or attempt.begun_ns >= NEVER:
            return attempt.done_ns
        use = self._use.get(attempt.node)
        if use is not None and attempt.key in use:
            return attempt.done_ns + use.done_ns(attempt.key, self._board.now)
        return attempt.done_ns + max(0, self._board.now - attempt.begun_ns)

    def _still(self, attempt: Attempt) -> None:
        """An attempt does nothing until it is set going again."""
        attempt.done_ns = self.elapsed_ns(attempt)
        attempt.begun_ns = NEVER
        self._leave_use(attempt)
        self._set_end(attempt, NEVER)

    def _go_on(self, attempt: Attempt) -> None:
        """Set an attempt going that stood still."""
        attempt.begun_ns = self._board.now
        if attempt.node in self._use:
            self._enter(attempt)
            self._set_end(attempt, attempt.end_ns)  # the loop has none, so that it may be news though it is the same
        else:
            self._set_end(attempt, min(self._board.now + attempt.plan_ns - attempt.done_ns, NEVER))

    def replan(self, attempt: Attempt, plan_ns: int) -> None:
        """How long an attempt takes in all is another than was thought."""
        goes_on = attempt.alive and attempt.begun_ns < NEVER
        attempt.done_ns = self.elapsed_ns(attempt)
        attempt.plan_ns = plan_ns
        if goes_on:
            self._leave_use(attempt)
            self._go_on(attempt)

    def _set_end(self, attempt: Attempt, end: int) -> None:
        """Enter when an attempt will be over: in the loop, if the control plane will hear of it, else here."""
        attempt.end_ns = end
        self._timers.cancel(attempt.timer)
        hears = attempt.counts and attempt.node not in self.cut
        if attempt.counts:
            self._tell_loop(attempt, end if hears else NEVER)
        if not hears and attempt.alive:
            attempt.timer = self._timers.at(end, lambda: self._is_over(attempt))

    def _tell_loop(self, attempt: Attempt, end: int) -> None:
        w, task = self._board.w, attempt.task
        if w.state[task] != State.RUNNING:
            return
        limit = min(int(w.start[task]) + self._plans.limit_ns(task), NEVER)
        if attempt.node not in self.cut:
            by_itself = Kind.FAIL if w.watch[task] & FAILS else Kind.END
            w.fate[task] = int(Kind.KILL if end > limit else by_itself)
            end = max(min(end, limit), self._board.now)
        if w.start[task] + w.duration[task] != end:
            self._board.retime(task, end)

    def _is_over(self, attempt: Attempt) -> None:
        """A copy, or an attempt behind a partition, is done."""
        attempt.done_ns, attempt.alive, attempt.finished = attempt.plan_ns, False, True
        self._leave_use(attempt)
        self.over(attempt)

    # ------------------------------------------------------------------ nodes that fall silent

    def die(self, node: int) -> None:
        """A node stops, and all that runs there with it."""
        self.look_at(node)
        self.stop_all(node)
        self.dead.add(node)

    def cut_off(self, node: int) -> None:
        """The control plane and a node do not hear of each other any more."""
        attempts = self.look_at(node)
        self.cut.add(node)
        for attempt in attempts:
            self._set_end(attempt, attempt.end_ns)

    def join(self, node: int) -> list[Attempt]:
        """They hear of each other again; ends that the control plane did not hear of are now. The attempts there."""
        self.cut.discard(node)
        for attempt in self.on(node):
            if attempt.finished and attempt.counts:
                self._tell_loop(attempt, attempt.end_ns)
            elif attempt.finished:
                self.over(attempt)
            elif attempt.alive and attempt.begun_ns >= NEVER:
                self._go_on(attempt)
            elif attempt.alive:
                self._set_end(attempt, attempt.end_ns)
        self._relax(node)
        return self.on(node)

    def revive(self, node: int) -> None:
        """A node that had stopped is there again, empty."""
        self.dead.discard(node)
        self._relax(node)

    def stop(self, attempt: Attempt) -> None:
        """An attempt stops, of which the control plane does not hear yet."""
        self._still(attempt)
        attempt.alive = False

    def stop_all(self, node: int) -> None:
        """All that runs on a node stops, of which the control plane does not hear yet."""
        for attempt in self.on(node):
            if attempt.alive:
                self.stop(attempt)

    # ------------------------------------------------------------------ use

    def slow(self, node: int, speed_e4: int, fault: str) -> None:
        """A node goes at a part of its speed."""
        self._with_use(node, fault).slow(speed_e4, self._board.now)
        self._refresh(node)

    def leak(self, node: int, bytes_per_s: int, fault: str) -> None:
        """Something takes a node's memory."""
        self._with_use(node, fault).leak(bytes_per_s, self._board.now)
        self._refresh(node)

    def fill_disk(self, node: int, left: int | None, fault: str) -> None:
        """Something fills a node's disk."""
        self._with_use(node, fault).fill_disk(left, self._board.now)
        self._refresh(node)

    def lack(self, node: int, fault: str) -> None:
        """A node lacks something that its use does not hang on, and is looked at."""
        self._faulty.setdefault(node, set()).add(fault)
        self.look_at(node)

    def well(self, node: int, fault: str) -> None:
        """A fault of that name is over; what comes of that is seen to before the node is left alone."""
        if node in self._use and self._use[node].next_ns() <= self._board.now:
            self._happen(node)
        self._faulty.get(node, set()).discard(fault)
        self._relax(node)

    def watch_use(self) -> None:
        """Look at the tasks whose use may matter, and at the nodes that may come under pressure whoever runs there."""
        w = self._board.w
        usage = self._scenario.work.usage
        if usage is not None:
            w.watch[self._matter] |= USES
        for number, node in enumerate(self._nodes):
            spare = (node.machine.memory_bytes or node.capacity.memory_bytes) - node.machine.used_bytes
            spare -= node.capacity.memory_bytes
            pressed = any(p.resource == "memory" and p.below > spare for p in self.enforcement.pressures)
            if pressed or spare < 0:
                self._with_use(number, "pressure")

    def _matters(self, task: int) -> bool:
        return bool(self._matter[task])

    def _with_use(self, node: int, fault: str) -> NodeUse:
        self._faulty.setdefault(node, set()).add(fault)
        return self._activate(node)

    def _activate(self, node: int) -> NodeUse:
        if node not in self._use:
            attempts = self.look_at(node)
            for attempt in attempts:
                attempt.done_ns = self.elapsed_ns(attempt)
            self._use[node] = NodeUse(self._nodes[node].capacity, self._nodes[node].machine, self.enforcement)
            for attempt in attempts:
                if attempt.alive and attempt.begun_ns < NEVER:
                    self._enter(attempt, refresh=False)
            self._refresh(node)
        return self._use[node]

    def _enter(self, attempt: Attempt, *, refresh: bool = True) -> None:
        """Let an attempt take part in the use of its node."""
        work, now = self._scenario.work, self._board.now
        use = self._activate(attempt.node)
        if not attempt.alive or attempt.key in use:
            return
        shape = work.shapes[int(work.shape[attempt.task])]
        recovery = work.recovery_of(attempt.task)
        one = Running(
            attempt.key,
            shape.request,
            shape.limit,
            work.usage_of(attempt.task),
            attempt.plan_ns - attempt.done_ns if attempt.plan_ns < NEVER else NEVER,
            priority=int(work.priority[attempt.task]),
            owner=work.users[int(work.user[attempt.task])] or work.job_name(attempt.task),
            retriable=any("memory" in retry.causes and retry.limit != 0 for retry in recovery.retries),
        )
        attempt.begun_ns = now
        use.enter(one, now)
        if refresh:
            self._refresh(attempt.node)

    def _leave_use(self, attempt: Attempt) -> None:
        use = self._use.get(attempt.node)
        if use is not None and attempt.key in use:
            use.leave(attempt.key, self._board.now)
            self._refresh(attempt.node)

    def _refresh(self, node: int) -> None:
        """Ends and the next incident of a node after something changed there."""
        use = self._use[node]
        for key, end in use.ends().items():
            attempt = self.attempts[key]
            if attempt.alive and attempt.end_ns != end:
                self._set_end(attempt, end)
        self._timers.cancel(self._use_timer.get(node, -1))
        self._use_timer[node] = self._timers.at(use.next_ns(), lambda: self._happen(node))

    def _happen(self, node: int) -> None:
        """Use leads to something."""
        for incident in self._use[node].happen(self._board.now):
            attempt = self.attempts.get(incident.task) if incident.task >= 0 else None
            if incident.task < 0 or attempt is not None:
                self.incident(node, attempt, incident)
        if node in self._use:
            self._refresh(node)

    def _relax(self, node: int) -> None:
        """Stop looking at a node on which nothing can become of anybody."""
        if self.is_silent(node) or self._faulty.get(node):
            return
        attempts = self.on(node)
        if any(not attempt.counts or not attempt.alive or self._matters(attempt.task) for attempt in attempts):
            return
        if node in self._use:
            for attempt in attempts:
                attempt.done_ns, attempt.begun_ns = self.elapsed_ns(attempt), self._board.now
            del self._use[node]
            self._timers.cancel(self._use_timer.pop(node, -1))
        if any(attempt.end_ns != attempt.start_ns + attempt.plan_ns for attempt in attempts):
            return  # how much of its plan it has done is known here alone
        for attempt in attempts:  # they go on in the loop, at full speed
            del self.attempts[attempt.key], self._of_task[attempt.task]
        self._on.pop(node, None)
        self._board.w.watch_node[node] = 0

    def copies(self) -> Iterator[Attempt]:
        """The attempts that do not count."""
        return (attempt for attempt in self.attempts.values() if not attempt.counts)
