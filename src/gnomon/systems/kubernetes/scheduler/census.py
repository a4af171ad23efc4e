"""Who is where: pods counted by node, for every question that has been asked.

Topology spreading and affinity between pods ask how many pods a selector finds in each domain. The answer depends on a
pod's namespace and labels alone (:class:`Kind`), so each question keeps a column with a number by node, and a pod that
comes or goes changes one number in each column that its kind matches. Terms that running pods have themselves
(:class:`Held`) are counted in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gnomon.systems.kubernetes.api.constraints import PodAffinityTerm
from gnomon.systems.kubernetes.api.objects import Labels
from gnomon.systems.kubernetes.api.selectors import term_selects

Column = npt.NDArray[np.int64]


@dataclass(eq=False, slots=True)
class Kind:
    """Pods alike for every selector."""

    namespace: str
    labels: Labels
    terminating: bool
    on_node: dict[int, int] = field(default_factory=dict)
    """How many there are, by node."""
    counted_by: list[Column] = field(default_factory=list)
    held_seen: int = 0
    """How many of the held terms ``selected_by`` has looked at."""
    selected_by: list[Held] = field(default_factory=list)
    """The terms of others that select these pods."""


@dataclass(eq=False, slots=True)
class Held:
    """A term of pods, and how many pods on each node have it. ``weight``: signed; 0 for one that is required."""

    role: str
    namespace: str
    term: PodAffinityTerm
    weight: int
    on_node: Column
    total: int = 0


REQUIRED, ANTI, PREFERRED = "required", "anti", "preferred"


class Census:
    """All kinds, questions and held terms of one cluster of ``nodes`` nodes."""

    def __init__(self, nodes: int, namespaces: Mapping[str, Labels]) -> None:
        self._nodes = nodes
        self._namespaces = namespaces
        self._kinds: dict[Hashable, Kind] = {}
        self._columns: dict[Hashable, tuple[Callable[[Kind], bool], Column]] = {}
        self._held: dict[Hashable, Held] = {}
        self._held_list: list[Held] = []

    def kind(self, namespace: str, labels: Labels, terminating: bool) -> Kind:
        """The kind of a pod."""
        key = (namespace, tuple(sorted(labels.items())), terminating)
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = Kind(namespace, labels, terminating)
            found.counted_by = [column for asks, column in self._columns.values() if asks(found)]
        return found

    def count(self, key: Hashable, asks: Callable[[Kind], bool]) -> Column:
        """How many pods there are on each node of the kinds that ``asks`` says yes to; kept up to date from now on.

        ``key`` stands for the question: equal keys, equal questions.
        """
        found = self._columns.get(key)
        if found is not None:
            return found[1]
        column = np.zeros(self._nodes, np.int64)
        for kind in self._kinds.values():
            if asks(kind):
                kind.counted_by.append(column)
                for node, number in kind.on_node.items():
                    column[node] += number
        self._columns[key] = asks, column
        return column

    def held(self, role: str, namespace: str, term: PodAffinityTerm, weight: int = 0) -> Held:
        """The count of pods of a namespace that have a term."""
        key = (role, namespace, term, weight)
        found = self._held.get(key)
        if found is None:
            found = self._held[key] = Held(role, namespace, term, weight, np.zeros(self._nodes, np.int64))
            self._held_list.append(found)
        return found

    def selecting(self, kind: Kind) -> list[Held]:
        """The held terms that select pods of a kind."""
        for held in self._held_list[kind.held_seen :]:
            if self.selects(held.term, held.namespace, kind):
                kind.selected_by.append(held)
        kind.held_seen = len(self._held_list)
        return kind.selected_by

    def selects(self, term: PodAffinityTerm, namespace: str, kind: Kind) -> bool:
        """Whether a term of a pod in ``namespace`` selects pods of a kind."""
        return term_selects(term, namespace, kind.labels, kind.namespace, self._namespaces)

    def change(self, kind: Kind, holds: tuple[Held, ...], node: int, by: int) -> None:
        """A pod comes to a node (``by`` 1) or leaves it (-1)."""
        number = kind.on_node.get(node, 0) + by
        if number:
            kind.on_node[node] = number
        else:
            del kind.on_node[node]
        for column in kind.counted_by:
            column[node] += by
        for held in holds:
            held.on_node[node] += by
            held.total += by
