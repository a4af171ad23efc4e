"""The scheduling cycle: what becomes of one pod on the cluster as it is (sheet §4).

Filters in their order, each node up to the first that refuses; enough feasible nodes from a rotating start; scores
times weights; one of the best; and when nothing fits, preemption and the words of the event. :meth:`Scheduler.attempt`
decides and changes nothing but where the next search starts; whoever drives it places the pod, or removes victims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gnomon.model.errors import unknown_name
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.profile import Profile, Settings
from gnomon.systems.kubernetes.scheduler.columns import Columns
from gnomon.systems.kubernetes.scheduler.fit_error import NO_CLAIMS, NO_NODES, NOT_FOUND, fit_error
from gnomon.systems.kubernetes.scheduler.plugins import volume_binding
from gnomon.systems.kubernetes.scheduler.plugins.base import ALL, Filter, Query, Score
from gnomon.systems.kubernetes.scheduler.plugins.node_affinity import CONFLICT, narrowed
from gnomon.systems.kubernetes.scheduler.preemption import Preemption, preempt
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask, Placed, State
from gnomon.systems.kubernetes.scheduler.statuses import PASSES, Refusal, Statuses, judge_all, judge_one

Choose = Callable[[State, Ints], int]
"""Which of equal nodes is taken."""

_KEPT_BYTES = 256 * 2**20
"""What the columns of all shapes may take together."""


def smallest_name(state: State, best: Ints) -> int:
    """The node whose name comes first."""
    if len(best) == 1:
        return int(best[0])
    rank = state.static("ranks", lambda: np.argsort(np.argsort(np.array(state.names))))
    return int(best[np.argmin(rank[best])])


def at_random(generator: np.random.Generator) -> Choose:
    """One of the nodes, all alike, as the real scheduler does; seeded by the generator."""
    return lambda state, best: int(best[generator.integers(len(best))])


@dataclass(frozen=True)
class Attempt:
    """What came of one attempt; nodes by their numbers.

    ``scores``: by plugin the final points, weights included, of the ``feasible`` nodes, and ``total`` their sum; empty
    when nothing was scored. ``best``: all nodes with the highest total. ``chosen`` -1: none. ``statuses`` are there
    when no node was feasible. ``message``: why it failed, as the event has it.
    """

    pod: Pod
    profile: Profile
    feasible: Ints
    scores: tuple[tuple[str, Ints | int], ...] = ()
    total: Ints | None = None
    best: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    chosen: int = -1
    statuses: Statuses | None = None
    message: str | None = None
    preemption: Preemption = field(default_factory=Preemption)
    on_nominated: bool = False
    """Whether only the nominated node was looked at, and taken."""


NOTHING: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Turn:
    """A pod whose turn it is: what is asked for it, and what is kept for pods of its spec."""

    pod: Pod
    query: Query
    columns: Columns

    @property
    def profile(self) -> Profile:
        """The profile that places it."""
        return self.query.profile

    def filters(self) -> list[Filter]:
        """The filters that look at it, in their order."""
        return [plugin for plugin in self.columns.filters if plugin.applies(self.query)]


class Scheduler:
    """kube-scheduler over a state. ``remember`` False works everything out anew for each pod: slow, and the same.

    >>> from gnomon.systems.kubernetes.api.objects import Node
    >>> state = State([Node("a", allocatable={"pods": 1}), Node("b", allocatable={"pods": 1})])
    >>> attempt = Scheduler(state).attempt(Pod("p"))
    >>> state.names[attempt.chosen], attempt.best.tolist()
    ('a', [0, 1])
    """

    def __init__(
        self,
        state: State,
        settings: Settings | None = None,
        *,
        choose: Choose = smallest_name,
        percentage: int | None = None,
        remember: bool = True,
    ) -> None:
        self.state = state
        self.settings = settings or Settings()
        self.choose = choose
        self._percentage = percentage
        self._remember = remember
        self._columns: dict[tuple[str, int], Columns] = {}
        self._census = state.census
        self._start = 0

    def profile(self, pod: Pod) -> Profile:
        """The profile that places a pod; raises InputError when there is none of that name."""
        name = pod.spec.scheduler_name
        if name not in self.settings.profiles:
            raise unknown_name("scheduler", name, self.settings.profiles).at(field="spec.schedulerName")
        return self.settings.profiles[name]

    def attempt(self, pod: Pod) -> Attempt:
        """One scheduling cycle for a pod."""
        profile, state = self.profile(pod), self.state
        if not state.nodes:
            return Attempt(pod, profile, NOTHING, message=NO_NODES)
        turn = self._turn(pod, profile)
        refused = self._refused_early(turn)
        if refused is not None:
            return refused
        inside = self._inside(turn)
        nominated = state.index.get(pod.nominated_node, -1)
        if nominated >= 0 and (inside is None or inside[nominated]) and self._judge(turn)(nominated) is None:
            one = np.array([nominated])
            return Attempt(pod, profile, one, best=one, chosen=nominated, on_nominated=True)
        feasible = self._sampled(turn, self._passing(turn, inside), inside)
        if len(feasible) == 0:
            return self._failed(turn, inside)
        if len(feasible) == 1:
            return Attempt(pod, profile, feasible, best=feasible, chosen=int(feasible[0]))
        return self._scored(turn, feasible)

    def assume(self, attempt: Attempt, *, start_ns: int | None = None) -> None:
        """The chosen node is the pod's: what it takes counts from now on, and its claims are bound."""
        pod, state = attempt.pod, self.state
        shape = state.shape(pod)
        if shape.claims:
            volume_binding.bind(state, shape.claims, attempt.chosen)
        state.withdraw(pod.key)
        state.put(Placed(pod, shape, pod.start_time_ns if start_ns is None else start_ns), attempt.chosen)

    def statuses(self, pod: Pod) -> Statuses:
        """Why each node that is not feasible is not. Ask before the pod is placed."""
        turn = self._turn(pod, self.profile(pod))
        return self._statuses(turn, self._inside(turn))

    # ------------------------------------------------------------------ before filtering

    def _turn(self, pod: Pod, profile: Profile) -> Turn:
        state = self.state
        query = Query(state, state.shape(pod), profile)
        if self._census is not state.census or not self._remember:
            self._census = state.census
            self._columns.clear()
        key = profile.name, query.shape.spec_index
        columns = self._columns.get(key)
        if columns is None:
            if len(self._columns) * len(state.nodes) * 32 > _KEPT_BYTES:
                self._columns.clear()
            columns = self._columns[key] = Columns(query)
        columns.refresh()
        return Turn(pod, query, columns)

    def _inside(self, turn: Turn) -> Mask | None:
        """The nodes that the pod's own terms name; None: they name none, and all may do."""
        only = narrowed(turn.query.shape) if "NodeAffinity" in turn.profile.pre_filters else None
        if only is None:
            return None
        state = self.state
        mask = np.zeros(len(state.nodes), bool)
        mask[[state.index[name] for name in only if name in state.index]] = True
        return mask

    def _refused_early(self, turn: Turn) -> Attempt | None:
        """A PreFilter plugin refuses all nodes: no filter runs, and the first PostFilter plugin ends with an error
        where it is DynamicResources (recorded, sheet §4.4). None: none does."""
        state, profile, shape = self.state, turn.profile, turn.query.shape
        plugin, text = "NodeAffinity", None
        if plugin in profile.pre_filters and narrowed(shape) == frozenset():
            text = CONFLICT
        elif shape.claims and "VolumeBinding" in profile.pre_filters:
            plugin, text = "VolumeBinding", volume_binding.refused_early(turn.query)
        if text is None:
            return None
        count = len(state.nodes)
        statuses = Statuses(turn.query, (), np.full(count, PASSES, np.int64), np.zeros(count, np.int64))
        statuses.outside = np.ones(count, bool)
        statuses.absent = Refusal(plugin, False, (text,))
        after = ""
        if "DynamicResources" in profile.post_filters:
            after = NOT_FOUND
        elif "DefaultPreemption" in profile.post_filters:
            outcome = preempt(state, turn.pod, statuses, lambda node: None, profile.preemption)
            after = f"preemption: {outcome.message}"
        message = fit_error(count, {}, before=text, after=after)
        return Attempt(turn.pod, profile, NOTHING, statuses=statuses, message=message)

    # ------------------------------------------------------------------ filters

    def _passing(self, turn: Turn, inside: Mask | None) -> Mask:
        """The nodes that pass all filters, also with the pods nominated there."""
        passing = turn.columns.passes
        for plugin in turn.columns.wide:
            if plugin.applies(turn.query):
                passing = passing & (plugin.codes(turn.query, ALL) == 0)
        if inside is not None:
            passing = passing & inside
        if self.state.nominated:
            judge, copied = self._judge(turn), False
            for node in self._shared(turn.pod):
                if passing[node] and judge(node) is not None:
                    if not copied:
                        passing, copied = passing.copy(), True
                    passing[node] = False
        return passing

    def _shared(self, pod: Pod) -> list[int]:
        """The nodes to which other pods of at least the same priority are nominated."""
        return [
            self.state.index[name]
            for name, pods in self.state.nominated.items()
            if name in self.state.index
            and any(key != pod.key and one.shape.priority >= pod.priority for key, one in pods.items())
        ]

    def _judge(self, turn: Turn) -> Callable[[int], Refusal | None]:
        """Whether a node passes: with the pods that are nominated to it and matter at least as much, and without
        (sheet §3.1)."""
        state, pod, query, filters = self.state, turn.pod, turn.query, turn.filters()

        def judge(node: int) -> Refusal | None:
            name = state.names[node]
            others = [
                one
                for key, one in state.nominated.get(name, {}).items()
                if key != pod.key and one.shape.priority >= pod.priority and key not in state.where
            ]
            if others:
                for one in others:
                    state.place(one.pod, name)
                crowded = turn.filters()  # their terms may bring a filter in
                refusal = judge_one(query, crowded, node)
                for one in others:
                    state.remove(one.pod.key)
                if refusal is not None:
                    return refusal
            return judge_one(query, filters, node)

        return judge

    def _sampled(self, turn: Turn, passing: Mask, inside: Mask | None) -> Ints:
        """The feasible nodes that are looked at: all, or as many as are enough, from where the last search ended."""
        state, profile = self.state, turn.profile
        configured = profile.percentage if profile.percentage is not None else self.settings.percentage
        if self._percentage is not None:
            configured = self._percentage
        count = len(state.nodes) if inside is None else int(inside.sum())
        enough = nodes_to_find(count, configured) if profile.scores else 1
        if enough >= count:
            return np.flatnonzero(passing)
        order = np.concatenate([state.order[self._start :], state.order[: self._start]])
        if inside is not None:
            order = order[inside[order]]
        found = np.flatnonzero(passing[order])
        looked_at = count if len(found) < enough else int(found[enough - 1]) + 1
        self._start = (self._start + looked_at) % len(state.nodes)
        return order[found[:enough]]

    # ------------------------------------------------------------------ scores

    def _scored(self, turn: Turn, feasible: Ints) -> Attempt:
        columns = turn.columns
        everywhere = len(feasible) == len(self.state.nodes)
        scores: list[tuple[str, Ints | int]] = []
        total = np.zeros(len(feasible), np.int64)
        for plugin, weight in columns.scores:
            points: Ints | int | None
            if plugin.name in columns.same:
                points = columns.same[plugin.name]
            elif isinstance(plugin, Score):
                raw = columns.raw[plugin.name]
                points = plugin.normalise(raw if everywhere else raw[feasible])
            else:
                points = plugin.points(turn.query, feasible)
            if points is not None:
                points = points * weight
                scores.append((plugin.name, points))
                total += points
        best = feasible[total == total.max()]
        chosen = self.choose(self.state, best)
        return Attempt(turn.pod, turn.profile, feasible, tuple(scores), total, best, chosen)

    # ------------------------------------------------------------------ when nothing fits

    def _statuses(self, turn: Turn, inside: Mask | None) -> Statuses:
        statuses = judge_all(turn.query, turn.filters())
        judge = self._judge(turn)
        for node in self._shared(turn.pod):
            statuses.special[node] = judge(node)
        if inside is not None:
            statuses.outside = ~inside
            statuses.absent = Refusal("", False, ("node(s) didn't satisfy plugin(s) [NodeAffinity]",))
        return statuses

    def _failed(self, turn: Turn, inside: Mask | None) -> Attempt:
        """Nothing fits: the PostFilter plugins have their say."""
        statuses = self._statuses(turn, inside)
        pod, profile = turn.pod, turn.profile
        said: list[str] = []
        outcome = Preemption()
        for name in profile.post_filters:
            if name == "DefaultPreemption":
                outcome = preempt(self.state, pod, statuses, self._judge(turn), profile.preemption)
                said.append(f"preemption: {outcome.message}")
            else:
                said.append(NO_CLAIMS)
        after = ", ".join(said) if outcome.chosen is None else ""
        message = fit_error(len(self.state.nodes), statuses.histogram(), after=after)
        return Attempt(pod, profile, NOTHING, statuses=statuses, message=message, preemption=outcome)


def nodes_to_find(nodes: int, percentage: int) -> int:
    """How many feasible nodes are enough (``numFeasibleNodesToFind``, sheet §4.1). ``percentage`` 0: by their number.

    >>> [nodes_to_find(n, 0) for n in (50, 100, 200, 500, 1000, 5000, 6000)]
    [50, 100, 100, 230, 420, 500, 300]
    """
    if nodes < 100 or percentage >= 100:
        return nodes
    share = percentage or max(5, 50 - nodes // 125)
    return max(nodes * share // 100, 100)
