"""The descheduler of a run: every so often it looks at the cluster, and sends pods away, to be placed anew.

Source: kubernetes-sigs/descheduler (as of v0.34) ``pkg/descheduler/descheduler.go``: in each cycle the plugins of all
profiles at the point *deschedule* come before those at *balance*; with a single node nothing is done. What the
descheduler reads is the cluster as it was when the cycle began. The run begins between two cycles, so that the first
one comes after an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.world import ROWS
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.constraints import NOT_READY, UNREACHABLE
from gnomon.systems.kubernetes.api.descheduling import (
    DeschedulerPolicy,
    Duplicates,
    Plugin,
    Profile,
    Restarts,
    SpreadViolations,
)
from gnomon.systems.kubernetes.api.objects import Node
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.disruptions import Disruptions
from gnomon.systems.kubernetes.descheduler.evictor import Facts, Filter, Limits, threshold_of
from gnomon.systems.kubernetes.descheduler.node_utilization import balance
from gnomon.systems.kubernetes.descheduler.rebalancing import balance_spread, remove_duplicates, remove_restarting
from gnomon.systems.kubernetes.descheduler.view import Seen, View
from gnomon.systems.kubernetes.fleets.native import native_of
from gnomon.systems.kubernetes.read.annotations import stops_ns
from gnomon.systems.kubernetes.scheduler.account import Account


class Descheduler:
    """In a run without an end it stops when it comes to where it was before
    and nothing else is to happen: it would go on like that for ever."""

    def __init__(self, policy: DeschedulerPolicy, scenario: Scenario, account: Account, desk: Desk) -> None:
        native = native_of(scenario)
        self._policy, self._native, self._account, self._desk = policy, native, account, desk
        objects = native.objects
        self._thresholds = [threshold_of(one.evictor, objects.priority_classes) for one in policy.profiles]
        self._disruptions = Disruptions(objects.disruption_budgets, desk, native.fleets, native.rollouts)
        self._namespaces = {space.name: space.labels for space in objects.namespaces}
        self._endless = scenario.limits.until_ns >= NEVER
        self._ends = np.flatnonzero(scenario.work.duration_ns < NEVER)
        self._seen: set[tuple[tuple[tuple[int, int], ...], bytes]] = set()
        self._refused: set[tuple[int, str]] = set()
        self._next = max(desk.now, 0) + policy.interval_ns
        if policy.plugins:
            desk.at(self._next, self)

    def sync(self) -> None:
        """One cycle, if it is time."""
        desk = self._desk
        if desk.now < self._next:
            return
        last = self._endless and self._is_back()
        view = self._view()
        if len(view.nodes) > 1:
            limits = Limits(self._policy, self._evict)
            for point in ("deschedule", "balance"):
                for number, profile in enumerate(self._policy.profiles):
                    self._run(getattr(profile, point), profile, view, (number, limits))
        periods = (desk.now - self._next) // self._policy.interval_ns + 1
        self._next += periods * self._policy.interval_ns
        if not last:
            desk.at(self._next, self)

    def _is_back(self) -> bool:
        """Whether the pods are where they were in an earlier cycle, and nothing else is going on."""
        desk = self._desk
        ending = desk.board.w.state[self._ends]  # who waits as before goes on to wait, with nothing that ends
        layout = tuple(sorted(desk.node.items())), ending.tobytes()
        known = layout in self._seen
        self._seen.add(layout)
        return known and not (ending == State.RUNNING).any() and desk.timers.next_ns >= NEVER

    def _run(self, plugins: Iterable[Plugin], profile: Profile, view: View, how: tuple[int, Limits]) -> None:
        number, limits = how
        rule = Filter(
            profile.evictor,
            view,
            threshold=self._thresholds[number],
            budgets=self._native.objects.disruption_budgets,
            now_ns=self._desk.now,
        )
        for args in plugins:
            if isinstance(args, Restarts):
                remove_restarting(args, view, rule, limits)
            elif isinstance(args, Duplicates):
                remove_duplicates(args, view, rule, limits)
            elif isinstance(args, SpreadViolations):
                balance_spread(args, view, rule, limits)
            else:
                balance(args, view, rule, limits)

    # ------------------------------------------------------------------ what it sees

    def _view(self) -> View:
        state, selector = self._account.state, self._policy.node_selector
        nodes = [
            node for node in state.nodes if is_ready(node) and (selector is None or selects(selector, node.labels))
        ]
        pods = {state.names[i]: self._pods_on(i) for i in range(len(state.nodes))}
        return View(nodes, pods, self._namespaces)

    def _pods_on(self, i: int) -> list[Seen]:
        desk, state, found = self._desk, self._account.state, []
        for key, placed in state.pods[i].items():
            task = self._account.task.get(key, -1)
            if task >= 0 and task not in desk.node:
                continue  # the scheduler alone has put it there so far
            restarts = self._restarts(task) if task >= 0 else 0
            ready = task >= 0 and desk.is_ready(task)
            found.append(Seen(placed.pod, state.names[i], task, restarts, ready, placed.start_ns or 0))
        return sorted(found, key=lambda one: (one.task < 0, one.task))

    def _restarts(self, task: int) -> int:
        """How often the containers of a pod have started again."""
        if not any(isinstance(one, Restarts) for one in self._policy.plugins):
            return 0
        w, since = self._desk.board.w, self._desk.created[task]
        rows = int(w.at[ROWS])
        started = (w.log_kind[:rows] == Kind.START) & (w.log_subject[:rows] == task) & (w.log_t[:rows] >= since)
        return int(started.sum()) - 1 + (self._desk.pods[task].restarts if not since else 0)

    # ------------------------------------------------------------------ what it does

    def _evict(self, one: Seen, plugin: str, facts: Facts) -> bool:
        """Ask the API server to evict a pod; whether it does."""
        desk, pod, about = self._desk, one.pod, f"Pod {one.pod.key}"
        text = self._disruptions.refusal(one.task)
        said = f"pod eviction from {one.node} node by sigs.k8s.io/descheduler"
        start = int(desk.board.w.start_row[one.task])
        waits = one.task in desk.hands.kept
        if text is None and waits and pod.owner is not None and pod.owner.kind == "Job":
            return False  # what a Job makes of a pod that is deleted while it waits for its restart is left out
        if text is not None:
            if (one.task, text) not in self._refused:
                self._refused.add((one.task, text))
                message = f'{said} failed: error when evicting pod (ignoring) "{pod.name}": {text}'
                desk.event("EvictionFailed", message, about=about, task=one.task, cause=start)
            return False
        row = desk.event(plugin, said, about=about, task=one.task, cause=start)
        if waits:  # its containers do not run: it is gone at once
            desk.hands.cancel(one.task)
            desk.hands.queue(one.task, row)
            return True
        grace_ns = stops_ns(pod, self._policy.grace_s)
        # the eviction API sets the condition DisruptionTarget, which the failure policy of a Job may look at
        reason = Reason.DRAINED if pod.owner is not None and pod.owner.kind == "Job" else Reason.DELETED
        desk.hands.fail(one.task, reason, row, details={"plugin": plugin, **facts}, grace_ns=grace_ns)
        return True

    def is_busy(self) -> bool:
        """It moves what is there, and makes nothing."""
        return False


def is_ready(node: Node) -> bool:
    """Whether a node is ready: by its condition, and by the taints that come with it."""
    taints = {taint.key for taint in node.taints}
    ready = all(one.status == "True" for one in node.conditions if one.type == "Ready")
    return ready and not taints & {UNREACHABLE, NOT_READY}


def start_descheduler(scenario: Scenario, account: Account, desk: Desk, add: Callable[[Descheduler], None]) -> None:
    """Let the descheduler act in a run, if the scenario has a policy for one."""
    native = native_of(scenario)
    if native.objects.descheduler is not None:
        add(Descheduler(native.objects.descheduler, scenario, account, desk))
