"""What is kept for pods of one spec: who passes the filters that look at one node at a time, and the raw scores.

A node that changed is judged again, all others stay as they were, so that a pod costs a few vector operations more
than the nodes that changed since the last pod of its spec.
"""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.scheduler.plugins import FILTERS, SCORES
from gnomon.systems.kubernetes.scheduler.plugins.base import ALL, ClusterScore, Nodes, Query, Scope, Score
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask


class Columns:
    """The columns of one spec under one profile; nothing in them depends on a pod's labels or namespace.

    ``passes``: all filters but those of ``wide``, which look at other nodes too."""

    def __init__(self, query: Query) -> None:
        self.query = query
        state = query.state
        self.filters = [FILTERS[name] for name in query.profile.filters if name in FILTERS]
        self.wide = [plugin for plugin in self.filters if plugin.scope is Scope.CLUSTER]
        self.narrow = [plugin for plugin in self.filters if plugin.scope is not Scope.CLUSTER]
        self.scores: list[tuple[Score | ClusterScore, int]] = []
        for name, weight in query.profile.scores:
            plugin = SCORES.get(name)
            if plugin is not None and (isinstance(plugin, ClusterScore) or plugin.applies(query)):
                self.scores.append((plugin, weight))
        self.passes: Mask = np.ones(len(state.nodes), bool)
        self.raw: dict[str, Ints] = {}
        self.same: dict[str, int] = {}
        """The normalised points of STATIC scores that are the same for all nodes, and so for any of them."""
        self._edits = -1
        self._seen = 0

    def refresh(self) -> None:
        """Bring all columns up to date."""
        state = self.query.state
        seen = len(state.touched)
        if self._edits != state.edits:
            self._work_out(ALL, Scope.STATIC)
        elif self._seen < seen:
            changed = state.since(self._seen)
            self._work_out(ALL if changed is None else changed, Scope.NODE)
        self._edits, self._seen = state.edits, seen

    def _work_out(self, nodes: Nodes, least: Scope) -> None:
        """Judge nodes anew; scores below the scope ``least`` cannot have changed."""
        passes = None
        for plugin in self.narrow:
            if plugin.applies(self.query):
                good = plugin.codes(self.query, nodes) == 0
                passes = good if passes is None else passes & good
        if passes is not None:
            self.passes[nodes] = passes
        for score, _ in self.scores:
            if isinstance(score, Score) and score.scope >= least:
                points = score.raw(self.query, nodes)
                if nodes is ALL:
                    self.raw[score.name] = points
                    if score.scope is Scope.STATIC:
                        self._note_same(score, points)
                else:
                    self.raw[score.name][nodes] = points

    def _note_same(self, score: Score, points: Ints) -> None:
        self.same.pop(score.name, None)
        if points.min() == points.max():
            self.same[score.name] = int(np.max(score.normalise(points)))
