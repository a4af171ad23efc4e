"""TaintToleration: refuses by the first taint that the pod does not tolerate, and counts untolerated preferences
(sheet §4.3, §4.5). Nodes with the same taints are judged once."""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.api.selectors import untolerated, untolerated_preferences
from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, Score, by_highest_reversed
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask


def _codes(query: Query, nodes: Nodes) -> Ints:
    def work_out() -> Ints:
        of, sets = query.state.taint_sets()
        refused = [untolerated(taints, query.shape.spec.tolerations) is not None for taints in sets]
        return np.array(refused, np.int64)[of]

    return query.state.static(("TaintToleration", query.shape.spec_index), work_out)[nodes]


def _reasons(query: Query, nodes: Ints, codes: Ints) -> list[tuple[str, Mask]]:
    of, sets = query.state.taint_sets()
    by_reason: dict[str, Mask] = {}
    for number in np.unique(of[nodes]):
        taint = untolerated(sets[number], query.shape.spec.tolerations)
        if taint is not None:
            text = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
            mask = of[nodes] == number
            by_reason[text] = by_reason[text] | mask if text in by_reason else mask
    return list(by_reason.items())


def _raw(query: Query, nodes: Nodes) -> Ints:
    of, sets = query.state.taint_sets()
    return np.array([untolerated_preferences(taints, query.shape.spec.tolerations) for taints in sets], np.int64)[
        of[nodes]
    ]


FILTER = Filter("TaintToleration", Scope.STATIC, _codes, (True, False), _reasons)
SCORE = Score("TaintToleration", Scope.STATIC, _raw, by_highest_reversed)
