"""Who refused which node: by node the first filter that did, its code and its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gnomon.systems.kubernetes.scheduler.plugins.base import ALL, Filter, Query
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask

PASSES = -1


@dataclass(frozen=True)
class Refusal:
    """Why a node was refused. ``resolvable``: preemption may help (Unschedulable), or not
    (UnschedulableAndUnresolvable)."""

    plugin: str
    resolvable: bool
    reasons: tuple[str, ...]

    @property
    def code(self) -> str:
        """The status code of the framework."""
        return "Unschedulable" if self.resolvable else "UnschedulableAndUnresolvable"


def _distinct(numbers: Ints) -> list[int]:
    """The values, in order. They are few, and small from 0 on: counting takes a tenth of the time of ``np.unique``."""
    return np.flatnonzero(np.bincount(numbers)).tolist()


@dataclass
class Statuses:
    """The statuses of all nodes for one pod, as columns; ``special`` has those that are not the filters' own view of
    the node as it is (nominated pods counted in, nodes that were never looked at)."""

    query: Query
    filters: Sequence[Filter]
    by: Ints
    """Which filter refused the node; PASSES."""
    codes: Ints
    special: dict[int, Refusal | None] = field(default_factory=dict)
    outside: Mask | None = None
    """The nodes that were left out before filtering."""
    absent: Refusal | None = None
    """The status of those."""

    def groups(self) -> list[tuple[Refusal, Ints]]:
        """The refusals, each with one reason, and the nodes that each is about; a node with two reasons is in two."""
        by = self.by.copy()
        for node in self.special:
            by[node] = PASSES
        if self.outside is not None:
            by[self.outside] = PASSES
        found: list[tuple[Refusal, Ints]] = []
        for k in _distinct(by[by != PASSES]):
            plugin, nodes = self.filters[k], np.flatnonzero(by == k)
            codes = self.codes[nodes]
            for text, mask in plugin.reasons(self.query, nodes, codes):
                for code in _distinct(codes[mask]):
                    refusal = Refusal(plugin.name, plugin.resolvable[code], (text,))
                    found.append((refusal, nodes[mask & (codes == code)]))
        for node, special in self.special.items():
            if special is not None:
                found += [
                    (Refusal(special.plugin, special.resolvable, (r,)), np.array([node])) for r in special.reasons
                ]
        if self.outside is not None and self.absent is not None:
            found.append((self.absent, np.flatnonzero(self.outside)))
        return found

    def histogram(self) -> Counter[str]:
        """How many nodes each reason is about."""
        counts: Counter[str] = Counter()
        for refusal, nodes in self.groups():
            counts[refusal.reasons[0]] += len(nodes)
        return counts

    def refusals(self) -> dict[int, Refusal]:
        """By node, in their order, all of its reasons, sorted; nodes that pass are absent."""
        found: dict[int, Refusal] = {}
        for refusal, nodes in self.groups():
            for node in nodes.tolist():
                old = found.get(node)
                reasons = refusal.reasons if old is None else tuple(sorted((*old.reasons, *refusal.reasons)))
                found[node] = Refusal(refusal.plugin, refusal.resolvable, reasons)
        return dict(sorted(found.items()))

    def resolvable(self) -> Ints:
        """The nodes where preemption may help."""
        mask = np.zeros(len(self.by), bool)
        for k, plugin in enumerate(self.filters):
            mask |= (self.by == k) & np.array(plugin.resolvable, bool)[np.where(self.by == k, self.codes, 0)]
        for node, special in self.special.items():
            mask[node] = special is not None and special.resolvable
        if self.outside is not None:
            mask[self.outside] = False
        return np.flatnonzero(mask)


def judge_all(query: Query, filters: Sequence[Filter]) -> Statuses:
    """The statuses of all nodes as they are."""
    count = len(query.state.nodes)
    by, codes = np.full(count, PASSES, np.int64), np.zeros(count, np.int64)
    open_ = np.ones(count, bool)
    for k, plugin in enumerate(filters):
        found = plugin.codes(query, ALL)
        refused = open_ & (found != 0)
        by[refused] = k
        codes[refused] = found[refused]
        open_ &= ~refused
    return Statuses(query, filters, by, codes)


def judge_one(query: Query, filters: Sequence[Filter], node: int) -> Refusal | None:
    """The first refusal of one node as it is; None: it passes."""
    nodes = np.array([node])
    for plugin in filters:
        codes = plugin.codes(query, nodes)
        if codes[0]:
            texts = sorted(text for text, mask in plugin.reasons(query, nodes, codes) if mask[0])
            return Refusal(plugin.name, plugin.resolvable[int(codes[0])], tuple(texts))
    return None
